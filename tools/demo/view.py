"""How GpuVMs look to people: a table for a terminal, one line a change for a log. Pure: objects in, text out.

It must not know where objects come from nor where text goes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WIDTH = 100
HEADINGS = ("NAME", "READY", "REASON", "STATE", "CONFIGURATION", "IP", "AGE")
_INDENT = "  "
_GAP = "  "


class Line(NamedTuple):
    """Text of at most ``WIDTH`` columns, and what it is: a heading, good, busy, bad or a note."""

    text: str
    mood: str = ""


@dataclass(frozen=True)
class Row:
    """What people want to know of one GpuVM."""

    name: str
    ready: str
    reason: str
    state: str
    configuration: str
    ip: str
    message: str
    created: datetime
    stalled: bool = False

    @property
    def mood(self) -> str:
        """Good when Ready, bad when a person must act, busy otherwise."""
        return "good" if self.ready == "True" else "bad" if self.stalled else "busy"


def row(obj: Mapping[str, Any]) -> Row:
    """Read an object as the apiserver shows it; whatever is missing is left blank."""
    meta, spec, status = obj["metadata"], obj.get("spec", {}), obj.get("status", {})
    conditions = {item["type"]: item for item in status.get("conditions", ())}
    ready = conditions.get("Ready", {})
    return Row(
        name=meta["name"],
        ready=ready.get("status", "Unknown"),
        reason=ready.get("reason", ""),
        state=_printable(status.get("state", "")),
        configuration=spec.get("configuration", ""),
        ip=_printable(status.get("ip", "")),
        message=_printable(ready.get("message", "")),
        created=datetime.fromisoformat(meta["creationTimestamp"]),
        stalled=conditions.get("Stalled", {}).get("status") == "True",
    )


def table(rows: Sequence[Row], now: datetime) -> list[Line]:
    """Show all rows as ``kubectl get`` would, each with its message below it."""
    if not rows:
        return [Line("No GpuVMs.", "note")]
    cells = [(one.name, one.ready, one.reason, one.state, one.configuration, one.ip, age(one, now)) for one in rows]
    widths = [max(map(len, column)) for column in zip(HEADINGS, *cells, strict=True)]
    lines = [Line(_columns(HEADINGS, widths), "heading")]
    for one, texts in zip(rows, cells, strict=True):
        lines.append(Line(_columns(texts, widths), one.mood))
        lines.append(Line(cut(f"{_INDENT}{one.message}"), "note"))
    return lines


def changes(before: Mapping[str, Row], after: Mapping[str, Row], elapsed: float) -> list[str]:
    """Tell what differs between two views, one line an object; ``elapsed`` is in seconds."""
    lines = [_change(after[name], elapsed) for name in after if before.get(name) != after[name]]
    lines += [_told(elapsed, name, "gone") for name in before if name not in after]
    return lines


def age(one: Row, now: datetime) -> str:
    """How long an object has existed, as short as kubectl says it."""
    seconds = max(0, int((now - one.created.astimezone(UTC)).total_seconds()))
    return f"{seconds}s" if seconds < 120 else f"{seconds // 60}m"


def cut(text: str) -> str:
    """Keep a line within the width; an ellipsis shows that there was more."""
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


def _change(one: Row, elapsed: float) -> str:
    facts = [f"Ready={one.ready}", one.reason, one.state, one.ip]
    if one.ready != "True":  # a Ready VM has nothing to explain
        facts.append(one.message)
    return _told(elapsed, one.name, " ".join(filter(None, facts)))


def _told(elapsed: float, name: str, what: str) -> str:
    return cut(f"{elapsed:5.1f}s {name:<9} {what}")


def _columns(texts: Sequence[str], widths: Sequence[int]) -> str:
    return cut(_GAP.join(text.ljust(width) for text, width in zip(texts, widths, strict=True)).rstrip())


def _printable(text: str) -> str:
    """Much of a status is the cloud's own text; no control character of it reaches a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
