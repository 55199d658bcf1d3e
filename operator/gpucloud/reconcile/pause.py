"""The annotation ``paused``: any value but "false" pauses, since an unclear value must not start actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile.commands import plugin_command

if TYPE_CHECKING:
    from collections.abc import Mapping

ON, OFF = "true", "false"


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
    return f"{cause(annotations)} To continue, remove it: {plugin_command('resume', kind, namespace, name)}"
