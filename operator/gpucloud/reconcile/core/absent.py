"""Steps of a deletion while listings lack the resource: when it is gone, and when it is destroyed all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from gpucloud.kinds.common import CloudStatus, OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import evidence, placement
from gpucloud.reconcile.conditions import working
from gpucloud.reconcile.core import failed
from gpucloud.reconcile.core.create import free_from, is_free, lacked_from
from gpucloud.reconcile.core.destruction import deleting, looking, refused, release_finalizer, send
from gpucloud.reconcile.core.plan_status import plan_status
from gpucloud.reconcile.text import quoted
from gpucloud.reconcile.transitions import ACCEPTED_GRACES

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.reconcile.conditions import Verdict
    from gpucloud.reconcile.core.facts import CloudFacts
    from gpucloud.reconcile.facts import Absent, Attempt
    from gpucloud.reconcile.plan import Plan

S = TypeVar("S", bound=CloudStatus)


def await_gone(f: CloudFacts[Any, S, Any], found: Absent, prepare: Callable[[], Plan[S] | None]) -> Plan[S]:
    """Release the finalizer when two listings, both begun after the last call, lack the resource.

    If the name proves the owner, or this process knows its unique id, and has not sent the destroying call yet, it is sent even
    so, for what was seen and for what no record tells of: the listing may be partial, and the call costs little. What another
    process had announced may never have left.
    """
    if f.state is OrderState.GONE:
        return release_gone(f, f"The {f.subject.noun} {f.identity.name!r} is gone from the cloud.")
    attempt = f.attempt(f.subject.destroy)
    if (attempt is None or attempt.recalled) and _is_destroyed_unlisted(f):
        return prepare() or send(f, deleting(f))
    if attempt is not None and f.state is OrderState.DESTROYING and _is_certainly_refused(attempt):
        return _refused_unlisted(f, attempt, prepare)
    return await_absence(f, found)


def await_absence(f: CloudFacts[Any, S, Any], found: Absent) -> Plan[S]:
    """Release the finalizer, or look again, by what listings that lack the resource prove in this state of the order."""
    if not (f.seen or f.unrecorded):
        return _never_seen(f, found)
    if f.unrecorded:
        return _unrecorded(f, found)
    if f.state is OrderState.LOST:
        return _lost(f, found)
    if f.state is OrderState.DESTROYING:
        return plan_status(f, looking(f), refresh_after=_believed_from(f))
    certain_from = f.now.mono if found.confirmed is None else found.since + f.limits.grace
    return plan_status(f, looking(f), refresh_after=max(certain_from, f.now.mono))


def release_gone(f: CloudFacts[Any, S, Any], words: str) -> Plan[S]:
    """Release an object whose resource is in no listing any more; warn if the cloud had refused the destroying call."""
    attempt = f.attempt(f.subject.destroy)
    if attempt is None or attempt.refusal is None or not _is_certainly_refused(attempt):
        return release_finalizer(f, Reason.GONE, words)
    said = quoted(attempt.refusal.message, attempt.refusal.kind)
    words = f"No listing shows the {f.subject.noun} {f.identity.name!r} any more, but {attempt.verb} failed: {said}."
    return release_finalizer(f, Reason.GONE, f"{words} Look in the cloud, and destroy there what remains.", True)


def _is_certainly_refused(attempt: Attempt) -> bool:
    """Whether the destroying call was not carried out; that there was nothing to destroy is no refusal."""
    return attempt.refusal is not None and not attempt.refusal.ambiguous


def _refused_unlisted(f: CloudFacts[Any, S, Any], attempt: Attempt, prepare: Callable[[], Plan[S] | None]) -> Plan[S]:
    """Say that the destroying call was refused, though listings lack the resource: they may be wrong.

    It is sent again once before they are believed, half-way through that wait.
    """
    said = refused(f, failed.verdict(f, attempt))
    half = attempt.at + ACCEPTED_GRACES / 2 * f.limits.grace
    if failed.in_backoff(f, attempt) and f.now.mono < half:
        return plan_status(f, said, requeue_at=half, refresh_after=_believed_from(f))
    return (prepare() or send(f, said)) if _is_destroyed_unlisted(f) else plan_status(f, said, refresh_after=_believed_from(f))


def _believed_from(f: CloudFacts[Any, Any, Any]) -> float:
    """Return the mono time from which a listing without it proves that it was destroyed; none is asked for before."""
    return max(f.now.mono, evidence.destroyed_from(f.tracked, f.limits.grace, f.history.first_seen))


def _is_destroyed_unlisted(f: CloudFacts[Any, Any, Any]) -> bool:
    """Whether the destroying call is sent though listings lack the resource: its name or id proves whose it is.

    What the cloud accepted, and never listed, may appear later; a call for what was never accepted would say nothing. What
    the cloud had placed elsewhere, and listings proved missing there, never had the name that was ordered. An id that the cloud
    gave to this process's order is no other's; a chosen name may be, wherever the cloud placed what bears it.
    """
    if f.state is OrderState.LOST and placement.cloud_placement(f.order) is not None:
        return f.known_id is not None
    own_id = f.order is not None and f.identity.name != f.order.name
    accepted_elsewhere = f.subject.by_name and f.unproven_location and own_id and f.tracked.own
    marked = f.subject.by_name and not (f.chosen_name or f.unproven_location)
    known = f.seen or f.unrecorded or f.state is OrderState.OVERDUE
    return known and (marked or accepted_elsewhere or f.known_id is not None)


def _lost(f: CloudFacts[Any, S, Any], found: Absent) -> Plan[S]:
    """Release an object whose resource was lost, when two listings that began after its deletion lack it, too."""
    placed = placement.cloud_placement(f.order) is not None
    if absent_twice_since(found, f.deletion_seen):
        late = " If it appears again, destroy it in the cloud: it is billed." if placed else ""
        gone = f"T{_lost_name(f)[1:]} was gone from the cloud before this object was deleted.{late}"
        return release_finalizer(f, Reason.GONE, gone, placed)
    return plan_status(f, lost_before(f), refresh_after=f.now.mono)


def lost_before(f: CloudFacts[Any, Any, Any]) -> Verdict:
    """Return the verdict while it is looked for once more what was lost before the deletion."""
    words = f"Listings lacked {_lost_name(f)} before this object was deleted; the operator is looking again."
    return working(Reason.DELETING, words)


def _lost_name(f: CloudFacts[Any, Any, Any]) -> str:
    own_id = None if f.order is None or placement.cloud_placement(f.order) is None else f.order.cloud_id
    return f"the {f.subject.noun} {(own_id or f.identity.name)!r}"


def absent_twice_since(found: Absent, mono: float) -> bool:
    """Whether two listings lack it that began at this time or later.

    A record that says Lost, Refused or Overdue since earlier listings is no proof for a deletion: those may have been partial
    and long past, and a resource that is there all the same would be nobody's from then on.
    """
    return found.confirmed is not None and found.confirmed >= mono


def _unrecorded(f: CloudFacts[Any, S, Any], found: Absent) -> Plan[S]:
    """No record tells what was ordered. An answer that nobody recorded may hide a success, which shows within a grace."""
    needed = max(f.history.first_seen + f.limits.grace, f.deletion_seen)
    if not absent_twice_since(found, needed):
        return plan_status(f, looking(f), refresh_after=max(needed, f.now.mono))
    return release_finalizer(f, Reason.GONE, f"The cloud has no {f.subject.noun} {f.identity.name!r}.")


def _never_seen(f: CloudFacts[Any, S, Any], found: Absent) -> Plan[S]:
    """Release an object whose resource was never listed. A record of another process may be restored, from before the order."""
    if not is_free(f) or (f.tracked.earlier_unclear and not absent_twice_since(found, f.deletion_seen)):
        return plan_status(f, looking(f), refresh_after=max(free_from(f), lacked_from(f, found), f.now.mono))
    witnessed, shown_from = f.tracked.own or f.history.seen_new, f.history.first_seen + f.limits.grace
    if not witnessed and found.as_of < shown_from:
        return plan_status(f, looking(f), refresh_after=shown_from)
    if f.state is OrderState.OVERDUE:
        words = f"The cloud accepted an order for the {f.subject.noun} {f.identity.name!r}, and never listed it in {f.place}."
        late = f"Nothing is destroyed. If the {f.subject.noun} appears, it is billed: destroy it in the cloud then."
        return release_finalizer(f, Reason.RETAINED, f"{words} {late}", True)
    return release_finalizer(f, Reason.GONE, f"No {f.subject.noun} was created for this object.")
