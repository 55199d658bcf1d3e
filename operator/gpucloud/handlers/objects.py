"""Event handlers of our kinds: each passes watch events to the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import kopf

from gpucloud.engine.kinds.registry import KINDS
from gpucloud.kinds.meta import GROUP, VERSION

if TYPE_CHECKING:
    from gpucloud.engine.kinds.declaration import KindDeclaration
    from gpucloud.engine.manager.manager import Engine


def register(registry: kopf.OperatorRegistry, engine: Engine) -> None:
    """Watch every kind."""
    for declared in KINDS:
        _watch(registry, engine, declared)


def _watch(registry: kopf.OperatorRegistry, engine: Engine, declared: KindDeclaration) -> None:
    @kopf.on.event(GROUP, VERSION, declared.plural, registry=registry, id=declared.kind.lower())
    async def on_event(event: kopf.RawEvent, **_: Any) -> None:
        engine.on_event(declared.kind, event["type"], event["object"])
