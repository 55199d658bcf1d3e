"""``doctor``: from what was gathered to findings, each with what to do. Pure; the time is an argument."""

from __future__ import annotations

import shlex
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin.cluster import rights
from gpucloud.cli.plugin.cluster.rights import Right
from gpucloud.cli.plugin.doctor import account_findings, operator_findings
from gpucloud.cli.plugin.doctor.crd_fields import fields_of
from gpucloud.cli.plugin.doctor.facts import Facts, Finding, Severity
from gpucloud.cli.plugin.model.dependencies import World, absence, absence_way_out, causes
from gpucloud.cli.plugin.model.effects import EFFECTS
from gpucloud.cli.plugin.model.health import Standing, message, reason, standing
from gpucloud.cli.plugin.model.objects import SNAPSHOT
from gpucloud.cli.terminal.marks import paste
from gpucloud.cli.terminal.page import followed_by
from gpucloud.cli.terminal.text import ago, few
from gpucloud.kinds.crd import custom_resource_definition
from gpucloud.kinds.definitions import ALL_DEFINITIONS
from gpucloud.kinds.meta import APPLY_CRDS, FINAL_SNAPSHOT_OF, GROUP, VERSION, Annotation, ConditionType, Reason
from gpucloud.reconcile import pause
from gpucloud.reconcile.accepted_absence import accepted_absence, command
from gpucloud.reconcile.facts import Now
from gpucloud.reconcile.gpuvm import buy_anyway
from gpucloud.reconcile.time_annotations import Said
from gpucloud.spelling import nearest, question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gpucloud.cli.plugin.model.objects import Key, Thing

DELETION = timedelta(minutes=10)
OURS = f"{GROUP}/"


def examine(facts: Facts) -> tuple[Finding, ...]:
    """All findings, the gravest first; the checks keep their order."""
    found = [finding for check in CHECKS for finding in check(facts)]
    return tuple(sorted(found, key=lambda finding: tuple(Severity).index(finding.severity)))


def _definitions(facts: Facts) -> Iterator[Finding]:
    if facts.kinds is None:
        yield Finding(
            Severity.ERROR,
            "definitions",
            f"The apiserver does not serve {GROUP}/{VERSION}, or does not say so to you.",
            f"Install the CRDs of the operator's version: {paste(APPLY_CRDS)}",
        )
        return
    for definition in ALL_DEFINITIONS:
        if definition.plural not in facts.kinds:
            yield Finding(
                Severity.ERROR,
                "definitions",
                f"The resource {definition.plural}.{GROUP} is not installed.",
                f"Install the CRDs of the operator's version: {paste(APPLY_CRDS)}",
            )
            continue
        installed = facts.definitions.get(definition.plural)
        if installed is not None:
            yield from _compared(definition.plural, custom_resource_definition(definition), installed)


def _compared(plural: str, ours: Mapping[str, Any], installed: Mapping[str, Any]) -> Iterator[Finding]:
    """Field names say which version a definition is of; the rest the apiserver may write in its own way."""
    wanted, there = fields_of(ours), fields_of(installed)
    missing, more = sorted(wanted - there), sorted(there - wanted)
    if missing:
        yield Finding(
            Severity.WARNING,
            "definitions",
            f"The definition of {plural} is older than this plugin: it lacks {few(missing)}.",
            f"Update the CRDs before the operator: {paste(APPLY_CRDS)}",
        )
    if more:
        yield Finding(
            Severity.NOTE,
            "definitions",
            f"The definition of {plural} is newer than this plugin: it also has {few(more)}.",
            "Update the plugin, so that it shows all there is.",
        )


