"""Kubernetes Events (events.k8s.io/v1) on every mutation of the cloud and every verdict, each told once.

kopf's own posting knows neither action nor deduplication, so these are ours. Events are for people and may be lost; nothing
depends on them.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog

from gpucloud.engine.kube import KubeError
from gpucloud.kinds.meta import API_VERSION, FIELD_MANAGER, GROUP, ConditionType
from gpucloud.reconcile.conditions import find

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpucloud.engine.clock import Clock
    from gpucloud.engine.kube import KubeClient
    from gpucloud.kinds.meta import Condition
    from gpucloud.reconcile.facts import ObjectFacts

log = structlog.get_logger("gpucloud.events")

REPEAT_AFTER_SECONDS = 600.0
LONGEST_NOTE = 1024  # the API's own limit
BACKLOG = 2000
NO_NAMESPACE = "default"  # where the API wants the events of what lives in no namespace


@dataclass(frozen=True, slots=True)
class Happening:
    """What to tell about an object."""

    reason: str
    note: str
    action: str
    warning: bool = False
    always: bool = False  # a mutation that was carried out is told each time


def verdict_change(before: Iterable[Condition], after: Iterable[Condition]) -> Happening | None:
    """The event that a new verdict deserves: turning Ready, or turning Stalled for a new reason."""
    was, now = find(before, ConditionType.READY), find(after, ConditionType.READY)
    if now is None or (was is not None and (was.status, was.reason) == (now.status, now.reason)):
        return None
    if find(after, ConditionType.STALLED) is not None:
        return Happening(now.reason, now.message, "Reconcile", warning=True)
    if now.status == "True":
        return Happening(now.reason, now.message, "Reconcile")
    return None


class EventRecorder:
    """Posts events one after the other from a bounded backlog; what is over it is dropped, and counted in the log."""

    def __init__(self, kube: KubeClient, clock: Clock, instance: str = "") -> None:
        """``instance`` names this process."""
        self._kube = kube
        self._clock = clock
        self._told: dict[str, dict[tuple[str, str], float]] = {}  # by UID, what was told when
        self._backlog: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue(BACKLOG)
        self._instance = f"{FIELD_MANAGER}-{instance}".rstrip("-")[:128]

    def tell(self, kind: str, meta: ObjectFacts, happening: Happening) -> None:
        """Tell this; what is no mutation, not again about the same object within ten minutes."""
        regarding = {"apiVersion": API_VERSION, "kind": kind, "namespace": meta.namespace, "name": meta.name, "uid": meta.uid}
        now, what = self._clock.mono(), (happening.reason, happening.note)
        told = {key: at for key, at in self._told.get(meta.uid, {}).items() if now - at < REPEAT_AFTER_SECONDS}
        if what in told and not happening.always:
            return
        self._told[meta.uid] = told | {what: now}
        self._post(meta.namespace, regarding, happening)

    def tell_of_kind(self, plural: str, happening: Happening) -> None:
        """Tell what concerns no object of a kind: it is told of the kind's definition, in the namespace ``default``."""
        regarding = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "name": f"{plural}.{GROUP}"}
        self._post(NO_NAMESPACE, regarding, happening)

    def forget(self, uid: str) -> None:
        """The object is gone; its successor of the same name is told everything anew."""
        self._told.pop(uid, None)

    async def run(self) -> None:
        """Post until cancelled."""
        while True:
            namespace, document = await self._backlog.get()
            try:
                await self._kube.record_event(namespace, document)
            except KubeError as error:
                log.info("event not recorded", namespace=namespace, reason=document["reason"], error=str(error))
            finally:
                self._backlog.task_done()

    async def drain(self) -> None:
        """Wait until everything told is posted."""
        await self._backlog.join()

    def _post(self, namespace: str, regarding: dict[str, str], happening: Happening) -> None:
        try:
            self._backlog.put_nowait((namespace, self._document(namespace, regarding, happening)))
        except asyncio.QueueFull:
            name = regarding["name"]
            log.warning("event dropped: the backlog is full", namespace=namespace, name=name, reason=happening.reason)

    def _document(self, namespace: str, regarding: dict[str, str], happening: Happening) -> dict[str, Any]:
        moment = self._clock.wall()
        told_of = regarding.get("uid", regarding["name"])
        unique = hashlib.sha256(f"{told_of}{happening}{self._clock.mono()}".encode()).hexdigest()[:16]
        return {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": f"{regarding['name'][:200].rstrip('-.')}.{unique}", "namespace": namespace},
            "eventTime": moment.strftime("%Y-%m-%dT%H:%M:%S.000000Z"),
            "reportingController": f"{GROUP}/operator",
            "reportingInstance": self._instance,
            "action": happening.action,
            "reason": happening.reason,
            "note": happening.note[:LONGEST_NOTE],
            "type": "Warning" if happening.warning else "Normal",
            "regarding": regarding,
        }
