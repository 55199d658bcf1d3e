"""``doctor``: show what keeps things from working, and what to do about each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpucloud.cli.plugin.cluster import leases
from gpucloud.cli.plugin.doctor.diagnosis import document, dying_secrets, gather
from gpucloud.cli.plugin.doctor.facts import Facts, Finding, Severity
from gpucloud.cli.plugin.doctor.findings import examine
from gpucloud.cli.plugin.errors import ExitCode
from gpucloud.cli.plugin.targets import cluster
from gpucloud.cli.terminal import marks, printing
from gpucloud.cli.terminal.page import Line, plural
from gpucloud.cli.terminal.printing import Output

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpucloud.cli.plugin.cluster.leases import Lease
    from gpucloud.cli.plugin.kube.access import At

STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


def doctor(at: At, *, output: Output, operator_namespace: str, all_namespaces: bool) -> int:
    """Gather, examine, and show what was found."""
    here = cluster(at)
    facts = gather(here, None if all_namespaces else here.namespace, operator_namespace)
    facts = replace(facts, dying_secrets=dying_secrets(here, facts.things))  # here and not for a report, which reads no Secret
    found = examine(facts)
    if output is Output.TEXT:
        printing.lines(_lines(facts, found))
    else:
        printing.document(document(facts, found), output)
    bad = any(finding.severity is not Severity.NOTE for finding in found)
    return ExitCode.FOUND if bad else ExitCode.OK


def _lines(facts: Facts, found: tuple[Finding, ...]) -> list[Line]:
    where = "all namespaces" if facts.namespace is None else f"namespace {facts.namespace}"
    lines = [Line(f"Looked at {where} as {facts.who or 'a user of unknown name'}: {plural(len(facts.things), 'object')}.")]
    lines += [Line(_led(facts, lease)) for lease in facts.leases or ()]
    for same in _merged(found):
        first = same[0]
        lines += [
            Line(""),
            Line(f"{first.severity.value} ({first.check})", style=STYLES[first.severity]),
            Line(f"{_about(same)}{first.message}", "  ", "  "),
            *(Line(_advice(advice), "  -> ", "     ") for advice in dict.fromkeys(finding.advice for finding in same)),
        ]
    counts = {severity: sum(finding.severity is severity for finding in found) for severity in Severity}
    said = ", ".join(plural(count, severity.value) for severity, count in counts.items() if count)
    return [*lines, Line(""), Line(f"{said}." if said else "Nothing wrong was found.", style="bold")]


def _led(facts: Facts, lease: Lease) -> str:
    """Who leads, and where that is not one of the operator's pods, that it runs elsewhere."""
    said = leases.words(lease, facts.now)
    version = f" Its operator is of version {lease.version}." if lease.holder and lease.version else ""
    outside = facts.pods is not None and leases.is_led(lease, facts.now) and not leases.is_a_pod(lease, facts.pods)
    where = f"no pod of an operator in namespace {facts.operator_namespace!r}"
    elsewhere = f" That is {where}: it may run outside of the cluster, for example in a terminal." if outside else ""
    return f"{said[0].upper()}{said[1:]}.{version}{elsewhere}"


def _advice(text: str) -> str:
    """Advice as text; a command alone gets a word before it, so that it has a line of its own."""
    return f"Run: {text}" if text.startswith(marks.ALONE) else text


def _merged(found: tuple[Finding, ...]) -> Iterable[list[Finding]]:
    """Findings that say the same of several objects, as one; in the order of the first of each."""
    groups: dict[tuple[Severity, str, str], list[Finding]] = {}
    for finding in found:
        groups.setdefault((finding.severity, finding.check, finding.message), []).append(finding)
    return groups.values()


def _about(same: list[Finding]) -> str:
    """Which objects: ``GpuVM/a, GpuVM/b in team:``."""
    by_namespace: dict[str, list[str]] = {}
    for finding in same:
        if finding.key is not None:
            by_namespace.setdefault(finding.key.namespace, []).append(str(finding.key))
    named = "; ".join(f"{', '.join(names)} in {namespace}" for namespace, names in by_namespace.items())
    return f"{named}: " if named else ""
