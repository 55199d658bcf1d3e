"""Audit log of the requests to the apiserver that a plan's action makes. Calls of the cloud are logged by its port."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from gpucloud.kinds.meta import Reason
    from gpucloud.reconcile.facts import ObjectFacts, Verb

log = structlog.get_logger("gpucloud.audit")


def calling(verb: Verb, kind: str, meta: ObjectFacts, target: str) -> None:
    """Log that the request is about to be sent."""
    log.info("calling", target=target, **_names(verb, kind, meta))


def done(verb: Verb, kind: str, meta: ObjectFacts, outcome: Reason, **more: str) -> None:
    """Log that the request was carried out."""
    log.info("call", outcome=outcome, **more, **_names(verb, kind, meta))


def failed(verb: Verb, kind: str, meta: ObjectFacts, outcome: Reason, error: str) -> None:
    """Log that the request failed."""
    log.warning("call", outcome=outcome, error=error, **_names(verb, kind, meta))


def _names(verb: Verb, kind: str, meta: ObjectFacts) -> dict[str, str]:
    return {"verb": verb, "kind": kind, "namespace": meta.namespace, "name": meta.name, "uid": meta.uid}
