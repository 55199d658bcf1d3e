"""Our objects as the plugin reads them: tolerantly, since the operator in the cluster may be older or newer than the plugin.

Frozen data and how to read it; no I/O.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.terminal import marks
from gpucloud.cli.terminal.text import clean
from gpucloud.kinds import names
from gpucloud.kinds.meta import FINALIZER
from gpucloud.kinds.names import ACCOUNT, HOST, SNAPSHOT, VM, VPC
from gpucloud.reconcile.pause import is_paused
from gpucloud.spelling import suggestion, use_one_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "ACCOUNT",
    "HOST",
    "KINDS",
    "SNAPSHOT",
    "VM",
    "VPC",
    "Condition",
    "Event",
    "Key",
    "Kind",
    "Thing",
    "target",
    "thing",
]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Kind:
    """One of our kinds, under its names."""

    name: str
    plural: str
    short: str

    def __str__(self) -> str:
        return self.name


KINDS = {item.kind: Kind(item.kind, item.plural, item.short) for item in names.KINDS}


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """Which object."""

    namespace: str
    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"

    def command(self, verb: str, *options: str) -> str:
        """A verb of the plugin for this object, which can be pasted wherever it is read."""
        named = f"{KINDS[self.kind].short}/{self.name}"
        return marks.paste(" ".join(["kubectl gpucloud", verb, named, *options, f"--namespace={self.namespace}"]))


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition. The commands of its message have marks."""

    type: str
    status: str
    reason: str
    message: str
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """What was recorded of an object."""

    at: datetime | None
    type: str
    reason: str
    note: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Thing:
    """One object."""

    key: Key
    uid: str = ""
    generation: int = 1
    created: datetime | None = None
    deleting: datetime | None = None
    annotations: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    labels: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    spec: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    status: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    conditions: tuple[Condition, ...] = ()
    is_held: bool = False  # by the operator's finalizer

    def condition(self, kind: str) -> Condition | None:
        """The condition of this type, if it stands."""
        return next((item for item in self.conditions if item.type == kind), None)

    @property
    def observed(self) -> int:
        """The generation that the status speaks of; -1 before the first look."""
        found = self.status.get("observedGeneration")
        return found if isinstance(found, int) else -1

    @property
    def paused(self) -> bool:
        """Whether a person holds all action back."""
        return is_paused(self.annotations)

    def text(self, name: str) -> str:
        """A field of the status for people; empty when it is absent."""
        found = self.status.get(name)
        return "" if found is None or isinstance(found, dict | list) else clean(str(found))


def thing(kind: str, body: Mapping[str, Any]) -> Thing:
    """An object as the apiserver shows it; whatever has another form than expected is left out."""
    meta, status = _mapping(body.get("metadata")), _mapping(body.get("status"))
    generation, finalizers = meta.get("generation"), meta.get("finalizers")
    return Thing(
        key=Key(str(meta.get("namespace", "")), kind, str(meta.get("name", ""))),
        uid=str(meta.get("uid", "")),
        generation=generation if isinstance(generation, int) else 1,
        created=moment(meta.get("creationTimestamp")),
        deleting=moment(meta.get("deletionTimestamp")),
        annotations=_mapping(meta.get("annotations")),
        labels=_mapping(meta.get("labels")),
        spec=_mapping(body.get("spec")),
        status=status,
        conditions=tuple(_conditions(status.get("conditions"))),
        is_held=isinstance(finalizers, list) and FINALIZER in finalizers,
    )


def target(text: str, default: str = VM, *, others: bool = False) -> tuple[str, str]:
    """Kind and name of ``gvm/train``, or of ``train``, which is of the default kind. ``others``: any kind may be named.

    Raises:
        PluginError: there is no such kind, or no name.
    """
    word, slash, after = text.partition("/")
    kind, name = (_kind(word), after) if slash else (default, text)
    if others and not slash and _kind(text) is not None:
        raise PluginError(f"{text!r} is a kind.", ExitCode.MISUSED, do=f"Add the name of an object, such as {text}/train.")
    if kind is None or not name or "/" in name:
        suggested = suggestion(word, (one for item in KINDS.values() for one in (item.name.lower(), item.plural, item.short)))
        if slash and kind is None:
            known = use_one_of(f"{item.name.lower()} ({item.short})" for item in KINDS.values())
            raise PluginError(f"unknown kind {word!r}.{suggested}", ExitCode.MISUSED, do=known)
        raise PluginError(f"{text!r} is not KIND/NAME.", ExitCode.MISUSED, do="Use for example gvm/train.")
    if kind != default and not others:
        what = f"{text!r} is not a {default}, and this verb takes nothing else."
        raise PluginError(what, ExitCode.MISUSED, do=f"Name a {default}.")
    return kind, name


def short_of(word: str) -> str:
    """The short name of the kind that a word names; empty if it names none."""
    kind = _kind(word)
    return "" if kind is None else KINDS[kind].short


def moment(value: object) -> datetime | None:
    """A time as Kubernetes writes it."""
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None


def _kind(word: str) -> str | None:
    wanted = word.lower().removesuffix(".gpucloud.dev")
    return next((item.name for item in KINDS.values() if wanted in {item.name.lower(), item.plural, item.short}), None)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _conditions(value: object) -> Iterable[Condition]:
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict) and isinstance(item.get("type"), str):
            words = {name: clean(str(item.get(name, ""))) for name in ("status", "reason", "message")}
            said = marks.read(words["message"])
            yield Condition(item["type"], words["status"], words["reason"], said, moment(item.get("lastTransitionTime")))
