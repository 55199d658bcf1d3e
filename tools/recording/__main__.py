"""``python -m recording``: record the demo and ``kubectl gpucloud status``, and draw the dashboard, into docs/images."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from controlplane import ControlPlaneError
from controlplane.obtain import obtain_kubectl
from demo.errors import DemoError
from demo.processes import OPERATOR, REPOSITORY, Stage
from demo.screen import LogScreen
from demo.story import Story
from promtool import PromtoolError, obtain_promtool
from recording import charts
from recording.dashboard import DASHBOARD, Prometheus, panels
from recording.svg import draw
from recording.terminal import Terminal

if TYPE_CHECKING:
    from recording.terminal import Frame

IMAGES = Path(__file__).parents[2] / "docs" / "images"
COLUMNS, ROWS = 100, 30
STATUS_COLUMNS, STATUS_ROWS = 100, 24
# What is done while the dashboard is looked at, and for how many seconds nothing is done after it.
DAY = (
    ("kubectl get gpuvm", 30),
    ("kubectl apply -f deploy/examples/gpuvm.yaml", 40),
    ("kubectl gpucloud stop worker --wait", 30),
    ("kubectl gpucloud start worker --wait", 30),
    ("kubectl delete gpuvm train", 20),
)
FOLDER = "/tmp/demo"  # noqa: S108 - a name in a picture, nothing is written
SCRATCH = re.compile(r"/[\w./-]*/gpucloud-control-plane-[^/\s]+")  # differs from machine to machine, and from run to run


class Silent(LogScreen):
    """A screen for the part of the story that is not recorded."""

    def say(self, text: str) -> None:
        """Print nothing."""

    command = output = say

    def show(self, rows: object) -> None:
        """Print nothing."""


def demo() -> str:
    """Record ``make demo``."""
    terminal = Terminal(COLUMNS, ROWS)
    terminal.type("make demo")
    if terminal.run([sys.executable, "-m", "demo"], _with_kubectl()) != 0:
        raise DemoError("The demo failed: run `make demo` to see why.")
    return _film(terminal, "make demo: an account, a VPC, two VMs and a snapshot from nothing to Ready, and gone")


def status() -> str:
    """Record what a user asks of a fleet that is Ready, and while a VM stops."""
    terminal = Terminal(STATUS_COLUMNS, STATUS_ROWS)
    with Stage() as stage:
        story = Story(stage, Silent())
        story.until_ready()
        env = _environment(stage, story)
        for command in (
            "kubectl get gpuvm",
            "kubectl gpucloud status",
            "kubectl gpucloud stop worker --wait",
            "kubectl get gpuvm",
        ):
            terminal.type(command)
            terminal.run(command.split(), env)
            terminal.hold(1.6)
    return _film(terminal, "kubectl gpucloud status, and stopping a VM")


def dashboard() -> str:
    """Draw the chart's dashboard, with what Prometheus has seen of a few minutes of the demo."""
    with Stage() as stage:
        story = Story(stage, Silent())
        story.until_ready()
        (port,) = re.findall(r'"metrics_port": (\d+)', stage.log(OPERATOR).read_text())
        with Prometheus(obtain_promtool(os.environ, "prometheus"), int(port)) as prometheus:
            for command, pause in DAY:
                words = command.split()
                subprocess.run(words, env=_environment(stage, story), cwd=REPOSITORY, stdout=subprocess.DEVNULL, check=True)  # noqa: S603
                time.sleep(pause)
            seconds = prometheus.seconds
            found = panels(json.loads(DASHBOARD.read_text()), prometheus.ask, prometheus.began)
    return charts.draw(
        found, seconds, "The chart's dashboard during the demo: spend, objects, the cloud, orphans, and the operator"
    )


def _with_kubectl() -> dict[str, str]:
    """Return the environment of a user whose kubectl fits: the demo says so of another one."""
    folder = obtain_kubectl(os.environ).parent
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def _environment(stage: Stage, story: Story) -> dict[str, str]:
    """Return the environment of a user of the demo's cluster."""
    path = stage.exports["PATH"].replace("$PATH", os.environ["PATH"])
    return {**os.environ, **stage.exports, "PATH": path, "GPUCLOUD_ENDPOINT": f"default={story.cloud}"}


def _film(terminal: Terminal, title: str) -> str:
    return draw(plain(terminal.frames), terminal.columns, terminal.rows, title)


def plain(frames: list[Frame]) -> list[Frame]:
    """Give the folders of temporary files one name in what is shown."""
    return [
        replace(
            frame,
            lines=tuple(tuple(replace(run, text=SCRATCH.sub(FOLDER, run.text)) for run in line) for line in frame.lines),
        )
        for frame in frames
    ]


RECORDINGS = {"demo": demo, "status": status, "dashboard": dashboard}


def main() -> int:
    """Make the named recordings, or all; exit code 1 says that one could not be made."""
    parser = argparse.ArgumentParser(prog="python -m recording", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(RECORDINGS)} (default: all)")
    names = parser.parse_args().names or list(RECORDINGS)
    if unknown := set(names) - set(RECORDINGS):
        parser.error(f"unknown recording '{unknown.pop()}': use {' or '.join(RECORDINGS)}")
    IMAGES.mkdir(exist_ok=True)
    for name in names:
        try:
            picture = RECORDINGS[name]()
        except (ControlPlaneError, DemoError, PromtoolError, subprocess.CalledProcessError) as error:
            print(f"recording {name} failed: {error}", file=sys.stderr)
            return 1
        file = IMAGES / f"{name}.svg"
        file.write_text(picture)
        print(f"{file.relative_to(IMAGES.parents[1])}: {len(picture):,} characters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
