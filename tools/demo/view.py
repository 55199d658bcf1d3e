"""How our objects look to people: a table for a terminal, a line or two a change for a log. Pure: objects in, text out.

It must not know where objects come from nor where text goes.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WIDTH = 100
_TERMINAL = 80  # columns
HEADINGS = ("KIND", "NAME", "READY", "REASON", "STATE", "ADDRESS", "AGE")
_INDENT = "  "
_GAP = "  "


class Line(NamedTuple):
    """Text of at most ``WIDTH`` columns, and what it is: a heading, good, busy, bad or a note."""

    text: str
    mood: str = ""


class Key(NamedTuple):
    """Which object."""

    kind: str
    name: str


@dataclass(frozen=True)
class Row:
    """What people want to know of one object. Only a VM has a state; an address is a VM's, or the range of a VPC."""

    key: Key
    ready: str
    reason: str
    state: str
    address: str
    message: str
    created: datetime
    stalled: bool = False

    @property
    def mood(self) -> str:
        """Good when Ready, bad when a person must act, busy otherwise."""
        return "good" if self.ready == "True" else "bad" if self.stalled else "busy"


def row(obj: Mapping[str, Any]) -> Row:
    """Read an object as the apiserver shows it; whatever is missing is left blank."""
    meta, status = obj["metadata"], obj.get("status", {})
    conditions = {item["type"]: item for item in status.get("conditions", ())}
    ready = conditions.get("Ready", {})
    return Row(
        key=Key(obj["kind"], meta["name"]),
        ready=ready.get("status", "Unknown"),
        reason=ready.get("reason", ""),
        state=_printable(status.get("state", "")),
        address=_printable(status.get("ip", "") or status.get("ipRange", "")),
        message=_printable(ready.get("message", "")),
        created=datetime.fromisoformat(meta["creationTimestamp"]),
        stalled=conditions.get("Stalled", {}).get("status") == "True",
    )


def table(rows: Sequence[Row], now: datetime) -> list[Line]:
    """Show all rows as ``kubectl get`` would, each with its message below it."""
    if not rows:
        return [Line("No objects.", "note")]
    cells = [(*one.key, one.ready, one.reason, one.state, one.address, age(one, now)) for one in rows]
    widths = [max(map(len, column)) for column in zip(HEADINGS, *cells, strict=True)]
    lines = [Line(_columns(HEADINGS, widths), "heading")]
    for one, texts in zip(rows, cells, strict=True):
        lines.append(Line(_columns(texts, widths), one.mood))
        lines += [Line(line, "note") for line in _message(one.message, _INDENT)]
    return lines


def changes(before: Mapping[Key, Row], after: Mapping[Key, Row], elapsed: float) -> list[str]:
    """Tell what differs between two views, object by object; ``elapsed`` is in seconds."""
    lines: list[str] = []
    for key, now in after.items():
        facts, message = _said(now)
        if key not in before or _said(before[key]) != (facts, message):
            lines.append(_line(elapsed, key, facts))
            lines += _message(message, " " * 8)
    return lines + [_line(elapsed, key, "gone") for key in before if key not in after]


def age(one: Row, now: datetime) -> str:
    """How long an object has existed, as short as kubectl says it."""
    seconds = max(0, int((now - one.created.astimezone(UTC)).total_seconds()))
    return f"{seconds}s" if seconds < 120 else f"{seconds // 60}m"


def cut(text: str, width: int = WIDTH) -> str:
    """Keep a line within the width; an ellipsis shows that there was more."""
    return text if len(text) <= width else text[: width - 1] + "…"


def _message(text: str, indent: str) -> list[str]:
    """Return a message whole, since its end says what to do; it fits a terminal of 80 columns."""
    return textwrap.wrap(text, _TERMINAL, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def _said(one: Row) -> tuple[str, str]:
    """What a log says of an object, and why; what is Ready has nothing to explain."""
    facts = (f"Ready={one.ready}", one.reason, one.state, one.address)
    return " ".join(filter(None, facts)), "" if one.ready == "True" else one.message


def _line(elapsed: float, key: Key, what: str) -> str:
    return cut(f"{elapsed:5.1f}s  {f'{key.kind} {key.name}':<23}  {what}")


def _columns(texts: Sequence[str], widths: Sequence[int]) -> str:
    return cut(_GAP.join(text.ljust(width) for text, width in zip(texts, widths, strict=True)).rstrip())


def _printable(text: str) -> str:
    """Much of a status is the cloud's own text; no control character of it reaches a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
