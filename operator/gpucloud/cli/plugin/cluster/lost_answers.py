"""Writes whose answer is lost: what came of them, as a look at the object shows. Pure.

A request whose connection is cut, or that ends in an error of the server, may have been carried out all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin.errors import PluginError

if TYPE_CHECKING:
    from gpucloud.cli.plugin.kube.access import RefusedError
    from gpucloud.cli.plugin.model.objects import Key, Thing

SAME_NAME = "under the same name"


class LostAnswerError(Exception):
    """A write may have been carried out, but its answer is lost; ``why``: without a full stop."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def words_of(error: RefusedError, what: str, key: Key) -> str:
    """An error of the server that leaves open whether the write was carried out, without a full stop."""
    return f"the cluster answered with an error when asked to {what} in namespace {key.namespace!r} ({str(error).rstrip('.')})"


def shows(item: Thing, sent: Mapping[str, Any]) -> bool:
    """Whether an object has everything that a write said. The apiserver adds defaults to it."""
    annotations = sent.get("metadata", {}).get("annotations", {})
    return _within(sent.get("spec", {}), item.spec) and _within(annotations, item.annotations)


def stands_for(item: Thing, sent: Mapping[str, Any]) -> bool:
    """Whether an object can be what was made by this write: it says the same, and stays."""
    return item.deleting is None and shows(item, sent)


def _within(part: Any, whole: Any) -> bool:
    """Nothing, by which a field is removed, is where there is no field."""
    if isinstance(part, Mapping):
        return isinstance(whole, Mapping) and all(_within(value, whole.get(name)) for name, value in part.items())
    return bool(part == whole)


def not_created(key: Key, why: str, again: str, *, looked: bool) -> PluginError:
    """The error for an object that was not there, or could not be looked for; ``again`` is the way to repeat it."""
    repeat = f"Try again {again}, which never makes a second one"
    if looked:
        return PluginError(f"{why}. {key} is not there so far.", do=f"{repeat}.")
    return PluginError(
        f"{why}. {key} may have been made all the same.", do=f"{repeat}, or see whether it is there: {key.command('status')}"
    )


def not_changed(key: Key, why: str, *, looked: bool) -> PluginError:
    """The error for an object that was as before, or could not be looked at."""
    if looked:
        return PluginError(f"{why}. {key} is not changed so far.", do="Try again.")
    return PluginError(
        f"{why}. {key} may have been changed all the same.", do=f"See it before you try again: {key.command('status')}"
    )
