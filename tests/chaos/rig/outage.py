"""An apiserver that cannot be reached for a while, and what the operator did in that time."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from chaos.rig.calls import KUBE, Phase
from chaos.rig.rules import DROP, Hold, Outcome, Rule

if TYPE_CHECKING:
    from chaos.rig.calls import Call, Seen
    from chaos.rig.trial import Trial

REFUSED, HANGING = "refuses", "hangs"
_ANNOUNCED_BY = {"CreateServer": "Creating", "DestroyServer": "Deleting"}


class Outage:
    """A ``do``: the first call that comes to it begins the outage, which ends by itself after so many seconds.

    ``REFUSED``: connections are refused, and those that are cut. ``HANGING``: what is asked gets no answer, and watches no
    byte; in the end the streams break, since what they should have brought was never read.
    """

    def __init__(self, trial: Trial, how: str, seconds: float) -> None:
        self.began: float | None = None
        self.ended = threading.Event()
        self._trial = trial
        self._how = how
        self._seconds = seconds
        self._hold = Hold()
        self._rule = Rule(lambda _: True, Phase.RECEIVED, self._hold, times=0)

    async def __call__(self, call: Call) -> Outcome:
        """Begin, once."""
        if self.began is None:
            self.began = time.monotonic()
            await self._begin()
            threading.Thread(target=self._end_later, daemon=True).start()
        if call.link != KUBE:
            return None
        return DROP if self._how == REFUSED else await self._hold(call)

    async def _begin(self) -> None:
        kube = self._trial.kube
        if self._how == REFUSED:
            await asyncio.to_thread(kube.down)
        else:
            kube.swallow = True
            kube.rules.insert(0, self._rule)

    def _end_later(self) -> None:
        time.sleep(self._seconds)
        kube = self._trial.kube
        with suppress(Exception):  # the trial may have ended meanwhile
            if self._how == REFUSED:
                kube.up()
            else:
                kube.rules.remove(self._rule)
                kube.cut_streams()
                kube.swallow = False
                self._hold.release()
        self.ended.set()

    def unannounced(self) -> list[str]:
        """Sentences about creates and destroys that were sent in the outage, and of which no status had told before it."""
        if self.began is None:
            return []
        began, until = self.began, self.began + self._seconds
        inside = [seen for seen in self._trial.cloud.seen if seen.call.writes and began < seen.received < until]
        return [
            f"C1: {seen.call} was sent {seen.received - began:.1f} s into the outage, and had not been announced"
            for seen in inside
            if not _announced(self._trial, seen, began)
        ]


def _announced(trial: Trial, sent: Seen, began: float) -> bool:
    """Whether a status that had been committed when the outage began says that this is to be sent."""
    said = [
        json.loads(seen.call.body)
        for seen in trial.kube.seen
        if seen.call.word == "update gpuvms/status"
        and seen.status == 200
        and seen.answered is not None
        and seen.answered <= began
    ]
    wanted = _ANNOUNCED_BY.get(sent.call.word)
    return any(_reason(status) == wanted and _is_about(status, sent) for status in said)


def _reason(written: dict[str, Any]) -> str:
    return next((one["reason"] for one in written["status"]["conditions"] if one["type"] == "Ready"), "")


def _is_about(written: dict[str, Any], sent: Seen) -> bool:
    name = (written["status"].get("order") or {}).get("name", "?")
    return name in sent.call.body.decode() or name in sent.call.query
