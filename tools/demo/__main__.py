"""``python -m demo``: tell the story and exit with 0, or say what went wrong and exit with 1."""

from __future__ import annotations

import argparse
import signal
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from controlplane import ControlPlaneError
from controlplane.supervisor import end_with_parent
from demo import kept, view
from demo.errors import DemoError
from demo.processes import OPERATOR, REPOSITORY, Stage
from demo.screen import screen
from demo.story import MANIFESTS, Story, make_secret

if TYPE_CHECKING:
    from collections.abc import Sequence

LOGS = Path("out") / "demo"
INTERRUPTED = 130  # as a shell says it of Ctrl-C


def tell(stage: Stage, *, keep: bool) -> None:
    """Tell the story; with ``keep`` without its end, so that there is something to play with."""
    with screen() as output:
        story = Story(stage, output, keep=keep)
        try:
            story.until_ready()
            story.power()
            if not keep:
                story.the_end()
        except DemoError as error:
            raise DemoError("\n".join([str(error), *_last_status(story)])) from error
    if keep:
        print(_kept(stage, story.cloud, output.width), flush=True)
        with suppress(KeyboardInterrupt):  # the end that was announced
            signal.pause()


def _last_status(story: Story) -> list[str]:
    return [line.text for line in view.table(list(story.rows.values()), datetime.now(UTC))]


def _kept(stage: Stage, cloud: str, width: int) -> str:
    return kept.text(
        width,
        {**stage.exports, "GPUCLOUD_ENDPOINT": f"default={cloud}"},
        str(REPOSITORY),
        cloud=cloud,
        key=str(stage.key_file),
        manifests=" ".join(MANIFESTS),
        secret=" ".join(["kubectl", *make_secret(stage)]),
        log=str(stage.log(OPERATOR)),
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Set the stage, tell, clear up whatever happens."""
    parser = argparse.ArgumentParser(
        prog="python -m demo", description="The life of an account, a VPC, VMs and a snapshot, watched."
    )
    parser.add_argument("--keep", action="store_true", help="leave everything running until Ctrl-C")
    parser.add_argument("--logs", metavar="DIR", type=Path, default=LOGS, help=f"where logs go on failure (default {LOGS})")
    args = parser.parse_args(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    end_with_parent()  # make does not pass on that it is killed
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
    if args.keep:
        print("\ndemo: ended; everything is gone")
    return 0


if __name__ == "__main__":
    sys.exit(main())
