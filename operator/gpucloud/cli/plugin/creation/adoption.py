"""``adopt`` and ``export``: manifests of objects that adopt what exists in the cloud, and change nothing when they are applied.

Pure. Each requires that what it adopts exists, asks for the power state that it has, and leaves it when its object is deleted.
A VM between two power states gets none. The object of a bare metal host adopts nothing: it observes, and requests nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import count, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from gpucloud.cli.plugin.model.naming import object_name
from gpucloud.cli.plugin.model.objects import HOST, SNAPSHOT, VM, VPC
from gpucloud.cloud.models import HostRecord, VmRecord, VpcRecord
from gpucloud.kinds.choices import Adoption, DeletionPolicy, PowerState
from gpucloud.kinds.meta import API_VERSION
from gpucloud.kinds.names import DEFAULT_ACCOUNT
from gpucloud.reconcile.gpuvm.vm_states import VmPhase, vm_phase

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gpucloud.cli.unclaimed import CloudRecord, Leftover
    from gpucloud.cloud.models import SnapshotRecord

    Found = tuple[Leftover, CloudRecord]

NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,50}[A-Za-z0-9])?")  # as spec.vmName and spec.snapshotName take it
VPC_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")  # as spec.name of a GpuVpc takes it
HOST_ID = re.compile(r"[!-~]{1,253}")  # as spec.hostId of a GpuHost takes it
ADOPTS = {"adoption": Adoption.REQUIRED.value, "deletion": {"policy": DeletionPolicy.RETAIN.value}}
TWICE = "the cloud lists several hosts of this id: ask its support which one it is"


class Manifests(NamedTuple):
    """The objects that adopt, and what none can adopt, with the reason."""

    objects: list[dict[str, Any]]
    refused: list[tuple[Leftover, str]]


def manifests(
    found: Iterable[Found],
    account: str,
    namespace: str | None,
    taken: Iterable[tuple[str, str]],
    configurations: Mapping[str, str],
) -> Manifests:
    """Return the objects that adopt these. None gets a kind and name that is ``taken``.

    Without a namespace they go where they are applied.
    ``configurations`` are names by what a VM's record says: a name, or a number.
    """
    place = {"namespace": namespace} if namespace else {}
    used, objects, refused = set(taken), list[dict[str, Any]](), list[tuple["Leftover", str]]()
    found = tuple(found)
    listed = Counter((item.kind, item.cluster, item.name) for item, _ in found)
    for item, record in found:
        twice = item.kind == HOST and listed[item.kind, item.cluster, item.name] > 1
        spec = TWICE if twice else _spec(item, record, configurations)
        if isinstance(spec, str):
            refused.append((item, spec))
            continue
        name = _free(used, item.kind, object_name(item.name), object_name(f"{item.name}-{item.cluster}"))
        used.add((item.kind, name))
        if account != DEFAULT_ACCOUNT:
            spec["accountRef"] = {"name": account}
        spec |= {} if item.kind == HOST else ADOPTS
        objects.append({"apiVersion": API_VERSION, "kind": item.kind, "metadata": {"name": name, **place}, "spec": spec})
    return Manifests(objects, refused)


def _spec(item: Leftover, record: CloudRecord, configurations: Mapping[str, str]) -> dict[str, Any] | str:
    """Return what a manifest says of it beyond the adoption; or why nothing can adopt it, and what to do."""
    if isinstance(record, VpcRecord):
        return _vpc_spec(item, record)
    if isinstance(record, HostRecord):
        return _host_spec(item, record)
    # Of the record, since the item has what a terminal can show: that may be the name of another one.
    if NAME.fullmatch(record.id or "") is None:
        return "its name is longer, or has other characters, than the spec takes: leave it as it is"
    if not item.vpc:
        return "the cloud does not say in which VPC it is: leave it as it is"
    if record.namespace != item.vpc:
        return "it is in a VPC whose name has characters that cannot be shown, such as two spaces: leave it as it is"
    return _vm_spec(item, record, configurations) if isinstance(record, VmRecord) else _snapshot_spec(item, record)


def _vpc_spec(item: Leftover, record: VpcRecord) -> dict[str, Any] | str:
    if record.name != item.name:
        return "its name has characters that cannot be shown, such as two spaces: leave it as it is"
    if VPC_NAME.fullmatch(item.name) is None:
        return "its name has other characters than the spec takes: leave it as it is"
    known = {"isDefault": record.is_default, "blockIntraVpcComms": record.block_intra_vpc_comms}
    said = {name: value for name, value in known.items() if value is not None}
    return {"cluster": item.cluster, "name": item.name, **said}


def _host_spec(item: Leftover, record: HostRecord) -> dict[str, Any] | str:
    if HOST_ID.fullmatch(record.id or "") is None:
        return "its id is longer, or has other characters, than the spec takes: leave it as it is"
    return {"cluster": item.cluster, "hostId": item.name}


def _vm_spec(item: Leftover, record: VmRecord, configurations: Mapping[str, str]) -> dict[str, Any] | str:
    said = record.configuration or ""
    configuration = configurations.get(said) or ("" if said.isdecimal() else said)
    if not configuration:
        return "the cloud does not say of which configuration it is: leave it as it is"
    phase = vm_phase(record)
    if phase not in {VmPhase.ON, VmPhase.OFF}:
        return _without_power_state(item, phase)
    off = {"powerState": PowerState.STOPPED.value} if phase is VmPhase.OFF else {}
    return {"cluster": item.cluster, "configuration": configuration, "vpc": item.vpc, "vmName": item.name, **off}


def _without_power_state(item: Leftover, phase: VmPhase) -> str:
    """Why a VM that is neither on nor off gets no manifest: should it go off, its object would have it started, and billed."""
    said = f"its state is {item.state}" if item.state else "the cloud does not say its state"
    advice = "wait until it is ONLINE or OFFLINE"
    if phase is VmPhase.FAILED:
        advice = "wait until the cloud's staff has repaired it, or destroy it in the cloud"
    return f"{said}, so no power state is known to ask for: {advice}"


def _snapshot_spec(item: Leftover, record: SnapshotRecord) -> dict[str, Any] | str:
    if not record.source_name:
        return "the cloud does not say of which VM it was taken: leave it as it is"
    vm = {"cluster": item.cluster, "vpc": item.vpc, "name": record.source_name}
    return {"vm": vm, "snapshotName": item.name}


def _free(used: set[tuple[str, str]], kind: str, *names: str) -> str:
    """The first of these that no object of this kind has yet, or the last with a number."""
    numbered = (f"{names[-1]}-{number}" for number in count(2))
    return next(name for name in (*names, *islice(numbered, len(used) + 1)) if (kind, name) not in used)


def chosen(found: Iterable[Found], kind: str, name: str, cluster: str, vpc: str) -> list[Found]:
    """Return those of this kind and name, in the cluster and VPC where they are given."""
    return [
        (item, record)
        for item, record in found
        if (item.kind, item.name) == (kind, name)
        and cluster.casefold() in {"", item.cluster.casefold()}
        and vpc in {"", item.vpc}
    ]


NOUNS = {VM: "VM", SNAPSHOT: "snapshot", VPC: "VPC"}
