"""Defects that somebody might make who wants it to go wrong, or knows no better."""

from __future__ import annotations

import copy
import dataclasses
import math
from typing import Any

from gpucloud.engine.cache.store import Store
from gpucloud.engine.cloud.cluster_records import find
from gpucloud.engine.cloud.inventory import Inventory
from gpucloud.engine.controller import controller
from gpucloud.engine.kinds.cloud_reconciler import CloudReconciler
from gpucloud.engine.kinds.dependents import dependents_of_vpc
from gpucloud.engine.kube.client import KubeClient
from gpucloud.engine.manager.manager import Engine
from gpucloud.engine.manager.resync import Resync
from gpucloud.engine.orphans.collector import OrphanCollector
from gpucloud.kinds.common import Adoption, DeletionPolicy, OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.core import create, delete, destruction, steps
from gpucloud.reconcile.core.facts import CloudFacts
from gpucloud.reconcile.facts import Unknown, UnknownReason, Verb
from gpucloud.reconcile.gpuvm import power
from gpucloud.reconcile.gpuvm.final_snapshot import is_ready
from gpucloud.reconcile.gpuvpc.decide import _emptied
from gpucloud.reconcile.plan import Plan
from gpucloud.reconcile.transitions import OrderEvent
from simulation.defects.transitions import lead
from simulation.planting import Defect, getter, named, replace

HOSTILE: dict[str, Defect] = {}


@named(HOSTILE, "nobody asks for the Lease before a changing call")
def always_leader() -> None:
    """Every process takes itself for the leader."""
    replace(Engine.is_leader, lambda _: True)


@named(HOSTILE, "an order is sent before the finalizer is visible")
def no_finalizer_awaited() -> None:
    """No step waits for the finalizer."""
    replace(steps.awaits_finalizer, lambda *_: False)


@named(HOSTILE, "whatever exists is adopted")
def adopts_all() -> None:
    """What bears the name is adopted, though the spec does not say so and another object may own it."""
    proofs = CloudReconciler.proofs
    replace(CloudFacts.adoption, property(lambda _: Adoption.IF_EXISTS))
    replace(proofs, lambda *args: dataclasses.replace(proofs(*args), adoptable=True))


@named(HOSTILE, "a VM is destroyed before its final snapshot is ready")
def unsaved() -> None:
    """That a snapshot was requested, or is being taken, counts as if it were ready."""
    replace(is_ready, lambda _: True)


@named(HOSTILE, "what bears the name is destroyed without proof")
def name_is_proof() -> None:
    """Whatever no other object owns is ours."""
    replace(CloudFacts.ours, property(lambda f: f.owner is None))


@named(HOSTILE, "the finalizer goes with the answer to the destroying call")
def answer_is_proof() -> None:
    """An accepted destroying call counts as a destruction."""
    destroy = delete._destroy

    def destroyed(f: Any, found: Any, prepare: Any) -> Any:
        attempt = f.attempt(f.subject.destroy)
        if attempt is not None and attempt.refusal is None and not found.duplicate_records:
            return destruction.release_finalizer(f, Reason.GONE, "It was destroyed.")
        return destroy(f, found, prepare)

    replace(destroy, destroyed)


@named(HOSTILE, "a record of gone is believed after a restart")
def gone_is_believed() -> None:
    """A status that says Gone, which people can edit, is believed: the VM is neither waited for, nor searched for elsewhere."""
    lead(OrderState.GONE, OrderEvent.TAKEN_OVER, OrderState.GONE)
    decide = delete.decide

    def unsearched(f: Any, **rest: Any) -> Any:
        return decide(dataclasses.replace(f, unsearched=None) if f.state is OrderState.GONE else f, **rest)

    replace(decide, unsearched)


@named(HOSTILE, "Ready stands while the cloud cannot be listed")
def ready_while_blind() -> None:
    """What was seen once keeps its last verdict, however long nothing can be listed."""
    unobserved = steps.unobserved

    def keeps_verdict(f: Any) -> Any:
        if isinstance(f.found, Unknown) and f.found.cause is not UnknownReason.NOT_LISTED and f.seen:
            return Plan(requeue_at=f.found.since + f.limits.blind_after)
        return unobserved(f)

    replace(unobserved, keeps_verdict)


class _Keeping:
    """A controller from which a resync drops nothing."""

    def __init__(self, original: Any) -> None:
        self._original = original

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)

    def on_delete(self, _key: Any) -> None:
        """Ignore it."""


@named(HOSTILE, "what vanished while the watch was broken is believed for ever")
def nothing_dropped() -> None:
    """A resync finds what a fresh list lacks, and drops nothing."""
    resync = Resync.resync

    async def kept(self: Resync) -> None:
        keeping: Any = copy.copy(self)
        keeping._controllers = {kind: _Keeping(one) for kind, one in self._controllers.items()}
        await resync(keeping)

    replace(resync, kept)


@named(HOSTILE, "an etcd that went back in time is not noticed")
def restore_unnoticed() -> None:
    """A resync that sees older versions than cached ends nothing."""
    resync = Resync.resync

    async def unbroken(self: Resync) -> None:
        calm = copy.copy(self)
        calm._broken = lambda: None
        await resync(calm)

    replace(resync, unbroken)


