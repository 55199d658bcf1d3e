"""Names that the message of a refused order may suggest: the cloud's, and those that other objects of the namespace have."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.reconcile.conditions import is_ready
from gpucloud.reconcile.gpuvm.misnamed import KnownNames
from gpucloud.spelling import MOST_COMPARED

if TYPE_CHECKING:
    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.cloud.accounts import ResolvedAccount
    from gpucloud.engine.kinds.listers import Listers
    from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
    from gpucloud.reconcile.naming import Identity


def names_for(
    objects: Listers, vm: CachedObject[GpuVMSpec, GpuVMStatus], spec: GpuVMSpec, account: ResolvedAccount, here: Identity
) -> KnownNames:
    """Return the names that the message of this VM's refused order may suggest."""
    if vm.meta.deleting:
        return KnownNames()
    known = known_names(account, here.cluster, spec.configuration)
    if spec.image is None or is_ready(vm.status.conditions):
        return known
    if spec.image.custom_file is not None:
        return replace(known, files=_image_files(objects, vm.meta.namespace, spec))
    if spec.image.snapshot is None:
        return known
    is_object = objects.snapshots.named(vm.meta.namespace, spec.image.snapshot) is not None
    return replace(known, snapshots=_taken_snapshots(objects, vm.meta.namespace, here), is_object=is_object)


def _taken_snapshots(objects: Listers, namespace: str, here: Identity) -> tuple[str, ...]:
    """Return the cloud's names of the snapshots in the VM's place that GpuSnapshots of its namespace have taken, sorted.

    None where there are more than a message compares: each pass would look at them all.
    """
    names = objects.snapshots.names(namespace)
    if len(names) > MOST_COMPARED:
        return ()
    found = (objects.snapshots.named(namespace, name) for name in names)
    taken = (one for one in found if one is not None and one.spec is not None and is_ready(one.status.conditions))
    places = (objects.snapshot_identity(one, one.spec) for one in taken if one.spec is not None)
    return tuple(sorted(place.name for place in places if place is not None and place[:2] == here[:2]))


def _image_files(objects: Listers, namespace: str, spec: GpuVMSpec) -> tuple[str, ...]:
    """Return the image files of the VMs that GpuVMs of this namespace and account have, sorted; as few as of snapshots."""
    names = objects.vms.names(namespace)
    if len(names) > MOST_COMPARED:
        return ()
    found = (objects.vms.named(namespace, name) for name in names)
    made = (one.spec for one in found if one is not None and one.spec is not None and is_ready(one.status.conditions))
    files = (one.image.custom_file for one in made if one.image is not None and one.account_ref == spec.account_ref)
    return tuple(sorted({file for file in files if file is not None}))


def known_names(account: ResolvedAccount, cluster: str, configuration: str) -> KnownNames:
    """Return the names that a message may suggest; none of the VMs of other namespaces, which the own account may show."""
    if account.session is None:
        return KnownNames()
    catalogue, learned = account.session.catalogue, account.session.learned
    configurations = catalogue.offered(cluster)
    elsewhere = () if configuration in configurations else catalogue.clusters_of(configuration)
    if account.facts.name == OWN_ACCOUNT:
        return KnownNames(configurations, elsewhere=elsewhere)
    return KnownNames(
        configurations, learned.pools.of(cluster), learned.images.of(cluster), elsewhere, learned.vpcs.of(cluster)
    )
