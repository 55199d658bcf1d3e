"""What makes two states the same: objects without versions, the cloud, what is on its way, coroutines, the engine's memory.

Times count relative to now. The engine's memory is walked as it is, whatever its form, so that no field can be forgotten.
"""

from __future__ import annotations

import re
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

from simulation.process import EPOCH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.exhaustive import SmallWorld

_VERSIONS = frozenset({"resourceVersion", "managedFields", "_told", "_order", "_sequence", "raw_meta", "generateName"})
_FOREIGN = ("asyncio", "contextvars", "httpx", "prometheus_client", "structlog", "_asyncio", "logging", "ssl", "functools")
_SKIPPED = frozenset(
    {
        "Metrics",
        "CloudReader",
        "Connection",
        "KubeClient",
        "Ports",
        "SeededEntropy",
        "VirtualClock",
        "Settings",
        "EventPoster",
        "EventRecorder",
    }
)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
FAR = 1_000.0  # what is this far from now is no time


def state_of(world: SmallWorld) -> Any:
    """Everything that the future depends on."""
    now = world.loop.time()
    store, walk = world.api.store, Walk(now)
    objects = [
        (resource.plural, key, walk(stored.seen))
        for resource in world.api.resources
        if resource.plural in {"gpuvms", "secrets"}
        for key, stored in store.listed(resource, "", store.version)
    ]
    cloud = [(table, walk(row), maker) for table, row, maker in world.cloud.live()]
    due = [(round(when - now, 2), _called(timer)) for when, timer in world.loop.timers()]
    process = world.replicas[0].process
    return (
        objects,
        cloud,
        sorted(what for what, _, _ in world.waiting),
        sorted(world.budgets.items()),
        [(round(order.at - now, 1), order.name, order.answer) for order in world.cloud.orders],
        due,
        process.alive,
        walk(world.replicas[0].engine),
    )


def _called(timer: Any) -> str:
    callback = timer._callback
    return str(getattr(callback, "__qualname__", type(callback).__name__))


class Walk:
    """A value in terms of plain data."""

    def __init__(self, now: float) -> None:
        self._now = now
        self._open: set[int] = set()
        self._told: dict[int, int] = {}  # parts of the engine, which many others hold: walked once, then named by number

    def __call__(self, value: Any) -> Any:
        """Plain data, equal for what is the same."""
        if value is None or isinstance(value, bool | int | bytes | Enum):
            return value
        if isinstance(value, float):
            return round(value - self._now, 1) if value > 0.0 and abs(value - self._now) < FAR else value
        if isinstance(value, str):
            return _TIME.sub(self._relative, value)
        if isinstance(value, datetime):
            return self._relative_time(value)
        if id(value) in self._open:
            return "…"
        self._open.add(id(value))
        try:
            return self._whole(value)
        finally:
            self._open.discard(id(value))

    def _whole(self, value: Any) -> Any:
        if isinstance(value, dict):
            return sorted(
                ((repr(self(key)), self(item)) for key, item in value.items() if key not in _VERSIONS), key=lambda one: one[0]
            )
        if isinstance(value, list | tuple):
            return [self(item) for item in value]
        if isinstance(value, set | frozenset):
            return sorted(repr(self(item)) for item in value)
        kind = type(value)
        if kind.__module__.startswith(_FOREIGN) or kind.__name__ in _SKIPPED or callable(value):
            return kind.__name__
        if not kind.__module__.startswith("gpucloud"):
            return [self(item) for item in value] if kind.__module__ == "collections" else kind.__name__
        return self._ours(kind, value)

    def _ours(self, kind: type, value: Any) -> Any:
        if kind.__module__.startswith("gpucloud.engine") and not _is_frozen(kind):
            if id(value) in self._told:
                return (kind.__name__, self._told[id(value)])
            self._told[id(value)] = len(self._told)
        return (kind.__name__, [(name, self(item)) for name, item in _fields(value) if name not in _VERSIONS])

    def _relative(self, found: re.Match[str]) -> str:
        return self._relative_time(datetime.fromisoformat(found[0]))

    def _relative_time(self, moment: datetime) -> str:
        return f"t{(moment - EPOCH).total_seconds() - self._now:+.0f}"


def _is_frozen(kind: type) -> bool:
    """Whether instances of a class are values: equal ones are the same, whoever holds them."""
    return bool(getattr(getattr(kind, "__dataclass_params__", None), "frozen", False))


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    for kind in type(value).__mro__:
        for name in getattr(kind, "__slots__", ()):
            if hasattr(value, name):
                yield name, getattr(value, name)
    yield from getattr(value, "__dict__", {}).items()
