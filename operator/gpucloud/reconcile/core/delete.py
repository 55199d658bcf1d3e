"""Steps of a deletion: the finalizer is released only when the resource is proven gone, retained, or not ours."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from gpucloud.kinds.common import Adoption, CloudStatus, DeletionPolicy, OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import credential, evidence
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.accepted_absence import command
from gpucloud.reconcile.commands import plugin_command
from gpucloud.reconcile.conditions import stalled, working
from gpucloud.reconcile.core import failed
from gpucloud.reconcile.core.absent import absent_twice_since, await_gone, lost_before, release_gone
from gpucloud.reconcile.core.destruction import (
    again_from,
    deleting,
    let_go,
    looking,
    refused,
    release_finalizer,
    repeated,
    retain,
    send,
    set_retain,
)
from gpucloud.reconcile.core.plan_status import plan_status
from gpucloud.reconcile.facts import Absent, Present, Unknown, UnknownReason
from gpucloud.reconcile.plan import Plan, first_plan
from gpucloud.reconcile.text import NAMED, followed, listed
from gpucloud.reconcile.unseen import RECHECK_SECONDS, REFUSALS, why_unseen

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.reconcile.conditions import Verdict
    from gpucloud.reconcile.core.facts import CloudFacts

S = TypeVar("S", bound=CloudStatus)


def decide(f: CloudFacts[Any, S, Any], prepare: Callable[[], Plan[S] | None] = lambda: None) -> Plan[S]:
    """Return the next step of a deletion.

    ``prepare`` returns the kind's own step that must come before the destroying call, or None. It is called right before each
    such call.
    """
    plan = _next_step(f, prepare)
    if plan.release is None or f.unsearched is None or f.policy is DeletionPolicy.RETAIN:
        return plan
    return _await_search(f, f.unsearched)


def _next_step(f: CloudFacts[Any, S, Any], prepare: Callable[[], Plan[S] | None]) -> Plan[S]:
    """Return the next step by what is seen where the resource should be."""
    plan = first_plan(f, retained, held_by_dependents)
    if plan is not None:
        return plan
    if isinstance(f.found, Unknown):
        return _unobserved(f, f.found)
    if isinstance(f.found, Present):
        return _destroy(f, f.found, prepare)
    return await_gone(f, f.found, prepare)


def retained(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Release the finalizer if the spec retains the resource, or if it is not this object's."""
    if f.policy is DeletionPolicy.RETAIN:
        return _retained(f)
    if f.owner is None and f.unproven_location and orders.may_exist(f.order):
        return None if f.tracked.own else _unprovable(f)
    if f.owner is None and not f.ours and (f.seen or f.unproven):
        return _unproven(f) if f.unproven else _lost_before(f)
    if not (f.ours or _is_open(f)):  # a second claimant, or an existing resource of this name
        return _not_ours(f)
    return None


def _is_open(f: CloudFacts[Any, Any, Any]) -> bool:
    """Whether a later observation may show a resource of this object, though nothing proves one now.

    What was ordered is elsewhere, or the spec does not say where; or the resource may have been adopted, and its record lost.
    """
    if not isinstance(f.found, Unknown):
        return False
    lost_record = f.adoption is not Adoption.NEVER and not f.never_ordered
    return f.found.cause is UnknownReason.MOVED or bool(f.unset_location) or lost_record


def _retained(f: CloudFacts[Any, S, Any]) -> Plan[S]:
    """Release an object whose spec retains the resource; warn if the destroying call may have been sent: it is not undone."""
    what = f"The {f.subject.noun} {f.identity.name!r}"
    if f.never_created or (f.never_ordered and not f.adopted):
        return release_finalizer(f, Reason.GONE, f"No {f.subject.noun} was created for this object.")
    if f.state in {OrderState.LOST, OrderState.GONE} and isinstance(f.found, Absent):
        words = f"No listing shows {what[0].lower()}{what[1:]} any more. Nothing is destroyed, as spec.deletion.policy says."
        return release_finalizer(f, Reason.RETAINED, words)
    why = "as spec.deletion.policy says" if not f.adopted else "since it was adopted"
    if f.state is OrderState.DESTROYING:
        late = f"but {f.subject.destroy} may have been sent before: it may be destroyed all the same. Look in the cloud."
        return release_finalizer(f, Reason.RETAINED, f"{what} is released, {why}, {late}", True)
    return release_finalizer(f, Reason.RETAINED, f"{what} is retained, {why}.")


