"""The annotation ``accept-absence``: a person confirms that a missing resource is truly gone, for doubts that exist already.

It covers a doubt that began at or before its time. A later doubt, a rotated Secret and a restarted operator are doubts of
their own, which need a later time. docs/adr/0004 has the reasons.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from gpucloud.kinds.meta import Annotation, rfc3339
from gpucloud.reconcile import time_annotations
from gpucloud.reconcile.facts import Unknown, UnknownReason

if TYPE_CHECKING:
    from gpucloud.reconcile.facts import Now, Observation
    from gpucloud.reconcile.time_annotations import Said

R = TypeVar("R")

NEVER = -math.inf
_FORM = time_annotations.TimeAnnotationRule(
    Annotation.ACCEPT_ABSENCE, timedelta(minutes=1), "nobody can know yet what is gone then"
)


@dataclass(frozen=True, slots=True)
class AcceptedAbsence:
    """An accepted absence: it ends doubts that began at or before ``until`` (mono). ``trouble``: why the annotation is invalid.

    ``too_early`` is the message for a later doubt, which the annotation does not end.
    """

    until: float = NEVER
    trouble: str = ""
    too_early: str = ""

    def covers(self, since: float) -> bool:
        """Whether a doubt that began at this time (mono) is ended."""
        return since <= self.until

    def of_credential(self, since: float) -> AcceptedAbsence:
        """Return the acceptance without effect if the credential came into use after it (mono): its doubts are new ones."""
        return self if self.until == NEVER or self.covers(since) else replace(self, until=NEVER)

    def explained(self, found: Observation[R]) -> Observation[R]:
        """Return the observation; for a doubt that the annotation fails to end, with the message why."""
        doubted = isinstance(found, Unknown) and found.cause in {UnknownReason.IMPLAUSIBLE, UnknownReason.TENANT}
        if not isinstance(found, Unknown) or not doubted:
            return found
        # Of a tenant's doubt it is said beside the command that ends it: one about another tenant's credential nothing ends.
        why = self.trouble or (self.too_early if found.cause is UnknownReason.IMPLAUSIBLE else "")
        return replace(found, detail=f"{found.detail} {why}".strip()) if why else found


def accepted_absence(said: Said, now: Now) -> AcceptedAbsence:
    """Return the acceptance that an object's annotation says."""
    stamp = time_annotations.read_once(said, "this object", _FORM)
    if stamp.at is None:
        return AcceptedAbsence(trouble=stamp.trouble)
    early = f"The annotation {Annotation.ACCEPT_ABSENCE} is {rfc3339(stamp.at)}, but this began later."
    return AcceptedAbsence(time_annotations.on_mono(stamp.at, now), too_early=early)


def command(kind: str, namespace: str, name: str) -> str:
    """Return the command that ends the present doubts about an object."""
    return time_annotations.command(kind, namespace, name, Annotation.ACCEPT_ABSENCE)
