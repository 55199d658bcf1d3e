"""Choices of a spec that the plugin writes, too. Without the models, so that it starts without loading pydantic."""

from __future__ import annotations

from enum import StrEnum


class PowerState(StrEnum):
    """What the owner wants: powered on or off."""

    RUNNING = "Running"
    STOPPED = "Stopped"


class DeletionPolicy(StrEnum):
    """What becomes of the cloud's object when ours is deleted."""

    DELETE = "Delete"
    RETAIN = "Retain"


class Adoption(StrEnum):
    """Whether an object that the cloud already has may become ours."""

    NEVER = "Never"
    IF_EXISTS = "IfExists"
    REQUIRED = "Required"
