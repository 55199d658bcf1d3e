"""The GpuVM's room in the engine: its facts gathered, its calls sent, what this process remembers of each."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import CreateServer, VmRecord
from gpucloud.engine import sshkeys
from gpucloud.engine.claims import Claims
from gpucloud.engine.clock import Clock, reading
from gpucloud.engine.events import Happening
from gpucloud.engine.memories import Memories
from gpucloud.engine.objects import ObjectStore, Stored
from gpucloud.kinds.gpuvm import KIND, PLURAL, GpuVMSpec, GpuVMStatus
from gpucloud.kinds.meta import Annotation, ConditionType, Reason
from gpucloud.reconcile import naming, unreadable
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import Absent, Limits, Refusal, SSHKeys, Verb
from gpucloud.reconcile.gpuvm import VmFacts, decide, identity
from gpucloud.reconcile.unreadable import Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.cloud.client import CloudClient
    from gpucloud.engine.catalogue import Catalogue
    from gpucloud.engine.inventory import Inventory
    from gpucloud.engine.kube import KubeClient
    from gpucloud.engine.namespaces import Namespaces
    from gpucloud.reconcile.naming import Identity
    from gpucloud.reconcile.plan import Plan

GpuVM = Stored[GpuVMSpec, GpuVMStatus]

_DONE = {
    Verb.CREATE: (Reason.CREATED, "The VM {name} was ordered."),
    Verb.START: (Reason.STARTED, "The VM {name} was told to start."),
    Verb.STOP: (Reason.STOPPED, "The VM {name} was told to stop."),
    Verb.DESTROY: (Reason.DESTROYED, "The VM {name} was told to go, with its data."),
}
_FAILED = {
    Verb.CREATE: Reason.ORDER_FAILED,
    Verb.START: Reason.START_FAILED,
    Verb.STOP: Reason.STOP_FAILED,
    Verb.DESTROY: Reason.DESTROY_FAILED,
}


@dataclass(frozen=True, slots=True)
class Tools:
    """What the room works with."""

    client: CloudClient
    inventory: Inventory[VmRecord]
    catalogue: Catalogue
    kube: KubeClient
    namespaces: Namespaces
    clock: Clock


class GpuVMRoom:
    """Gathers facts of GpuVMs, sends their calls, and remembers."""

    kind = KIND
    plural = PLURAL

    def __init__(self, tools: Tools, *, tag: str, limits: Limits, synced: Callable[[], bool]) -> None:
        self.store: ObjectStore[GpuVMSpec, GpuVMStatus] = ObjectStore(GpuVMSpec, GpuVMStatus)
        self._tools = tools
        self._tag = tag
        self._limits = limits
        self._synced = synced
        self._memories = Memories(tools.clock)
        self._claims = Claims(self._rank)
        tools.inventory.expected = self._expected

    def noticed(self, stored: GpuVM) -> None:
        """A new view of an object: watch its VM, and know its claim before anything is decided about any."""
        if stored.spec is None:
            return
        here = identity(stored.meta, stored.spec, stored.status, self._tag)
        self._claims.put(stored.meta.uid, here)
        self._tools.inventory.watch(stored.meta.uid, here)

    async def gather(self, stored: GpuVM) -> VmFacts | Unreadable:
        """Everything that the decision needs; reads Secrets and the namespace only when something may be bought.

        Raises:
            KubeError: the apiserver did not answer.
        """
        if stored.spec is None:
            return Unreadable(reading(self._tools.clock), stored.meta, stored.status, stored.flaw)
        facts = self._facts(stored, stored.spec)
        if facts.meta.deleting or facts.seen or not isinstance(facts.vm, Absent):
            return facts
        return await self._gather_for_buying(facts)

    def decide(self, facts: VmFacts | Unreadable) -> Plan[GpuVMStatus]:
        """The pure core's answer."""
        return unreadable.decide(facts) if isinstance(facts, Unreadable) else decide(facts)

    def _facts(self, stored: GpuVM, spec: GpuVMSpec) -> VmFacts:
        meta = stored.meta
        here = identity(meta, spec, stored.status, self._tag)
        if stored.status.intent is not None:
            self._memories.saw(meta.uid, stored.status.intent.id)
        accept = meta.annotations.get(Annotation.ACCEPT_ABSENCE) == "true"
        return VmFacts(
            now=reading(self._tools.clock),
            meta=meta,
            spec=spec,
            status=stored.status,
            identity=here,
            vm=self._tools.inventory.observe(here, accept_absence=accept),
            memory=self._memories.of(meta.uid),
            limits=self._limits,
            owner=self._owner(meta.uid, here),
            synced=self._synced(),
            nonce=secrets.token_hex(8),
            price_per_hour=None if meta.deleting else self._tools.catalogue.price_per_hour(spec.configuration),
        )

    async def _gather_for_buying(self, facts: VmFacts) -> VmFacts:
        """What only a VM that is yet to be bought needs to know."""
        kube, meta = self._tools.kube, facts.meta
        keys = await sshkeys.resolve(kube, meta.namespace, facts.spec)
        terminating = await self._tools.namespaces.terminating(meta.namespace)
        return replace(
            facts,
            now=reading(self._tools.clock),
            keys=keys,
            namespace_terminating=terminating,
            lookalikes=self._lookalikes(facts),
        )

    async def act(self, facts: VmFacts | Unreadable, verb: Verb) -> Happening:
        """Send one call for this VM, remember how it went, and say what to tell."""
        if isinstance(facts, Unreadable):
            raise TypeError("nothing is sent for a spec that cannot be read")
        refusal = None
        try:
            await self._send(facts, verb)
        except CloudError as error:
            if not (verb is Verb.DESTROY and error.kind is ErrorKind.NOT_FOUND):
                refusal = Refusal(error.kind, error.message, error.ambiguous, error.retry_after)
        self._memories.called(facts.meta.uid, verb, facts.asked, refusal)
        if refusal is not None:
            return Happening(_FAILED[verb], f"{verb} failed: {refusal.message}", verb, warning=True)
        reason, note = _DONE[verb]
        return Happening(reason, note.format(name=repr(facts.identity.name)), verb, always=True)

    async def _send(self, facts: VmFacts, verb: Verb) -> None:
        client, here = self._tools.client, facts.identity
        match verb:
            case Verb.CREATE:
                await client.create_server(order(here, facts.spec, facts.keys))
            case Verb.START:
                await client.start_server(id=here.name, namespace=here.vpc, cluster=here.cluster)
            case Verb.STOP:
                await client.stop_server(id=here.name, namespace=here.vpc, cluster=here.cluster)
            case Verb.DESTROY:
                await client.destroy_server(id=here.name, namespace=here.vpc, cluster=here.cluster)

    def intends(self, uid: str, status: GpuVMStatus, at: float) -> None:
        """This intent of ours is about to be written; once it stands, it may be acted on while it is young."""
        if status.intent is not None:
            self._memories.intends(uid, status.intent.id, at)

    def attend(self, uid: str, plan: Plan[GpuVMStatus]) -> None:
        """Tell the inventory whether to hurry, and who waits for a look."""
        self._tools.inventory.expect_change(uid, plan.pending)
        if plan.status is not None and _is_ready(plan.status):
            self._memories.settled(uid)
        if plan.look_after is not None and plan.look_after <= self._tools.clock.mono():
            self._tools.inventory.look(uid, plan.look_after)

    def forget(self, uid: str) -> None:
        """The object is gone."""
        self._memories.forget(uid)
        for other in self._claims.drop(uid):
            self._tools.inventory.wake(other)  # its Conflict may be over
        self._tools.inventory.unwatch(uid)

    def _owner(self, uid: str, here: Identity) -> str | None:
        """The other object that this VM belongs to: an intent recorded for its name counts first, then age."""
        first = self._claims.first(here)
        stored = None if first is None or first == uid else self.store.get(first)
        return None if stored is None else f"{stored.meta.namespace}/{stored.meta.name}"

    def _rank(self, uid: str, here: Identity) -> tuple[bool, str, str]:
        stored = self.store.get(uid)
        if stored is None:
            return (True, "9999", uid)
        intent = stored.status.intent
        intended = intent is not None and (intent.cluster, intent.vpc, intent.name) == (
            here.cluster,
            here.vpc,
            here.name,
        )
        return (not intended, str(stored.raw_meta.get("creationTimestamp", "")), uid)

    def _lookalikes(self, facts: VmFacts) -> tuple[str, ...]:
        """VMs made by this installation for an object of this name, which no object stands for."""
        if facts.intended or facts.spec.vm_name is not None:
            return ()
        base, here = naming.base_name(facts.meta.name, self._tag), facts.identity
        return tuple(
            name
            for name in self._tools.inventory.names(here.cluster, here.vpc)
            if name.startswith(base)
            and len(name) == len(base) + naming.FINGERPRINT_LENGTH
            and replace(here, name=name) not in self._claims
        )

    def _expected(self, cluster: str) -> set[Identity]:
        """VMs that a listing of this cluster should show: seen before, not destroyed by us, not known to be lost."""
        known = (self._claims.identity(stored.meta.uid) for stored in self.store if self._should_show(stored))
        return {here for here in known if here is not None and here.cluster == cluster}

    def _should_show(self, stored: GpuVM) -> bool:
        if stored.status.vm_id is None:
            return False
        ready = find(stored.status.conditions, ConditionType.READY)
        going = Verb.DESTROY in self._memories.of(stored.meta.uid).attempts
        return not going and (ready is None or ready.reason not in {Reason.VM_LOST, Reason.DELETING})


