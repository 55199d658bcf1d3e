"""The ``gpucloud`` command: one subcommand a module, each imported only when asked for, so that starting one stays quick.

A subcommand's module offers ``add_arguments(parser)`` and ``run(args) -> int`` (the exit code). It knows nothing of the others.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import gpucloud

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ABOUT = "A Kubernetes operator for GPU clouds."
COMMANDS = {
    "operator": "run the operator against the cluster of KUBECONFIG or the pod's own",
    "orphans": "list what this installation made in the cloud and no object stands for any more",
    "check": "see whether an operator with these settings could work here",
    "uninstall": "guard an uninstall: refuse while objects live, or let go of them first",
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
    for name, summary in COMMANDS.items():
        subparser = named[name] = subparsers.add_parser(name, help=summary, description=summary)
        if name == chosen:
            with _extra_of(name):
                importlib.import_module(f"gpucloud.cli.{name}").add_arguments(subparser)
    args, unknown = parser.parse_known_args(argv)
    if unknown:  # told with the usage of the subcommand, which names its options; argparse shows that of the whole program
        named[args.command].error(f"unknown: {' '.join(unknown)}; see {named[args.command].prog} --help")
    with _extra_of(args.command):
        exit_code: int = importlib.import_module(f"gpucloud.cli.{args.command}").run(args)
    return exit_code


@contextmanager
def _extra_of(command: str) -> Iterator[None]:
    """Exit with 1, and say what to install, where a command's extra is not installed. Commands import late."""
    try:
        yield
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get(command, "operator")
        sys.exit(
            f"gpucloud {command}: the Python package {error.name} is not installed. "
            f"Install the extra {extra}: pip install 'gpucloud-operator[{extra}]'"
        )
