"""What the model world must know of each kind: its cloud, its spec, its identity, and the facts that are its own."""

from __future__ import annotations

from gpucloud.cloud.models import SnapshotRecord, VmRecord, VpcRecord
from gpucloud.kinds.common import Adoption, DeletionPolicy
from gpucloud.kinds.gpusnapshot import GpuSnapshotStatus
from gpucloud.kinds.gpuvm import GpuVMStatus
from gpucloud.kinds.gpuvpc import GpuVpcStatus
from gpucloud.reconcile import gpusnapshot, gpuvm, gpuvpc
from gpucloud.reconcile.facts import Absent, Blindness, Dependency, Present, Readiness, SSHKeys, Unknown
from gpucloud.reconcile.gpusnapshot import SnapshotFacts, Source
from gpucloud.reconcile.gpuvm import VmFacts
from gpucloud.reconcile.gpuvpc import Occupants, VpcFacts
from gpucloud.reconcile.naming import Identity
from support.builders import KEY, TAG, a_spec
from support.modelcloud import SnapshotCloud, VmCloud, VpcCloud
from support.snapshotfacts import a_snapshot_spec
from support.vpcfacts import a_vpc_spec

VPC, CLUSTER = "acme", "Msc1"
SOURCE = Identity(CLUSTER, VPC, "vm")


class VmKind:
    """GpuVM."""

    cloud, status, decide = VmCloud, GpuVMStatus, staticmethod(gpuvm.decide)

    @staticmethod
    def spec(name):
        return a_spec(**({"vmName": name} if name else {}))

    @staticmethod
    def identity(world, item):  # noqa: ARG004 - others depend on the world
        return gpuvm.identity(item.meta, item.spec, item.status, TAG)

    @staticmethod
    def record(thing, word):
        return VmRecord(id=thing.name, namespace=VPC, cluster=CLUSTER, status=word)

    @staticmethod
    def name(record):
        return record.id

    @staticmethod
    def facts(world, process, common):  # noqa: ARG004 - as above
        return VmFacts(**common, keys=SSHKeys((KEY,)))

    @staticmethod
    def beside(world, at):  # noqa: ARG004 - as above
        """What a listing shows besides."""
        return ()

    @staticmethod
    def retains(spec):
        return spec.deletion.policy is DeletionPolicy.RETAIN

    @staticmethod
    def may_destroy_foreign(spec):  # noqa: ARG004 - as above
        return False

    @staticmethod
    def target(facts):
        return facts.identity.name, None


class VpcKind(VmKind):
    """GpuVpc: its name is its owner's, its id the cloud's."""

    cloud, status, decide = VpcCloud, GpuVpcStatus, staticmethod(gpuvpc.decide)

    @staticmethod
    def spec(name):
        return a_vpc_spec(name=name)

    @staticmethod
    def identity(world, item):  # noqa: ARG004 - the base's form
        return gpuvpc.identity(item.spec)

    @staticmethod
    def record(thing, word):  # noqa: ARG004 - a VPC has no state
        return VpcRecord(id=thing.id, name=thing.name, cluster=CLUSTER)

    @staticmethod
    def name(record):
        return record.name

    @staticmethod
    def facts(world, process, common):  # noqa: ARG004 - the base's form
        view = process.view
        occupants = view.blind
        if occupants is None and view.as_of is not None:
            occupants = Occupants(view.beside, view.as_of)
        return VpcFacts(**common, occupants=occupants if common["meta"].deleting else None)

    @staticmethod
    def beside(world, at):
        """What a listing shows besides: who is in the VPC."""
        return tuple(f"VM {since}" for since in world.cloud.inside if since <= at)

    @staticmethod
    def retains(spec):
        return spec.deletion is not None and spec.deletion.policy is DeletionPolicy.RETAIN

    @staticmethod
    def may_destroy_foreign(spec):
        said = spec.deletion is not None and spec.deletion.policy is DeletionPolicy.DELETE
        return said and spec.adoption is not Adoption.NEVER

    @staticmethod
    def target(facts):
        seen = facts.found.record.id if isinstance(facts.found, Present) else None
        return facts.identity.name, seen or facts.status.vpc_id


class SnapshotKind(VmKind):
    """GpuSnapshot: of a VM whose object may come and go."""

    cloud, status, decide = SnapshotCloud, GpuSnapshotStatus, staticmethod(gpusnapshot.decide)

    @staticmethod
    def spec(name):
        return a_snapshot_spec(**({"snapshotName": name} if name else {}))

    @staticmethod
    def identity(world, item):
        return gpusnapshot.identity(item.meta, item.spec, item.status, TAG, SOURCE if world.placed else None)

    @staticmethod
    def record(thing, word):
        return SnapshotRecord.model_validate({"id": thing.name, "namespace": VPC, "readyToUse": word == "READY"})

    @staticmethod
    def facts(world, process, common):
        view, needs = process.view, ()
        if not world.placed:
            needs = (Dependency("GpuVM 'vm'", Readiness.MISSING),)
        seen = view.blind
        if seen is None and view.as_of is None:
            seen = Unknown(world.now, Blindness.NOT_LOOKED)
        elif seen is None:
            seen = Present(VmRecord(id="vm"), view.as_of) if view.beside else Absent(view.as_of, view.as_of)
        return SnapshotFacts(**common, needs=needs, source=Source("vm", seen) if world.placed else None)

    @staticmethod
    def beside(world, at):  # noqa: ARG004 - the base's form
        """What a listing shows besides: whether the VM is there."""
        return world.cloud.source