def _lost_before(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Release an object whose resource was lost, if another one has its name: that one is not destroyed. Else look again.

    What was lost may be there all the same, and shows by its unique id that it is: one old listing releases no object.
    """
    if f.state is OrderState.GONE and not isinstance(f.found, Present):
        return release_gone(f, f"The {f.subject.noun} {f.identity.name!r} is gone from the cloud.")
    if not isinstance(f.found, Present):
        return None
    counts_from = f.deletion_seen + f.limits.grace
    if evidence.may_be_back(f.order, unique_id=f.subject.unique_id) and f.found.as_of < counts_from:
        return plan_status(f, lost_before(f), refresh_after=counts_from)
    gone = f"The {f.subject.noun} {f.identity.name!r} of this object is gone from the cloud."
    maybe = failed.maybe_made(f)
    return release_finalizer(
        f, Reason.RETAINED, f"{gone} Another one has that name now and is not destroyed.{maybe}", bool(maybe)
    )


def _not_ours(f: CloudFacts[Any, S, Any]) -> Plan[S]:
    """Release an object that owns no resource; the Event says why nothing is destroyed."""
    noun, name = f.subject.noun, f.identity.name
    recorded = f.order is not None and f.others_record is None
    maybe = "" if isinstance(f.found, Absent) and recorded else failed.maybe_made(f)
    kept = f"The {noun} {name!r} is not destroyed"
    if f.owner is not None:
        user = f.owner.named_in(f.meta.namespace)
        return release_finalizer(f, Reason.RETAINED, f"{kept}: {user} uses it.{maybe}", bool(maybe))
    if isinstance(f.found, Present):
        return release_finalizer(f, Reason.RETAINED, f"{kept}: it was not created for this object.{maybe}", bool(maybe))
    if f.tracked.earlier_unclear and isinstance(f.found, Absent) and not absent_twice_since(f.found, f.deletion_seen):
        return plan_status(f, looking(f), refresh_after=f.now.mono)  # one that shows now is not destroyed, but reported
    if maybe:
        return release_finalizer(
            f, Reason.RETAINED, f"Nothing is destroyed. A {noun} {name!r} may still appear in the cloud.{maybe}", True
        )
    return release_finalizer(f, Reason.GONE, f"No {noun} was created for this object.")


def _unprovable(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Block a deletion if only status, which people can edit, says that the resource with this id is the object's."""
    if isinstance(f.found, Absent):
        return None
    words = (
        f"The cloud chose the id of {f.subject.noun} {f.identity.name!r}, and since the operator's restart nothing "
        f"proves that it is this object's. Destroy it in the cloud, or {set_retain(f)}"
    )
    return plan_status(f, stalled(Reason.DELETION_BLOCKED, words))


def _unproven(f: CloudFacts[Any, S, Any]) -> Plan[S]:
    """Block a deletion while a listing shows the chosen name of an order without a clear answer: a person must look."""
    words = f"{failed.unproven(f)} If it is yours, destroy it in the cloud. {retain(f)}"
    return plan_status(f, stalled(Reason.DELETION_BLOCKED, words))


def held_by_dependents(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Wait for the objects that still need the resource; name them.

    A VM and a snapshot are needed only until what is made from them is there. To delete that would lose it.
    """
    if not f.dependents:
        return None
    those, one = listed(f.dependents), len(f.dependents) == 1
    if f.subject.made_from:
        words = (
            f"The {f.subject.noun} is destroyed as soon as {those}, which {'is' if one else 'are'} being {f.subject.made_from} "
            f"it, {'is' if one else 'are'} Ready. Nothing to do, unless {'that' if one else 'one'} is Stalled or paused."
        )
    else:
        words = f"The {f.subject.noun} is still needed by {those}, and is destroyed as soon as nothing needs it."
        words = f"{words} {_freeing(f)}".strip()
    return plan_status(f, working(Reason.DELETION_BLOCKED, words), requeue_at=f.now.mono + RECHECK_SECONDS)


def _freeing(f: CloudFacts[Any, Any, Any]) -> str:
    """Return how the objects that need the resource are deleted: by a command, unless some are in another namespace."""
    theirs = f.dependents_to_delete
    if theirs == ():
        return ""
    them, they = ("that object", "it") if len(f.dependents) == 1 else ("those", "they")
    words = f"Delete {them}, too (that destroys what {they} ordered)"
    if theirs is None:
        return f"{words}."
    if len(theirs) > NAMED:
        return f"{words}. To see them: {plugin_command('status', f.subject.kind, f.meta.namespace, f.meta.name)}"
    return f"{words}: kubectl delete {' '.join(theirs)} --namespace={f.meta.namespace}"


def _unobserved(f: CloudFacts[Any, S, Any], unseen: Unknown) -> Plan[S]:
    """Wait while the observation is unknown; release an object for which nothing was ever ordered."""
    # Nobody can accept the absence of what was never ordered. A record that may be older than an order is no proof of that.
    doubted = unseen.cause is UnknownReason.IMPLAUSIBLE and not evidence.may_be_anywhere(f.tracked, f.history)
    if f.never_created or (f.never_ordered and (doubted or unseen.cause in REFUSALS)):
        return release_finalizer(f, Reason.GONE, f"No {f.subject.noun} was created for this object.")
    if unseen.cause is UnknownReason.NOT_LISTED and not f.synced:
        return Plan(pending=True)
    if unseen.cause in {UnknownReason.NOT_LISTED, UnknownReason.STATUS_LOST}:
        return meanwhile(f, _begun(f), refresh_after=failed.list_again_from(f, unseen))
    way_out = followed(first_way_out(f, unseen.cause), retain(f))
    if f.never_ordered:
        way_out = f"This object is deleted when a listing shows no {f.subject.noun}. {way_out}"
    if f.state is OrderState.DESTROYING:
        way_out = f"{f.subject.destroy} was sent and is not undone. {let_go(f)}"
    if unseen.cause is UnknownReason.IMPLAUSIBLE and not f.never_ordered:
        sure = f"If the {f.subject.noun} is really gone: {command(f.subject.kind, f.meta.namespace, f.meta.name)}"
        way_out = followed(way_out, sure)
    message = followed(why_unseen(f.subject.noun, unseen), way_out)
    if unseen.cause is UnknownReason.UNREACHABLE:
        patience = unseen.since + 3 * f.limits.pending_interval
        if f.now.mono < patience:
            return meanwhile(f, _begun(f), requeue_at=patience)
        return plan_status(f, working(Reason.DELETION_BLOCKED, message))
    requeue_at = f.now.mono + RECHECK_SECONDS if f.account_undecided else None  # nobody wakes it when clusters become known
    return plan_status(f, stalled(Reason.DELETION_BLOCKED, message), requeue_at=requeue_at)


def _await_search(f: CloudFacts[Any, S, Any], unsearched: Unknown) -> Plan[S]:
    """Wait until every cluster is searched; name one that cannot be listed. What a listing shows wakes the object."""
    noun, name = f.subject.noun, f.identity.name
    if unsearched.cause is UnknownReason.NOT_LISTED:
        words = f"Looking for {noun} {name!r} in every cluster: no record proves in which one it was ordered."
        begins = unsearched.since if f.now.mono < unsearched.since else None
        return meanwhile(f, working(Reason.DELETING, words), requeue_at=begins)
    which = f"Cluster {unsearched.detail!r} cannot" if unsearched.detail else "No cluster can"
    way_out = first_way_out(f, unsearched.cause) or "The operator keeps trying."
    words = followed(f"{which} be searched for {noun} {name!r} ({unsearched.cause}). {way_out}", let_go(f))
    make = working if unsearched.cause is UnknownReason.UNREACHABLE else stalled
    return replace(plan_status(f, make(Reason.DELETION_BLOCKED, words)), pending=False)


def _begun(f: CloudFacts[Any, Any, Any]) -> Verdict:
    """Return the verdict of a deletion whose first observation has not come yet."""
    return deleting(f) if f.seen else looking(f)


def first_way_out(f: CloudFacts[Any, Any, Any], cause: UnknownReason) -> str:
    """Return what makes the resource visible again, by the credential or the spec: Retain may leave a bill behind."""
    if cause is UnknownReason.UNPLACED and f.unset_location:
        return f"Set exactly one of {f.unset_location}."
    if cause is UnknownReason.REFUSED:
        return credential.renew(f.account, f.meta.namespace, brief=True)
    return credential.grant(f.account.name) if cause is UnknownReason.FORBIDDEN else ""


def meanwhile(
    f: CloudFacts[Any, S, Any], said: Verdict, refresh_after: float | None = None, requeue_at: float | None = None
) -> Plan[S]:
    """Keep the last verdict while the observation is briefly unknown or too old; report ``said`` if none is of this spec."""
    if f.status.observed_generation == f.meta.generation:  # the apiserver raises the generation when deletion begins
        return Plan(refresh_after=refresh_after, requeue_at=requeue_at, pending=True)
    return plan_status(f, said, refresh_after=refresh_after, requeue_at=requeue_at)


def _destroy(f: CloudFacts[Any, S, Any], found: Present[Any], prepare: Callable[[], Plan[S] | None]) -> Plan[S]:
    """Send the destroying call for a resource of ours once; then wait for the listings."""
    if found.duplicate_records:
        return plan_status(
            f,
            stalled(
                Reason.DELETION_BLOCKED,
                f"The cloud lists more than one {f.subject.noun} named {f.identity.name!r}; they cannot be told apart, so none "
                f"is destroyed. Destroy yours in the cloud, and {set_retain(f)}",
            ),
        )
    attempt = f.attempt(f.subject.destroy)
    if attempt is None:
        return prepare() or send(f, deleting(f))
    if failed.in_backoff(f, attempt):
        return plan_status(f, refused(f, failed.verdict(f, attempt)), requeue_at=failed.again_at(f, attempt))
    again = again_from(f, attempt)
    said = repeated(f, attempt, f"the {f.subject.noun}", retain(f)) or deleting(f)
    if found.as_of < again:
        return plan_status(f, said, refresh_after=again)
    return prepare() or send(f, said)
