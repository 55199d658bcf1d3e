"""Deletion guard of the whole operator: counts GpuVM deletions and holds those over the limit.

``reconcile/deletion_guard.py`` has the rule; this module has its state. A deletion is counted and admitted without an await
in between. An admitted deletion stays counted for two windows, since the watch may show others of that time late, and for as
long as one of its window waits: what cannot be seen in the cloud is decided much later.
"""

from __future__ import annotations

import asyncio
import math
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import takewhile
from typing import TYPE_CHECKING

import structlog

from gpucloud.engine.kinds.counted_deletions import CountedDeletions
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.kube.namespaces import REMEMBERED_SECONDS
from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile import deletion_guard
from gpucloud.reconcile.deletion_guard import Rule, VmDeletion
from gpucloud.reconcile.time_annotations import TimeAnnotation

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from gpucloud.engine.kube.namespaces import Namespaces
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.reconcile.deletion_guard import Hold
    from gpucloud.reconcile.facts import ObjectFacts
    from gpucloud.settings import Settings

log = structlog.get_logger("gpucloud.deletion_guard")

RELEASE_SECONDS = 5.0  # between two reads of the release annotation of a namespace with held deletions
PRUNE_SECONDS = 1.0  # at least between two looks for what need not be counted any more


def rule_of(settings: Settings) -> Rule:
    """Return the limits that the administrator set."""
    window = timedelta(seconds=settings.brake_window_seconds)
    return Rule(settings.brake_vms, Decimal(str(settings.brake_price_per_hour)), window)


