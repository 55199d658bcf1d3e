"""Clusters that are not our own processes: one that exists already, or one that kind makes for the time being.

Both give an administrator's kubeconfig and nothing else: no audit log, no restarts.
"""

from __future__ import annotations

import os
import secrets
import subprocess
from typing import TYPE_CHECKING

from controlplane.errors import ControlPlaneError

if TYPE_CHECKING:
    from pathlib import Path

    from controlplane.supervised import Supervised

_LONGEST_SECONDS = 600.0
_KIND_READY = "180s"


def self_contained(kubeconfig: str, kubectl: Path, folder: Path) -> Path:
    """Copy a kubeconfig's current context, references resolved, into a private folder; see that its cluster answers.

    Args:
        kubeconfig: what the variable KUBECONFIG may hold, several files included.
        kubectl: the program that understands all forms of it.
        folder: where the copy goes.

    Raises:
        ControlPlaneError: it cannot be read, or the cluster does not answer; kubectl's own words are in the text.
    """
    view = ["config", "view", "--raw", "--flatten", "--minify", "--output=json"]
    flattened = _run([str(kubectl), *view], KUBECONFIG=kubeconfig)
    target = folder / "admin.kubeconfig"
    target.touch(mode=0o600)
    target.write_text(flattened)
    _run([str(kubectl), f"--kubeconfig={target}", "get", "namespace", "default", "--request-timeout=20s"])
    return target


def kind_cluster(supervised: Supervised) -> str:
    """Have kind make a cluster and return its kubeconfig; the supervisor deletes it at the end whatever happens to us.

    Raises:
        ControlPlaneError: kind fails; its own words are in the text.
    """
    name = f"gpucloud-{secrets.token_hex(4)}"
    target = f"{supervised.folder}/kind.kubeconfig"
    supervised.at_the_end(["kind", "delete", "cluster", f"--name={name}", f"--kubeconfig={target}"])
    _run(["kind", "create", "cluster", f"--name={name}", f"--kubeconfig={target}", f"--wait={_KIND_READY}"])
    return target


def _run(command: list[str], **variables: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603  # kubectl and kind, with arguments made here
            command,
            capture_output=True,
            text=True,
            timeout=_LONGEST_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **variables},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ControlPlaneError(f"`{command[0]} {command[1]}` did not finish: {type(error).__name__}.") from error
    if done.returncode != 0:
        raise ControlPlaneError(f"`{command[0]} {command[1]}` failed:\n{done.stderr.strip()}")
    return done.stdout
