"""Prints docs/reference/cli.md from the verbs; and what the reasons mean, as a table of status.md.

``python -m gpucloud.cli.plugin.reference``, a part of ``make crds``, writes both.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from gpucloud.cli.markdown import table
from gpucloud.cli.plugin.commands import ABOUT, NAME, VERBS
from gpucloud.cli.plugin.errors import MEANINGS
from gpucloud.cli.plugin.standing import MEANINGS as STANDINGS
from gpucloud.kinds.explained import EXPLAINED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpucloud.cli.plugin.grammar import Parameter, Verb

WIDTH = 120
BEGIN = "<!-- reasons: printed from kinds/explained by `make crds` -->"
END = "<!-- end of the reasons -->"
PAGES = Path("docs/reference")  # of the checkout in which this is called


def page() -> str:
    """The whole page."""
    parts = [
        "<!-- printed from the verbs by `python -m gpucloud.cli.plugin.reference` -->",
        f"# {NAME}",
        ABOUT,
        "How to install and use it, with the json and yaml forms: [kubectl-plugin.md](../how-to/kubectl-plugin.md).",
        "## Exit codes",
        table(("Code", "Meaning"), ((f"`{code.value}`", words) for code, words in MEANINGS.items())),
        "## How an object stands",
        table(("Word", "Meaning"), ((f"`{standing.value}`", words) for standing, words in STANDINGS.items())),
    ]
    for name, verb in VERBS.items():
        parts += _verb(name, verb)
    return "\n\n".join(parts) + "\n"


def _verb(name: str, verb: Verb) -> Iterator[str]:
    arguments = " ".join(item.shown for item in verb.arguments)
    yield f"## {name}"
    yield f"```\n{NAME} {name} [OPTIONS] {arguments}".rstrip() + "\n```"
    yield verb.summary
    yield from (textwrap.fill(part, WIDTH, break_on_hyphens=False) for part in verb.about.split("\n\n") if part)
    yield "```\n" + "\n".join(f"{NAME} {example}" for example in verb.examples) + "\n```"
    yield table(("Takes", "Default", "Meaning"), ((_names(item), _default(item), item.help) for item in verb.takes))


def _names(item: Parameter) -> str:
    value = f" {item.shown}" if item.takes_value else ""
    return ", ".join(f"`{name}{value}`" for name in item.names) or f"`{item.shown}`"


def _default(item: Parameter) -> str:
    default = getattr(item.default, "value", item.default)
    return "required" if item.required else f"`{default}`" if default else ""


def with_reasons(status: str) -> str:
    """The page docs/reference/status.md with its table of reasons as the code has it."""
    before, rest = status.split(BEGIN)
    rows = ((f"`{row.reason}`", *row[1:]) for row in EXPLAINED)
    printed = table(("Reason", "Conditions", "Meaning", "What to do"), rows)
    return f"{before}{BEGIN}\n\n{printed}\n\n{END}{rest.split(END)[1]}"


def write() -> None:
    """Write both files."""
    status = PAGES / "status.md"
    status.write_text(with_reasons(status.read_text(encoding="utf-8")), encoding="utf-8")
    (PAGES / "cli.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    write()
