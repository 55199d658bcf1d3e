"""Steps of a deletion: the finalizer is released only when the resource is proven gone, retained, or not ours."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from gpucloud.kinds.common import CloudStatus, DeletionPolicy, OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import credential, placement
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.accepted_absence import command
from gpucloud.reconcile.conditions import Progress, Verdict, stalled, working
from gpucloud.reconcile.core import failed
from gpucloud.reconcile.core.act import plan_action
from gpucloud.reconcile.core.create import free_from, is_free
from gpucloud.reconcile.core.plan_status import plan_status, recorded
from gpucloud.reconcile.core.steps import RECHECK_SECONDS, REFUSALS
from gpucloud.reconcile.facts import Absent, Present, Unknown, UnknownReason
from gpucloud.reconcile.plan import RELEASE, Plan, Release
from gpucloud.reconcile.transitions import ACCEPTED_GRACES

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.reconcile.core.facts import CloudFacts
    from gpucloud.reconcile.facts import Attempt

S = TypeVar("S", bound=CloudStatus)

RESEND_SECONDS = 300.0  # an accepted destroying call without effect is sent again after this
NAMED = 5  # names of blocking objects in a message


def deleting(f: CloudFacts[Any, Any, Any]) -> Verdict:
    """Return the verdict while the resource is being destroyed."""
    return working(Reason.DELETING, f"The {f.subject.noun} is being destroyed.")


def decide(f: CloudFacts[Any, S, Any], prepare: Callable[[], Plan[S] | None] = lambda: None) -> Plan[S]:
    """Return the next step of a deletion.

    ``prepare`` returns the kind's own step that must come before the destroying call, or None. It is called right before each
    such call.
    """
    for step in (retained, held_by_dependents):
        plan = step(f)
        if plan is not None:
            return plan
    if isinstance(f.found, Unknown):
        return _unobserved(f, f.found)
    if isinstance(f.found, Present):
        return _destroy(f, f.found, prepare)
    return _await_gone(f, f.found, prepare)


def retained(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Release the finalizer if the spec retains the resource, or if it is not this object's."""
    noun, name = f.subject.noun, f.identity.name
    if f.policy is DeletionPolicy.RETAIN and f.adopted and isinstance(f.found, Absent) and not f.seen:
        return release_finalizer(f, Reason.GONE, f"There was no {noun} {name!r} to adopt.")
    if f.policy is DeletionPolicy.RETAIN:
        return _retained(f)
    if f.owner is None and f.unproven_place and orders.may_exist(f.order):
        return None if f.tracked.own else _unprovable(f)
    if f.owner is None and f.seen and not f.ours:
        return _lost_before(f)
    # What was ordered is elsewhere, whoever has the name that the spec says now.
    moved = isinstance(f.found, Unknown) and f.found.cause is UnknownReason.MOVED
    if not (f.ours or moved):  # a second claimant, or an existing resource of this name
        return _not_ours(f)
    return None


def _retained(f: CloudFacts[Any, S, Any]) -> Plan[S]:
    """Release an object whose spec retains the resource; warn if the destroying call may have been sent: it is not undone."""
    what = f"The {f.subject.noun} {f.identity.name!r}"
    if f.never_created or (f.never_ordered and not f.adopted):
        return release_finalizer(f, Reason.GONE, f"No {f.subject.noun} was created for this object.")
    if f.state in {OrderState.LOST, OrderState.GONE} and isinstance(f.found, Absent):
        words = f"No listing shows {what[0].lower()}{what[1:]} any more. Nothing is destroyed, as spec.deletion.policy says."
        return release_finalizer(f, Reason.RETAINED, words)
    if f.state is OrderState.DESTROYING:
        late = f"but {f.subject.destroy} may have been sent before: it may be destroyed all the same. Look in the cloud."
        return release_finalizer(f, Reason.RETAINED, f"{what} is let go, as spec.deletion.policy says, {late}", True)
    why = "as spec.deletion.policy says" if not f.adopted else "since it was adopted"
    return release_finalizer(f, Reason.RETAINED, f"{what} is retained, {why}.")


