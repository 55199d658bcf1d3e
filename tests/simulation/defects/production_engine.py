"""Defects that others had in production, in what the operator sees and sends: what each would do here, and its source."""

from __future__ import annotations

import dataclasses
import math
import sys
from typing import TYPE_CHECKING, Any, cast

from gpucloud.cloud import answers, limits
from gpucloud.cloud.transport import Progress
from gpucloud.engine.cache.claims import Claims
from gpucloud.engine.cache.store import Store
from gpucloud.engine.cloud import cluster_records
from gpucloud.engine.cloud.cluster_records import find
from gpucloud.engine.cloud.inventory import Inventory
from gpucloud.engine.controller import controller
from gpucloud.engine.controller.controller import Controller, Outcome
from gpucloud.engine.kinds.gpucloudaccount import GpuCloudAccountReconciler
from gpucloud.engine.kinds.preconditions import Preconditions
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.orphans.collector import OrphanCollector
from gpucloud.reconcile.core import create
from simulation.planting import Defect, named, replace

if TYPE_CHECKING:
    from gpucloud.cloud.errors import CloudError

IN_ENGINE: dict[str, Defect] = {}


@named(IN_ENGINE, "02-act-though-the-status-was-refused")
def act_unannounced() -> None:
    """A refused status write is shrugged off, and the call that it should have announced is sent all the same, unrecorded.

    aws-controllers-k8s/community#2267: a conflict on the status patch loses the id.
    """
    write, make_order = Controller._write, create.order

    async def shrugged(self: Controller[Any, Any, Any], key: Any, stored: Any, status: Any, plan: Any) -> Outcome:
        try:
            return await write(self, key, stored, status, plan)
        except KubeError:
            if plan.action is None:
                return Outcome.NOTHING
            return await self._act(key, stored, await self._reconciler.gather(stored), plan)

    def sent(f: Any, *given: Any, **recorded: Any) -> Any:
        plan = make_order(f, *given, **recorded)
        return dataclasses.replace(plan, action=f.subject.create) if plan.records_order else plan

    replace(write, shrugged)
    replace(make_order, sent)
    replace(Preconditions._may_order, lambda *_: True)


@named(IN_ENGINE, "07-vanished-and-nobody-woken")
def nobody_woken() -> None:
    """A VM that is destroyed from outside stays Ready for as long as nobody touches its object.

    kubernetes-sigs/cluster-api-provider-vsphere#409: a VM deleted outside was not noticed in seven hours.
    """
    concerns = Inventory._concerns

    def concerned(self: Inventory[Any], uid: str, cached: Any) -> bool:
        there = find(cached.records, self._watched[uid]) or uid in self._going
        return bool(there) and concerns(self, uid, cached)

    replace(concerns, concerned)


@named(IN_ENGINE, "08-claims-not-unique")
def claims_not_unique() -> None:
    """Each of two objects that stand for one VM believes itself its owner; the first to be deleted destroys the other's.

    k8s-proxmox/cluster-api-provider-proxmox#94: three resources with one provider id, one VM.
    """
    first = Claims.first
    replace(first, lambda self, uid: first(self, uid) and uid)


@named(IN_ENGINE, "10-mass-disappearance-believed")
def disappearance_believed() -> None:
    """A listing that has lost most of the fleet is taken at its word.

    Finalizers go, and what a person deletes meanwhile is never destroyed.
    gardener/machine-controller-manager#657: after a restart, with half a view, live VMs were collected as orphans.
    """
    replace(cluster_records.is_implausible, lambda vanished, expected: len(vanished) > len(expected))


@named(IN_ENGINE, "11-woken-and-acting-on-old-facts")
def acting_on_old_facts() -> None:
    """A process that slept for minutes sends the call it was about to send, though another has taken over since.

    gardener/machine-controller-manager#718, #722: frozen, it went on collecting.
    """
    controller.STALE_FACTS_SECONDS = math.inf  # read in this module only


@named(IN_ENGINE, "13-client-repeats-what-changes")
def client_repeats() -> None:
    """After a reset connection or a 503 the client itself repeats a CreateServer that may have been carried out.

    crossplane/upjet#681, crossplane-contrib/provider-upjet-aws#1482: what was created is forgotten and created again.
    """
    next_delay = limits.next_delay
    replace(next_delay, lambda *args, max_retries, **more: next_delay(*args, max_retries=max_retries or 3, **more))


