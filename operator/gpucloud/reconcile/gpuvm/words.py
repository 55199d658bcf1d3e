"""The cloud's words for a VM's state, and what each means to us. The list is open: an unknown word means "wait".

Source: service-api (VM status) and the field notes (further states, usual order).
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from gpucloud.kinds.meta import Reason

if TYPE_CHECKING:
    from gpucloud.cloud.models import VmRecord


class Meaning(Enum):
    """What a word tells us to do."""

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
    """Whether the cloud's documents list this word for a state."""
    return state in _MEANINGS


def word(record: VmRecord) -> str:
    """The state as the cloud wrote it, trimmed and in capitals; empty when it wrote none."""
    return _plain(record.status)


def meaning(record: VmRecord) -> Meaning:
    """What the record's state means."""
    return meaning_of(record.status)


def meaning_of(state: str | None) -> Meaning:
    """What a word for a state means."""
    return _MEANINGS.get(_plain(state), Meaning.UNKNOWN)


def _plain(state: str | None) -> str:
    return (state or "").strip().upper()
