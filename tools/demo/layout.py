"""How text fits a width: prose is wrapped, a command is continued by backslashes so that it can be pasted. Pure."""

from __future__ import annotations

import re
import textwrap

from demo.view import cut

_WORD = re.compile(r"(?:'[^']*'|[^\s'])+")
_CONTINUED = " \\"
_INDENT = "    "


def prose(text: str, width: int) -> list[str]:
    """Wrap each line of a text."""
    return [part for line in text.splitlines() for part in textwrap.wrap(line, width, break_on_hyphens=False) or [""]]


def command(text: str, width: int, before: str = "") -> list[str]:
    """Break a command between its words, never inside one. ``before`` is a prompt, or what the first line is indented by."""
    if len(before + text) <= width:
        return [before + text]
    first, *others = _units(text)
    lines = [before + first]
    for unit in others:
        if len(f"{lines[-1]} {unit}{_CONTINUED}") <= width:
            lines[-1] += f" {unit}"
        else:
            lines[-1] += _CONTINUED
            lines.append(_INDENT + unit)
    return lines


def printed(line: str, width: int) -> list[str]:
    """What a program printed: of a table's row the end is left out, which an ellipsis shows; a sentence is wrapped."""
    if len(line) <= width:
        return [line]
    if "  " in line.strip():
        return [cut(line, width)]
    return textwrap.wrap(line, width, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)


def _units(text: str) -> list[str]:
    """The words of a command, an option and its value as one."""
    units: list[str] = []
    for word in _WORD.findall(text):
        if units and _takes_more(units[-1]) and not word.startswith("-"):
            units[-1] += f" {word}"
        else:
            units.append(word)
    return units


def _takes_more(unit: str) -> bool:
    return unit == "export" or (unit.startswith("-") and "=" not in unit and " " not in unit)
