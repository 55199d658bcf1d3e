"""Plain requests and responses: the one shape that the simulator, its in-process transport and its server agree on.

It knows HTTP's words only. It must not know aiohttp, httpx or what any operation means.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

Pairs = tuple[tuple[str, str], ...]


class Ending(StrEnum):
    """How an answer leaves: whole, or in one of the ways in which connections fail."""

    COMPLETE = "complete"
    RESET = "reset"
    SILENCE = "silence"
    CUT_BODY = "cut_body"


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request. Header names are lower case; ``peer`` is the caller's address. The repr shows no secret."""

    method: str
    path: str
    query: Pairs = field(default=(), repr=False)
    headers: Pairs = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)
    peer: str = "127.0.0.1"

    def header(self, name: str) -> str:
        """The first value of a header, or ``""``."""
        return next((value for key, value in self.headers if key == name), "")


@dataclass(frozen=True, slots=True)
class Response:
    """One HTTP answer and how it is delivered; ``drip_seconds`` is the pause after each byte-sized piece."""

    status: int
    body: bytes = field(default=b"", repr=False)
    content_type: str = "application/json; charset=utf-8"
    headers: Pairs = ()
    ending: Ending = Ending.COMPLETE
    silence_seconds: float = 0.0
    drip_seconds: float = 0.0
