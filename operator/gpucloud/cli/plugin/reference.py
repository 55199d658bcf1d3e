"""docs/reference/cli.md, printed from the verbs: ``python -m gpucloud.cli.plugin.reference > docs/reference/cli.md``."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from gpucloud.cli.plugin.entry import ABOUT, NAME, VERBS
from gpucloud.cli.plugin.errors import MEANINGS
from gpucloud.cli.plugin.grammar import parameters
from gpucloud.cli.plugin.standing import MEANINGS as STANDINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gpucloud.cli.plugin.grammar import Parameter


def page() -> str:
    """The whole page."""
    parts = [
        "<!-- printed from the verbs by `python -m gpucloud.cli.plugin.reference` -->",
        f"# {NAME}",
        ABOUT,
        "How to install and use it, with the json and yaml forms: [kubectl-plugin.md](../how-to/kubectl-plugin.md).",
        "## Exit codes",
        _table(("Code", "Meaning"), ((f"`{code.value}`", words) for code, words in MEANINGS.items())),
        "## How an object stands",
        _table(("Word", "Meaning"), ((f"`{standing.value}`", words) for standing, words in STANDINGS.items())),
    ]
    for verb, (function, examples) in VERBS.items():
        parts += _verb(verb, function, examples)
    return "\n\n".join(parts) + "\n"


def _verb(verb: str, function: Callable[..., int], examples: Sequence[str]) -> Iterator[str]:
    taken = parameters(function)
    arguments = " ".join(item.metavar for item in taken if not item.names)
    yield f"## {verb}"
    yield f"```\n{NAME} {verb} [OPTIONS] {arguments}".rstrip() + "\n```"
    yield inspect.cleandoc(function.__doc__ or "")
    yield "```\n" + "\n".join(f"{NAME} {example}" for example in examples) + "\n```"
    yield _table(("Takes", "Default", "Meaning"), ((_names(item), _default(item), item.help) for item in taken))


def _names(item: Parameter) -> str:
    if not item.names:
        return f"`{item.metavar}`"
    value = f" {'|'.join(item.choices) or item.metavar}" if item.takes_value else ""
    return ", ".join(f"`{name}{value}`" for name in item.names)


def _default(item: Parameter) -> str:
    return "required" if item.required else f"`{item.default}`" if item.default else ""


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines)


if __name__ == "__main__":
    print(page(), end="")
