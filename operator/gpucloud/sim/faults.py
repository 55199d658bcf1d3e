"""Faults: which calls they hit, seeded and addressed, and what they do to answers.

Whether a fault strikes is decided here, once a call; the simulator carries it out. It must not know the world.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from random import Random  # noqa: TID251 - seeded
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from gpucloud.sim.answers import HTML
from gpucloud.sim.messages import Ending, Response

if TYPE_CHECKING:
    from collections.abc import Callable


class FaultKind(StrEnum):
    """What goes wrong."""

    DELAY = "delay"
    DELAY_ANSWER = "delay_answer"
    STATUS = "status"
    STATUS_AFTER_COMMIT = "status_after_commit"
    RESET = "reset"
    LOST_ANSWER = "lost_answer"
    SILENCE = "silence"
    SILENCE_AFTER_COMMIT = "silence_after_commit"
    LATE_COMMIT = "late_commit"
    GHOST = "ghost"
    STALE = "stale"
    PARTIAL = "partial"
    EMPTY = "empty"
    DUPLICATE = "duplicate"
    STATUS_WORD = "status_word"
    GARBAGE = "garbage"
    TRUNCATED = "truncated"
    CUT_BODY = "cut_body"
    HTML = "html"
    DRIP = "drip"


class Fault(BaseModel):
    """A fault and the calls it is meant for.

    ``operation`` may hold ``*``; ``parameters`` and ``credential`` narrow it further. It strikes matching calls from the
    ``nth`` on, ``times`` times (once if only ``nth`` is given, else for ever), each with ``probability``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: FaultKind
    id: str = ""
    operation: str = "*"
    parameters: dict[str, str] = {}
    credential: str = ""
    nth: int = Field(0, ge=0, description="1 is the first matching call after the fault was added; 0 is any")
    times: int = Field(0, ge=0, description="0 is once with nth, for ever without")
    probability: float = Field(1.0, ge=0, le=1)
    seconds: float = Field(1.0, ge=0, le=1e9, description="delay, age of a stale listing, pause of a drip, …")
    status: int = Field(500, ge=0, le=599, description="status, status_after_commit, late_commit (0 hangs up)")
    retry_after: str = Field("", description="Retry-After as it is sent: seconds, a date, or nonsense")
    message: str = ""
    body: str | None = Field(None, description="status: this body instead of an error")
    items: int = Field(1, ge=0, description="partial drops, duplicate repeats so many")
    word: str = "HIBERNATING"

    @property
    def limit(self) -> int:
        """How often it strikes; 0 is for ever."""
        return self.times or (1 if self.nth else 0)


@dataclass(slots=True)
class _Armed:
    fault: Fault
    random: Random
    seen: int = 0
    struck: int = 0

    def strikes(self) -> bool:
        self.seen += 1
        fault = self.fault
        if self.seen < fault.nth or (fault.limit and self.struck >= fault.limit):
            return False
        if fault.probability < 1 and self.random.random() >= fault.probability:
            return False
        self.struck += 1
        return True