class DeletionGuard:
    """Deletions by UID. Does nothing while the rule is off."""

    def __init__(self, rule: Rule, namespaces: Namespaces, clock: Clock, wake: Callable[[str], None]) -> None:
        self.rule = rule
        self._namespaces = namespaces
        self._clock = clock
        self._wake = wake
        self._deletions = CountedDeletions()
        self._troubles: dict[str, str] = {}  # by UID: what is wrong with the object's release annotation
        self._released: dict[str, TimeAnnotation] = {}  # by namespace
        self._texts: dict[str, str | None] = {}  # by namespace: text of its release annotation
        self._all_read: dict[bool, float] = {}  # by "held": since when (mono) all namespaces that count for it have been read
        self._counted_at: dict[str, float] = {}  # by UID: time (mono) at which its deletion was first counted
        self._gone: dict[str, float] = {}  # by UID of admitted, deleted objects: time (mono) of the object's deletion
        self._pruned = -math.inf  # mono
        self._newcomers = False  # a deletion was added since the held objects were last woken
        self._holding = False  # something is held, as was last logged

    @property
    def on(self) -> bool:
        """Whether a limit is set."""
        return self.rule.on

    def counts(self) -> dict[tuple[str], float]:
        """Return the number of held deletions by namespace, for metrics."""
        return {
            (namespace,): float(count)
            for namespace, count in Counter(item.namespace for item in self._deletions.held()).items()
        }

    def put(self, meta: ObjectFacts, price: Decimal | None, *, held: bool, replaced_since: datetime | None = None) -> None:
        """Count a deletion that destroys a VM, or one that is destroyed for another, since then.

        ``held``: the object's status says that it is held; it is, until released.
        """
        requested_at = meta.deleted_at or replaced_since
        if not self.on or requested_at is None:
            return
        now, known = self._clock.wall(), self._not_of_earlier_vm(meta.uid, requested_at)
        own = deletion_guard.release(meta.annotations.get(Annotation.BRAKE_RELEASED_AT), now, "this object")
        released_itself = own.at is not None if meta.deleting else own.covers(requested_at)
        self._troubles[meta.uid] = own.trouble
        self._gone.pop(meta.uid, None)
        self._newcomers |= known is None
        self._counted_at.setdefault(meta.uid, self._clock.mono())
        fresh = VmDeletion(
            uid=meta.uid,
            namespace=meta.namespace,
            requested_at=requested_at,
            price=price,
            admitted=known is not None and known.admitted,
            released=released_itself or self._release_of(meta.namespace).covers(requested_at),
            released_itself=released_itself,
            held=held,
        )
        if meta.namespace not in self._deletions.namespaces:
            self._all_read = {}
        self._deletions.put(fresh)
        if held and fresh.released and not fresh.admitted and (known is None or not known.held):
            self._wake(meta.uid)  # the release was read after it had been decided to hold it
        if held and not self._holding:
            self._log(self._deletions.held())
        self._prune()

    def _not_of_earlier_vm(self, uid: str, requested_at: datetime) -> VmDeletion | None:
        """Return what is counted for this object; the destruction of an earlier VM of it goes on counting by itself."""
        known = self._deletions.get(uid)
        if known is None or known.requested_at == requested_at:
            return known
        self.drop(uid)
        if uid in self._deletions:
            self._deletions.remove(uid)
            earlier = replace(known, uid=f"{uid}/{known.requested_at.isoformat()}")
            self._gone[earlier.uid] = self._gone.pop(uid)
            self._deletions.put(earlier)
        return None

    def drop(self, uid: str) -> None:
        """Stop counting a deletion that destroys no VM, or no longer does. An admitted one stays counted for two windows."""
        self._troubles.pop(uid, None)
        self._counted_at.pop(uid, None)
        known = self._deletions.get(uid)
        if known is None:
            return
        if known.admitted:
            self._gone.setdefault(uid, self._clock.mono())
        else:
            self._deletions.remove(uid)
        self._prune()

    def hold(self, uid: str) -> Hold | None:
        """Return why this VM must not be destroyed now; None if it may be. What a status calls held stays so until released."""
        deletion = self._deletions.get(uid)
        if deletion is None:
            return None
        found = deletion_guard.hold(deletion, self._deletions.unreleased, self.rule)
        return None if found is None else replace(found, trouble=self._trouble(deletion))

    def admit(self, uid: str) -> bool:
        """Count the destroying call before it is sent; return whether it is the object's first."""
        deletion = self._deletions.get(uid)
        if deletion is None or deletion.admitted:
            return False
        self._deletions.put(replace(deletion, admitted=True))
        return True

    def roll_back(self, uid: str) -> None:
        """Undo ``admit``: the call was not sent. The object may be gone meanwhile: then its deletion counts no more."""
        deletion = self._deletions.get(uid)
        if deletion is not None and deletion.admitted:
            self._deletions.put(replace(deletion, admitted=False))
        if self._gone.pop(uid, None) is not None:
            self.drop(uid)

    async def refresh_releases(self, uid: str) -> None:
        """Read the release annotations that may release this deletion, or deletions that are counted with it.

        A deletion that is not held yet is not held for a release that preceded it: all those namespaces are read anew. So they
        are while a price is unknown, which may be known when the deletion is checked, and while a release counts: it may have
        been taken back. One that is held reads its own, and those without an annotation so far; ``watch`` reads the others.
        Those that were all read a moment ago are not passed over again.
        """
        deletion = self._deletions.get(uid)
        if deletion is None:
            return
        lacks_price = self.rule.price > 0 and self._deletions.lack_price
        if not (self.hold(uid) is not None or lacks_price or self._deletions.rely_on_release):
            return
        held, known, counted = deletion.held, self._all_read, self._deletions.namespaces
        not_before = -math.inf if held else self._counted_at.get(uid, -math.inf)
        read_at = known.get(held, -math.inf)
        if read_at >= not_before and read_at > self._clock.mono() - REMEMBERED_SECONDS:
            if held:
                await self._read(deletion.namespace)
            return
        needed = {deletion.namespace, *(counted - self._texts.keys() if held else counted)}
        # Into ``known``: it counts no more if a namespace was added meanwhile.
        known[held] = min([await self._read(namespace, not_before) for namespace in sorted(needed)])

    async def watch(self) -> None:
        """Read the release annotations of namespaces with held deletions every few seconds, until cancelled."""
        while True:
            await asyncio.sleep(RELEASE_SECONDS)
            held = self._deletions.held()
            self._log(held)
            for namespace in sorted({item.namespace for item in held}):
                await self._read(namespace)
            if self._newcomers:  # the numbers in the messages of the held objects change
                self._newcomers = False
                for item in held:
                    self._wake(item.uid)

    async def _read(self, namespace: str, not_before: float = -math.inf) -> float:
        """Read a release annotation, and note what it releases; return when the read began (mono), -inf if it failed."""
        try:
            read = await self._namespaces.get(namespace, not_before)
        except KubeError as error:
            log.warning("the namespace cannot be read: what is held in it stays held", namespace=namespace, error=str(error))
            return -math.inf
        text = read.brake_released_at
        if text == self._texts.get(namespace):
            return read.read_at
        self._texts[namespace] = text
        where, now = f"namespace {namespace!r}", self._clock.wall()
        self._released[namespace] = deletion_guard.release(text, now, where, read.brake_written_at)
        held = [item.uid for item in self._deletions.held() if item.namespace == namespace]
        for deletion in self._deletions.of_namespace(namespace):
            released = deletion.released_itself or self._released[namespace].covers(deletion.requested_at)
            self._deletions.put(replace(deletion, released=released))
        for uid in held:
            self._wake(uid)
        return read.read_at

    def _release_of(self, namespace: str) -> TimeAnnotation:
        return self._released.get(namespace, TimeAnnotation())

    def _trouble(self, deletion: VmDeletion) -> str:
        """Return why an existing release annotation does not release this deletion; empty if there is none."""
        own, release = self._troubles.get(deletion.uid, ""), self._release_of(deletion.namespace)
        return own or release.trouble or (deletion_guard.OLDER if release.at is not None else "")

    def _log(self, held: list[VmDeletion]) -> None:
        if bool(held) == self._holding:
            return
        self._holding = bool(held)
        why = self.hold(held[0].uid) if held else None
        if why is None:
            log.info("no deletion is held any more")
        else:
            log.warning("deletions are held", exceeded=why.exceeded or "before", vms=why.vms, price=str(why.price))

    def _prune(self) -> None:
        """Stop counting deletions admitted over two windows ago of which no window has another that waits."""
        now, window = self._clock.mono(), self.rule.window
        if now < self._pruned + PRUNE_SECONDS:
            return
        self._pruned, until = now, now - 2 * window.total_seconds()
        due = list(takewhile(lambda uid: self._gone[uid] <= until, self._gone))  # in order of time
        waiting = sorted(item.requested_at for item in self._deletions.values() if not item.admitted) if due else []
        for uid in due:
            entered = self._deletions[uid].requested_at
            if bisect_left(waiting, entered - window) == bisect_right(waiting, entered + window):
                del self._gone[uid]
                self._deletions.remove(uid)
