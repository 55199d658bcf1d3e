"""Traces: what one edit of an object led to, from the edit until the object is settled or gone.

The engine knows ``Tracer`` only. ``opentelemetry.py`` implements it, and is imported where --tracing is on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Edit:
    """One generation of one object: a trace is about one edit. ``traceparent``: that of the annotation; "" when absent."""

    kind: str
    namespace: str
    name: str
    uid: str
    generation: int
    traceparent: str = ""


class Tracer(Protocol):
    """Records spans. It never fails, and never waits."""

    def call(self, edit: Edit, operation: str, target: str) -> AbstractContextManager[None]:
        """Record a changing call to the cloud; an exception that leaves the block is its outcome."""

    def status(self, edit: Edit, reason: str, message: str, *, failed: bool = False) -> None:
        """Record a change of the Ready condition; ``failed``: a person must act."""

    def settled(self, edit: Edit, since: datetime, reason: str) -> None:
        """Record the whole edit, which began then and has made the object Ready, or is a deletion that is over."""

    def close(self) -> None:
        """Send what is recorded; may wait for the collector."""
