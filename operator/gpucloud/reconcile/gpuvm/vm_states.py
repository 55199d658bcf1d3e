"""The cloud's words for a VM's state and their meanings. The list is open: an unknown word means "wait".

Source: service-api (VM status) and the field notes (further states, usual order).
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from gpucloud.kinds.meta import Reason

if TYPE_CHECKING:
    from gpucloud.cloud.models import VmRecord


class VmPhase(Enum):
    """Meaning of a state word for the operator."""

    ON = auto()
    OFF = auto()
    PROGRESSING = auto()
    NO_CAPACITY = auto()
    FAILED = auto()
    UNKNOWN = auto()


_MEANINGS = {
    "ONLINE": VmPhase.ON,
    "OFFLINE": VmPhase.OFF,
    "NA": VmPhase.PROGRESSING,
    "PLANNED": VmPhase.PROGRESSING,
    "PENDING": VmPhase.PROGRESSING,
    "PENDING_READINESS": VmPhase.PROGRESSING,
    "PENDING_RESOURCES": VmPhase.NO_CAPACITY,
    "CREATE_FAILED": VmPhase.FAILED,
    "FAILED": VmPhase.FAILED,
    "ADMIN_WAIT": VmPhase.FAILED,
}

FAILURES = {
    "CREATE_FAILED": Reason.CREATE_FAILED,
    "FAILED": Reason.VM_FAILED,
    "ADMIN_WAIT": Reason.ADMIN_WAIT,
}


# ADMIN_WAIT is not among them: the cloud's staff is at the VM, and may bring it back.
_REPLACEABLE = frozenset({"CREATE_FAILED", "FAILED"})


def is_replaceable(record: VmRecord) -> bool:
    """Whether the VM has failed for good, so that ``spec.onLoss: Recreate`` replaces it."""
    return reported_state(record) in _REPLACEABLE


def documented(state: str | None) -> str | None:
    """Return the state word as the cloud's documentation writes it; None if it does not list the word."""
    word = _plain(state)
    return word if word in _MEANINGS else None


def reported_state(record: VmRecord) -> str:
    """Return the state as the cloud wrote it, trimmed and in capitals; empty if the record has none."""
    return _plain(record.status)


def vm_phase(record: VmRecord) -> VmPhase:
    """Return the meaning of a record's state."""
    return phase_of(record.status)


def phase_of(state: str | None) -> VmPhase:
    """Return the meaning of a state word."""
    return _MEANINGS.get(_plain(state), VmPhase.UNKNOWN)


def _plain(state: str | None) -> str:
    return (state or "").strip().upper()