@named(HOSTILE, "a stale listing proves that a name is free")
def stale_is_fresh() -> None:
    """No listing is too old to prove that a name is free, not even one from before the object was seen."""
    fresh_from = getter(CloudFacts.fresh_from)
    replace(CloudFacts.fresh_from, property(lambda f: fresh_from(f) - 1e9))
    replace(create.free_from, lambda f: f.history.first_seen - 1e9)


@named(HOSTILE, "an order without a clear answer is sent again at once")
def unanswered_is_refused() -> None:
    """An order whose answer was lost counts as refused."""
    lead(OrderState.INTENDED, OrderEvent.UNANSWERED, OrderState.REFUSED)


@named(HOSTILE, "what the owner says while a call waits does not count")
def decided_once() -> None:
    """A call follows the facts from which it was decided, however old they are and whatever was written since."""
    replace(Store.is_current, lambda self, stored: self.get(stored.meta.uid) is not None)
    controller.STALE_FACTS_SECONDS = math.inf  # read in this module only


@named(HOSTILE, "the pause annotation is not heeded")
def never_paused() -> None:
    """No object is paused."""
    replace(steps.paused, lambda _: None)


@named(HOSTILE, "Retain is heeded only when the VM was adopted")
def retains_adopted_only() -> None:
    """A deletion with the policy Retain destroys what the operator has created."""
    retained = delete.retained

    def unretained(f: Any) -> Any:
        if f.policy is DeletionPolicy.RETAIN and not f.adopted:
            deletion = f.spec.deletion.model_copy(update={"policy": DeletionPolicy.DELETE})
            f = dataclasses.replace(f, spec=f.spec.model_copy(update={"deletion": deletion}))
        return retained(f)

    replace(retained, unretained)


@named(HOSTILE, "a VPC is destroyed with what is in it")
def vpc_in_use_goes() -> None:
    """Neither the objects that refer to a VPC nor what listings show in it hold its destruction."""
    replace(_emptied, lambda _: None)
    replace(dependents_of_vpc, lambda *_, **__: iter(()))


@named(HOSTILE, "orphans are never looked for")
def no_scan() -> None:
    """The scan for orphans does nothing."""

    async def skipped(_: OrphanCollector) -> None:
        pass

    replace(OrphanCollector.scan, skipped)


@named(HOSTILE, "another's finding under a chosen name is taken for the order")
def taken_is_ours() -> None:
    """Somebody else's VM that a listing shows before the order was sent counts as what was ordered."""
    lead(OrderState.INTENDED, OrderEvent.NAME_TAKEN, OrderState.SEEN)


@named(HOSTILE, "a status is written over whatever has changed meanwhile")
def status_over_all() -> None:
    """A status write takes the newest version for its own."""
    replace_status = KubeClient.replace_status

    async def over(self: KubeClient, plural: str, kind: str, owner: Any, status: Any) -> Any:
        found = await self.read(plural, owner)
        newest = {**owner, "resourceVersion": found["metadata"]["resourceVersion"]}
        return await replace_status(self, plural, kind, newest, status)

    replace(replace_status, over)


@named(HOSTILE, "the finalizer is taken off whatever has changed meanwhile")
def finalizer_over_all() -> None:
    """The patch that removes the finalizer does not test the version."""
    call = KubeClient.call

    async def untested(self: KubeClient, method: str, path: str, body: Any = None, **kinds: str) -> Any:
        if isinstance(body, list):  # a JSON patch: there is no other
            body = [step for step in body if step["path"] != "/metadata/resourceVersion"]
        return await call(self, method, path, body, **kinds)

    replace(call, untested)


@named(HOSTILE, "a power call is repeated before it can show")
def power_repeated() -> None:
    """The first listing after a power call must show its effect."""
    replace(power._shown_from, lambda _, attempt: attempt.at)


@named(HOSTILE, "a VM that somebody stopped stays Ready")
def changes_unnoticed() -> None:
    """Only a record that comes or goes wakes its object, and no change of a record."""
    concerns = Inventory._concerns

    def comes_or_goes(self: Inventory[Any], uid: str, cached: Any) -> bool:
        here = self._watched[uid]
        changed = bool(find(cached.before, here)) != bool(find(cached.records, here))
        return changed if uid not in self._going else concerns(self, uid, cached)

    replace(concerns, comes_or_goes)


@named(HOSTILE, "a destroying call without effect is repeated upon every listing")
def destroyed_hot() -> None:
    """A cloud that accepts DestroyServer or DeleteSnapshot and carries none out is sent the call again after each listing."""
    replace(destruction.again_from, lambda _, attempt: attempt.at)


@named(HOSTILE, "a VM that is off is started, whatever its owner wants")
def started_unasked() -> None:
    """spec.powerState counts only while the VM is on."""

    def started(f: Any, vm: Any) -> Any:
        return power._switch(f, vm, Verb.START)

    replace(power._offline, started)
