"""Defects that others had in production, in what the operator decides: what each would do here, and its source."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

from gpucloud.cloud.errors import ErrorKind
from gpucloud.engine.kinds.preconditions import Preconditions
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import evidence, naming, tenancy
from gpucloud.reconcile.core import absent, create, delete, destruction, failed
from gpucloud.reconcile.core.facts import CloudFacts
from gpucloud.reconcile.facts import Absent
from gpucloud.reconcile.gpucloudaccount import delete as account_delete
from gpucloud.reconcile.gpuvm.identity import VmLocation
from gpucloud.reconcile.ownership import own_record
from gpucloud.reconcile.transitions import OrderEvent
from simulation.defects.transitions import lead
from simulation.planting import Defect, getter, named, replace

IN_DECISIONS: dict[str, Defect] = {}


@named(IN_DECISIONS, "01-order-before-its-intent")
def order_before_intent() -> None:
    """The first order is sent with no intent in status.

    Killed between the call and the next write, the operator starts with no record that anything was ever asked for.
    aws-controllers-k8s/community#2062: a crash after the create call, and the id nowhere.
    """
    may_send = create._may_send
    replace(may_send, lambda f: may_send(f) or f.state is OrderState.NOT_ORDERED)
    replace(Preconditions._may_order, lambda *_: True)


@named(IN_DECISIONS, "03-name-without-uid")
def name_without_uid() -> None:
    """Two objects of one name, in two namespaces or one after the other, get one cloud name: the second takes the first's VM.

    aws-controllers-k8s/community#2066: track before the call, and tag by UID.
    """
    proves = naming.proves
    replace(naming.external_name, lambda name, _, tag: naming.base_name(name, tag) + naming.fingerprint(name))
    replace(proves, lambda name, uid: proves(name, uid) or bool(naming._OURS.fullmatch(name)))


@named(IN_DECISIONS, "04-after-a-restart-nothing-was-asked-for")
def nothing_asked_before() -> None:
    """An order that an earlier process recorded, and may have sent a moment ago, is not waited for.

    One listing that lags, and the VM is ordered again.
    kubernetes-sigs/cluster-api-provider-aws#5794: a panic after the create; each restart bought another VM.
    """
    lead(OrderState.INTENDED, OrderEvent.TAKEN_OVER, OrderState.REFUSED)


@named(IN_DECISIONS, "05-lagging-listing-believed")
def lagging_believed() -> None:
    """An order that the cloud accepted and does not list yet is sent again.

    kubernetes-sigs/cluster-api-provider-aws#6131: a deferred patch and a listing that lags make two VMs.
    """
    missing_from = evidence.missing_from

    def at_once(tracked: Any, grace: float, first_seen: float) -> float:
        accepted = tracked.state is OrderState.ACCEPTED or tracked.unresolved
        return first_seen if accepted else missing_from(tracked, grace, first_seen)

    replace(missing_from, at_once)


@named(IN_DECISIONS, "06-deleted-before-the-id-is-known")
def deleted_before_seen() -> None:
    """An object that is deleted while its VM is on its way lets go at once; the VM runs on, and nobody knows of it.

    kubernetes-sigs/cluster-api-provider-cloudstack#190, #191: deleted before its id was known, the VM stayed.
    """
    never_seen = absent._never_seen

    def let_go(f: Any, found: Any) -> Any:
        if f.tracked.own or f.history.seen_new or found.as_of >= f.history.first_seen + f.limits.grace:
            return destruction.release_finalizer(f, Reason.GONE, f"No {f.subject.noun} was created for this object.")
        return never_seen(f, found)

    replace(never_seen, let_go)


@named(IN_DECISIONS, "09-second-claimant-destroys")
def second_claimant_destroys() -> None:
    """A second claimant, told that the VM is another's, destroys it when it is itself deleted.

    crossplane/crossplane#5093: two resources may stand for one external resource.
    """
    ours = getter(CloudFacts.ours)
    preconditions, unowned = Preconditions.of, SimpleNamespace(owner=lambda _: None)
    replace(CloudFacts.ours, property(lambda f: f.owner is not None or ours(f)))
    replace(preconditions, lambda self, *rest: preconditions(dataclasses.replace(self, ownership=unowned), *rest))


@named(IN_DECISIONS, "12-failed-means-not-done")
def failed_means_not_done() -> None:
    """An order whose answer was lost is sent again at once, before any listing could show what became of it.

    crossplane/crossplane#3037 and its runtime: what became of a create that was cut short is not known; one that erred
    counts as failed, and is sent again.
    """
    missing_from = evidence.missing_from

    def at_once(tracked: Any, grace: float, first_seen: float) -> float:
        unclear = tracked.state is OrderState.UNCLEAR and not tracked.unresolved
        return first_seen if unclear else missing_from(tracked, grace, first_seen)

    replace(missing_from, at_once)


@named(IN_DECISIONS, "14-credential-goes-before-its-users")
def credential_goes_first() -> None:
    """The account lets its Secret go while VMs need it; they can be neither seen nor destroyed, and go on costing.

    crossplane/crossplane#7801: when a namespace goes, the Secret goes before the resources that need it.
    """
    replace(account_delete.in_use, lambda _: None)


@named(IN_DECISIONS, "18-finalizer-goes-on-a-refusal")
def goes_on_refusal() -> None:
    """A key that may not destroy makes the object go and the VM stay.

    kopf 1.45: a PermanentError, or the last of `retries`, removes the finalizer.
    """
    destroy = delete._destroy

    def let_go(f: Any, found: Any, prepare: Any) -> Any:
        attempt = f.attempt(f.subject.destroy)
        forbidden = attempt is not None and attempt.refusal is not None and attempt.refusal.kind is ErrorKind.FORBIDDEN
        if forbidden and failed.in_backoff(f, attempt) and not found.duplicate_records:
            return destruction.release_finalizer(f, Reason.GONE, "It cannot be destroyed.")
        return destroy(f, found, prepare)

    replace(destroy, let_go)


@named(IN_DECISIONS, "21-another-tenants-key-believed")
def another_tenants_key() -> None:
    """Every object of the namespace lets its VM go as gone, or buys it anew, for somebody else's empty listing.

    No public record names it: a Secret swapped for another account's valid key, with which all of ours answers 404.
    """
    check_tenant = tenancy.check_tenant

    def believed(found: Any, tenant: str | None, account: Any, since: float, **more: Any) -> Any:
        if account.tenants and tenant is not None and isinstance(found, Absent):
            account = dataclasses.replace(account, tenants=frozenset({tenant}))
        return check_tenant(found, tenant, account, since, **more)

    replace(check_tenant, believed)


@named(IN_DECISIONS, "24-status-believed")
def status_believed() -> None:
    """Whoever may edit a status points it at another tenant's VM, deletes the object, and that VM is destroyed.

    Cross-namespace study, arXiv 2507.03387; crossplane's external-name annotation: an id that people can edit is trusted.
    """

    wanted = VmLocation.wanted

    def recorded(self: VmLocation) -> naming.Identity:
        spec, before = self.spec, self.order
        if before is None or not before.name or spec.vm_name not in {None, before.name}:
            return wanted(self)
        return naming.Identity(cluster=spec.cluster, vpc=spec.vpc or before.vpc or self.referred_vpc or "", name=before.name)

    replace(own_record, lambda order, _uid: order)
    replace(wanted, recorded)
