"""Help as text: plain, since it is read in pipes and manuals, too."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

from gpucloud.cli.terminal.marks import read
from gpucloud.cli.terminal.page import Line, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gpucloud.cli.plugin.errors import ExitCode
    from gpucloud.cli.plugin.usage.options import Parameter, Verb

WIDEST, LEAD = 100, 28
HELP_ROW = ("-h, --help", "Show this and exit.")


def of_program(program: str, about: str, verbs: Mapping[str, Verb], codes: Mapping[ExitCode, str]) -> str:
    """The help of the whole program."""
    rows = [(name, verb.summary) for name, verb in verbs.items()]
    parts = [
        [f"Usage: {program} VERB [OPTIONS] [ARGUMENTS]"],
        _paragraphs(about),
        ["Verbs:", *_rows(rows)],
        ["Options:", *_rows([("--version", "Show the version and exit."), HELP_ROW])],
        ["Exit codes:", *_rows([(str(code.value), words) for code, words in codes.items()])],
        [f"Help on one verb: {program} VERB --help"],
    ]
    return "\n\n".join("\n".join(part) for part in parts)


def of_verb(program: str, verb: Verb, codes: Mapping[ExitCode, str]) -> str:
    """The help of one verb."""
    arguments = "".join(f" {item.shown}" for item in verb.arguments)
    parts = [[f"Usage: {program} [OPTIONS]{arguments}"], _paragraphs(f"{verb.summary}\n\n{verb.about}".strip())]
    if verb.arguments:
        parts.append(["Arguments:", *_rows([(item.shown, item.help) for item in verb.arguments])])
    parts.append(["Options:", *_rows([(_names(item), _help(item)) for item in verb.options] + [HELP_ROW])])
    parts.append(["Exit codes:", *_rows([(str(code.value), words) for code, words in codes.items()])])
    name = program.rpartition(" ")[0]
    parts.append(["Examples:", *(f"  {name} {example}" for example in verb.examples)])
    return "\n\n".join("\n".join(part) for part in parts)


def _names(item: Parameter) -> str:
    names = ", ".join(sorted(item.names, key=len))
    return f"{names} {item.shown}" if item.takes_value else names


def _help(item: Parameter) -> str:
    default = getattr(item.default, "value", item.default)
    return f"{item.help} [{default}]" if default not in {None, "", False} else item.help


def _rows(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, words in rows:
        wrapped = textwrap.wrap(words, _width() - LEAD - 2, break_on_hyphens=False) or [""]
        if len(name) > LEAD - 4:
            yield f"  {name}"
        else:
            yield f"  {name.ljust(LEAD - 2)}{wrapped.pop(0)}"
        yield from (" " * LEAD + line for line in wrapped)


def _paragraphs(text: str) -> list[str]:
    paragraphs = [wrapped([Line(read(" ".join(part.split())))], _width()) for part in text.split("\n\n")]
    return ["\n\n".join("\n".join(line.text for line in lines) for lines in paragraphs)]


def _width() -> int:
    return max(40, min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns))
