"""The cloud's words for a VM's state and their meanings. The list is open: an unknown word means "wait".

Source: service-api (VM status) and the field notes (further states, usual order).
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from gpucloud.kinds.meta import Reason

if TYPE_CHECKING:
    from gpucloud.cloud.models import VmRecord


class Meaning(Enum):
    """Meaning of a state word for the operator."""

    ON = auto()
    OFF = auto()
    PROGRESSING = auto()
    NO_ROOM = auto()
    FAILED = auto()
    UNKNOWN = auto()


_MEANINGS = {
    "ONLINE": Meaning.ON,
    "OFFLINE": Meaning.OFF,
    "NA": Meaning.PROGRESSING,
    "PLANNED": Meaning.PROGRESSING,
    "PENDING": Meaning.PROGRESSING,
    "PENDING_READINESS": Meaning.PROGRESSING,
    "PENDING_RESOURCES": Meaning.NO_ROOM,
    "CREATE_FAILED": Meaning.FAILED,
    "FAILED": Meaning.FAILED,
    "ADMIN_WAIT": Meaning.FAILED,
}

FAILURES = {
    "CREATE_FAILED": Reason.CREATE_FAILED,
    "FAILED": Reason.VM_FAILED,
    "ADMIN_WAIT": Reason.ADMIN_WAIT,
}


def known(state: str) -> bool:
    """Whether the cloud's documentation lists this state word."""
    return state in _MEANINGS


def word(record: VmRecord) -> str:
    """Return the state as the cloud wrote it, trimmed and in capitals; empty if the record has none."""
    return _plain(record.status)


def meaning(record: VmRecord) -> Meaning:
    """Return the meaning of a record's state."""
    return meaning_of(record.status)


def meaning_of(state: str | None) -> Meaning:
    """Return the meaning of a state word."""
    return _MEANINGS.get(_plain(state), Meaning.UNKNOWN)


def _plain(state: str | None) -> str:
    return (state or "").strip().upper()
