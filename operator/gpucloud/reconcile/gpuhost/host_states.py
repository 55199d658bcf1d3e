"""What a host's record says: whether the host is ready, whether the cloud is at work on it, and the verdict of its state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile import time_annotations
from gpucloud.reconcile.conditions import Verdict, settled, stalled, working
from gpucloud.reconcile.text import followed

if TYPE_CHECKING:
    from gpucloud.cloud.models import HostRecord
    from gpucloud.reconcile.facts import ObjectFacts

# The words are assumptions of the field notes; letter case does not count, and an unknown word is shown and waited for.
OK, ERROR = "ok", "error"
PROVISIONED, AVAILABLE = "provisioned", "available"
AT_WORK = frozenset({"provisioning", "deprovisioning"})


def is_ready(record: HostRecord) -> bool:
    """Whether the host is powered on, provisioned and OK."""
    words = _word(record.provisioning_state), _word(record.operational_status)
    return record.powered_on is True and words == (PROVISIONED, OK)


def is_at_work(record: HostRecord) -> bool:
    """Whether the host is off, or is being provisioned: what a reboot or a reprovisioning looks like."""
    return record.powered_on is False or _word(record.provisioning_state) in AT_WORK


def described(record: HostRecord) -> str:
    """Return the host's state in the cloud's own words."""
    power = {True: "powered on", False: "powered off", None: "of unknown power"}[record.powered_on]
    return f"{record.provisioning_state or 'without a provisioning state'}, {power}, {record.operational_status or 'no status'}"


def verdict(record: HostRecord, meta: ObjectFacts) -> Verdict:
    """Return the verdict of the host's state. Only a person's request changes it."""
    state, shown = _word(record.provisioning_state), f"The cloud reports the host as {described(record)}"
    if is_ready(record):
        return settled(Reason.RUNNING, "The host is powered on and provisioned.")
    if _word(record.operational_status) == ERROR:
        words = f"{shown}. To reboot the host: {_request(meta, Annotation.REBOOT_REQUESTED_AT)}"
        return stalled(Reason.HOST_FAILED, followed(words, "Or ask the cloud's support."))
    if state in AT_WORK:
        return working(Reason.PROVISIONING, f"{shown}: waiting until it is provisioned.")
    if state == AVAILABLE:
        return working(
            Reason.PROVISIONING,
            f"{shown}: no image is installed. To install one: {_request(meta, Annotation.REPROVISION_REQUESTED_AT)}",
        )
    if record.powered_on is False:
        return working(Reason.HOST_OFF, f"{shown}: waiting until it is on. If it stays off, ask the cloud's support.")
    return working(Reason.UNKNOWN_STATE, f"{shown}; waiting until it is provisioned, powered on and OK.")


def _request(meta: ObjectFacts, annotation: Annotation) -> str:
    return time_annotations.command("GpuHost", meta.namespace, meta.name, annotation)


def _word(text: str | None) -> str:
    return (text or "").casefold()
