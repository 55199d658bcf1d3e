"""A clone of this checkout as a new user has it, set up by make in a home of its own; only caches of downloads are shared."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

from controlplane.obtain import obtain_kubectl
from support.snippets import ROOT, Terminal, environment


class Clone:
    """The clone. ``setup_seconds``: how long ``make setup`` took."""

    def __init__(self, folder):
        self.home, self.folder = folder, folder / "gpucloud-operator"
        cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
        around = environment(folder, folder / "no-kubeconfig", obtain_kubectl(os.environ).parent, ROOT / ".uv" / "bin")
        free = {"GPUCLOUD_METRICS_PORT": "0", "GPUCLOUD_HEALTH_PORT": "0", "XDG_CACHE_HOME": cache}
        self.around = {name: value for name, value in (around | free).items() if name != "KUBECONFIG"}
        subprocess.run(["git", "clone", "--quiet", ROOT, self.folder], check=True)  # noqa: S603, S607  # our own
        began = time.monotonic()
        self.run("make", "setup")
        self.setup_seconds = time.monotonic() - began

    def terminal(self, instead=None):
        return Terminal(self.folder, self.around, instead)

    def run(self, *command, **env):
        done = subprocess.run(  # noqa: S603  # what our own pages say
            [str(word) for word in command], cwd=self.folder, env=self.around | env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    @property
    def uv(self):
        return shutil.which("uv", path=self.around["PATH"]) or self.folder / ".uv" / "bin" / "uv"
