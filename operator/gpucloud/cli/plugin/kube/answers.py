"""What an answer of the apiserver must be before it is believed: the object that was asked for, or a list of objects. Pure.

A 200 may come from a proxy in between, or be cut short. Nothing follows from it, least of all that something is gone.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin.errors import CHECK, UnansweredError
from gpucloud.cli.plugin.kube.access import RefusedError
from gpucloud.cli.plugin.model.objects import Thing, thing
from gpucloud.cli.terminal.text import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpucloud.cli.plugin.kube.access import Answer
    from gpucloud.cli.plugin.model.objects import Key

NOT_THE_APISERVERS = "UnexpectedServerResponse"  # the cause by which Go's client marks what it made of plain text


def document(text: bytes) -> dict[str, Any] | None:
    """The JSON object of an answer; None if it is none."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def refused(answer: Answer) -> RefusedError:
    """The error of an answer whose status is one."""
    said = document(answer.text) or {}
    words = clean(str(said.get("message") or f"HTTP {answer.status}"))
    return RefusedError(answer.status, words, str(said.get("reason") or ""), answer.pause, named=_names_object(said))


def _names_object(said: Mapping[str, Any]) -> bool:
    """Whether a Status names an object. A client in between that got plain text adds the name that it asked for itself."""
    details = said.get("details")
    if not isinstance(details, dict) or not isinstance(details.get("name"), str) or not details["name"]:
        return False
    causes = details.get("causes")
    found = causes if isinstance(causes, list) else []
    return not any(isinstance(cause, dict) and cause.get("reason") == NOT_THE_APISERVERS for cause in found)


def unreadable(wanted: str) -> UnansweredError:
    """The error of an answer that is something else; a write that is answered so may have been carried out."""
    return UnansweredError(f"the cluster's answer is not {wanted}; a proxy may have answered, or cut it", do=CHECK)


def the_object(key: Key, body: Mapping[str, Any]) -> Thing:
    """The object of this key.

    Raises:
        UnansweredError: the answer is another one, or none.
    """
    found = thing(key.kind, body)
    if not found.uid or found.key != key:
        raise unreadable(f"{key} of namespace {key.namespace!r}")
    return found


def items(what: str, page: Mapping[str, Any], marks: tuple[str, ...] = ("name",)) -> list[dict[str, Any]]:
    """The objects of a list, each with these fields of its metadata.

    Raises:
        UnansweredError: the answer is not a list.
    """
    found = page.get("items", page)  # null when the list is empty
    if found is None:
        return []
    if not isinstance(found, list) or not all(_has(item, marks) for item in found):
        raise unreadable(f"a list of {what}")
    return found


def _has(item: object, marks: tuple[str, ...]) -> bool:
    meta = item.get("metadata") if isinstance(item, dict) else None
    return isinstance(meta, dict) and all(isinstance(meta.get(mark), str) and meta[mark] for mark in marks)
