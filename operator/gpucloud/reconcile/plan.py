"""Plan of a reconcile: at most one external write, the status, and when to requeue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.kinds.meta import Reason
    from gpucloud.reconcile.facts import Verb
    from gpucloud.reconcile.waiting_line import Waiter

F = TypeVar("F")
S = TypeVar("S")

RELEASE = "Release"  # beside the verbs: our finalizer is removed


@dataclass(frozen=True, slots=True)
class Release:
    """Why our finalizer may be removed: reason and note of the Event."""

    reason: Reason
    note: str
    warning: bool = False  # something that may be this object's remains in the cloud: a person should look


@dataclass(frozen=True, slots=True)
class Plan(Generic[S]):
    """The next step for one object.

    The status is written first; the action is taken only in a later pass, when that status stands. So every mutation of
    the cloud is announced before it is sent, and a crash between the two leaves a record.
    """

    status: S | None = None  # None: leave the status unchanged
    action: Verb | None = None
    targets: tuple[str, ...] = ()  # names of snapshots, if the action is about them
    release: Release | None = None  # remove our finalizer: the cloud object is proven gone, or not ours to destroy
    withheld: str | None = None  # what --observe-only withholds: a verb, or Release
    records_order: bool = False  # this status records a new order or request, which this process may send afterwards
    refresh_after: float | None = None  # requeue after a listing that began at or after this mono time
    requeue_at: float | None = None  # requeue at this mono time at the latest
    pending: bool = False  # a change is expected soon: poll fast
    waits: Waiter | None = None  # a GpuVM's place in the waiting line for capacity


def first_plan(facts: F, *steps: Callable[[F], Plan[S] | None]) -> Plan[S] | None:
    """Return the plan of the first step that has one: the order of the steps is their priority."""
    return next((plan for step in steps if (plan := step(facts)) is not None), None)


def observing(step: str) -> str:
    """Return the message of a step that ``--observe-only`` withholds."""
    words = f"The operator runs with --observe-only: it would {step} now."
    return f"{words} To let it act, restart it without this flag."
