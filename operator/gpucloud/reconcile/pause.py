"""The annotation ``paused``: any value but "false" pauses, since an unclear value must not start actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.kinds.meta import Annotation

if TYPE_CHECKING:
    from collections.abc import Mapping

ON, OFF = "true", "false"


def is_paused(annotations: Mapping[str, str]) -> bool:
    """Whether a person has paused the object."""
    return annotations.get(Annotation.PAUSED, OFF) != OFF


def message(annotations: Mapping[str, str]) -> str:
    """Return the message of a paused object: the annotation's value, and how to end the pause."""
    value = annotations.get(Annotation.PAUSED, ON)
    if value == ON:
        return f"Paused by the annotation {Annotation.PAUSED}. Remove the annotation to continue."
    return (
        f"Paused: the annotation {Annotation.PAUSED} is {value[:40]!r}, neither {ON!r} nor {OFF!r}, and counts as {ON!r}. "
        "Remove the annotation to continue."
    )
