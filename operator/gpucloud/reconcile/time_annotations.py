"""Annotations with a time: they release or accept what happened up to that time, and nothing later."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import timedelta

    from gpucloud.kinds.meta import Annotation
    from gpucloud.reconcile.facts import Now

NOW_IN_SHELL = "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
EXAMPLE = "2026-01-02T03:04:05Z"  # fixed: a message with the current time would change each second


@dataclass(frozen=True, slots=True)
class TimeAnnotation:
    """Value of such an annotation: a time, or a message why it has none."""

    at: datetime | None = None
    trouble: str = ""

    def covers(self, moment: datetime) -> bool:
        """Whether the annotation's time covers this time."""
        return self.at is not None and moment <= self.at


@dataclass(frozen=True, slots=True)
class TimeAnnotationRule:
    """Rule of one annotation: its name, how far ahead of our clock its time may be, and why no further."""

    annotation: Annotation
    ahead: timedelta
    why: str


def read(text: str | None, now: datetime, where: str, form: TimeAnnotationRule) -> TimeAnnotation:
    """Read the annotation of ``where``. A time too far ahead is refused: it would cover the future."""
    if not text:
        return TimeAnnotation()
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        at = None
    given = f"The annotation {form.annotation} on {where} is {text[:40]!r}"
    if at is None or at.tzinfo is None:
        return TimeAnnotation(trouble=f"{given}, not a time such as {EXAMPLE}.")
    if at > now + form.ahead:
        return TimeAnnotation(trouble=f"{given}, which is in the future: {form.why}.")
    return TimeAnnotation(at)


def on_mono(at: datetime, now: Now) -> float:
    """Return a time of the wall clock on the monotonic clock (seconds), by how both stand now."""
    return now.mono - (now.wall - at).total_seconds()


def command(kind: str, namespace: str, name: str, annotation: Annotation) -> str:
    """Return the command that sets an annotation of an object to the present time."""
    return f"kubectl annotate {kind.lower()} {name} --namespace={namespace} --overwrite {annotation}={NOW_IN_SHELL}"
