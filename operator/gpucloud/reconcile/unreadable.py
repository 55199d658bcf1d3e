"""Decision for an object whose spec this version cannot read, as stored under another version of the CRD: report it only."""

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
    """Facts of such an object."""

    now: Now
    kind: str
    meta: ObjectFacts
    status: S
    flaw: str


def decide(f: Unreadable[S]) -> Plan[S]:
    """Report Stalled and what is wrong. Deletion waits too: only the spec says what to do with the resource."""
    held = " Deletion is held until then." if f.meta.deleting else ""
    reason = Reason.DELETION_BLOCKED if f.meta.deleting else Reason.INVALID_SPEC
    verdict = stalled(reason, f"This version of the operator cannot read the spec: {f.flaw}. Correct it.{held}"[:32768])
    paused = None
    if pause.is_paused(f.meta.annotations):
        paused = pause.message(f.meta.annotations, f.kind, f.meta.namespace, f.meta.name)
    conditions = build(verdict, f.status.conditions, f.meta.generation, f.now.wall, paused=paused)
    return Plan(status=f.status.model_copy(update={"observed_generation": f.meta.generation, "conditions": conditions}))
