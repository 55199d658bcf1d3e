"""Event handlers of our kinds: each passes watch events to the engine, and asks kopf to add our finalizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import kopf

from gpucloud.engine.kinds.registry import KINDS
from gpucloud.kinds.meta import FINALIZER, GROUP, VERSION

if TYPE_CHECKING:
    from gpucloud.engine.kinds.declaration import KindDeclaration
    from gpucloud.engine.manager.manager import Engine


def register(registry: kopf.OperatorRegistry, engine: Engine, *, guard: bool) -> None:
    """Watch every kind. ``guard``: add our finalizer to objects that need and lack it (not under ``--observe-only``)."""
    for declared in KINDS:
        _watch(registry, engine, declared, guard=guard and declared.holds_deletion)


def _watch(registry: kopf.OperatorRegistry, engine: Engine, declared: KindDeclaration, *, guard: bool) -> None:
    @kopf.on.event(GROUP, VERSION, declared.plural, registry=registry, id=declared.kind.lower())
    async def observe(event: kopf.RawEvent, patch: kopf.Patch, **_: Any) -> None:
        body = event["object"]
        engine.observe(declared.kind, event["type"], body)
        if guard and event["type"] != "DELETED" and needs_finalizer(body):
            patch.fns.append(add_finalizer)


def needs_finalizer(body: Any) -> bool:
    """Whether a live object lacks our finalizer; one that is being deleted may not be given any."""
    meta = body["metadata"]
    return "deletionTimestamp" not in meta and FINALIZER not in meta.get("finalizers", ())


def add_finalizer(body: Any) -> None:
    """What kopf turns into a JSON patch with a test of the resourceVersion; a conflict is tried again on the next event."""
    finalizers = body["metadata"].setdefault("finalizers", [])
    if FINALIZER not in finalizers:
        finalizers.append(FINALIZER)
