"""Refused: the one way in which the world says no. Which status a reason gets is no business of the world."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Why the world refuses; the answers turn it into a status."""

    INVALID = "invalid"
    MISSING_VM = "missing_vm"
    MISSING_OTHER = "missing_other"
    UNKNOWN_REFERENCE = "unknown_reference"
    DUPLICATE_VM = "duplicate_vm"
    DUPLICATE_SNAPSHOT = "duplicate_snapshot"
    DUPLICATE_VPC = "duplicate_vpc"
    POWER_STATE = "power_state"
    HOST_STATE = "host_state"
    NO_CAPACITY = "no_capacity"
    UNAVAILABLE = "unavailable"
    IN_USE = "in_use"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    LOGIN_FAILED = "login_failed"
    REFRESH_FAILED = "refresh_failed"
    KEY_LIMIT = "key_limit"


class Refused(Exception):  # noqa: N818 - a refusal is an answer, not an error of the program
    """The world's no, with a sentence for people and the request members it is about."""

    def __init__(self, reason: Reason, message: str, *members: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.members = members


def not_found(name: str, reason: Reason) -> Refused:
    """Return the refusal by whose text clients of the real cloud know a missing object (field notes: Answers)."""
    return Refused(reason, f'"{name}" not found')
