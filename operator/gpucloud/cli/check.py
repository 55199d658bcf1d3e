"""``gpucloud check``: could an operator with these settings work here? The chart runs it as its ``helm test``.

It changes nothing, and takes the settings of the operator. It knows words and exit codes.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gpucloud import flags
from gpucloud.cli.administration import carry_out
from gpucloud.cli.endings import FAILED, MISUSED
from gpucloud.cloud.errors import one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from gpucloud.cli.operations.check import CheckResult
    from gpucloud.settings import Settings

FLAGS = ("endpoint", "namespace", "ca_file", "proxy", "cloud_timeout_seconds")
WELL = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The settings of the operator that matter here, under the same names."""
    flags.add_arguments(parser, FLAGS)
    parser.epilog = (
        "A settings file of the operator may be given whole with --config. The account: as for gpucloud operator. "
        "The cluster: KUBECONFIG, or the service account of the pod. "
        f"Exit code: {WELL} all is well, {FAILED} something is not, {MISUSED} the settings cannot be used."
    )


def run(args: argparse.Namespace) -> int:
    """Look, print a line each, and say by the exit code whether all is well."""
    return carry_out("check", lambda: flags.load(vars(args)), _look)


def _look(chosen: Settings) -> int:
    # Only now: kopf, which knows how to log in, takes half a second to import.
    from gpucloud.cli.operations.check import run_checks  # noqa: PLC0415
    from gpucloud.handlers.login import connect  # noqa: PLC0415

    return show(asyncio.run(run_checks(chosen, connect)))


def _mark(item: CheckResult) -> str:
    if not item.well:
        return "FAILED"
    return "ok" if item.looked else "note"


def show(findings: Sequence[CheckResult]) -> int:
    """Print what was found; answers the exit code."""
    for item in findings:
        print(f"{_mark(item):6} {item.what}: {one_line(item.words)}")
    return WELL if all(item.well for item in findings) else FAILED
