"""``kubectl gpucloud``: the verbs on one typer app, and how the program ends: with an exit code, never with a traceback."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Annotated

import typer

import gpucloud
from gpucloud.cli.plugin.errors import MEANINGS, ExitCode, PluginError
from gpucloud.cli.plugin.objects import clean
from gpucloud.cli.plugin.verbs import acting, cloud, doctor, reading

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NAME = "kubectl gpucloud"
ABOUT = """\
See, wait for and steer the virtual machines, snapshots and VPCs of the GPU cloud.

It works through your kubeconfig, with your rights, and asks you for no key of the cloud."""
CODES = "\n\n".join(["\b\nExit codes:\n" + "\n".join(f"  {code.value:<4}{words}" for code, words in MEANINGS.items())])

# Verb: the function, and examples that teach.
VERBS: dict[str, tuple[Callable[..., int], tuple[str, ...]]] = {
    "status": (reading.status, ("status", "status gvm/train", "status -A -o json")),
    "tree": (reading.status, ("tree", "tree -n team")),
    "wait": (reading.wait_for, ("wait gvm/train gvpc/lab", "wait gvm/train --for gone --timeout 10m")),
    "start": (acting.start, ("start train --wait",)),
    "stop": (acting.stop, ("stop train eval --wait --timeout 10m",)),
    "restart": (acting.restart, ("restart train --wait",)),
    "snapshot": (acting.snapshot, ("snapshot train --wait", "snapshot train --name before-upgrade")),
    "ssh": (acting.ssh, ("ssh train", "ssh train -l root -- -L 8888:localhost:8888", "ssh train --print -- nvidia-smi")),
    "logs": (cloud.logs, ("logs train", "logs train --limit 100 -o json")),
    "offers": (cloud.offers, ("offers", "offers --cluster Msc1 --available")),
    "orphans": (cloud.orphans, ("orphans", "orphans -o json")),
    "export": (cloud.export, ("export > cloud.yaml", "export --kind gvpc | kubectl apply -f -")),
    "doctor": (doctor.doctor, ("doctor", "doctor -A -o json")),
}


def build(*, completes: bool = False) -> typer.Typer:
    """The app. Plain help, since it is read in pipes and manuals, too; it ``completes`` for kubectl only."""
    app = typer.Typer(
        name=NAME,
        epilog=CODES,
        add_completion=completes,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback(invoke_without_command=True, help=ABOUT)(_alone)
    for verb, (function, examples) in VERBS.items():
        text = "\b\nExamples:\n" + "\n".join(f"  {NAME} {example}" for example in examples)
        app.command(verb, epilog=text, short_help=(function.__doc__ or "").partition("\n")[0])(function)
    return app


def main(argv: Sequence[str]) -> int:
    """Run one verb and return its exit code."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `... | head` is no error
    try:
        found = build()(args=list(argv), prog_name=NAME, standalone_mode=False)
    except PluginError as error:
        return _failed(str(error), error.code)
    except (KeyboardInterrupt, typer.Abort):
        return _failed("stopped; what was asked of the operator stays asked.", ExitCode.INTERRUPTED)
    except typer.Exit as error:
        return error.exit_code
    except Exception as error:
        show = getattr(error, "format_message", None)
        if show is not None:  # typer's own: wrong usage
            return _failed(f"{clean(str(show())).replace('Value error, ', '')} See `{NAME} --help`.", ExitCode.MISUSED)
        if os.environ.get("GPUCLOUD_DEBUG"):
            raise
        words = f"{type(error).__name__}: {clean(str(error))}"
        return _failed(
            f"it failed unexpectedly ({words}): please report this, with what GPUCLOUD_DEBUG=1 shows.", ExitCode.FAILED
        )
    return int(found) if isinstance(found, int) else 0


def _failed(text: str, code: ExitCode) -> int:
    print(f"{NAME}: {text}", file=sys.stderr)
    return code.value


def _alone(
    context: typer.Context, *, version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False
) -> None:
    """What is done without a verb."""
    if version:
        print(f"{NAME} {gpucloud.__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())
    if version or context.invoked_subcommand is None:
        raise typer.Exit
