"""What a plot brings about at one certain call or write, beside the faults that the weather draws. It ends with the storm."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.world import World

FOREVER = math.inf


@dataclass(slots=True)
class _Spell:
    """Something that strikes calls of one name, from one time to another, so many times at most."""

    call: str
    what: str
    begin: float
    end: float
    times: float
    done: int = field(default=0)


class Arranged:
    """Faults of calls, deaths of their senders, writes that are overtaken, and news that come late or never."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._faults: list[_Spell] = []
        self._deaths: list[_Spell] = []
        self._news: list[_Spell] = []
        self._delays: dict[str, float] = {}
        self._overtaken: dict[tuple[str, str], Callable[[], None]] = {}

    # What plots say.

    def fault(self, operation: str, kind: str, *, times: float = FOREVER, begin: float = 0.0, end: float = FOREVER) -> None:
        """Let the next calls meet this fault within seconds from now: of an operation of the cloud, or ``kube GET gpuvms``.

        An operation may name a cluster: ``GetServers Msc1``.
        """
        self._faults.append(self._spell(operation, kind, begin, end, times))

    def death(self, operation: str, where: str) -> None:
        """Kill the sender of the next call of an operation: ``links.DEATHS`` says where on its way.

        Not where the cloud names things itself: who dies before the answer came can never learn what it has called them.
        """
        if self._world.weather.has("own-id"):
            return
        self._deaths.append(self._spell(f"cloud {operation}", where, 0.0, FOREVER, 1))

    def lateness(self, plural: str) -> float:
        """By how many seconds news of such objects may come late."""
        return self._delays.get(plural, 0.0)

    def late_news(self, plural: str, seconds: float, *, begin: float, end: float) -> None:
        """Let events of such objects be told so much later."""
        self._delays[plural] = seconds
        self._news.append(self._spell(plural, "watch-slow", begin, end, FOREVER))

    def gap(self, plural: str, *, begin: float, end: float) -> None:
        """Let streams of such objects break off with a 410: what is deleted meanwhile is never told."""
        self._news.append(self._spell(plural, "watch-410", begin, end, FOREVER))

    def overtake(self, method: str, path: str, deed: Callable[[], None]) -> None:
        """Do something right before the next write of an operator to this path arrives."""
        self._overtaken[method, path] = deed

    def _spell(self, call: str, what: str, begin: float, end: float, times: float) -> _Spell:
        now = self._world.loop.time()
        return _Spell(call, what, now + begin, now + end, times)

    # What links ask.

    def strikes(self, operation: str) -> str:
        """The fault that this call meets; empty for none."""
        return self._met(self._faults, operation)

    def kills(self, call: str) -> str:
        """Where on its way the sender of this call dies; empty for nowhere."""
        return self._met(self._deaths, call)

    def told(self, plural: str) -> tuple[str, float]:
        """What befalls an event of such objects: a kind of fault, and seconds."""
        what = self._met(self._news, plural)
        return what, self._delays[plural] if what == "watch-slow" else 0.0

    def arrives(self, method: str, path: str) -> None:
        """An operator's write is about to be carried out."""
        deed = None if self._world.weather.over else self._overtaken.pop((method, path), None)
        if deed is not None:
            deed()

    def _met(self, spells: list[_Spell], call: str) -> str:
        now = self._world.loop.time()
        if self._world.weather.over:
            return ""
        for spell in spells:
            if spell.call == call and spell.begin <= now < spell.end and spell.done < spell.times:
                spell.done += 1
                self._world.weather.met[spell.what] += 1
                return spell.what
        return ""
