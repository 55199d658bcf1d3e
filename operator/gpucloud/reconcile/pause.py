"""The annotation ``paused``: any value but "false" pauses, since an unclear value must not start actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.kinds.meta import Annotation
from gpucloud.kinds.names import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

ON, OFF = "true", "false"
_SHORT = {item.kind: item.short for item in KINDS}


def is_paused(annotations: Mapping[str, str]) -> bool:
    """Whether a person has paused the object."""
    return annotations.get(Annotation.PAUSED, OFF) != OFF


def cause(annotations: Mapping[str, str]) -> str:
    """Return why an object is paused: the annotation, and what a value means that is neither "true" nor "false"."""
    value = annotations.get(Annotation.PAUSED, ON)
    if value == ON:
        return f"Paused by the annotation {Annotation.PAUSED}."
    return f"Paused: the annotation {Annotation.PAUSED} is {value[:40]!r}, neither {ON!r} nor {OFF!r}, and counts as {ON!r}."


def message(annotations: Mapping[str, str], kind: str, namespace: str, name: str) -> str:
    """Return the message of a paused object: why, and at its end the command that ends the pause."""
    command = f"kubectl gpucloud resume {_SHORT[kind]}/{name} --namespace={namespace}"
    return f"{cause(annotations)} To continue, remove it: {command}"
