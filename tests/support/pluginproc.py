"""``kubectl gpucloud`` as a process, and the operator beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from controlplane import ControlPlane

    Done = subprocess.CompletedProcess[str]

BIN = Path(sys.executable).parent
FLAGS = {"poll_steady_seconds": 0.5, "create_grace_seconds": 1, "cloud_qps": 500, "cloud_burst": 100}


def runner(control_plane: ControlPlane, namespace: str) -> Callable[..., Done]:
    """A function from words to the finished process; ``kubeconfig`` and ``env`` say as whom, and with what around."""

    def run(*words: str, kubeconfig: Any = control_plane.kubeconfig, ns: str = namespace, **env: str) -> Done:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("GPUCLOUD_", "COLUMNS"))}
        path = os.pathsep.join([str(BIN), str(control_plane.kubectl.parent), inherited.get("PATH", "")])
        before, after = (words, ()) if "--" not in words else (words[: words.index("--")], words[words.index("--") :])
        done = subprocess.run(  # noqa: S603  # our own command
            [str(control_plane.kubectl), "gpucloud", *before, *(("-n", ns) if ns else ()), *after],
            env={**inherited, "PATH": path, "KUBECONFIG": str(kubeconfig), **env},
            capture_output=True, text=True, timeout=180, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert "Traceback" not in done.stdout + done.stderr
        assert "\x1b" not in done.stdout + done.stderr, "no colours and no live view in a pipe"
        return done

    return run


def ok(done: Done) -> str:
    assert done.returncode == 0, f"{done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout
