"""docs/reference/gpucloud.md, printed from the commands of the operator and the simulator."""

from __future__ import annotations

import argparse
import importlib
import textwrap
from typing import TYPE_CHECKING

from gpucloud.cli.main import ABOUT, COMMANDS
from pages.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterator

# Commands that another page tells of as well; the first page lists all their flags, so they are not repeated here.
FLAGS_ELSEWHERE = {"operator": "Every flag, with its variable and default: [settings.md](settings.md)."}
MORE = {
    "orphans": "What to do about one: [orphans.md](../how-to/orphans.md).",
    "check": "The chart runs it as its `helm test`: [install-with-helm.md](../how-to/install-with-helm.md).",
    "uninstall": "The chart runs it before `helm uninstall`: [install-with-helm.md](../how-to/install-with-helm.md#uninstall).",
    "sim": "What it simulates, and how it is controlled: [simulator.md](simulator.md).",
}


def page() -> str:
    """The whole page."""
    parts = [
        "<!-- printed from the commands by `make crds` -->",
        "# gpucloud",
        f"{ABOUT} `gpucloud --version` prints its version, `gpucloud COMMAND --help` what stands here.",
        "Users of the kinds have a program of their own: [kubectl gpucloud](cli.md).",
    ]
    for name in COMMANDS:
        parts += _command(name)
    return "\n\n".join(parts) + "\n"


def _command(name: str) -> Iterator[str]:
    parser = argparse.ArgumentParser(prog=f"gpucloud {name}", add_help=False)
    importlib.import_module(f"gpucloud.cli.{name}").add_arguments(parser)
    about = COMMANDS[name]
    yield f"## {name}"
    yield f"```\n{parser.prog} [OPTIONS]\n```"
    yield f"{about[0].upper()}{about[1:]}."
    if name in MORE:
        yield MORE[name]
    yield FLAGS_ELSEWHERE.get(name) or _options(parser)
    prose, _, examples = (parser.epilog or "").partition("\n\nexamples:\n")
    yield prose
    if examples:
        yield f"```console\n{textwrap.dedent(examples).strip()}\n```"


def _options(parser: argparse.ArgumentParser) -> str:
    """The options as ``--help`` tells them: argparse has no public list of them."""
    rows = ((_names(action), action.help or "") for action in parser._actions)  # noqa: SLF001
    return table(("Takes", "Meaning"), rows)


def _names(action: argparse.Action) -> str:
    """As in ``-o, --output table|json``; a switch takes no value."""
    value = "|".join(action.choices or ()) or action.metavar or action.dest.upper()
    shown = "" if action.nargs == 0 else f" {value}"
    return ", ".join(f"`{name}{shown}`" for name in action.option_strings)