@named(IN_ENGINE, "15-endpoint-named-by-the-tenant")
def tenants_endpoint() -> None:
    """What a tenant writes as endpoint is taken for declared by the administrator.

    CVE-2026-18378, CVE-2026-18381 (koku), CVE-2026-42875 (External Secrets): a URL in a custom resource receives the operator's
    credential.
    """
    endpoint = GpuCloudAccountReconciler._endpoint

    def declared(self: GpuCloudAccountReconciler, spec: Any) -> str | None:
        if spec.endpoint is not None:
            cast("dict[str, str]", self._deps.endpoints).setdefault(spec.endpoint, f"https://{spec.endpoint}.invalid")
        return endpoint(self, spec)

    replace(endpoint, declared)


@named(IN_ENGINE, "16-no-total-deadline")
def no_deadline() -> None:
    """One slow answer holds a worker, and the object that it works on, for hours.

    httpx 0.28: timeouts hold for each chunk, so that a body which drips may take for ever.
    """
    replace(Progress, lambda deadline, **more: Progress(deadline + 1e9, **more))


@named(IN_ENGINE, "17-older-view-put-over-the-newer")
def older_over_newer() -> None:
    """A late watch event puts an old status over our own newer one: the intent just recorded is forgotten.

    Sieve, stale states: instaclustr/cassandra-operator#402, rabbitmq/cluster-operator#648: an old view of an object, acted
    upon, deletes what is in use.
    """
    put = Store.put

    def put_any(self: Store[Any, Any], body: Any) -> bool:
        known = self.get(body["metadata"]["uid"])
        if known is None or int(body["metadata"]["resourceVersion"]) >= known.version:
            return put(self, body)
        return self._take(self._parse(body), known)

    replace(put, put_any)


@named(IN_ENGINE, "19-failed-listing-read-as-empty")
def failure_is_empty() -> None:
    """While the cloud answers 500, every VM looks gone.

    Rainmaker, NSDI'23: one faulty answer of the cloud and what its users make of it; gardener/machine-controller-manager#657.
    """
    mark_unknown = Inventory._mark_unknown

    def emptied(self: Inventory[Any], cluster: str, cached: Any, began: float, error: CloudError) -> Any:
        if sys.exception() is error:  # the answer of the cloud itself
            return self._accept(cluster, cached, began, ())
        return mark_unknown(self, cluster, cached, began, error)

    replace(mark_unknown, emptied)


@named(IN_ENGINE, "20-partial-listing-believed")
def partial_believed() -> None:
    """VMs that a damaged listing leaves out are taken for destroyed.

    Sieve, unobserved states: instaclustr/cassandra-operator#398; field notes: entries that cannot be read.
    """
    make = Inventory.__init__

    def made(self: Inventory[Any], fetch: Any, *args: Any, **named_args: Any) -> None:
        async def believed(cluster: str) -> Any:
            listing = await fetch(cluster)
            return dataclasses.replace(listing, complete=listing.complete or bool(listing.items))

        make(self, believed, *args, **named_args)

    replace(make, made)


@named(IN_ENGINE, "22-retry-after-ignored")
def retry_after_ignored() -> None:
    """A 429 slows only the call that met it; all others of the credential go on at full rate.

    Metastable failures, OSDI'22; gRPC A6: retries that keep an outage alive.
    """
    pause_for = limits.pause_for
    replace(pause_for, lambda status, after: 0.0 if status == 429 else pause_for(status, after))


@named(IN_ENGINE, "23-secret-in-an-error")
def secret_in_an_error() -> None:
    """An error that quotes the request puts the API key into status, events and logs.

    external-secrets and koku, the same advisories: credentials in logs and events. The service echoes what it was sent.
    """
    failure = answers._failure
    replace(failure, lambda answer, payload, _redact: failure(answer, payload, lambda text: text))


class _Empty:
    """A client of the apiserver for which there is no object while the apiserver does not answer."""

    def __init__(self, original: Any) -> None:
        self._original = original

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)

    async def uids(self, plural: str, namespaces: Any) -> set[str]:
        """List the objects of a kind."""
        try:
            return cast("set[str]", await self._original.uids(plural, namespaces))
        except KubeError:
            return set()


@named(IN_ENGINE, "25-failed-list-of-objects-read-as-empty")
def no_objects_listed() -> None:
    """While the apiserver is away every object looks gone, and what came back with a restored etcd is destroyed as an orphan.

    gardener/machine-controller-manager#718, #722: orphans were collected while the apiserver could not be reached.
    """
    make = OrphanCollector.__init__

    def made(self: OrphanCollector, deps: Any, *args: Any, **named_args: Any) -> None:
        make(self, dataclasses.replace(deps, kube=_Empty(deps.kube)), *args, **named_args)

    replace(make, made)
