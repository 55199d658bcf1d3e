"""docs/reference/gpucloud.md, printed from the commands of the operator and the simulator."""

from __future__ import annotations

import argparse
import importlib
import textwrap
from typing import TYPE_CHECKING

from gpucloud.cli.main import ABOUT, COMMANDS
from gpucloud.flags import FLAGS, SIM, UNINSTALL
from pages.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterator

# Commands that another page tells of as well; the first page lists all their flags, so they are not repeated here.
FLAGS_ELSEWHERE = {"operator": "Every flag, with its variable and default: [settings.md](settings.md)."}
SETTINGS = """\
A setting is a flag, an environment variable and a field of the settings file, which `--config FILE` or `GPUCLOUD_CONFIG`
names. A flag wins over its variable, the variable over the file, the file over the default. This holds for every command but
`gpucloud crds`, which has no settings.

The file is YAML. A field is its variable without `GPUCLOUD_`, in camelCase: `GPUCLOUD_CLOUD_QPS` is `cloudQps`, and
`GPUCLOUD_SIM_PORT`, the `--port` of `gpucloud sim`, is `simPort`. One file can serve all commands: each takes its own fields. A
field that no command has is refused, with the one that it may be a slip of. How values are read:
[settings.md](settings.md)."""
FIELDS = {flag.name: flag.field for flag in (*FLAGS.values(), *UNINSTALL.values(), *SIM.values())}
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
        "Users of the kinds have a program of their own: [kubectl gpucloud](cli.md). It has no settings file.",
        SETTINGS,
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
    actions = parser._actions  # noqa: SLF001
    if not any(action.dest == "config" for action in actions):
        return table(("Takes", "Meaning"), ((_names(action), action.help or "") for action in actions))
    fields = ((action, FIELDS.get(action.dest)) for action in actions)
    rows = ((_names(action), f"`{field}`" if field else "", action.help or "") for action, field in fields)
    return table(("Takes", "Field", "Meaning"), rows)


def _names(action: argparse.Action) -> str:
    """As in ``-o, --output table|json``; a switch takes no value."""
    value = "|".join(action.choices or ()) or action.metavar or action.dest.upper()
    shown = "" if action.nargs == 0 else f" {value}"
    return ", ".join(f"`{name}{shown}`" for name in action.option_strings)
