"""``doctor``: whether an operator runs, and looks at these objects. Pure."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin.cluster.leases import is_led
from gpucloud.cli.plugin.doctor.facts import Finding, Severity
from gpucloud.cli.plugin.model.health import Standing, reason, standing
from gpucloud.cli.plugin.model.objects import ACCOUNT, VM, moment
from gpucloud.cli.terminal.text import ago, few
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile.text import MAX_TEXT
from gpucloud.spelling import nearest, question

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gpucloud.cli.plugin.cluster.leases import Lease
    from gpucloud.cli.plugin.doctor.facts import Facts
    from gpucloud.cli.plugin.model.objects import Thing

PATIENCE = timedelta(minutes=1)  # an operator that runs has looked at a new object long before
ANSWER = timedelta(minutes=5)  # to a request; a cloud that is away for a moment delays it (--blind-after-seconds)
ANSWERS = {  # where the status answers a request
    Annotation.RESTART_REQUESTED_AT: "lastHandledRestartAt",
    Annotation.RECONCILE_REQUESTED_AT: "lastHandledReconcileAt",
}
ALL = "*"  # in place of names: an operator that watches every namespace
TO_WATCH = "the operator's --namespace, in the Helm chart watchNamespaces"
NO_LEASE = (
    "If it is in another namespace, name that with --operator-namespace. One that runs without --leader-elect has no "
    "Lease: look at its pods, or at the terminal in which it runs."
)
ALIVE = f"Ask the administrator whether the operator runs (its pods, its log), and which namespaces it watches ({TO_WATCH})."


def watched(pods: Iterable[Mapping[str, Any]]) -> frozenset[str] | None:
    """The namespaces that the operators of these pods watch, ``ALL`` for all; None when that is not to be seen.

    It stands in the arguments or the environment of a pod; a settings file is not looked at.
    """
    containers = [container for pod in pods for container in (pod.get("spec") or {}).get("containers") or ()]
    found = [_watched(container) for container in containers]
    known = [names for names in found if names is not None]
    return frozenset().union(*known) if found and len(known) == len(found) else None


def _watched(container: Mapping[str, Any]) -> frozenset[str] | None:
    words = [str(word) for word in (*(container.get("command") or ()), *(container.get("args") or ()))]
    environment = {str(item.get("name")): item.get("value") for item in container.get("env") or ()}
    if "GPUCLOUD_CONFIG" in environment or any(word.partition("=")[0] == "--config" for word in words):
        return None
    named = [word.partition("=")[2] for word in words if word.startswith("--namespace=")]
    named += [value for word, value in pairwise(words) if word == "--namespace"]
    if not named and "GPUCLOUD_NAMESPACE" in environment:
        value = environment["GPUCLOUD_NAMESPACE"]
        if not isinstance(value, str):
            return None
        named = [name.strip() for name in value.split(",") if name.strip()]
    return frozenset(named or [ALL])


def namespace(facts: Facts) -> Iterator[Finding]:
    """Whether the namespace is there, and whether an operator watches it."""
    if facts.namespace is not None and facts.namespaces is not None and facts.namespace not in facts.namespaces:
        yield Finding(
            Severity.ERROR,
            "namespace",
            f"There is no namespace {facts.namespace!r}.{question(nearest(facts.namespace, facts.namespaces))}",
            "Name another one with -n, or create it.",
        )
    elif outside := _unwatched(facts):
        yield Finding(
            Severity.ERROR,
            "operator",
            f"No operator in namespace {facts.operator_namespace!r} watches {_namespaces(outside)}: {_watching(facts)} only.",
            f"Ask the administrator to have it watched ({TO_WATCH}), or use a namespace that is. For another operator, give "
            "its --operator-namespace.",
        )
    elif facts.namespace is not None and not facts.things and not facts.unread and facts.watched is None and _runs(facts):
        yield Finding(
            Severity.NOTE,
            "operator",
            f"doctor cannot see whether the operator watches namespace {facts.namespace!r}: the namespace has no GPU cloud "
            "object, and the operator's pods do not show you their flags.",
            "Create an object: within a minute its status has an answer, or doctor says that there is none.",
        )


def _unwatched(facts: Facts) -> list[str]:
    """Of the namespaces that were looked at, those that no operator watches, as far as that is known."""
    if facts.watched is None or ALL in facts.watched:
        return []
    looked_at = {facts.namespace} if facts.namespace is not None else {item.key.namespace for item in facts.things}
    return sorted(looked_at - facts.watched)


def _watching(facts: Facts) -> str:
    names = sorted(facts.watched or ())
    return f"{'it watches' if len(facts.leases or ()) < 2 else 'they watch'} {_namespaces(names)}"


def _namespaces(names: list[str]) -> str:
    return f"namespace{'' if len(names) == 1 else 's'} {few([repr(name) for name in names])}"


def _runs(facts: Facts) -> bool:
    """Whether an operator is seen to run."""
    return any(is_led(lease, facts.now) for lease in facts.leases or ())


def unseen(facts: Facts) -> Iterator[Finding]:
    """Objects that wait for an operator's first look; not where another finding says already that none watches them."""
    outside = _unwatched(facts)
    waiting = [
        item
        for item in facts.things
        if standing(item) is Standing.UNSEEN and _age(facts, item) > PATIENCE and item.key.namespace not in outside
    ]
    if not waiting:
        return
    words = f"No operator has looked at {few([str(item.key) for item in waiting])} within a minute"
    where = _namespaces(sorted({item.key.namespace for item in waiting}))
    if _runs(facts) and facts.watched is None:
        yield Finding(
            Severity.ERROR,
            "operator",
            f"{words}, although one runs: it does not seem to watch {where}.",
            f"Ask the administrator whether it does ({TO_WATCH}) and what its log says; or use a namespace that it watches.",
        )
    else:
        yield Finding(Severity.ERROR, "operator", f"{words}: none runs, or none watches {where}.", ALIVE)


