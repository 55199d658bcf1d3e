"""spec.progressDeadlineSeconds: when pending work of any kind is called Stalled. The object is still watched."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.commands import has_command
from gpucloud.reconcile.conditions import Progress, Verdict, stalled
from gpucloud.reconcile.waits import ENDED_OUTSIDE

if TYPE_CHECKING:
    from datetime import datetime

    from gpucloud.kinds.common import AccountedStatus, CloudSpec
    from gpucloud.reconcile.facts import Now, ObjectFacts


# A clause that says what to do begins with such a word.
_ORDER = re.compile(r"(?:^|[.:;,] )(?:To|Set|Put|Grant|Look|[Aa]sk) ")


class HasDeadline(Protocol):
    """The facts that a deadline follows from."""

    @property
    def now(self) -> Now:
        """When the facts were gathered."""

    @property
    def meta(self) -> ObjectFacts:
        """Metadata of the object."""

    @property
    def spec(self) -> CloudSpec:
        """The spec, which sets the seconds."""

    @property
    def status(self) -> AccountedStatus:
        """The status, which records the deadline."""


def of(f: HasDeadline, verdict: Verdict) -> datetime | None:
    """Return when this work becomes Stalled; kept while the generation is the same."""
    if verdict.progress is Progress.SETTLED or verdict.reason in ENDED_OUTSIDE or f.meta.deleting:
        return None
    if f.status.progress_deadline_at is not None and f.status.observed_generation == f.meta.generation:
        return f.status.progress_deadline_at
    if verdict.progress is Progress.STALLED:
        return None
    return f.now.wall + timedelta(seconds=f.spec.progress_deadline_seconds)


def applied(f: HasDeadline, verdict: Verdict, deadline: datetime | None) -> Verdict:
    """Return the verdict; one in progress becomes Stalled at the deadline."""
    if deadline is None or f.now.wall < deadline or verdict.progress is not Progress.WORKING:
        return verdict
    says_what_to_do = has_command(verdict.message) or _ORDER.search(verdict.message)
    way_out = "" if says_what_to_do else "If this goes on, ask the cloud's support. "
    return stalled(
        Reason.PROGRESS_DEADLINE_EXCEEDED,
        f"Not Ready after {f.spec.progress_deadline_seconds} s (spec.progressDeadlineSeconds); the operator keeps trying. "
        f"{way_out}Last: {verdict.message}",
    )


def wake_at(f: HasDeadline, deadline: datetime | None, otherwise: float | None) -> float | None:
    """Return the earlier of the mono time of a deadline that is yet to come, and another time."""
    if deadline is None or deadline <= f.now.wall:
        return otherwise
    until = f.now.mono + (deadline - f.now.wall).total_seconds()
    return until if otherwise is None else min(until, otherwise)
