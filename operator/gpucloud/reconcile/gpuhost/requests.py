"""Requests of people: the annotations that ask for a reboot or a reprovisioning, and why one is not carried out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from gpucloud.kinds.gpuhost import KIND, HostVerb
from gpucloud.kinds.meta import Annotation, rfc3339
from gpucloud.reconcile import time_annotations
from gpucloud.reconcile.text import followed
from gpucloud.reconcile.time_annotations import TimeAnnotation, TimeAnnotationRule

if TYPE_CHECKING:
    from datetime import datetime

    from gpucloud.reconcile.gpuhost.facts import HostFacts

LONGEST = timedelta(minutes=10)  # an older request may not be meant any more, as in a manifest that is applied again
ANNOTATIONS = {  # in the order in which they are carried out
    HostVerb.REPROVISION: Annotation.REPROVISION_REQUESTED_AT,
    HostVerb.REBOOT: Annotation.REBOOT_REQUESTED_AT,
}
ANSWERS = {HostVerb.REPROVISION: "last_handled_reprovision_at", HostVerb.REBOOT: "last_handled_reboot_at"}
ANNOUNCED = {HostVerb.REPROVISION: "last_announced_reprovision_at", HostVerb.REBOOT: "last_announced_reboot_at"}
_RULES = {verb: TimeAnnotationRule(name, timedelta(minutes=1), "use the present time") for verb, name in ANNOTATIONS.items()}


@dataclass(frozen=True, slots=True)
class Request:
    """One request: what it asks for, the value of its annotation, and why it is refused here; empty if it is not.

    ``superseded``: a later one was answered. It is refused without a record, which would hide that answer: where two writers
    take turns to set two values, each would be a new request for ever.
    """

    verb: HostVerb
    id: str
    trouble: str = ""
    superseded: bool = False


def standing(f: HostFacts, verb: HostVerb) -> str | None:
    """Return the value of the annotation that requests this; None if there is none. An empty one requests nothing."""
    return f.meta.annotations.get(ANNOTATIONS[verb]) or None


def unanswered(f: HostFacts) -> tuple[Request, ...]:
    """Return the requests that are neither answered nor announced; superseded ones last."""
    found = ((verb, standing(f, verb)) for verb in ANNOTATIONS)
    new = [_request(f, verb, value) for verb, value in found if value and _is_new(f, verb, value)]
    return tuple(sorted(new, key=lambda request: request.superseded))


def _request(f: HostFacts, verb: HostVerb, value: str) -> Request:
    at, last = _read(f, verb, value).at, _newest(f, verb)
    if at is None or last is None or at > last:
        return Request(verb, value, trouble(f, verb, value))
    words = f"is of {rfc3339(at)}, and one of {rfc3339(last)} was answered already"
    return Request(verb, value, _not_sent(f, verb, words), superseded=True)


def _newest(f: HostFacts, verb: HostVerb) -> datetime | None:
    """Return the time of the newest request that was answered or announced. One that was refused may have had no time."""
    values = getattr(f.status, ANSWERS[verb]), getattr(f.status, ANNOUNCED[verb])
    return max((at for value in values if (at := _read(f, verb, value).at) is not None), default=None)


def trouble(f: HostFacts, verb: HostVerb, value: str) -> str:
    """Return why a request is not carried out; empty if it may be.

    One that stood there before status recorded the host may have been carried out already, and so may one that is older than
    the object: the status may have been lost, or the object restored from a backup, with or without its status.
    """
    if not f.seen:
        return _not_sent(f, verb, "was there before the operator saw the host, and may have been carried out", unsure=True)
    read = _read(f, verb, value)
    if read.at is None:
        return f"{read.trouble} Nothing was sent. {again(f, verb)}"
    if f.may_be_carried_out(verb, value):
        words = "may have been carried out already, and status no longer shows it"
        return _not_sent(f, verb, words, "Not sent again", unsure=True)
    if verb is HostVerb.REPROVISION and f.spec.reprovision is None:
        return f"Not sent: spec.reprovision does not say what to install. Set that field. {again(f, verb)}"
    return _too_early(f, verb, read.at)


def _too_early(f: HostFacts, verb: HostVerb, at: datetime) -> str:
    """Return why a request of this time may not be meant for now; empty if it may."""
    if f.meta.created_at is not None and at < f.meta.created_at:
        words = "is older than this object, and may have been carried out"
        return _not_sent(f, verb, words, unsure=True)
    if f.now.wall - at > LONGEST:
        minutes = int(LONGEST.total_seconds() // 60)
        return _not_sent(f, verb, f"is of {rfc3339(at)}, and could not be carried out within {minutes} minutes")
    return ""


def _not_sent(f: HostFacts, verb: HostVerb, words: str, then: str = "Not sent", *, unsure: bool = False) -> str:
    return f"{then}: {ANNOTATIONS[verb]} {words}. {again(f, verb, unsure=unsure)}"


def again(f: HostFacts, verb: HostVerb, *, unsure: bool = False) -> str:
    """Return how a person requests it again, or takes the request back. ``unsure``: it may have been carried out."""
    name, namespace, annotation = f.meta.name, f.meta.namespace, ANNOTATIONS[verb]
    command = time_annotations.command(KIND, namespace, name, annotation)
    opening = "If the host does not show it, ask again" if unsure else "Ask again"
    wipes = " (wipes the host)" if verb is HostVerb.REPROVISION else ""
    back = f"kubectl annotate {KIND.lower()} {name} --namespace={namespace} {annotation}-"
    return followed(f"{opening}{wipes}: {command}", f"Else withdraw it: {back}")


def needs_cloud_init(f: HostFacts) -> bool:
    """Whether a reprovisioning with a cloud-init may be announced or sent now."""
    wanted = f.spec.reprovision is not None and f.spec.reprovision.cloud_init_secret_ref is not None
    value = standing(f, HostVerb.REPROVISION)
    return wanted and value is not None and f.status.last_handled_reprovision_at != value


def _read(f: HostFacts, verb: HostVerb, text: str | None) -> TimeAnnotation:
    return time_annotations.read(text, f.now.wall, "this GpuHost", _RULES[verb])


def _is_new(f: HostFacts, verb: HostVerb, value: str) -> bool:
    operation = f.status.operation
    announced = operation is not None and (operation.verb, operation.id) == (verb, value)
    return not announced and getattr(f.status, ANSWERS[verb]) != value
