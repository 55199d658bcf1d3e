"""The GpuVM's room in the engine: what it needs beside what all need, and how its calls are sent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import CreateServer
from gpucloud.engine import sshkeys
from gpucloud.engine.claims import Claim
from gpucloud.engine.clock import reading
from gpucloud.engine.cloudroom import CloudRoom
from gpucloud.engine.inventory import EVERYTHING
from gpucloud.kinds.gpuvm import KIND, PLURAL, GpuVMSpec, GpuVMStatus, Image, SnapshotPolicy
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import naming
from gpucloud.reconcile.facts import SSHKeys, Unknown, Verb
from gpucloud.reconcile.gpuvm import VmFacts, decide, with_snapshots
from gpucloud.reconcile.gpuvm.facts import SUBJECT, SnapshotOfVm, SnapshotsOfVm

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpucloud.cloud.client import CloudClient
    from gpucloud.cloud.models import SnapshotRecord
    from gpucloud.engine.accounts import Seat
    from gpucloud.engine.objects import Stored
    from gpucloud.engine.session import Session
    from gpucloud.kinds.gpucloudaccount import AccountDefaults
    from gpucloud.reconcile.naming import Identity
    from gpucloud.reconcile.plan import Plan

    GpuVM = Stored[GpuVMSpec, GpuVMStatus]


class GpuVMRoom(CloudRoom[GpuVMSpec, GpuVMStatus, VmFacts]):
    """GpuVMs."""

    kind = KIND
    plural = PLURAL
    holds = "vms"
    subject = SUBJECT
    done: ClassVar = {
        Verb.CREATE: (Reason.CREATED, "The VM {name} was ordered."),
        Verb.START: (Reason.STARTED, "The VM {name} was told to start."),
        Verb.STOP: (Reason.STOPPED, "The VM {name} was told to stop."),
        Verb.DESTROY: (Reason.DESTROYED, "The VM {name} was told to go, with its data."),
        Verb.DELETE_SNAPSHOT: (Reason.DESTROYED, "Snapshots of the VM were told to go with it: {name}."),
    }
    failed: ClassVar = {
        Verb.CREATE: Reason.ORDER_FAILED,
        Verb.START: Reason.START_FAILED,
        Verb.STOP: Reason.STOP_FAILED,
        Verb.DESTROY: Reason.DESTROY_FAILED,
        Verb.DELETE_SNAPSHOT: Reason.DESTROY_FAILED,
    }

    def identity(self, stored: GpuVM, spec: GpuVMSpec) -> Identity | None:
        """Where to look for the VM."""
        return self._tools.objects.vm_identity(stored, spec)

    def watches(self, stored: GpuVM, spec: GpuVMSpec) -> Mapping[str, Identity]:
        """The snapshots in its VPC, while it is deleted together with them."""
        here = self.identity(stored, spec)
        if not stored.meta.deleting or spec.deletion.snapshots is not SnapshotPolicy.DELETE or here is None:
            return {}
        return {"snapshots": replace(here, name=EVERYTHING)}

    def facts(self, stored: GpuVM, spec: GpuVMSpec, seat: Seat, common: dict[str, Any]) -> VmFacts:
        """The VM's facts; what only a purchase needs comes later."""
        objects = self._tools.objects
        price = None
        if not stored.meta.deleting and seat.session is not None:
            price = seat.session.catalogue.price_per_hour(spec.configuration)
        return VmFacts(
            **common,
            price_per_hour=price,
            image_snapshot=objects.snapshot_for(stored, spec),
            needs=() if stored.meta.deleting else tuple(objects.needs_of_vm(stored, spec, seat)),
            dependents=tuple(objects.dependents_of_vm(stored)) if stored.meta.deleting else (),
            snapshots=self._snapshots(stored, spec, seat, common["identity"]),
        )

    async def complete(self, facts: VmFacts, stored: GpuVM, seat: Seat) -> VmFacts:
        """Keys to install, whether the namespace stays, and VMs that may be this one under another name."""
        meta = stored.meta
        keys = await sshkeys.resolve(self._tools.kube, meta.namespace, facts.spec)
        terminating = await self._tools.namespaces.terminating(meta.namespace)
        return replace(
            facts,
            now=reading(self._tools.clock),
            keys=keys,
            namespace_terminating=terminating,
            lookalikes=self._lookalikes(facts, seat),
        )

    def decided(self, facts: VmFacts) -> Plan[GpuVMStatus]:
        """The GpuVM's chain."""
        return decide(facts)

    async def send(self, session: Session, facts: VmFacts, verb: Verb, targets: tuple[str, ...]) -> None:
        """Send one call for this VM."""
        client, here = session.client, facts.identity
        where = {"namespace": here.vpc, "cluster": here.cluster}
        match verb:
            case Verb.CREATE:
                await client.create_server(self._order(facts))
            case Verb.START:
                await client.start_server(id=here.name, **where)
            case Verb.STOP:
                await client.stop_server(id=here.name, **where)
            case Verb.DESTROY:
                await client.destroy_server(id=here.name, **where, delete_snapshots=with_snapshots(facts) or None)
            case Verb.DELETE_SNAPSHOT:
                for name in targets:
                    await _delete_snapshot(client, name, where)

    def was_seen(self, status: GpuVMStatus) -> bool:
        """Whether the VM's id is recorded."""
        return status.vm_id is not None

    def _order(self, facts: VmFacts) -> CreateServer:
        seat = self._tools.accounts.seat(facts.meta, facts.spec, facts.status)
        return order(facts.identity, facts.spec, facts.keys, snapshot=facts.image_snapshot, defaults=seat.defaults)

    def _lookalikes(self, facts: VmFacts, seat: Seat) -> tuple[str, ...]:
        """VMs made by this installation for an object of this name, which no object stands for."""
        if facts.intended or facts.spec.vm_name is not None or seat.session is None:
            return ()
        base, here = naming.base_name(facts.meta.name, self._tools.objects.tag), facts.identity
        return tuple(
            name
            for name in seat.session.vms.names(here.cluster, here.vpc)
            if name.startswith(base)
            and len(name) == len(base) + naming.FINGERPRINT_LENGTH
            and Claim(seat.session.url, replace(here, name=name)) not in self._claims
        )

    def _snapshots(self, stored: GpuVM, spec: GpuVMSpec, seat: Seat, here: Identity) -> SnapshotsOfVm | Unknown | None:
        """The VM's snapshots in the cloud, and which of them may go with it; only for a deletion that asks for it."""
        if "snapshots" not in self.watches(stored, spec) or seat.session is None:
            return None
        seen = seat.session.snapshots.within(here.cluster, here.vpc)
        if isinstance(seen, Unknown):
            return seen
        records, as_of = seen
        deletable = set(self._tools.objects.deletable_snapshots(stored, here))
        return SnapshotsOfVm(
            tuple(SnapshotOfVm(item.id or "", item.id in deletable) for item in records if _may_be_of(item, here)), as_of
        )


