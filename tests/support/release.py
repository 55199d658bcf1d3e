"""A release of the chart in a namespace that enforces restricted pod security, as people bring and remove it: by Helm."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chartfiles.places import CHART

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from helmcli import Helm
    from support.kubectl import Kubectl

PATIENCE = "--timeout=4m"  # Helm's own; how long anything took is never asserted


@dataclass(frozen=True)
class Release:
    """A release by its name and namespace; the methods are Helm's verbs and must succeed.

    Attributes:
        here: the administrator's kubectl in the namespace.
    """

    helm: Helm
    here: Kubectl
    name: str = "op"

    def install(self, values: dict[str, Any], chart: Path = CHART) -> str:
        """The definitions may be there already, kept when another release went."""
        options = ("--values=-", "--take-ownership", "--wait", PATIENCE)
        return self._ok("install", self.name, str(chart), *options, stdin=values)

    def upgrade(self, values: dict[str, Any], chart: Path = CHART) -> str:
        options = ("--reset-then-reuse-values", "--values=-", "--wait", PATIENCE)
        return self._ok("upgrade", self.name, str(chart), *options, stdin=values)

    def rollback(self, revision: int) -> str:
        return self._ok("rollback", self.name, str(revision), "--wait", PATIENCE)

    def test(self) -> str:
        return self._ok("test", self.name, "--logs", PATIENCE)

    def uninstall(self) -> str:
        """What the guard has said is in the answer: Helm repeats it on standard error."""
        done = self._done("uninstall", self.name, "--wait", PATIENCE)
        return done.stdout + done.stderr

    def refused(self, *args: str) -> str:
        """Run what must fail, and return what Helm says."""
        done = self.run(*args, "--wait", PATIENCE)
        assert done.returncode != 0, done.stdout
        return done.stdout + done.stderr

    def revisions(self) -> list[tuple[int, str]]:
        """Each revision with how it stands."""
        history = json.loads(self._ok("history", self.name, "--output=json"))
        return [(item["revision"], item["status"]) for item in history]

    def run(self, *args: str, stdin: dict[str, Any] | None = None) -> subprocess.CompletedProcess[str]:
        """Any command; the result is the caller's to judge."""
        return self.helm.run(*args, f"--namespace={self.here.namespace}", stdin="" if stdin is None else json.dumps(stdin))

    def _ok(self, *args: str, stdin: dict[str, Any] | None = None) -> str:
        return self._done(*args, stdin=stdin).stdout

    def _done(self, *args: str, stdin: dict[str, Any] | None = None) -> subprocess.CompletedProcess[str]:
        done = self.run(*args, stdin=stdin)
        assert done.returncode == 0, f"helm {args[0]}:\n{done.stdout}\n{done.stderr}"
        return done
