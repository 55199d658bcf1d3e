"""kubectl, announced as a user would type it and then really run, while the view goes on moving.

It must not know what the commands are for.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING

from controlplane.supervisor import dying_with_parent
from demo.errors import DemoError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from demo.screen import Screen

LONGEST_SECONDS = 120.0
TICK_SECONDS = 0.1
WAITING = frozenset({"wait", "delete"})  # these last; all others answer at once, before what they cause is shown


class Kubectl:
    """Runs in the repository's folder, so that the paths shown are the reader's; ``tick`` is called while it waits."""

    def __init__(self, program: Path, kubeconfig: Path, folder: Path, screen: Screen, tick: Callable[[], None]) -> None:
        self._program = program
        self._folder = folder
        self._screen = screen
        self._tick = tick
        # Its discovery cache lives and dies with the kubeconfig's folder, never in the home of whoever runs the demo.
        self._env = {**os.environ, "KUBECONFIG": str(kubeconfig), "KUBECACHEDIR": str(kubeconfig.parent / "cache")}

    def __call__(self, *words: str) -> str:
        """Announce a command, run it, show and return what it prints.

        Raises:
            DemoError: it fails, or does not end in time.
        """
        self._screen.command(shlex.join(["kubectl", *words]))
        printed = self.quietly(*words)
        if words[0] in WAITING:
            self._tick()  # what it waited for comes before what it says
        self._screen.output(printed)
        return printed

    def quietly(self, *words: str) -> str:
        """Run a command that is no part of the story.

        Raises:
            DemoError: as above.
        """
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            process = subprocess.Popen(  # noqa: S603  # kubectl, with the words of the story
                [str(self._program), *words],
                cwd=self._folder,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                # This process has one thread, and the hook calls only prctl and getppid.
                preexec_fn=dying_with_parent(),  # noqa: PLW1509
            )
            try:
                code = self._wait(process, words)
            finally:
                process.kill()
                process.wait()
            out.seek(0)
            err.seek(0)
            if code != 0:
                raise DemoError(f"`{shlex.join(['kubectl', *words])}` failed: {err.read().strip()}")
            return out.read()

    def _wait(self, process: subprocess.Popen[bytes], words: tuple[str, ...]) -> int:
        deadline = time.monotonic() + LONGEST_SECONDS
        while (code := process.poll()) is None:
            if time.monotonic() > deadline:
                raise DemoError(f"`{shlex.join(['kubectl', *words])}` did not end within {LONGEST_SECONDS:.0f} s.")
            if words[0] in WAITING:
                self._tick()
            time.sleep(TICK_SECONDS)
        return code
