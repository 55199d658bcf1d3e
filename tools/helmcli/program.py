"""Run Helm without touching the home of whoever runs the tests: its caches and settings live in a folder of their own."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path  # noqa: TC003  # at run time, too: dataclasses read their annotations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LONGEST_SECONDS = 300.0


@dataclass(frozen=True)
class Helm:
    """A Helm program; ``home`` is a private folder, ``kubeconfig`` whose cluster it speaks to, if any; ``env`` is its own."""

    path: Path
    home: Path
    kubeconfig: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)

    def run(self, *args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run any command; the result is the caller's to judge."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("HELM_", "KUBE"))}
        homes = {f"HELM_{name}_HOME": str(self.home) for name in ("CACHE", "CONFIG", "DATA")}
        cluster = str(self.kubeconfig or self.home / "no-cluster")
        return subprocess.run(  # noqa: S603  # helm, with arguments made here and in tests
            [str(self.path), *args],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=_LONGEST_SECONDS,
            check=False,
            env={**inherited, **homes, "KUBECONFIG": cluster, **self.env},
        )

    def template(
        self, chart: Path, values: Mapping[str, Any], release: Sequence[str], *args: str
    ) -> subprocess.CompletedProcess[str]:
        """Render a chart as a release (its name, its namespace) with these values."""
        name, namespace = release
        command = ("template", name, str(chart), f"--namespace={namespace}", "--values=-", *args)
        return self.run(*command, stdin=json.dumps(values))
