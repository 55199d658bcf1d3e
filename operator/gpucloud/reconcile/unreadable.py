"""An object whose spec this version cannot read (stored under another version of the CRD): said, and left alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from gpucloud.kinds.common import Status
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import pause
from gpucloud.reconcile.conditions import build, stalled
from gpucloud.reconcile.plan import Plan

if TYPE_CHECKING:
    from gpucloud.reconcile.facts import Now, ObjectFacts

S = TypeVar("S", bound=Status)


@dataclass(frozen=True, slots=True)
class Unreadable(Generic[S]):
    """What is known of such an object."""

    now: Now
    meta: ObjectFacts
    status: S
    flaw: str


def decide(f: Unreadable[S]) -> Plan[S]:
    """Stalled, with what is wrong. Deletion waits too: what to do is written in the spec."""
    held = " Deletion is held until then." if f.meta.deleting else ""
    reason = Reason.DELETION_BLOCKED if f.meta.deleting else Reason.INVALID_SPEC
    verdict = stalled(reason, f"This version of the operator cannot read the spec: {f.flaw}. Correct it.{held}"[:32768])
    paused = pause.words(f.meta.annotations) if pause.is_paused(f.meta.annotations) else None
    conditions = build(verdict, f.status.conditions, f.meta.generation, f.now.wall, paused=paused)
    return Plan(status=f.status.model_copy(update={"observed_generation": f.meta.generation, "conditions": conditions}))
