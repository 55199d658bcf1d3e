"""Rights: what the documented rules grant, what a whole run has used by its audit logs, and where the two differ (S2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from support.audit import AuditLog
from support.operatorproc import RBAC, USER

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

Right = tuple[str, str, str]  # verb, API group, resource/subresource

PLUGIN = "rights-of-a-run"
E2E = Path(__file__).parents[1] / "e2e"
OUTPUT = "rights"  # what a worker of xdist hands over


@dataclass
class Asked:
    """What operators were granted when they asked, and what they were denied."""

    used: set[Right] = field(default_factory=set)
    denied: set[Right] = field(default_factory=set)

    def read(self, log: Path, denials_meant: AbstractSet[str] = frozenset()) -> None:
        """Add what an audit log shows, but for denials in namespaces where they are meant."""
        for one in AuditLog(log).requests(user=USER):
            right = (one.verb, one.group, f"{one.resource}/{one.subresource}".rstrip("/"))
            if not one.forbidden:
                self.used.add(right)
            elif one.namespace not in denials_meant:
                self.denied.add(right)


def granted(rules: Iterable[dict[str, Any]]) -> set[Right]:
    """Every right that these rules of RBAC give, be it for some names only."""
    return {
        (verb, group, resource)
        for rule in rules
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }


def documented() -> set[Right]:
    """What the documented rules grant; the chart grants the same, by test."""
    documents = yaml.safe_load_all(RBAC.read_text())
    return granted(rule for item in documents if item["kind"] in {"ClusterRole", "Role"} for rule in item["rules"])


def differences(rights: set[Right], asked: Asked) -> list[str]:
    """What was denied, and what nobody needed."""
    told = {"denied": asked.denied, "granted and never used": rights - asked.used}
    return [
        f"{what}: {verb} {resource}" + (f".{group}" if group else "")
        for what, those in told.items()
        for verb, group, resource in sorted(those)
    ]


class RightsOfARun:
    """A pytest plugin: a run of all end-to-end tests fails when a right was denied, or never used.

    Each worker notes what the operators of its tests asked its apiserver for; the first process puts it together.
    """

    def __init__(self) -> None:
        self._asked = Asked()
        self._ran: set[str] = set()
        self.denials_meant: set[str] = set()  # namespaces in which a test takes rights away

    def note(self, log: Path | None) -> None:
        """A control plane of the tests is about to go; a borrowed one has no log that can be read."""
        if log is not None and log.exists():
            self._asked.read(log, self.denials_meant)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember which files were run."""
        path = Path(report.location[0])
        if report.when == "call" and path.parent.name == E2E.name:
            self._ran.add(path.name)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker has ended."""
        used, denied = getattr(node, "workeroutput", {}).get(OUTPUT, ((), ()))
        self._asked.used.update(map(tuple, used))
        self._asked.denied.update(map(tuple, denied))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand over, or judge."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[OUTPUT] = (sorted(self._asked.used), sorted(self._asked.denied))
        elif self._whole() and differences(documented(), self._asked):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Tell it."""
        if not self._whole():
            return
        terminalreporter.section("rights of the operators in all end-to-end tests")
        found = differences(documented(), self._asked)
        for line in found or [f"{len(documented())} granted, all of them used; none denied"]:
            terminalreporter.write_line(line, red=bool(found))

    def _whole(self) -> bool:
        return bool(self._asked.used) and self._ran >= {path.name for path in E2E.glob("test_*.py")}