async def _delete_snapshot(client: CloudClient, name: str, where: dict[str, str]) -> None:
    try:
        await client.delete_snapshot(id=name, **where)
    except CloudError as error:
        if error.kind is not ErrorKind.NOT_FOUND:  # it has gone by itself: the others are still to go
            raise


def _may_be_of(record: SnapshotRecord, vm: Identity) -> bool:
    """A snapshot that names no source may be of any VM: then it is not to be lost with this one."""
    return record.source_name in {None, vm.name}


def order(
    here: Identity,
    spec: GpuVMSpec,
    keys: SSHKeys,
    *,
    snapshot: str | None = None,
    defaults: AccountDefaults | None = None,
) -> CreateServer:
    """The body of CreateServer for this spec, with the account's defaults where it is silent. What nobody says is left out."""
    image, storage = spec.image, spec.storage
    pool, disk = spec.resource_pool, spec.root_disk_gib
    system = image.operating_system if image else None
    if defaults is not None:
        pool, disk = pool or defaults.resource_pool, disk or defaults.root_disk_gib
        if image in (None, Image()):
            system = defaults.operating_system
    return CreateServer(
        name=here.name,
        cluster=here.cluster,
        vpc=here.vpc,
        configuration=spec.configuration,
        ssh_keys=keys.lines,
        rpool=pool,
        operating_system_image=system,
        tenant_custom_image_file_name=image.custom_file if image else None,
        snapshot_name=snapshot if snapshot is not None else image.snapshot if image else None,
        root_disk_size=disk,
        selected_node=spec.node_name,
        persist_storage=storage.persist_direct_attached if storage else None,
        direct_storage_mount_path=storage.direct_mount_path if storage else None,
        personal_storage_mount_path=storage.personal_mount_path if storage else None,
        tenant_shared_additional_storage=storage.tenant_shared_mount_path if storage else None,
        block_storage_names=(storage.block_storage_names or None) if storage else None,
    )
