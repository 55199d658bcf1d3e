"""Any situation of a GpuHost, drawn with a ``random.Random``: statuses that people have edited, and odd records, included."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.gpuhost import HostOperation, HostOutcome, HostVerb
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile.facts import AccountFacts, Asked, Attempt, CallHistory, Limits, Refusal, ResourceOwner, Verb
from gpucloud.reconcile.gpuhost import CloudInit
from gpucloud.reconcile.gpuhost.facts import announcement
from support.anyfacts import absent, before, blind, seldom
from support.builders import START, an_object
from support.hostfacts import AHEAD, LONG_AGO, RECENTLY, SEEN, SINCE, WALL, a_host, a_host_spec, a_host_status, host_facts

if TYPE_CHECKING:
    from random import Random

    from gpucloud.reconcile.gpuhost import HostFacts

VALUES = (RECENTLY, RECENTLY, SINCE, LONG_AGO, AHEAD, "now", "")
CALLS = {HostVerb.REBOOT: Verb.REBOOT_HOST, HostVerb.REPROVISION: Verb.REPROVISION_HOST}
ANSWERS = ("last_handled_reboot_at", "last_handled_reprovision_at", "last_announced_reboot_at", "last_announced_reprovision_at")


def an_operation(r: Random) -> HostOperation | None:
    """Any operation on record."""
    if r.random() < 0.4:
        return None
    return HostOperation(
        verb=r.choice(list(HostVerb)),
        generation=r.choice((0, 1, 2)),
        id=r.choice(VALUES[:3]),
        at=r.choice((START, WALL)),
        outcome=r.choice((HostOutcome.ANNOUNCED, HostOutcome.ANNOUNCED, *HostOutcome)),
        message=r.choice((None, "Words.")),
    )


def an_attempt(r: Random, verb: Verb) -> Attempt:
    """One call, and how it went."""
    refusal = Refusal(r.choice(list(ErrorKind)), "words", r.random() < 0.5) if r.random() < 0.7 else None
    failures = 0 if refusal is None else r.choice((1, 6))
    return Attempt(verb, before(r), Asked(r.choice((1, 2))), refusal, failures, 0, (r.choice(VALUES[:3]),))


def annotations(r: Random) -> dict[str, str]:
    """What people set."""
    drawn = {
        Annotation.PAUSED: seldom(r, r.choice(("true", "yes", "", "false")), None),
        Annotation.RECONCILE_REQUESTED_AT: seldom(r, "t1", None),
        Annotation.REBOOT_REQUESTED_AT: r.choice((None, *VALUES)),
        Annotation.REPROVISION_REQUESTED_AT: r.choice((None, *VALUES)),
    }
    return {name: value for name, value in drawn.items() if value is not None}


def any_host(r: Random) -> HostFacts:
    """Facts about a GpuHost."""
    operation, texts = an_operation(r), (None, None, *VALUES)
    said = ((None,), (Reason.RUNNING, "True", None), (Reason.REBOOTING,), (Reason.REJECTED, "False", "Stalled"))
    answers = {name: r.choice(texts) for name in ANSWERS}
    status = a_host_status(*r.choice(said), **seldom(r, {}, SEEN), operation=operation, **answers)
    record = {
        "poweredOn": r.choice((True, True, True, False, None)),
        "provisioningState": r.choice(("provisioned", "PROVISIONED", "deprovisioning", "available", "strange", None)),
        "operationalStatus": r.choice(("OK", "ok", "ok", "error", "strange", None)),
        "image": r.choice((None, "new", "https://me:made-up@images.example/a?signature=made-up")),
    }
    shown = a_host(before(r), seldom(r, True, False), **record)
    meta = an_object(
        has_finalizer=False, annotations=annotations(r), deleting=seldom(r, True, False), created_at=seldom(r, WALL, START)
    )
    attempts = {verb: an_attempt(r, verb) for verb in CALLS.values() if r.random() < 0.4}
    own = None if operation is None or r.random() < 0.3 else announcement(operation)
    return replace(
        host_facts(spec=a_host_spec(**seldom(r, {"reprovision": None}, {}))),
        meta=meta,
        status=status,
        found=r.choice((shown, shown, shown, shown, absent(r), blind(r))),
        history=CallHistory(first_seen=min([before(r), *(item.at for item in attempts.values())]), attempts=attempts),
        account=AccountFacts(r.choice(("(operator)", "lab")), frozenset({"acme"}), r.choice(((), ("Msc1",)))),
        isolated=seldom(r, True, False),
        owner=seldom(r, ResourceOwner("GpuHost", "team", "first"), None),
        synced=seldom(r, False, True),
        limits=Limits(observe_only=seldom(r, True, False)),
        announced=own,
        cloud_init=r.choice((None, None, CloudInit("aW5pdA=="), CloudInit(trouble=Reason.INVALID_SECRET, words="Words."))),
    )