def _rights(facts: Facts) -> Iterator[Finding]:
    unlisted = [plural for plural in facts.unread if not facts.rights.get(Right("list", plural), True)]
    you, where = f"You ({facts.who or 'of unknown name'})", _where(facts)
    if unlisted:
        yield Finding(
            Severity.ERROR,
            "rights",
            *rights.unlisted(facts.who, facts.namespace, unlisted),
        )
    lacking: dict[str, list[str]] = {}
    for right, allowed in facts.rights.items():
        if not allowed and (right.verb != "list" or right.resource not in unlisted):
            lacking.setdefault(right.resource, []).append(right.verb)
    if lacking:
        yield Finding(
            Severity.NOTE,
            "rights",
            f"{you} may not: {rights.listed(lacking)}{where}.",
            "If you need that, ask an administrator of the cluster for it; reading is enough for status and doctor.",
        )
    for plural, why in facts.unread.items():
        if plural not in unlisted and facts.kinds is not None and plural in facts.kinds:  # else another finding says so
            scope = "--all-namespaces" if facts.namespace is None else f"--namespace={facts.namespace}"
            yield Finding(
                Severity.ERROR,
                "rights",
                f"The {plural} could not be looked at: {why}",
                f"They are not shown here. Whether you may list them: {paste(f'kubectl auth can-i list {plural} {scope}')}",
            )


def _stuck(facts: Facts) -> Iterator[Finding]:
    """Root causes only: who waits for one of them is named with it."""
    waiting = {cause.key: cause for cause in causes(World.of(facts.things, facts.unread))}
    for key, cause in waiting.items():
        names = _waiting([str(other) for other in cause.waiting])
        if cause.thing is None:
            yield Finding(
                Severity.ERROR,
                "missing",
                followed_by(absence(cause), names),
                absence_way_out(cause),
                key,
            )
        elif cause.lacks_data:
            yield Finding(
                Severity.ERROR,
                "missing",
                followed_by(f"{reason(cause.thing)}: {message(cause.thing)}", names),
                f"Do as the message says. More: {paste(f'kubectl gpucloud explain {reason(cause.thing)}')}",
                key,
            )
        elif reason(cause.thing) == Reason.DELETION_HELD:
            yield Finding(
                Severity.ERROR,
                "deletion-guard",
                followed_by(f"{reason(cause.thing)}: {message(cause.thing)}", names),
                "Release it as the message says, or keep the VM.",
                key,
            )
        elif cause.is_wrong:
            words = followed_by(f"{reason(cause.thing)}: {message(cause.thing)}", names)
            yield Finding(
                Severity.ERROR,
                "stalled",
                words,
                f"Do as the message says. More: {paste(f'kubectl gpucloud explain {reason(cause.thing)}')}",
                key,
            )


def _implausible(facts: Facts) -> Iterator[Finding]:
    """Objects that a listing lacks with many others: nothing is done about them until they are listed, or a person says so."""
    for item in facts.things:
        if standing(item) is Standing.UNKNOWN and reason(item) == Reason.IMPLAUSIBLE_LISTING:
            more = paste(f"kubectl gpucloud explain {reason(item)}")
            yield Finding(
                Severity.WARNING,
                "listing",
                f"{reason(item)}: {message(item)}",
                f"See in the cloud whether it is there. If it is, wait; if it is gone, do as the message says. More: {more}",
                item.key,
            )


def _waiting(names: list[str]) -> str:
    """Who waits for a cause, as the sentence after its message."""
    if not names:
        return ""
    return f"{len(names)} {'waits' if len(names) == 1 else 'wait'} for it: {few(names)}."


def _deletions(facts: Facts) -> Iterator[Finding]:
    for item in facts.things:
        if item.deleting is not None and facts.now - item.deleting > DELETION and standing(item) is not Standing.STALLED:
            yield Finding(
                Severity.WARNING,
                "deletion",
                f"{item.key} has been in deletion for {ago(facts.now - item.deleting)}: {message(item)}",
                "Wait, or do as the message says. Never remove the finalizer: what it stands for would stay in the cloud and "
                "be billed.",
                item.key,
            )


def _paused(facts: Facts) -> Iterator[Finding]:
    for item in facts.things:
        if item.paused:
            yield Finding(
                Severity.WARNING,
                "paused",
                f"{pause.cause(item.annotations)} Nothing is created, switched or destroyed, deletion included.",
                item.key.command("resume"),
                item.key,
            )


