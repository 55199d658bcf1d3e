"""``python -m demo``: tell the story and exit with 0, or say what went wrong and exit with 1."""

from __future__ import annotations

import argparse
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from controlplane import ControlPlaneError
from demo import view
from demo.errors import DemoError
from demo.processes import Stage
from demo.screen import screen
from demo.story import Story

if TYPE_CHECKING:
    from collections.abc import Sequence

LOGS = Path("out") / "demo"
INTERRUPTED = 130  # as a shell says it of Ctrl-C
TO_TRY = """
  kubectl get gpucloud
  kubectl get gpuvm -o wide --watch
  kubectl describe gpuvpc lab
  kubectl delete gpuvpc lab --wait=false; kubectl get gpuvpc lab -o wide
  kubectl patch gpuvm worker --type=merge -p '{"spec":{"powerState":"Stopped"}}'
  kubectl explain gpuvm.spec --recursive
  kubectl delete gpucloud --all"""


def tell(stage: Stage, *, keep: bool) -> None:
    """Tell the story; with ``keep`` without its end, so that there is something to play with."""
    with screen() as output:
        story = Story(stage, output)
        try:
            story.until_ready()
            story.power()
            if not keep:
                story.the_end()
        except DemoError as error:
            raise DemoError("\n".join([str(error), *_last_status(story)])) from error
    if keep:
        _hold(stage, story.cloud)


def _last_status(story: Story) -> list[str]:
    return [line.text for line in view.table(list(story.rows.values()), datetime.now(UTC))]


def _hold(stage: Stage, cloud: str) -> None:
    print(f"\nEverything stays up until Ctrl-C. In another terminal:\n\n  export KUBECONFIG={stage.kubeconfig}")
    print(f"  export PATH={stage.plane.kubectl.parent}:$PATH")
    print(TO_TRY)
    print(f"  curl {cloud}/_sim/world\n\nThe operator's log: {stage.log('operator')}", flush=True)
    signal.pause()


def main(argv: Sequence[str] | None = None) -> int:
    """Set the stage, tell, clear up whatever happens."""
    parser = argparse.ArgumentParser(
        prog="python -m demo", description="The life of an account, a VPC, VMs and a snapshot, watched."
    )
    parser.add_argument("--keep", action="store_true", help="leave everything running until Ctrl-C")
    parser.add_argument("--logs", metavar="DIR", type=Path, default=LOGS, help=f"where logs go on failure (default {LOGS})")
    args = parser.parse_args(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with Stage() as stage:
            try:
                tell(stage, keep=args.keep)
            except DemoError as error:
                stage.save_logs(args.logs)
                print(f"\ndemo failed: {error}\nAll logs are in {args.logs}.", file=sys.stderr)
                return 1
    except ControlPlaneError as error:
        print(f"demo failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ndemo: interrupted; everything is gone")
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
