"""The image as tests see it: its configuration, its files, and commands of it that run in its own read-only root."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path  # noqa: TC003  # at run time, too: dataclasses read their annotations
from typing import TYPE_CHECKING, Any

from support.processes import ChildProcess

if TYPE_CHECKING:
    from collections.abc import Mapping

CREDENTIALS = "/var/run/gpucloud/credentials"  # where the chart mounts them


@dataclass(frozen=True)
class Image:
    """A built image: the configuration as it is pushed, the sizes of its layers, and its files."""

    config: dict[str, Any]
    sizes: list[int]
    root: Path

    def words(self, *command: str, env: Mapping[str, str] | None = None, binds: Mapping[Path, str] | None = None) -> list[str]:
        """The command line that runs a command in the image as a pod would; without one, what the image runs itself."""
        flags = [f"--env={name}={value}" for name, value in (env or {}).items()]
        flags += [f"--env={pair}" for pair in self.config["config"]["Env"]]
        flags += [f"--bind={source}:{target}" for source, target in (binds or {}).items()]
        return [sys.executable, "-m", "image.contain", *flags, str(self.root), *command]

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(  # noqa: S603  # a command of the tests
            self.words(*command), capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL
        )

    def start(self, *arguments: str, env: Mapping[str, str], binds: Mapping[Path, str]) -> ChildProcess:
        """Start what the image runs, with these arguments."""
        return ChildProcess(self.words(*self.config["config"]["Entrypoint"], *arguments, env=env, binds=binds), name="image")
