"""The whole world, and the rules that need to see more than one service."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpucloud.sim.world.refusals import Reason, Refused
from gpucloud.sim.world.snapshots import Snapshot, Snapshots
from gpucloud.sim.world.vms import Vm, VmOrder, Vms
from gpucloud.sim.world.vpcs import Vpc, Vpcs

if TYPE_CHECKING:
    from gpucloud.sim.world.catalogue import Catalogue
    from gpucloud.sim.world.hosts import Hosts
    from gpucloud.sim.world.identity import Identity
    from gpucloud.sim.world.rules import Rules


@dataclass(frozen=True, slots=True)
class ImageChoice:
    """The three ways to name an image; the specification does not say how they combine."""

    snapshot: str = ""
    custom_file: str = ""
    operating_system: str = ""


class World:
    """All services of the simulated cloud. Methods take ``now`` in seconds since 1970 and raise ``Refused``."""

    def __init__(self, rules: Rules, catalogue: Catalogue, hosts: Hosts, identity: Identity) -> None:
        self.rules = rules
        self.catalogue = catalogue
        self.hosts = hosts
        self.identity = identity
        self.vms = Vms(rules, catalogue)
        self.snapshots = Snapshots(rules)
        self.vpcs = Vpcs(rules)

    def settle(self, now: float) -> None:
        """Let everything happen that is due by now."""
        self.rules.timeline.run_until(now)

    def create_vm(self, order: VmOrder, image: ImageChoice, now: float) -> tuple[Vm, bool]:
        """Check every reference of an order, then create the machine; the flag tells of a change."""
        self.catalogue.require_cluster(order.cluster)
        self.catalogue.require_configuration(order.configuration, order.cluster)
        self.vpcs.require_named(order.cluster, order.vpc, order.tenant)
        self.catalogue.require_pool(order.tenant, order.pool, order.cluster, order.node)
        return self.vms.create(replace(order, image=self._image(order, image, now)), now)

    def destroy_vm(self, vm: Vm, now: float, *, delete_snapshots: bool) -> tuple[Vm, bool]:
        """Destroy a machine and, if asked, its snapshots; the flag tells of a change."""
        if delete_snapshots:
            self.snapshots.delete_of(*vm.key, now)
        return self.vms.destroy(vm, now)

    def create_snapshot(self, wanted: Snapshot, now: float) -> tuple[Snapshot, bool]:
        """Take a snapshot of a machine in a state that allows it; its image and disk come from the machine."""
        knobs = self.rules.knobs
        self.catalogue.require_cluster(wanted.cluster)
        if knobs.snapshot_unavailable:
            raise Refused(Reason.UNAVAILABLE, "Snapshots are not available at the moment.")
        if not wanted.source:
            if knobs.snapshot_source_required:
                raise Refused(Reason.INVALID, "The sourceVMName field is required.", "sourceVMName")
            return self.snapshots.create(wanted, now)
        vm = next(iter(self.vms.named((wanted.cluster, wanted.namespace, wanted.source))), None)
        if vm is None or vm.order.tenant != wanted.tenant:
            raise Refused(Reason.MISSING_OTHER, f'"{wanted.source}" not found', "sourceVMName")
        if vm.leaving or vm.status not in knobs.snapshot_source_states:
            raise Refused(Reason.INVALID, f'"{wanted.source}" is {vm.status} and cannot be snapshotted.')
        return self.snapshots.create(replace(wanted, image=vm.order.image, root_disk=vm.order.root_disk), now)

    def destroy_vpc(self, vpc: Vpc, now: float) -> None:
        """Remove a VPC in which nothing lives."""
        vms = [vm for vm in self.vms.listed(vpc.tenant, vpc.cluster) if vm.order.vpc == vpc.name]
        if vms:
            raise Refused(Reason.IN_USE, f'"{vpc.name}" holds {len(vms)} virtual machines.')
        snapshots = [row for row in self.snapshots.listed(vpc.tenant, vpc.cluster) if row.namespace == vpc.name]
        if snapshots and self.rules.knobs.vpc_destroy_blocked_by_snapshots:
            raise Refused(Reason.IN_USE, f'"{vpc.name}" holds {len(snapshots)} snapshots.')
        self.vpcs.destroy(vpc, now)

    def _image(self, order: VmOrder, choice: ImageChoice, now: float) -> str:
        given = [name for name in (choice.snapshot, choice.custom_file, choice.operating_system) if name]
        if len(given) > 1 and self.rules.knobs.image_sources_combined == "refuse_400":
            raise Refused(
                Reason.INVALID,
                "Only one of snapshotName, tenantCustomImageFileName and operatingSystemImage may be given.",
                "snapshotName",
                "tenantCustomImageFileName",
                "operatingSystemImage",
            )
        if choice.snapshot:
            key = (order.cluster, order.vpc, choice.snapshot)
            row = self.snapshots.require(key, order.tenant, Reason.UNKNOWN_REFERENCE)
            if now < row.ready_at or row.leaving:
                raise Refused(Reason.INVALID, f'Snapshot "{row.name}" is not ready to use.', "snapshotName")
            return row.image
        if choice.custom_file:
            known, member = self.catalogue.custom_images.get(order.tenant, ()), "tenantCustomImageFileName"
            name = choice.custom_file
        else:
            known, member = self.catalogue.images, "operatingSystemImage"
            name = choice.operating_system or known[0]
        if name not in known:
            raise Refused(Reason.UNKNOWN_REFERENCE, f'Image "{name}" is unknown.', member)
        return name