def unanswered(facts: Facts) -> Iterator[Finding]:
    """An operator that has stopped leaves its last words behind; that it does not answer shows it all the same."""
    for annotation in ANSWERS:
        names = [str(item.key) for item in facts.things if _ignored(facts, item, annotation)]
        if names:
            yield Finding(
                Severity.WARNING,
                "operator",
                f"No operator has answered {annotation} of {few(names)} within 5 minutes: none seems to look there.",
                ALIVE,
            )


def _ignored(facts: Facts, item: Thing, annotation: Annotation) -> bool:
    """Whether an operator would have answered this request long ago. As it does, only the beginning of a long one counts."""
    asked = str(item.annotations.get(annotation) or "")[:MAX_TEXT]
    if not asked or not _answerable(item, annotation) or item.status.get(ANSWERS[annotation]) == asked:
        return False
    since = moment(asked)  # a text that is no time does not tell when it was set
    return (_age(facts, item) if since is None else facts.now - since) > ANSWER


def _answerable(item: Thing, annotation: Annotation) -> bool:
    """Whether an operator that is well answers: not while held back, deleting, or before it could read the spec."""
    if item.paused or item.deleting is not None:
        return False
    if annotation is Annotation.RESTART_REQUESTED_AT:  # a VM in any other state may have to get out of that first
        return item.key.kind == VM and standing(item) is Standing.READY
    unread = standing(item) is Standing.UNSEEN or reason(item) == Reason.INVALID_SPEC
    return item.key.kind != ACCOUNT and not unread


def leaders(facts: Facts) -> Iterator[Finding]:
    """Leases that nobody holds, or that are not renewed; and a note where none is to be seen, unless an error says as much."""
    for lease in facts.leases or ():
        if not is_led(lease, facts.now):
            yield Finding(
                Severity.ERROR,
                "operator",
                _silence(facts, lease),
                "Check whether the operator's pods run. If that operator is gone for good, delete its Lease. "
                "If the clock of this machine is wrong, correct it.",
            )
    if not facts.leases and next(unseen(facts), None) is None:
        where = f"in namespace {facts.operator_namespace!r}"
        why = f"You may not see the Leases {where}" if facts.leases is None else f"No Lease was found {where}"
        old = "; the status may be old" if facts.things else ""
        yield Finding(
            Severity.NOTE,
            "operator",
            f"{why}, so it cannot be seen whether an operator runs{_and_watches(facts)}{old}.",
            _right_to_leases(where) if facts.leases is None else NO_LEASE,
        )


def _right_to_leases(where: str) -> str:
    return (
        f"Ask the administrator for the right to list leases.coordination.k8s.io {where}; or name the operator's namespace, if "
        "it is another one, with --operator-namespace."
    )


def _and_watches(facts: Facts) -> str:
    """As words of a sentence, where no object shows it either."""
    unknown = facts.namespace is not None and facts.watched is None and not facts.things
    return f" and watches namespace {facts.namespace!r}" if unknown else ""


def _silence(facts: Facts, lease: Lease) -> str:
    last = None if lease.renewed is None else f"{ago(facts.now - lease.renewed)} ago"
    if not lease.holder:
        return f"Nobody leads: nobody holds the Lease {lease.name}{f', which was last renewed {last}' if last else ''}."
    return (
        f"Nobody leads: {lease.holder} holds the Lease {lease.name} and {f'renewed it {last}' if last else 'never renewed it'}."
    )


def _age(facts: Facts, item: Thing) -> timedelta:
    """Since when the operator could have looked; an edit's own time is not known, so an object's age must do."""
    return timedelta.max if item.created is None else facts.now - item.created
