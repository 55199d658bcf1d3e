"""Steps shared by the chains of all kinds: each returns a plan, or None to pass on to the next step.

Steps for safety come first in a chain (finalizer, pause, deletion), then ownership and observation (nothing is done to
another's resource, no verdict without an observation), then creation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from gpucloud.kinds.common import Adoption, CloudStatus, DeletionPolicy, OrderState
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile import credential, evidence, pause, unseen
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.commands import delete_command, plugin_command
from gpucloud.reconcile.conditions import Verdict, build, find, stalled, working
from gpucloud.reconcile.core import failed
from gpucloud.reconcile.core.delete import meanwhile
from gpucloud.reconcile.core.destruction import looking
from gpucloud.reconcile.core.facts import FREES_NAME
from gpucloud.reconcile.core.plan_status import plan_status, recorded
from gpucloud.reconcile.facts import Absent, Present, Readiness, Unknown, UnknownReason
from gpucloud.reconcile.plan import Plan
from gpucloud.reconcile.text import followed, misnamed
from gpucloud.spelling import question

if TYPE_CHECKING:
    from gpucloud.reconcile.core.facts import CloudFacts
    from gpucloud.reconcile.facts import Dependency, Limits, ObjectFacts, ResourceOwner

S = TypeVar("S", bound=CloudStatus)

UNSURE_INTERVALS = 3  # of the fast poll, in which a second listing should have come


def without_finalizer(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Wait until our finalizer is visible; do nothing for a deleted object without it."""
    if awaits_finalizer(f.meta, f.limits):
        return Plan(pending=True)
    return Plan() if f.meta.deleting and not f.meta.has_finalizer else None


def awaits_finalizer(meta: ObjectFacts, limits: Limits) -> bool:
    """Whether our finalizer is not visible yet on an object that is not being deleted; ``--observe-only`` adds none."""
    return not (meta.has_finalizer or meta.deleting or limits.observe_only)


