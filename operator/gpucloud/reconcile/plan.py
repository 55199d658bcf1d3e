"""What a decision may answer: at most one external write, and when to look again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from gpucloud.kinds.meta import Reason
    from gpucloud.reconcile.facts import Verb

S = TypeVar("S")

RELEASE = "Release"  # beside the verbs: our finalizer is removed


@dataclass(frozen=True, slots=True)
class Release:
    """Why our finalizer may go: the reason and note of the event that says so."""

    reason: Reason
    note: str
    warning: bool = False  # something that may be this object's is left in the cloud, and a person should look


@dataclass(frozen=True, slots=True)
class Plan(Generic[S]):
    """The next step for one object.

    The status is written first; the action is taken only in a later pass, when that status stands. So every mutation of
    the cloud is announced before it is sent, and a crash between the two leaves a record.
    """

    status: S | None = None  # None: leave what stands
    action: Verb | None = None
    targets: tuple[str, ...] = ()  # what the action is about beside the object's own identity: names of snapshots
    release: Release | None = None  # remove our finalizer: the cloud object is proven gone, or not ours to destroy
    withheld: str | None = None  # what --observe-only keeps back: a verb, or Release
    records_order: bool = False  # this status holds the record of a new order, which this process may then send
    look_after: float | None = None  # a listing that began at or after this mono time is needed
    wake_at: float | None = None  # mono time at which to decide again, whatever happens
    pending: bool = False  # something is expected to change soon: poll fast
