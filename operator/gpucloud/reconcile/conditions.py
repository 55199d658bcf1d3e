"""Conditions, computed in one place so that the status contract holds whatever is decided.

Rules (docs/reference/status.md): Ready always stands; Reconciling and Stalled stand only while True and never both; each
carries the generation it speaks of; ``lastTransitionTime`` moves only when the status flips.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal

from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.kinds.model import MAX_MESSAGE, Condition
from gpucloud.reconcile.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime


class Progress(Enum):
    """Which condition stands beside Ready: Reconciling, Stalled, or neither."""

    SETTLED = None
    WORKING = ConditionType.RECONCILING
    STALLED = ConditionType.STALLED


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict: the Ready condition, and whether work goes on."""

    ready: Literal["True", "False", "Unknown"]
    reason: Reason
    message: str
    progress: Progress = Progress.SETTLED


def settled(reason: Reason, message: str) -> Verdict:
    """Return the verdict of an object that is as its spec asks."""
    return Verdict("True", reason, message)


def working(reason: Reason, message: str, *, ready: Literal["False", "Unknown"] = "False") -> Verdict:
    """Return the verdict of an object that is not yet as its spec asks, and needs no person."""
    return Verdict(ready, reason, message, Progress.WORKING)


def stalled(reason: Reason, message: str, *, ready: Literal["False", "Unknown"] = "False") -> Verdict:
    """Return the verdict of an object that needs a person."""
    return Verdict(ready, reason, message, Progress.STALLED)


def find(conditions: Iterable[Condition], kind: ConditionType) -> Condition | None:
    """Return the condition of this type, or None."""
    for item in conditions:
        if item.type == kind:
            return item
    return None


def is_ready(conditions: Iterable[Condition]) -> bool:
    """Whether the condition Ready is True."""
    ready = find(conditions, ConditionType.READY)
    return ready is not None and ready.status == "True"


def build(
    verdict: Verdict,
    previous: Iterable[Condition],
    generation: int,
    now: datetime,
    *,
    paused: str | None = None,
    beside: Iterable[tuple[ConditionType, Reason, str]] = (),
) -> tuple[Condition, ...]:
    """Return all conditions of this verdict. ``paused`` adds Paused with that message; ``beside`` are more that are True."""
    wanted = [(ConditionType.READY, verdict.ready, verdict.reason, verdict.message)]
    if verdict.progress.value is not None:
        wanted.append((verdict.progress.value, "True", verdict.reason, verdict.message))
    if paused is not None:
        wanted.append((ConditionType.PAUSED, "True", Reason.PAUSED, paused))
    wanted += [(kind, "True", reason, message) for kind, reason, message in beside]
    existing = {item.type: item for item in previous}
    return tuple(
        Condition(
            type=kind,
            status=status,
            reason=reason,
            message=printable(message, MAX_MESSAGE),  # it quotes names and messages of others, and terminals and logs print it
            observed_generation=generation,
            last_transition_time=_since(existing.get(kind), status, now),
        )
        for kind, status, reason, message in wanted
    )


def _since(previous: Condition | None, status: str, now: datetime) -> datetime:
    return previous.last_transition_time if previous is not None and previous.status == status else now
