"""Leader election: the rules of a coordination.k8s.io Lease, as in client-go.

A candidate trusts only its own clock. The times in a Lease are for people; a change of the record shows that its holder lives.
A holder that could not renew for the deadline stops by itself. Another candidate takes over only after the longer duration,
counted from when it first read the unchanged record. So two lead at once only if their clocks' rates differ that much.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class LeaseDurations:
    """Seconds. ``lease`` > ``renew_deadline`` > ``retry_period``; the first difference is what skew and delay may cost."""

    lease: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0


@dataclass(frozen=True, slots=True)
class LeaseRecord:
    """Record of a Lease. Any change of it is a sign of life of its holder."""

    holder: str = ""
    duration: float = 0.0
    renewed_at: str = ""
    acquired_at: str = ""
    transitions: int = 0


class Step(StrEnum):
    """Next step of a candidate."""

    WAIT = "Wait"
    ACQUIRE = "Acquire"
    RENEW = "Renew"
    GIVE_UP = "GiveUp"


@dataclass(frozen=True, slots=True)
class NextStep:
    """The next step. WAIT lasts until ``until`` (mono seconds) unless the record changes before; the others are due now."""

    step: Step
    until: float = 0.0


@dataclass(frozen=True, slots=True)
class ElectionState:
    """State of one candidate. All times are mono seconds of its own clock."""

    me: str
    durations: LeaseDurations
    record: LeaseRecord | None = None  # as last read; None: the Lease does not exist
    since: float | None = None  # when it was first read in this form; None: not read yet
    renewed: float | None = None  # start of our last successful write; None: we do not lead

    def saw(self, record: LeaseRecord | None, at: float) -> ElectionState:
        """Return the state after a read that was answered at this time."""
        if self.since is not None and record == self.record:
            return self
        return replace(self, record=record, since=at)

    def wrote(self, record: LeaseRecord, began: float) -> ElectionState:
        """Return the state after our write: we lead from the time before it was sent, as no other can have read it earlier."""
        return replace(self, record=record, since=began, renewed=began)

    def is_leader(self, now: float) -> bool:
        """Whether this candidate may act at this moment."""
        return self.renewed is not None and self.ours and now < self.renewed + self.durations.renew_deadline

    @property
    def ours(self) -> bool:
        """Whether the record, as last read, names this candidate."""
        return self.record is not None and self.record.holder == self.me


def decide(it: ElectionState, now: float) -> NextStep:
    """Return the next step. GIVE_UP is final: only a new process may become a candidate again."""
    return _follow(it, now) if it.renewed is None else _hold(it, it.renewed, now)


def _hold(it: ElectionState, renewed: float, now: float) -> NextStep:
    if not it.ours or now >= renewed + it.durations.renew_deadline:  # a deleted Lease may be another candidate's now
        return NextStep(Step.GIVE_UP)
    due = renewed + it.durations.retry_period
    return NextStep(Step.RENEW) if now >= due else NextStep(Step.WAIT, due)


def _follow(it: ElectionState, now: float) -> NextStep:
    if it.since is None:
        return NextStep(Step.WAIT, now)
    if it.record is None or it.record.holder in {"", it.me}:  # ours: the answer to our write was lost
        return NextStep(Step.ACQUIRE)
    lapses = it.since + (it.record.duration or it.durations.lease)
    return NextStep(Step.ACQUIRE) if now >= lapses else NextStep(Step.WAIT, lapses)
