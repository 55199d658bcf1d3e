"""``python -m controlplane``: get the programs ready, or run a control plane until Ctrl-C."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from typing import TYPE_CHECKING

from controlplane.choice import Way
from controlplane.errors import ControlPlaneError
from controlplane.obtain import choose, needed_binaries, obtain_binaries, obtain_kubectl
from controlplane.plane import ControlPlane
from controlplane.shell import exports

if TYPE_CHECKING:
    from collections.abc import Sequence


def ensure() -> None:
    """Get everything ready that takes long, the controller manager included, and print the way."""
    facts, order = choose(os.environ, controller_manager=True)
    if order[0] in {Way.EXISTING, Way.KIND}:
        obtain_kubectl(os.environ)
        print(f"control plane: {order[0]}")
        return
    print(f"control plane: {obtain_binaries(facts, order, needed_binaries(controller_manager=True), os.environ).how}")


def up(*, controller_manager: bool, audit: bool) -> None:
    """Run a control plane until Ctrl-C or SIGTERM."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with ControlPlane.start(controller_manager=controller_manager, audit=audit) as plane:
            print(f"control plane: {plane.how}")
            if plane.audit_log:
                print(f"audit log: {plane.audit_log}")
            print("In another terminal:")
            for name, value in exports(plane.folder, plane.kubeconfig, {"kubectl": plane.kubectl}).items():
                print(f"export {name}={value}")
            print("Ctrl-C ends it.", flush=True)
            signal.pause()
    except KeyboardInterrupt:
        print("control plane: gone")


def main(argv: Sequence[str] | None = None) -> int:
    """Parse the command line; a refusal is one clear text and exit code 1."""
    parser = argparse.ArgumentParser(prog="python -m controlplane", description="A real Kubernetes control plane on loopback.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("ensure", help="find, download or build the programs (slow once, then instant)")
    run = commands.add_parser("up", help="run a control plane until Ctrl-C and print what to export")
    run.add_argument("--controller-manager", action="store_true", help="also empty deleted namespaces and collect garbage")
    run.add_argument("--audit", action="store_true", help="write an audit log")
    args = parser.parse_args(argv)
    try:
        if args.command == "ensure":
            ensure()
        else:
            up(controller_manager=args.controller_manager, audit=args.audit)
    except ControlPlaneError as error:
        print(f"control plane: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
