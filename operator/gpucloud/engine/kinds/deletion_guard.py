"""Who is leaving, and who of them is held: the memory round ``reconcile/deletion_guard.py``, for the whole operator.

Counting and letting pass happen without an await in between, so no two can pass each other. What has passed is remembered
for two windows, since the watch may show late who entered deletion with it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import structlog

from gpucloud.engine.kube.client import KubeError
from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile import deletion_guard
from gpucloud.reconcile.deletion_guard import Departure, Rule
from gpucloud.reconcile.stamps import Stamp

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.engine.kube.namespaces import Namespaces
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.reconcile.deletion_guard import Hold
    from gpucloud.reconcile.facts import ObjectFacts
    from gpucloud.settings import Settings

log = structlog.get_logger("gpucloud.brake")

RELEASE_SECONDS = 5.0  # between two looks at a namespace in which something is held


def rule_of(settings: Settings) -> Rule:
    """What the administrator lets pass."""
    window = timedelta(seconds=settings.brake_window_seconds)
    return Rule(settings.brake_vms, Decimal(str(settings.brake_price_per_hour)), window)


class DeletionGuard:
    """All departures, by UID. Costs nothing while it is off."""

    def __init__(self, rule: Rule, namespaces: Namespaces, clock: Clock, wake: Callable[[str], None]) -> None:
        self.rule = rule
        self._namespaces = namespaces
        self._clock = clock
        self._wake = wake
        self._departures: dict[str, Departure] = {}
        self._troubles: dict[str, str] = {}  # by UID: what is wrong with its own annotation
        self._released: dict[str, Stamp] = {}  # by namespace
        self._texts: dict[str, str | None] = {}  # by namespace, as the annotation stands
        self._gone: dict[str, float] = {}  # of those that have passed and whose object is gone, since when
        self._held: dict[str, str] = {}  # UID to namespace
        self._line: list[Departure] | None = None  # those not released, by time; None: to be made anew
        self._newcomers = False  # somebody has come since those held were told how many they are

    @property
    def on(self) -> bool:
        """Whether anything can ever be held."""
        return self.rule.on

    def counts(self) -> dict[tuple[str], float]:
        """How many are held, by namespace."""
        return {(namespace,): float(count) for namespace, count in Counter(self._held.values()).items()}

    def put(self, meta: ObjectFacts, price: Decimal | None, *, held: bool) -> None:
        """This object's deletion destroys a VM. ``held``: its status says so already."""
        if not self.on or meta.deleted_at is None:
            return
        now, known = self._clock.wall(), self._departures.get(meta.uid)
        own = deletion_guard.release(meta.annotations.get(Annotation.BRAKE_RELEASED_AT), now, "this object")
        self._troubles[meta.uid] = own.trouble
        self._gone.pop(meta.uid, None)
        self._newcomers |= known is None
        fresh = Departure(
            uid=meta.uid,
            namespace=meta.namespace,
            entered=meta.deleted_at,
            price=price,
            passed=known is not None and known.passed,
            released=own.at is not None or self._release_of(meta.namespace).covers(meta.deleted_at),
            held=held or (known is not None and known.held),
        )
        self._set(fresh)

    def drop(self, uid: str) -> None:
        """Its deletion destroys nothing, or nothing any more. What has passed goes on counting."""
        self._held.pop(uid, None)
        self._troubles.pop(uid, None)
        known = self._departures.get(uid)
        if known is None:
            return
        if known.passed:
            self._gone.setdefault(uid, self._clock.mono())
        else:
            del self._departures[uid]
            self._line = None
        self._prune()

    def hold(self, uid: str) -> Hold | None:
        """Why this VM must not be destroyed now; None lets it pass. Once held it stays so until it is released."""
        departure, found = self._departures.get(uid), self._judged(uid)
        if departure is None or found is None:
            self._let_go(uid)
            return None
        if not self._held:
            log.warning("the brake holds deletions", crossed=found.crossed or "before", vms=found.vms, price=str(found.price))
        self._held[uid] = departure.namespace
        return replace(found, trouble=self._trouble(departure))

    def _judged(self, uid: str) -> Hold | None:
        departure = self._departures.get(uid)
        if departure is None:
            return None
        return deletion_guard.hold(replace(departure, held=departure.held or uid in self._held), self._in_line(), self.rule)

    def admit(self, uid: str) -> bool:
        """The destroying call is about to be sent; answers whether it is the first of this object's."""
        departure = self._departures.get(uid)
        if departure is None or departure.passed:
            return False
        self._set(replace(departure, passed=True))
        return True

    def roll_back(self, uid: str) -> None:
        """It was not sent after all."""
        departure = self._departures.get(uid)
        if departure is not None and departure.passed:
            self._set(replace(departure, passed=False))

    async def look(self, uid: str) -> None:
        """If this one would be held, see first what has been released: its namespace, and any that was never looked at."""
        if not self.on or self._judged(uid) is None:
            return
        unread = {item.namespace for item in self._in_line()} - self._texts.keys()
        for namespace in sorted({self._departures[uid].namespace, *unread}):
            await self._read(namespace)

    async def watch(self) -> None:
        """While something is held, look at its namespaces for their release, until cancelled."""
        while True:
            await asyncio.sleep(RELEASE_SECONDS)
            for namespace in sorted(set(self._held.values())):
                await self._read(namespace)
            if self._newcomers:  # the numbers in the messages grow
                self._newcomers = False
                for uid in list(self._held):
                    self._wake(uid)

    async def _read(self, namespace: str) -> None:
        try:
            text = (await self._namespaces.get(namespace)).brake_released_at
        except KubeError as error:
            log.warning("the namespace cannot be read: what is held in it stays held", namespace=namespace, error=str(error))
            return
        if text == self._texts.get(namespace):
            return
        self._texts[namespace] = text
        self._released[namespace] = deletion_guard.release(text, self._clock.wall(), f"namespace {namespace!r}")
        for departure in [item for item in self._departures.values() if item.namespace == namespace]:
            if self._released[namespace].covers(departure.entered):
                self._set(replace(departure, released=True))
        for uid in [uid for uid, where in self._held.items() if where == namespace]:
            self._wake(uid)

    def _release_of(self, namespace: str) -> Stamp:
        return self._released.get(namespace, Stamp())

    def _trouble(self, departure: Departure) -> str:
        """Why an annotation that stands there has released nothing."""
        own, release = self._troubles.get(departure.uid, ""), self._release_of(departure.namespace)
        older = f"The last release of namespace {departure.namespace!r} is older than this deletion."
        return own or release.trouble or (older if release.at is not None else "")

    def _set(self, departure: Departure) -> None:
        if self._departures.get(departure.uid) != departure:
            self._departures[departure.uid] = departure
            self._line = None

    def _in_line(self) -> list[Departure]:
        self._prune()
        if self._line is None:
            waiting = [item for item in self._departures.values() if not item.released]
            self._line = sorted(waiting, key=lambda item: item.entered)
        return self._line

    def _let_go(self, uid: str) -> None:
        if self._held.pop(uid, None) is not None and not self._held:
            log.info("the brake holds nothing any more")

    def _prune(self) -> None:
        """Forget what has passed long ago; the oldest stand first."""
        until = self._clock.mono() - 2 * self.rule.window.total_seconds()
        for uid, since in list(self._gone.items()):
            if since > until:
                return
            del self._gone[uid]
            del self._departures[uid]
            self._line = None
