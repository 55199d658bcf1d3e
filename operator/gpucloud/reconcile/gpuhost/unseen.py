"""The verdicts of a host that no listing tells anything of: by the cause, with what ends it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile import credential
from gpucloud.reconcile.accepted_absence import command
from gpucloud.reconcile.conditions import Verdict, stalled, working
from gpucloud.reconcile.core.steps import RECHECK_SECONDS, REFUSALS
from gpucloud.reconcile.facts import Unknown, UnknownReason
from gpucloud.reconcile.gpuhost.report import report
from gpucloud.reconcile.plan import Plan

if TYPE_CHECKING:
    from gpucloud.kinds.gpuhost import GpuHostStatus
    from gpucloud.reconcile.gpuhost.facts import HostFacts

NOUN, HARMLESS = "host", "(that changes nothing in the cloud)"
DOUBTS = frozenset({UnknownReason.IMPLAUSIBLE, UnknownReason.TENANT})


def unobserved(f: HostFacts) -> Plan[GpuHostStatus] | None:
    """Report an unknown observation; for a short time keep the last verdict. Requests wait meanwhile."""
    if not isinstance(f.found, Unknown):
        return None
    cause = f.found.cause
    if cause is UnknownReason.NOT_LISTED:
        return Plan(pending=True) if not f.synced else Plan(refresh_after=f.history.first_seen, pending=not f.seen)
    nameless = cause is UnknownReason.REJECTED and not f.account.clusters  # the list of clusters has been requested
    patience = f.limits.blind_after if f.seen else 3 * f.limits.pending_interval
    if cause is UnknownReason.ENDPOINT or (cause in REFUSALS and not f.seen and not nameless):
        patience = 0.0
    if cause in DOUBTS and Annotation.ACCEPT_ABSENCE in f.meta.annotations:
        patience = 0.0  # the annotation has no effect: report at once why
    if f.now.mono < f.found.since + patience:
        return Plan(requeue_at=f.found.since + patience, pending=not f.seen)
    return report(f, verdict(f, f.found), requeue_at=f.now.mono + RECHECK_SECONDS if nameless else None)


def verdict(f: HostFacts, unseen: Unknown) -> Verdict:
    """Return the verdict of an unknown observation, by its cause."""
    unsure: Literal["False", "Unknown"] = "Unknown" if f.seen else "False"
    match unseen.cause:
        case UnknownReason.NO_ACCOUNT:
            return stalled(Reason.NO_ACCOUNT, _no_account(f, unseen), ready=unsure)
        case UnknownReason.ACCOUNT:
            return working(Reason.ACCOUNT_NOT_READY, unseen.detail, ready=unsure)
        case UnknownReason.ENDPOINT:
            return stalled(Reason.ENDPOINT_MISMATCH, _other_endpoint(f), ready="Unknown")
        case UnknownReason.TENANT:
            return stalled(Reason.TENANT_MISMATCH, _other_tenant(f), ready="Unknown")
        case _:
            return _listing_verdict(f, unseen)


def _listing_verdict(f: HostFacts, unseen: Unknown) -> Verdict:
    """Return the verdict if the account is ready and its listing fails."""
    whose, detail = credential.described(f.account.name), f" ({unseen.detail.rstrip('.')})" if unseen.detail else ""
    match unseen.cause:
        case UnknownReason.REFUSED:
            words = f"The cloud refuses the {whose}{detail}. {credential.renew(f.account.name)}"
            return stalled(Reason.CREDENTIALS_REFUSED, words)
        case UnknownReason.FORBIDDEN:
            words = f"The {whose} may not list {NOUN}s{detail}. {credential.grant(f.account.name, NOUN)}"
            return stalled(Reason.PERMISSION_DENIED, words)
        case UnknownReason.REJECTED:
            return stalled(Reason.INVALID_SPEC, _rejected(f, detail), ready="Unknown" if f.seen else "False")
        case UnknownReason.IMPLAUSIBLE:
            gone = command("GpuHost", f.meta.namespace, f.meta.name)
            words = (
                f"The cloud's listing lacks many hosts at once{detail}. The operator does not believe that. If the host is "
                f"gone: {gone} -- until then no request is carried out."
            )
            return working(Reason.IMPLAUSIBLE_LISTING, words, ready="Unknown")
        case _:
            shown = " Its last known state is shown." if f.seen else ""
            words = f"The cloud cannot be asked about this host{detail}.{shown} Requests wait; the operator goes on asking."
            return working(Reason.API_UNAVAILABLE, words, ready="Unknown")


def _no_account(f: HostFacts, unseen: Unknown) -> str:
    if f.status.account != OWN_ACCOUNT:
        return unseen.detail
    words = f"This host was seen with the operator's own account, which does not serve namespace {f.meta.namespace!r} any more"
    return f"{words}. Ask the administrator to put it back, or delete this object {HARMLESS}."


def _other_endpoint(f: HostFacts) -> str:
    recorded, used, whose = f.status.endpoint, f.account.endpoint, credential.described(f.account.name)
    return (
        f"This host was seen at endpoint {recorded!r}, and the {whose} is used at endpoint {used!r} now: nothing is done to it "
        f"from there. Set the endpoint back, or delete this object {HARMLESS}."
    )


def _other_tenant(f: HostFacts) -> str:
    whose, shown = credential.described(f.account.name), " and ".join(repr(name) for name in sorted(f.account.tenants))
    return (
        f"This host was seen in tenant {f.status.tenancy!r}; the {whose} shows tenant {shown or 'none yet'}, or the host is "
        f"another tenant's now: nothing is done to it. To go on, {credential.restore(f.account.name)}; or delete this object "
        f"{HARMLESS}."
    )


def _rejected(f: HostFacts, detail: str) -> str:
    known = f" Known clusters: {', '.join(f.account.clusters[:20])}." if f.account.clusters else ""
    return (
        f"The cloud refuses to list hosts in cluster {f.spec.cluster!r}{detail}.{known} If spec.cluster is wrong, delete this "
        "object and create it again with the right one; otherwise the operator goes on asking."
    )
