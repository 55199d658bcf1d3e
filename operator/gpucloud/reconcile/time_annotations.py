"""Annotations with a time: they release or accept what happened up to that time, and nothing later."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpucloud.kinds.meta import Annotation
    from gpucloud.reconcile.facts import Now

NOW_IN_SHELL = "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
EXAMPLE = "2026-01-02T03:04:05Z"  # fixed: a message with the current time would change each second


@dataclass(frozen=True, slots=True)
class Said:
    """What such an annotation says, and the clocks when this process first saw it say so.

    ``stood``: the object had it when this process first saw that, so it is older. A time that lies ahead is refused once and
    for all: what it would cover when it has come, nobody can have meant.
    """

    text: str | None
    since: Now
    stood: bool = False


@dataclass(frozen=True, slots=True)
class TimeAnnotation:
    """Value of such an annotation: a time, or a message why it has none. ``ahead``: it is one that lay ahead."""

    at: datetime | None = None
    trouble: str = ""
    ahead: bool = False

    def covers(self, moment: datetime) -> bool:
        """Whether the annotation's time covers this time."""
        return self.at is not None and moment <= self.at


@dataclass(frozen=True, slots=True)
class TimeAnnotationRule:
    """Rule of one annotation: its name, how far ahead of our clock its time may be, and why no further.

    ``why`` is empty where messages have no room: they are brief then.
    """

    annotation: Annotation
    ahead: timedelta
    why: str = ""


def read(text: str | None, now: datetime, where: str, form: TimeAnnotationRule) -> TimeAnnotation:
    """Read the annotation of ``where``. A time too far ahead is refused: it would cover the future."""
    if not text:
        return TimeAnnotation()
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        return TimeAnnotation(trouble=_trouble(text, where, form, "not a time", f" such as {EXAMPLE}"))
    if at > now + form.ahead:
        return TimeAnnotation(trouble=_trouble(text, where, form, "in the future", f": {form.why}"), ahead=True)
    return TimeAnnotation(at)


def _trouble(text: str, where: str, form: TimeAnnotationRule, what: str, more: str) -> str:
    """Return what is wrong with a value, as a sentence. ``more`` is left out of a brief message."""
    if not form.why:
        return f"Annotation {form.annotation.partition('/')[2]} on {where} is {text[:40]!r}, {what}."
    return f"The annotation {form.annotation} on {where} is {text[:40]!r}, {what}{more}."


def read_once(said: Said, where: str, form: TimeAnnotationRule) -> TimeAnnotation:
    """Read the annotation by the clock as it was when this process first saw it: a time that lay ahead then never counts.

    Of one that stood there before, not even a clock that is ahead is an excuse: it would cover what came since.
    """
    return read(said.text, said.since.wall, where, replace(form, ahead=timedelta(0)) if said.stood else form)


def on_mono(at: datetime, now: Now) -> float:
    """Return a time of the wall clock on the monotonic clock (seconds), by how both stand now."""
    return now.mono - (now.wall - at).total_seconds()


def command(kind: str, namespace: str, name: str, annotation: Annotation) -> str:
    """Return the command that sets an annotation of an object to the present time."""
    return f"kubectl annotate {kind.lower()} {name} --namespace={namespace} --overwrite {annotation}={NOW_IN_SHELL}"