def _unpublished(facts: Facts) -> Iterator[Finding]:
    for item in facts.things:
        failed = item.condition(ConditionType.PUBLICATION_FAILED)
        if failed is not None:
            yield Finding(
                Severity.WARNING,
                "connection",
                f"{failed.type} {failed.reason}: {failed.message}",
                f"Do as the message says. More of the reason: {paste(f'kubectl gpucloud explain {failed.reason}')}",
                item.key,
            )


def _annotations(facts: Facts) -> Iterator[Finding]:
    for item in facts.things:
        for name, value in sorted(item.annotations.items()):
            if not name.startswith(OURS) or "kopf" in name or (name, item.key.kind) == (FINAL_SNAPSHOT_OF, SNAPSHOT):
                continue
            if name not in frozenset(Annotation):
                near = _meant(name)
                meant = f"{question(near)} {EFFECTS.get(near[0], '')}".rstrip() if near else ""
                harmless = bool(near) and near[0] not in EFFECTS  # what buys or destroys is no repair to paste
                instead = f" {near[0]}={shlex.quote(value)}" if harmless and value.isprintable() else ""
                yield Finding(
                    Severity.WARNING,
                    "annotations",
                    f"The annotation {name} means nothing to the operator.{meant}",
                    paste(f"kubectl annotate {_typed(item.key)} {name}-{instead} --namespace={item.key.namespace}"),
                    item.key,
                )
            elif name == Annotation.BUY_ANYWAY:
                yield from _purchase(facts, item)
            elif name == Annotation.ACCEPT_ABSENCE:
                yield from _acceptance(facts, item)


def _removal(key: Key, annotation: str) -> str:
    return f"kubectl annotate {_typed(key)} {annotation}- --namespace={key.namespace}"


def _meant(name: str) -> tuple[Annotation, ...]:
    """Which annotation of ours this one may be a slip of: at most one, since a command is made of it."""
    # Without the group, which all have in common and which would make any two alike.
    near = nearest(name.removeprefix(OURS), (known.removeprefix(OURS) for known in Annotation))
    return tuple(Annotation(OURS + one) for one in near[:1])


def _purchase(facts: Facts, item: Thing) -> Iterator[Finding]:
    """It is "true" or a time: which of the two the object needs, its condition says."""
    trouble = buy_anyway.trouble(item.annotations, facts.now)
    if trouble:
        removal = paste(_removal(item.key, Annotation.BUY_ANYWAY))
        advice = f"The message of the object's condition has the command that buys. If you do not need it, remove it: {removal}"
        yield Finding(Severity.WARNING, "annotations", f"{trouble} So it has no effect.", advice, item.key)


def _acceptance(facts: Facts, item: Thing) -> Iterator[Finding]:
    """It holds a time, and covers the doubts that began up to then."""
    now = Now(facts.now, 0.0)
    trouble = accepted_absence(Said(item.annotations.get(Annotation.ACCEPT_ABSENCE), now), now).trouble
    if trouble:
        advice = f"If it is gone: {paste(command(item.key.kind, item.key.namespace, item.key.name))}"
        yield Finding(Severity.WARNING, "annotations", f"{trouble} So it has no effect.", advice, item.key)


CHECKS: tuple[Callable[[Facts], Iterator[Finding]], ...] = (
    _definitions,
    _rights,
    operator_findings.namespace,
    operator_findings.unseen,
    operator_findings.unanswered,
    operator_findings.leaders,
    account_findings.accounts,
    account_findings.secrets,
    _stuck,
    _implausible,
    _deletions,
    _paused,
    _unpublished,
    _annotations,
)


def _where(facts: Facts) -> str:
    return f" {rights.in_words(facts.namespace)}"


def _typed(key: Key) -> str:
    return f"{key.kind.lower()}/{key.name}"