class Faults:
    """The faults in force. The same seed, faults and calls give the same strikes."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._armed: dict[str, _Armed] = {}
        self._added = 0

    def add(self, fault: Fault) -> Fault:
        """Arm a fault; a missing id is given here, a known one is replaced."""
        self._added += 1
        fault = fault if fault.id else fault.model_copy(update={"id": f"fault-{self._added}"})
        random = Random(f"{self._seed}/{fault.id}")  # noqa: S311 - repeatable, not secret
        self._armed[fault.id] = _Armed(fault, random)
        return fault

    def remove(self, fault_id: str) -> bool:
        """Disarm a fault; False if there is none of that id."""
        return self._armed.pop(fault_id, None) is not None

    def clear(self) -> None:
        """Disarm all."""
        self._armed.clear()

    def listed(self) -> list[dict[str, Any]]:
        """Return each fault with how often it was considered and struck."""
        return [
            {**armed.fault.model_dump(mode="json"), "seen": armed.seen, "struck": armed.struck}
            for armed in self._armed.values()
        ]

    def strike(self, operation: str, parameters: dict[str, Any], credential: str) -> InjectedFault:
        """Return what goes wrong with this call."""
        hits = [
            armed.fault
            for armed in self._armed.values()
            if _strikes_call(armed.fault, operation, parameters, credential) and armed.strikes()
        ]
        return InjectedFault(tuple(hits))


@dataclass(frozen=True, slots=True)
class InjectedFault:
    """The faults that hit one call."""

    faults: tuple[Fault, ...]

    def first(self, *kinds: FaultKind) -> Fault | None:
        """Return the first fault of these kinds."""
        return next((fault for fault in self.faults if fault.kind in kinds), None)

    def seconds(self, kind: FaultKind) -> float:
        """Return the sum of the seconds of all faults of a kind."""
        return sum(fault.seconds for fault in self.faults if fault.kind is kind)

    def on_data(self, data: Any) -> Any:
        """Return a listing with items dropped, repeated or renamed; anything else but a status word as it is."""
        items = data.get("items") if isinstance(data, dict) else None
        for fault in self.faults:
            if fault.kind is FaultKind.STATUS_WORD:
                data = _with_word(data, fault.word)
            elif isinstance(items, list) and fault.kind in _ON_ITEMS:
                data = {**data, "items": _ON_ITEMS[fault.kind](data["items"], fault)}
        return data

    def on_response(self, response: Response) -> Response:
        """Return the answer with a broken body or a broken delivery."""
        for fault in self.faults:
            response = _broken(response, fault)
        return response


def _strikes_call(fault: Fault, operation: str, parameters: dict[str, Any], credential: str) -> bool:
    return (
        fnmatchcase(operation, fault.operation)
        and fault.credential in {"", credential}
        and all(str(parameters.get(name)) == value for name, value in fault.parameters.items())
    )


def _without_some(items: list[Any], fault: Fault) -> list[Any]:
    return items[: max(0, len(items) - fault.items)]


def _without_any(_items: list[Any], _fault: Fault) -> list[Any]:
    return []


def _with_some_twice(items: list[Any], fault: Fault) -> list[Any]:
    return items + items[: fault.items]


_ON_ITEMS: dict[FaultKind, Callable[[list[Any], Fault], list[Any]]] = {
    FaultKind.PARTIAL: _without_some,
    FaultKind.EMPTY: _without_any,
    FaultKind.DUPLICATE: _with_some_twice,
}


def _with_word(data: Any, word: str) -> Any:
    if not isinstance(data, dict):
        return data
    if isinstance(data.get("items"), list):
        return {**data, "items": [_with_word(item, word) for item in data["items"]]}
    return {**data, "status": word} if "status" in data else data


def _broken(response: Response, fault: Fault) -> Response:
    changes: dict[FaultKind, dict[str, Any]] = {
        FaultKind.LOST_ANSWER: {"ending": Ending.RESET},
        FaultKind.SILENCE_AFTER_COMMIT: {"ending": Ending.SILENCE, "silence_seconds": fault.seconds},
        FaultKind.GARBAGE: {"body": b'\xff\xfe{"items": [\x00 not json'},
        FaultKind.TRUNCATED: {"body": response.body[: len(response.body) // 2]},
        FaultKind.CUT_BODY: {"ending": Ending.CUT_BODY},
        FaultKind.HTML: {"body": b"<!doctype html><html><body>Sign in</body></html>", "content_type": HTML},
        FaultKind.DRIP: {"drip_seconds": fault.seconds},
    }
    return replace(response, **changes.get(fault.kind, {}))


def hang_up() -> Response:
    """Return the answer that is none: the connection is reset."""
    return Response(0, ending=Ending.RESET)


def silence(fault: Fault) -> Response:
    """Return the answer that never comes; the connection is dropped after the fault's seconds."""
    return Response(0, ending=Ending.SILENCE, silence_seconds=fault.seconds)


def own_body(fault: Fault) -> Response | None:
    """Return the answer of a status fault that brings its own body."""
    if fault.body is None:
        return None
    try:
        json.loads(fault.body)
        return Response(fault.status, fault.body.encode())
    except ValueError:
        return Response(fault.status, fault.body.encode(), "text/plain; charset=utf-8")
