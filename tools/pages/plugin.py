"""docs/reference/cli.md, printed from the verbs of the plugin."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from gpucloud.cli.plugin.errors import MEANINGS
from gpucloud.cli.plugin.model.health import MEANINGS as STANDINGS
from gpucloud.cli.plugin.usage.commands import ABOUT, NAME, VERBS
from pages.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpucloud.cli.plugin.usage.options import Parameter, Verb

WIDTH = 120


def page() -> str:
    """The whole page."""
    parts = [
        "<!-- printed from the verbs by `make crds` -->",
        f"# {NAME}",
        ABOUT,
        "How to install and use it: [kubectl-plugin.md](../how-to/kubectl-plugin.md).",
        "The json and yaml forms: [plugin-output.md](plugin-output.md).",
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
