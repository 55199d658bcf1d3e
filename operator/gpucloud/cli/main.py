"""The ``gpucloud`` command: one subcommand a module, each imported only when asked for, so that starting one stays quick.

A subcommand's module offers ``add_arguments(parser)`` and ``run(args) -> int`` (the exit code). It knows nothing of the others.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import gpucloud
from gpucloud.spelling import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ABOUT = "A Kubernetes operator for GPU clouds."
COMMANDS = {
    "operator": "run the operator against the cluster of KUBECONFIG or the pod's own",
    "orphans": "list VMs and snapshots that this installation created and whose object is gone; they may still be billed",
    "check": "see whether the cluster, the rights and the cloud can be reached with these settings",
    "uninstall": "before an uninstall: refuse while objects exist, or destroy or retain what they stand for",
    "sim": "run the simulated cloud",
    "crds": "print, write or check the custom resource definitions",
}
_EXTRAS = {"sim": "sim"}  # what must be installed beside the client; every other command needs the extra operator


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit code; argparse exits with 2 on bad usage."""
    argv = sys.argv[1:] if argv is None else list(argv)
    parser = argparse.ArgumentParser(prog="gpucloud", description=ABOUT)
    parser.add_argument("--version", action="version", version=f"gpucloud {gpucloud.__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    named: dict[str, argparse.ArgumentParser] = {}
    chosen = next((word for word in argv if not word.startswith("-")), None)
    if chosen not in COMMANDS and not {"-h", "--help", "--version"}.intersection(argv):
        parser.error(_no_command(chosen))
    for name, summary in COMMANDS.items():
        subparser = named[name] = subparsers.add_parser(name, help=summary, description=summary)
        if name == chosen:
            with _extra_of(name):
                importlib.import_module(f"gpucloud.cli.{name}").add_arguments(subparser)
    args, unknown = parser.parse_known_args(argv)
    if unknown:  # reported with the usage of the subcommand, which names its options; argparse shows that of the whole program
        used = named[args.command]
        options = sorted(set(re.findall(r"--[a-z][a-z-]+", used.format_help())))
        # Without values: one that was typed after `--api-key` would stay in the log of a pod.
        names = [word.partition("=")[0] for word in unknown if word.startswith("-")] or unknown[:1]
        used.error(f"unknown: {' '.join(names)}.{suggestion(names[0], options)} See {used.prog} --help")
    with _extra_of(args.command):
        exit_code: int = importlib.import_module(f"gpucloud.cli.{args.command}").run(args)
    return exit_code


def _no_command(word: str | None) -> str:
    """Return what is wrong with the command, and which there are."""
    known = f"use one of {', '.join(COMMANDS)}"
    if word is None:
        return f"a command is missing: {known}"
    near = suggestion(word, COMMANDS) or " What works on objects is in kubectl gpucloud --help"
    return f"unknown command {word!r}: {known}.{near}"


@contextmanager
def _extra_of(command: str) -> Iterator[None]:
    """Exit with 1, and say what to install, where a command's extra is not installed. Commands import late."""
    try:
        yield
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get(command, "operator")
        sys.exit(
            f"gpucloud {command}: the Python package {error.name} is not installed. "
            f"Install the extra {extra}: pip install 'gpucloud-operator[{extra}]', or in a checkout pip install '.[{extra}]'"
        )
