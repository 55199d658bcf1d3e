"""The verdicts of a host that no listing tells anything of: by the cause, with what ends it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.kinds.gpuhost import KIND
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import credential, unseen
from gpucloud.reconcile.conditions import Verdict, stalled
from gpucloud.reconcile.facts import Unknown, UnknownReason
from gpucloud.reconcile.gpuhost.report import report
from gpucloud.reconcile.plan import Plan

if TYPE_CHECKING:
    from gpucloud.kinds.gpuhost import GpuHostStatus
    from gpucloud.reconcile.gpuhost.facts import HostFacts

NOUN = "host"
HARMLESS = "(the host stays)"


def unobserved(f: HostFacts) -> Plan[GpuHostStatus] | None:
    """Report an unknown observation; for a short time keep the last verdict. Requests wait meanwhile."""
    if not isinstance(f.found, Unknown):
        return None
    if f.found.cause is UnknownReason.NOT_LISTED:
        return Plan(pending=True) if not f.synced else Plan(refresh_after=f.history.first_seen, pending=not f.seen)
    until = unseen.stands_until(f, f.found)
    if f.now.mono < until:
        return Plan(requeue_at=until, pending=not f.seen)
    return report(f, _verdict(f, f.found), requeue_at=unseen.recheck_at(f, f.found))


def _verdict(f: HostFacts, found: Unknown) -> Verdict:
    """Return the verdict by the cause. The words of other kinds advise spec.deletion, which a GpuHost lacks."""
    match found.cause:
        case UnknownReason.NO_ACCOUNT:
            return stalled(Reason.NO_ACCOUNT, _no_account(f, found), ready="Unknown" if f.seen else "False")
        case UnknownReason.ENDPOINT:
            return stalled(Reason.ENDPOINT_MISMATCH, _other_endpoint(f), ready="Unknown")
        case UnknownReason.TENANT:
            return stalled(Reason.TENANT_MISMATCH, _other_tenant(f), ready="Unknown")
        case _:
            return unseen.listing_verdict(f, found, (KIND, NOUN), held="no request is carried out")


def _no_account(f: HostFacts, found: Unknown) -> str:
    if f.status.account != OWN_ACCOUNT:
        return found.detail
    words = f"This host was seen with the operator's own account, which no longer serves namespace {f.meta.namespace!r}"
    return f"{words}. Ask the administrator to serve it again, or delete this object {HARMLESS}."


def _other_endpoint(f: HostFacts) -> str:
    recorded, used, whose = f.status.endpoint, f.account.endpoint, credential.described(f.account.name)
    return (
        f"Nothing is done: this host was seen at endpoint {recorded!r}, and the {whose} is now used at {used!r}. Ask the "
        f"administrator for that endpoint again, or delete this object {HARMLESS}."
    )


def _other_tenant(f: HostFacts) -> str:
    whose, tenants = credential.described(f.account.name), sorted(f.account.tenants)
    shown = f"is of tenant {' and '.join(map(repr, tenants))}" if tenants else "has shown none yet"
    if f.status.tenancy in f.account.tenants:
        shown = "shows another tenant's host"
    return (
        f"Nothing is done: this host was seen in tenant {f.status.tenancy!r}, and the {whose} {shown}. "
        f"{credential.restore(f.account.name, f.status.tenancy)}, or delete this object {HARMLESS}."
    )