def paused(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Do nothing to a paused object; keep the last verdict if it is of this generation.

    Changes of the order are still recorded: the next process needs the ids that the cloud named, and losses.
    """
    if not pause.is_paused(f.meta.annotations):
        return None
    how = pause.message(f.meta.annotations, f.subject.kind, f.meta.namespace, f.meta.name)
    if f.meta.deleting:
        return plan_status(f, stalled(Reason.DELETION_BLOCKED, f"Deletion is held. {how}"), paused=how)
    ready = find(f.status.conditions, ConditionType.READY)
    if f.status.observed_generation != f.meta.generation or ready is None:
        verdict = working(Reason.PAUSED, how, ready="Unknown")
        conditions = build(verdict, f.status.conditions, f.meta.generation, f.now.wall, paused=how)
        keep = tuple(item for item in conditions if item.type in {ConditionType.READY, ConditionType.PAUSED})
    else:
        fresh = build(working(Reason.PAUSED, how), f.status.conditions, f.meta.generation, f.now.wall, paused=how)
        succeeded = find(f.status.conditions, ConditionType.SUCCEEDED)
        keep = (ready, fresh[-1], *([succeeded] if succeeded is not None else []))
    order = orders.withdrawn(f.tracked) or recorded(f)
    fields = {"conditions": keep, "observed_generation": f.meta.generation, "order": order}
    refresh_after = _lost_from(f, f.found) if isinstance(f.found, Absent) and f.state is OrderState.SEEN else None
    return Plan(status=f.status.model_copy(update=fields), refresh_after=refresh_after)


def _lost_from(f: CloudFacts[Any, Any, Any], found: Absent) -> float:
    """Return the mono time from which a listing without the seen resource proves that it is lost."""
    if found.confirmed is None:
        return f.now.mono
    certain_at = found.since + f.limits.grace
    return certain_at if certain_at > found.as_of else f.now.mono


def claimed(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Report Conflict on an object whose resource another object owns."""
    if f.owner is None:
        return None
    ways = [*filter(None, (f.subject.sharing,)), f"choose another {f.subject.name_field}"]
    ways += [_freed(f, f.owner)] if _waits_for_name(f) else []
    instead = f"{', '.join(ways[:-1])}, or {ways[-1]}" if len(ways) > 1 else ways[0]
    words = (
        f"The {f.subject.noun} name {f.identity.name!r} is already used by {f.owner.named_in(f.meta.namespace)}. "
        f"{instead[0].upper()}{instead[1:]}. To delete this one (destroys nothing): "
        f"{delete_command(f.subject.kind, f.meta.namespace, f.meta.name)}"
    )
    return plan_status(f, stalled(Reason.CONFLICT, words))


def _freed(f: CloudFacts[Any, Any, Any], owner: ResourceOwner) -> str:
    """Return how to free the name, as a clause. The command is not given: pasted, it would destroy what somebody uses."""
    if owner.keeps and owner.namespace == f.meta.namespace:
        return f"delete that object and the {f.subject.noun} that it keeps"
    return f"delete that object with its {f.subject.noun}"


def unobserved(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Report an unknown observation; for a short time keep the last verdict."""
    if not isinstance(f.found, Unknown):
        return None
    if f.found.cause is UnknownReason.NOT_LISTED and not f.synced:
        return Plan(pending=True)  # claims are incomplete; the end of the first list wakes all objects
    if f.found.cause is UnknownReason.NOT_LISTED:
        return Plan(refresh_after=f.history.first_seen, pending=not f.seen)
    if f.found.cause is UnknownReason.REFUSED and not orders.may_exist(f.order) and not f.seen and _account_not_ready(f):
        return dependency_not_ready(f)  # the account or its Secret is being deleted: that comes before the refusal
    until = unseen.stands_until(f, f.found)
    if f.now.mono < until:
        return Plan(requeue_at=until, pending=not f.seen)
    verdict = unknown_verdict(f, f.found)
    if f.account_undecided:
        way_out = "To give it up, delete this object with spec.deletion.policy: Retain."
        verdict = replace(verdict, message=followed(verdict.message, f"{failed.status_lost(f)} {way_out}".strip()))
    refresh_after = failed.list_again_from(f, f.found) if f.found.cause is UnknownReason.STATUS_LOST else None
    return plan_status(f, verdict, refresh_after=refresh_after, requeue_at=unseen.recheck_at(f, f.found))


def _account_not_ready(f: CloudFacts[Any, Any, Any]) -> bool:
    """Whether the account is not ready for creations."""
    return any(need.account and need.readiness is not Readiness.READY for need in f.needs)


def unplaced(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Wait for the dependency that determines the place of the resource; report a spec that names none."""
    if not (isinstance(f.found, Unknown) and f.found.cause is UnknownReason.UNPLACED):
        return None
    if not f.unset_location:
        return dependency_not_ready(f)
    words = f"The spec does not say where the {f.subject.noun} belongs: set exactly one of {f.unset_location}."
    return plan_status(f, stalled(Reason.INVALID_SPEC, words, ready="Unknown" if f.seen else "False"))


def unknown_verdict(f: CloudFacts[Any, Any, Any], found: Unknown) -> Verdict:
    """Return the verdict of an unknown observation, by its cause."""
    unsure: Literal["False", "Unknown"] = "Unknown" if f.seen else "False"
    match found.cause:
        case UnknownReason.NO_ACCOUNT:
            return stalled(Reason.NO_ACCOUNT, found.detail, ready=unsure)
        case UnknownReason.ENDPOINT:
            return stalled(Reason.ENDPOINT_MISMATCH, found.detail, ready="Unknown")
        case UnknownReason.TENANT:
            return stalled(Reason.TENANT_MISMATCH, found.detail, ready="Unknown")
        case UnknownReason.MOVED:
            keep = plugin_command("retain", f.subject.kind, f.meta.namespace, f.meta.name)
            return stalled(Reason.INVALID_SPEC, f"{found.detail} Before you delete this one: {keep}", ready=unsure)
        case UnknownReason.STATUS_LOST:
            words = f"Looking for the {f.subject.noun} {f.identity.name!r} with the {credential.described(f.account.name)}."
            return working(Reason.ACCOUNT_NOT_READY, words, ready="Unknown")
        case _:
            return unseen.listing_verdict(f, found, (f.subject.kind, f.subject.noun), held="nothing is created or destroyed")


def duplicate_records(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Report Ambiguous if several records have the name: a call could hit the wrong one."""
    if not (isinstance(f.found, Present) and f.found.duplicate_records):
        return None
    return plan_status(
        f,
        stalled(
            Reason.AMBIGUOUS,
            f"The cloud lists more than one {f.subject.noun} named {f.identity.name!r} in {f.place}; they cannot be told "
            "apart, so nothing is done to them. Destroy all but one in the cloud.",
        ),
    )


def unconfirmed(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Wait for a newer listing: the record under a chosen name may be older than the order, or another resource.

    An object with the policy Retain is released whatever the record is.
    """
    if not isinstance(f.found, Present) or f.found.duplicate_records or f.owner is not None or not f.is_unconfirmed(f.found):
        return None
    if f.meta.deleting and f.policy is DeletionPolicy.RETAIN:
        return None
    if f.differs(f.found):
        return _renumbered(f, f.found)
    needed = f.now.mono if f.tracked.sightings.in_doubt else f.tracked.since
    return Plan(refresh_after=max(needed, f.tracked.recorded or 0.0), pending=True)


def _renumbered(f: CloudFacts[Any, S, Any], found: Present[Any]) -> Plan[S]:
    """Wait until listings with another unique id count; two of them end what Ready says of the recorded one."""
    counts_from = max(evidence.replaced_from(f.tracked, f.limits.grace, f.history.first_seen), f.tracked.recorded or 0.0)
    refresh_after = counts_from if counts_from > found.as_of else f.now.mono
    if f.meta.deleting:
        return meanwhile(f, looking(f), refresh_after=refresh_after)
    first = f.tracked.sightings.since
    if not f.seen or first is None or found.as_of <= first:
        return Plan(refresh_after=refresh_after, pending=True)
    return plan_status(f, missing_now(f), refresh_after=refresh_after)


def unproven_origin(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Report Ambiguous if the chosen name has a resource, and the order for that name had no clear answer."""
    if not f.unproven:
        return None
    way_out = "If it is yours, destroy it; if not, delete this object with spec.deletion.policy: Retain."
    return plan_status(f, stalled(Reason.AMBIGUOUS, f"{failed.unproven(f)} {way_out}"))


def not_owned(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Report Conflict if the name has a resource that is neither provably ours nor to be adopted."""
    if not isinstance(f.found, Present) or f.is_shown:
        return None
    if f.unprovable:
        return plan_status(f, stalled(Reason.AMBIGUOUS, _unprovable(f)))
    if failed.why_maybe_made(f):
        return plan_status(f, stalled(Reason.CONFLICT, f"{_maybe_own(f)}{failed.status_lost(f)}"))
    words = f"{_another(f)}. {f.conflict_advice(FREES_NAME if _waits_for_name(f) else '')}{failed.status_lost(f)}"
    return plan_status(f, stalled(Reason.CONFLICT, words))


def _unprovable(f: CloudFacts[Any, Any, Any]) -> str:
    return (
        f"The cloud chose the id of {f.subject.noun} {f.identity.name!r}, and since the operator's restart nothing proves that "
        "it is this object's: it is not shown. Ask the administrator for --own-account-sharing=Shared."
    )


def _waits_for_name(f: CloudFacts[Any, Any, Any]) -> bool:
    """Whether this object creates its resource when the name is free."""
    return not (f.adoption is Adoption.REQUIRED or (f.seen and not f.recreates))


def _another(f: CloudFacts[Any, Any, Any]) -> str:
    noun, called = f.subject.noun, f"{f.identity.name!r} in {f.place}"
    if f.state is OrderState.LOST and f.seen:
        return f"The {noun} was deleted {f.how_lost}, and another has its name {called} now"
    return f"{noun[0].upper()}{noun[1:]} {called} was not created for this object"


def _maybe_own(f: CloudFacts[Any, Any, Any]) -> str:
    """Return the message for a resource that may be this object's, but counts as another's: a person must look."""
    noun, why = f.subject.noun, failed.why_maybe_made(f)
    billed = ", and billed" if f.subject.billed else ""
    return (
        f"{noun[0].upper()}{noun[1:]} {f.identity.name!r} in {f.place} may be yours{billed}: {why[0].lower()}{why[1:]}. "
        f"{f.conflict_advice('destroy it if it is yours', named=False)}"
    )


def lost(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Report a lost resource: it was seen, and listings lack it now. It is created again only where the spec asks for that."""
    if not isinstance(f.found, Absent) or not f.seen or f.recreates:
        return None
    if f.state not in {OrderState.LOST, OrderState.GONE}:  # Gone without a deletion: a restored status
        unsure_until = f.found.as_of + UNSURE_INTERVALS * f.limits.pending_interval
        if f.found.confirmed is None and f.now.mono < unsure_until:  # one listing may be partial
            return Plan(refresh_after=f.now.mono, requeue_at=unsure_until, pending=True)
        return plan_status(f, missing_now(f), refresh_after=_lost_from(f, f.found))
    return plan_status(f, stalled(f.subject.lost, _lost_for_good(f)))


def missing_now(f: CloudFacts[Any, Any, Any]) -> Verdict:
    """Return the verdict while listings lack what was seen, and do not prove yet that it is lost."""
    words = f"The cloud's latest listing lacks this {f.subject.noun}; the operator checks again."
    return working(f.subject.lost, words, ready="Unknown")


def _lost_for_good(f: CloudFacts[Any, Any, Any]) -> str:
    """Return the message of a lost resource, with the way to another one."""
    noun = f.subject.noun
    if f.adopted:
        return (
            f"The adopted {noun} was deleted {f.how_lost}. It is not recreated automatically. If the cloud lists a new one "
            f"named {f.identity.name!r}, that is adopted. To have the operator create one, {f.creation_advice(Adoption.NEVER)}."
        )
    return f"The {noun} was deleted {f.how_lost}. {f.way_to_new}"


def dependency_not_ready(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Wait for a dependency that is not ready. Its change wakes this object; ``requeue_at`` is for those without an object."""
    waits = first_not_ready(f)
    if waits is None:
        return None
    return plan_status(f, _waiting(f, waits), requeue_at=f.now.mono + unseen.RECHECK_SECONDS)


def first_not_ready(f: CloudFacts[Any, Any, Any]) -> Dependency | None:
    """Return the dependency that is waited for, if any."""
    return next((need for need in f.needs if need.readiness is not Readiness.READY), None)


def _missing(f: CloudFacts[Any, Any, Any], need: Dependency) -> str:
    """Return that what this object refers to does not exist, and the way out. Manifests are applied in any order."""
    there = f"there is none in namespace {f.meta.namespace!r}"
    if not need.field:
        return f"{there}."
    if orders.may_exist(f.order):
        return f"{there} yet.{question(need.near)} Create {need.name}."
    if need.near:
        return f"{there} yet.{question(need.near)} {misnamed(need.name, need.field, need.near)}"
    wrong = f"if {need.field} is wrong, delete this object and create it again"
    return f"{there} yet, as is usual for some seconds after an apply. If it stays so, create it; or, {wrong}."


def _waiting(f: CloudFacts[Any, Any, Any], need: Dependency) -> Verdict:
    detail = f" {need.detail}" if need.detail else ""
    match need.readiness:
        case Readiness.MISSING:
            words = f"Waiting for {need.name}: {_missing(f, need)}{detail}"
        case Readiness.DELETING if need.detail:
            words = f"{need.name} is being deleted: nothing is created with it.{detail}"
        case Readiness.DELETING:
            delete = delete_command(f.subject.kind, f.meta.namespace, f.meta.name)
            waits = " and waits until this object is gone, too" if need.account or need.held else ""
            words = f"{need.name} is being deleted{waits}: nothing is created with it. Delete this object{f.deletion_does}"
            words += f"{', too,' if waits else ','} and create both again later: {delete}"
        case Readiness.NAMELESS:
            words = f"Waiting for the name of {need.name} in the cloud: its status lost the record of its order.{detail}"
        case Readiness.UNUSABLE:
            return stalled(Reason.INVALID_REFERENCE, f"{need.name} cannot be used here.{detail}")
        case _:
            words = f"Waiting for {need.name} to become Ready.{detail}"
    return working(Reason.ACCOUNT_NOT_READY if need.account else Reason.DEPENDENCY_NOT_READY, words)
