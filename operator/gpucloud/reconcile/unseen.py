"""A resource of which no listing tells anything, of any kind: how long the last verdict stands, and the verdict after that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile import credential
from gpucloud.reconcile.accepted_absence import command
from gpucloud.reconcile.conditions import Verdict, stalled, working
from gpucloud.reconcile.facts import UnknownReason
from gpucloud.reconcile.naming import same_cluster
from gpucloud.reconcile.text import bracketed, cloud_names, sentence
from gpucloud.spelling import question, suggestion

if TYPE_CHECKING:
    from gpucloud.reconcile.facts import AccountFacts, Limits, Now, ObjectFacts, Unknown
    from gpucloud.reconcile.naming import Identity

RECHECK_SECONDS = 10.0

# Causes that a person or another object must remove: reported at once if the resource was never seen.
REFUSALS = frozenset(
    {
        UnknownReason.REFUSED,
        UnknownReason.FORBIDDEN,
        UnknownReason.REJECTED,
        UnknownReason.NO_ACCOUNT,
        UnknownReason.ACCOUNT,
        UnknownReason.UNPLACED,
        UnknownReason.ENDPOINT,
        UnknownReason.TENANT,
        UnknownReason.MOVED,
    }
)
_LASTING = frozenset({UnknownReason.MOVED, UnknownReason.ENDPOINT})  # nothing changes by waiting
_IN_FULL = frozenset(  # whose detail is a sentence of its own
    {UnknownReason.NO_ACCOUNT, UnknownReason.ACCOUNT, UnknownReason.ENDPOINT, UnknownReason.TENANT, UnknownReason.MOVED}
)
_DOUBTS = frozenset({UnknownReason.IMPLAUSIBLE, UnknownReason.TENANT})  # which a person may end


class HasObservation(Protocol):
    """The facts that are reported of a resource which cannot be seen."""

    @property
    def now(self) -> Now:
        """When the facts were gathered."""

    @property
    def meta(self) -> ObjectFacts:
        """Metadata of the object."""

    @property
    def limits(self) -> Limits:
        """How long to wait."""

    @property
    def account(self) -> AccountFacts:
        """The account in use."""

    @property
    def identity(self) -> Identity:
        """The name and place of the resource."""

    @property
    def seen(self) -> bool:
        """Whether a listing has ever shown the resource."""

    @property
    def may_exist(self) -> bool:
        """Whether something of the object's may be in the cloud."""

    @property
    def deletion_destroys(self) -> bool:
        """Whether the object's deletion would destroy it."""


def stands_until(f: HasObservation, found: Unknown) -> float:
    """Return the mono time until which the last verdict stands."""
    if found.cause in _LASTING or (found.cause in REFUSALS and not f.seen and not _is_nameless(f, found)):
        return found.since
    if found.cause in _DOUBTS and Annotation.ACCEPT_ABSENCE in f.meta.annotations:
        return found.since  # the annotation has no effect: report at once why
    return found.since + (f.limits.blind_after if f.seen else 3 * f.limits.pending_interval)


def recheck_at(f: HasObservation, found: Unknown) -> float | None:
    """Return when to look again at what nobody wakes the object for: the list of clusters, which the message is to name."""
    return f.now.mono + RECHECK_SECONDS if _is_nameless(f, found) else None


def listing_verdict(f: HasObservation, found: Unknown, kind_and_noun: tuple[str, str], *, held: str) -> Verdict:
    """Return the verdict if the account is not ready, or its listing fails. ``held``: what is not done, as a clause."""
    (kind, noun), whose = kind_and_noun, credential.described(f.account.name)
    detail = bracketed(found.detail)
    unsure: Literal["False", "Unknown"] = "Unknown" if f.seen else "False"
    match found.cause:
        case UnknownReason.ACCOUNT:
            return working(Reason.ACCOUNT_NOT_READY, found.detail, ready=unsure)
        case UnknownReason.REFUSED:
            words = f"The cloud refuses the {whose}{detail}. {credential.renew(f.account, f.meta.namespace)}"
            return stalled(Reason.CREDENTIALS_REFUSED, words)
        case UnknownReason.FORBIDDEN:
            words = f"The {whose} lacks the permission to list {noun}s{detail}. {credential.grant(f.account.name)}"
            return stalled(Reason.PERMISSION_DENIED, words)
        case UnknownReason.REJECTED:
            return stalled(Reason.INVALID_SPEC, _rejected(f, noun, detail), ready=unsure)
        case UnknownReason.IMPLAUSIBLE:
            lacked = f"this {noun} and many others" if f.seen else f"many {noun}s"
            accept = command(kind, f.meta.namespace, f.meta.name)
            why = f"{found.detail.rstrip('.')}." if found.detail else f"This looks like an error of the cloud: {held}."
            gone = f"the {noun} is" if f.seen else "they are"
            words = f"The cloud's listing lacks {lacked}. {why} If {gone} really gone: {accept}"
            return working(Reason.IMPLAUSIBLE_LISTING, words, ready="Unknown")
        case _:
            shown = "Its last known state is shown" if f.seen else f"{held[0].upper()}{held[1:]} meanwhile"
            words = f"This {noun} cannot be looked up in the cloud{detail}. {shown}; the operator keeps trying."
            return working(Reason.API_UNAVAILABLE, words, ready="Unknown")


def why_unseen(noun: str, found: Unknown) -> str:
    """Return why a resource cannot be seen, as a sentence."""
    if found.detail and found.cause in _IN_FULL:
        return sentence(found.detail.rstrip("."))
    detail = bracketed(found.detail)
    if found.cause is UnknownReason.IMPLAUSIBLE:
        return f"The cloud's listing lacks many {noun}s, perhaps by mistake{detail}."
    return f"The {noun} cannot be seen: {found.cause}{detail}."


def _is_nameless(f: HasObservation, found: Unknown) -> bool:
    """Whether the cloud may know no such cluster, and the list of those that it knows is on its way."""
    return found.cause is UnknownReason.REJECTED and not f.account.clusters


def _rejected(f: HasObservation, noun: str, detail: str) -> str:
    cluster, known = f.identity.cluster, f.account.clusters
    same = next((name for name in known if same_cluster(name, cluster)), None)
    refused = f"The cloud refuses to list {noun}s in cluster {cluster!r}{detail}."
    if f.may_exist:
        return _rejected_for_now(f, noun, refused if same is not None or not known else "", detail)
    if known and cluster not in known:  # nor in this case of letters, which the cloud may tell apart
        near = suggestion(cluster, known) if same is None else question((same,))
        return (
            f"Unknown cluster {cluster!r}{detail}.{near} Known clusters: {cloud_names(known[:20])}. Delete this object, and "
            "create it again with one of them in spec.cluster."
        )
    return (
        f"{refused} If spec.cluster is wrong, delete this object and create it again with the right one. The operator keeps "
        "trying."
    )


def _rejected_for_now(f: HasObservation, noun: str, refused: str, detail: str) -> str:
    """Return that a place cannot be looked at which the cloud knew before: no mistake of the spec, so nothing to correct."""
    lacks = refused or f"The cloud lists no cluster {f.identity.cluster!r} now{detail}."
    there = f"This {noun} was last seen there" if f.seen else f"This {noun} may have been made there"
    destroys = f" Do not delete this object: that destroys the {noun}." if f.deletion_destroys else ""
    return f"{lacks} {there}. Nothing is done meanwhile. Ask the cloud's support.{destroys}"