def _lost_before(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Release an object whose resource was lost, if another one has its name: that one is not destroyed. Else look again."""
    if f.state is OrderState.GONE and not isinstance(f.found, Present):
        return _gone(f, f"The {f.subject.noun} {f.identity.name!r} is gone from the cloud.")
    if not isinstance(f.found, Present):
        return None
    gone = f"The {f.subject.noun} {f.identity.name!r} of this object is gone from the cloud."
    doubt = failed.maybe_made(f)
    return release_finalizer(
        f, Reason.RETAINED, f"{gone} Another one has that name now and is not destroyed.{doubt}", bool(doubt)
    )


def _not_ours(f: CloudFacts[Any, S, Any]) -> Plan[S]:
    """Release an object that owns no resource; the Event says why nothing is destroyed."""
    noun, name = f.subject.noun, f.identity.name
    recorded = f.order is not None and f.others_record is None
    doubt = "" if isinstance(f.found, Absent) and recorded else failed.maybe_made(f)
    kept = f"The {noun} {name!r} is not destroyed"
    if f.owner is not None:
        return release_finalizer(f, Reason.RETAINED, f"{kept}: {f.subject.kind} {f.owner} uses it.{doubt}", bool(doubt))
    if isinstance(f.found, Present):
        return release_finalizer(f, Reason.RETAINED, f"{kept}: it was not created for this object.{doubt}", bool(doubt))
    if f.tracked.doubtful and isinstance(f.found, Absent) and not _missing_since(f.found, f.deletion_seen):
        return plan_status(f, deleting(f), refresh_after=f.now.mono)  # one that shows now is not destroyed, but told
    if doubt:
        return release_finalizer(
            f, Reason.RETAINED, f"Nothing is destroyed. A {noun} {name!r} may still appear in the cloud.{doubt}", True
        )
    return release_finalizer(f, Reason.GONE, f"No {noun} was created for this object.")


def _unprovable(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Block a deletion if only status, which people can edit, says that the resource with this id is the object's."""
    if isinstance(f.found, Absent):
        return None
    words = (
        f"The cloud gave the {f.subject.noun} an id of its own ({f.identity.name!r}), and the operator was restarted since: "
        "the status alone does not prove whose it is. Destroy it by hand, or set spec.deletion.policy: Retain."
    )
    return plan_status(f, stalled(Reason.DELETION_BLOCKED, words))


def held_by_dependents(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Wait for the objects that still need the resource; name them."""
    if not f.dependents:
        return None
    words = f"Still needed by {listed(f.dependents)}. It is destroyed as soon as they are gone, or need it no more."
    return plan_status(f, working(Reason.DELETION_BLOCKED, words), requeue_at=f.now.mono + RECHECK_SECONDS)


def listed(names: tuple[str, ...]) -> str:
    """Join names for a message; beyond the first few give their number."""
    rest = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {rest} more" if rest > 0 else "")


def _unobserved(f: CloudFacts[Any, S, Any], unseen: Unknown) -> Plan[S]:
    """Wait while the observation is unknown; release an object for which nothing was ever ordered."""
    if f.never_created or (unseen.cause in REFUSALS and f.never_ordered):
        return release_finalizer(f, Reason.GONE, f"No {f.subject.noun} was created for this object.")
    if unseen.cause is UnknownReason.NOT_LISTED and not f.synced:
        return Plan(pending=True)
    if unseen.cause is UnknownReason.NOT_LISTED:
        return _meanwhile(f, refresh_after=f.history.first_seen)
    way_out = _first_way_out(f, unseen.cause) + retain(f)
    if f.state is OrderState.DESTROYING:
        way_out = f"{f.subject.destroy} was sent; spec.deletion.policy: Retain lets the object go now, and takes nothing back."
    if unseen.cause is UnknownReason.IMPLAUSIBLE:
        sure = f"If the {f.subject.noun} is gone: {command(f.subject.kind, f.meta.namespace, f.meta.name)}"
        way_out = f"{sure} -- or, {way_out.replace('To let', 'to let', 1)}"
    detail = f" ({unseen.detail.rstrip('.')})" if unseen.detail else ""
    message = (
        f"The {f.subject.noun} cannot be seen: {unseen.cause}{detail}. This object stays until the {f.subject.noun} is proven "
        f"gone. {way_out}"
    )
    if unseen.cause is UnknownReason.UNREACHABLE:
        patience = unseen.since + 3 * f.limits.pending_interval
        if f.now.mono < patience:
            return _meanwhile(f, requeue_at=patience)
        return plan_status(f, working(Reason.DELETION_BLOCKED, message))
    return plan_status(f, stalled(Reason.DELETION_BLOCKED, message))


def _first_way_out(f: CloudFacts[Any, Any, Any], cause: UnknownReason) -> str:
    """Return what makes the resource visible again, if that is the credential's affair: Retain may leave a bill behind."""
    if cause is UnknownReason.REFUSED:
        return f"{credential.renew(f.account.name)} "
    return f"{credential.grant(f.account.name, f.subject.noun)} " if cause is UnknownReason.FORBIDDEN else ""


def retain(f: CloudFacts[Any, Any, Any]) -> str:
    """Return the way out that is always there: give the resource up and keep it."""
    kept = f"{f.subject.noun} (billed on)" if f.subject.billed else f.subject.noun
    return f"To let this object go and keep the {kept}, set spec.deletion.policy: Retain."


def _meanwhile(f: CloudFacts[Any, S, Any], refresh_after: float | None = None, requeue_at: float | None = None) -> Plan[S]:
    """Keep the last verdict of this deletion while the observation is briefly unknown; else report Deleting."""
    if f.status.observed_generation == f.meta.generation:  # the apiserver raises the generation when deletion begins
        return Plan(refresh_after=refresh_after, requeue_at=requeue_at, pending=True)
    return plan_status(f, deleting(f), refresh_after=refresh_after, requeue_at=requeue_at)


def _destroy(f: CloudFacts[Any, S, Any], found: Present[Any], prepare: Callable[[], Plan[S] | None]) -> Plan[S]:
    """Send the destroying call for a resource of ours once; then wait for the listings."""
    if found.duplicate_records:
        return plan_status(
            f,
            stalled(
                Reason.DELETION_BLOCKED,
                f"The cloud lists more than one {f.subject.noun} named {f.identity.name!r}; they cannot be told apart, so none "
                "is destroyed. Set spec.deletion.policy: Retain, and destroy in the cloud the one that is yours.",
            ),
        )
    attempt = f.attempt(f.subject.destroy)
    if attempt is None:
        return prepare() or _send(f, deleting(f))
    if failed.in_backoff(f, attempt):
        return plan_status(f, refused(f, failed.verdict(attempt)), requeue_at=failed.again_at(f, attempt))
    grace = RESEND_SECONDS if attempt.refusal is None else f.limits.grace if attempt.refusal.ambiguous else 0.0
    if found.as_of < attempt.at + grace:
        return plan_status(f, deleting(f), refresh_after=attempt.at + grace)
    said = deleting(f) if attempt.refusal is None else refused(f, failed.verdict(attempt))
    return prepare() or _send(f, said)


def _send(f: CloudFacts[Any, S, Any], said: Verdict) -> Plan[S]:
    """Announce the destroying call, with the order in state Destroying, and send it."""
    order = orders.destroying(f.tracked, f.now.mono).order or recorded(f)
    return plan_action(f, f.subject.destroy, said, order=order)


def refused(f: CloudFacts[Any, Any, Any], said: Verdict, way_out: str | None = None) -> Verdict:
    """Return the verdict of a refused destroying call, with the advice for a deletion; by default to retain the resource."""
    words = f"{said.message} {retain(f) if way_out is None else way_out}"
    make = stalled if said.progress is Progress.STALLED else working
    return make(Reason.DELETION_BLOCKED, words)


def _await_gone(f: CloudFacts[Any, S, Any], found: Absent, prepare: Callable[[], Plan[S] | None]) -> Plan[S]:
    """Release the finalizer when two listings, both begun after the last call, lack the resource.

    If the name proves the owner, or this process knows its unique id, and has not sent the destroying call yet, it is sent even
    so, for what was seen and for what no record tells of: the listing may be partial, and the call costs little.
    """
    if f.state is OrderState.GONE:
        return _gone(f, f"The {f.subject.noun} {f.identity.name!r} is gone from the cloud.")
    attempt = f.attempt(f.subject.destroy)
    if attempt is None and _is_destroyed_unlisted(f):
        return prepare() or _send(f, deleting(f))
    if attempt is not None and f.state is OrderState.DESTROYING and _is_certainly_refused(attempt):
        return _refused_unlisted(f, attempt, prepare)
    return _await_absence(f, found)


def _await_absence(f: CloudFacts[Any, S, Any], found: Absent) -> Plan[S]:
    """Release the finalizer, or look again, by what listings that lack the resource prove in this state of the order."""
    if not (f.seen or f.unrecorded):
        return _never_seen(f, found)
    if f.unrecorded:
        return _unrecorded(f, found)
    if f.state is OrderState.LOST:
        return _lost(f, found)
    certain_from = f.now.mono if found.confirmed is None else found.since + f.limits.grace
    if f.state is OrderState.DESTROYING:
        answered = f.tracked.absence_counts_from
        certain_from = f.tracked.since + f.limits.grace if answered is None else answered
    return plan_status(f, deleting(f), refresh_after=max(certain_from, f.now.mono))


def _gone(f: CloudFacts[Any, S, Any], words: str) -> Plan[S]:
    """Release an object whose resource is in no listing any more; warn if the cloud had refused the destroying call."""
    attempt = f.attempt(f.subject.destroy)
    if attempt is None or attempt.refusal is None or not _is_certainly_refused(attempt):
        return release_finalizer(f, Reason.GONE, words)
    said = attempt.refusal.message.strip().rstrip(".") or attempt.refusal.kind
    words = f"No listing shows the {f.subject.noun} {f.identity.name!r} any more, but {attempt.verb} failed: {said}."
    return release_finalizer(f, Reason.GONE, f"{words} Look in the cloud, and destroy there what remains.", True)


def _is_certainly_refused(attempt: Attempt) -> bool:
    """Whether the destroying call was not carried out; that there was nothing to destroy is no refusal."""
    return attempt.refusal is not None and not attempt.refusal.ambiguous


def _refused_unlisted(f: CloudFacts[Any, S, Any], attempt: Attempt, prepare: Callable[[], Plan[S] | None]) -> Plan[S]:
    """Say that the destroying call was refused, though listings lack the resource: they may be wrong.

    It is sent again once before they are believed, half-way through that wait.
    """
    said = refused(f, failed.verdict(attempt))
    half = attempt.at + ACCEPTED_GRACES / 2 * f.limits.grace
    if failed.in_backoff(f, attempt) and f.now.mono < half:
        return plan_status(f, said, requeue_at=half, refresh_after=f.tracked.absence_counts_from)
    return (prepare() or _send(f, said)) if _is_destroyed_unlisted(f) else plan_status(f, said, refresh_after=f.now.mono)


def _is_destroyed_unlisted(f: CloudFacts[Any, Any, Any]) -> bool:
    """Whether the destroying call is sent though listings lack the resource: its name or id proves whose it is.

    What the cloud accepted, and never listed, may appear later; a call for what was never accepted would say nothing. What
    the cloud had placed elsewhere, and listings proved missing there, never had the name that was ordered. An id that the cloud
    gave to this process's order is no other's; a chosen name may be, wherever the cloud placed what bears it.
    """
    if f.state is OrderState.LOST and placement.cloud_placement(f.order) is not None:
        return f.known_id is not None
    own_id = f.order is not None and f.identity.name != f.order.name
    accepted_elsewhere = f.subject.by_name and f.unproven_place and own_id and f.tracked.own
    marked = f.subject.by_name and not (f.chosen_name or f.unproven_place)
    known = f.seen or f.unrecorded or f.state is OrderState.OVERDUE
    return known and (marked or accepted_elsewhere or f.known_id is not None)


def _lost(f: CloudFacts[Any, S, Any], found: Absent) -> Plan[S]:
    """Release an object whose resource was lost, when two listings that began after its deletion lack it, too."""
    placed = placement.cloud_placement(f.order) is not None
    own_id = f.order.cloud_id if f.order is not None and placed else None
    what = f"the {f.subject.noun} {(own_id or f.identity.name)!r}"
    if _missing_since(found, f.deletion_seen):
        late = " If it appears again, it is billed until you destroy it in the cloud." if placed else ""
        gone = f"T{what[1:]} was gone from the cloud before this object was deleted.{late}"
        return release_finalizer(f, Reason.GONE, gone, placed)
    words = f"Listings lacked {what} before this object was deleted. Looking again before the object goes."
    return plan_status(f, working(Reason.DELETING, words), refresh_after=f.now.mono)


def _missing_since(found: Absent, mono: float) -> bool:
    """Whether two listings in a row lack it that began at this time or later.

    A record that says Lost, Refused or Overdue since earlier listings is no proof for a deletion: those may have been partial
    and long past, and a resource that is there all the same would be nobody's from then on.
    """
    return found.confirmed is not None and found.confirmed >= mono


def _unrecorded(f: CloudFacts[Any, S, Any], found: Absent) -> Plan[S]:
    """No record tells what was ordered. An answer that nobody recorded may hide a success, which shows within a grace."""
    attempt = f.attempt(f.subject.destroy)
    needed = max(f.history.first_seen + f.limits.grace, f.deletion_seen if attempt is None else attempt.at)
    if not _missing_since(found, needed):
        return plan_status(f, deleting(f), refresh_after=max(needed, f.now.mono))
    return _gone(f, f"The cloud has no {f.subject.noun} {f.identity.name!r}.")


def _never_seen(f: CloudFacts[Any, S, Any], found: Absent) -> Plan[S]:
    """Release an object whose resource was never listed. A record of another process may be restored, from before the order."""
    if not is_free(f) or (f.tracked.doubtful and not _missing_since(found, f.deletion_seen)):
        return plan_status(f, deleting(f), refresh_after=max(free_from(f), f.now.mono))
    witnessed, shown_from = f.tracked.own or f.history.seen_new, f.history.first_seen + f.limits.grace
    if not witnessed and found.as_of < shown_from:
        return plan_status(f, deleting(f), refresh_after=shown_from)
    if f.state is OrderState.OVERDUE:
        words = f"The cloud accepted an order for the {f.subject.noun} {f.identity.name!r}, and never listed it in {f.place}."
        late = "Nothing is destroyed: if it appears, it is billed until you destroy it in the cloud."
        return release_finalizer(f, Reason.RETAINED, f"{words} {late}", True)
    return release_finalizer(f, Reason.GONE, f"No {f.subject.noun} was created for this object.")


def release_finalizer(f: CloudFacts[Any, S, Any], reason: Reason, note: str, warning: bool = False) -> Plan[S]:
    """Return a plan that removes our finalizer; not before the first sync (claims are incomplete), nor if only observing."""
    if not f.synced:
        return Plan(pending=True)
    if f.limits.observe_only:
        words = f"The operator runs with --observe-only: it would let this object go now, and does not. {note}"
        return replace(plan_status(f, working(Reason.OBSERVE_ONLY, words, ready="Unknown")), withheld=RELEASE)
    return Plan(release=Release(reason, note, warning))