def _is_ready(status: GpuVMStatus) -> bool:
    ready = find(status.conditions, ConditionType.READY)
    return ready is not None and ready.status == "True"


def order(here: Identity, spec: GpuVMSpec, keys: SSHKeys) -> CreateServer:
    """The body of CreateServer for this spec. Optional fields that are not said are left out."""
    image, storage = spec.image, spec.storage
    return CreateServer(
        name=here.name,
        cluster=here.cluster,
        vpc=here.vpc,
        configuration=spec.configuration,
        ssh_keys=keys.lines,
        rpool=spec.resource_pool,
        operating_system_image=image.operating_system if image else None,
        tenant_custom_image_file_name=image.custom_file if image else None,
        snapshot_name=image.snapshot if image else None,
        root_disk_size=spec.root_disk_gib,
        selected_node=spec.node_name,
        persist_storage=storage.persist_direct_attached if storage else None,
        direct_storage_mount_path=storage.direct_mount_path if storage else None,
        personal_storage_mount_path=storage.personal_mount_path if storage else None,
        tenant_shared_additional_storage=storage.tenant_shared_mount_path if storage else None,
        block_storage_names=(storage.block_storage_names or None) if storage else None,
    )


def identify(record: VmRecord, cluster: str) -> Identity | None:
    """Which VM a record speaks of. The listing was asked for one cluster; a record that names another is not of it."""
    if record.id is None or (record.cluster and record.cluster != cluster):
        return None
    return naming.Identity(cluster=cluster, vpc=record.namespace or "", name=record.id)
