"""Names in the spec that the cloud does not know, for the message after it has refused the order. No decision reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpucloud.reconcile.text import NAMED, cloud_names
from gpucloud.spelling import question, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpucloud.kinds.gpuvm import GpuVMSpec


@dataclass(frozen=True, slots=True)
class KnownNames:
    """Names that the cloud has shown to the account in one cluster, sorted. Empty: it has shown none."""

    configurations: tuple[str, ...] = ()  # of the catalogue, so others are not offered
    pools: tuple[str, ...] = ()  # of offers and VMs; there may be more
    images: tuple[str, ...] = ()  # of VMs, as listed; there may be more
    elsewhere: tuple[str, ...] = ()  # other clusters that offer the configuration of the spec
    vpcs: tuple[str, ...] = ()  # of VPCs and VMs; there may be more, and some may be gone
    snapshots: tuple[str, ...] = ()  # of GpuSnapshots of the VM's namespace, VPC and cluster; there may be more
    files: tuple[str, ...] = ()  # image files that GpuVMs of the VM's namespace were made from; there may be more
    is_object: bool = False  # whether spec.image.snapshot is the name of a GpuSnapshot of the VM's namespace


def corrections(spec: GpuVMSpec, known: KnownNames, words: str) -> str:
    """Return a sentence on each name that the cloud does not know; empty if there is none.

    Args:
        spec: the spec of the refused order.
        known: what the cloud has shown.
        words: the cloud's words. Pools, images, VPCs and snapshots are not all known, so only one that these words quote is
            taken as wrong.
    """
    return "".join(f" {sentence}" for sentence in _corrections(spec, known, words) if sentence)


def _corrections(spec: GpuVMSpec, known: KnownNames, words: str) -> Iterator[str]:
    if known.elsewhere:
        yield f"Clusters that offer {spec.configuration!r}: {cloud_names(known.elsewhere)}."
    elif known.configurations and spec.configuration not in known.configurations:
        yield _correction("configuration", spec.configuration, known.configurations, "offered")
    if spec.vpc is not None and spec.vpc in words and known.vpcs and spec.vpc not in known.vpcs:
        yield _correction("VPC", spec.vpc, known.vpcs, "seen")
    pool, image = spec.resource_pool, spec.image
    if pool is not None and pool in words and known.pools and pool not in known.pools:
        yield _correction("resource pool", pool, known.pools, "seen")
    system = image.operating_system if image else None
    if system is not None and system in words:
        yield _system_correction(system, tuple(_spelt(name) for name in known.images))
    file = image.custom_file if image else None
    if file is not None and file in words and file not in (*known.images, *known.files):
        yield _file_correction(file, known)
    snapshot = image.snapshot if image else None
    if snapshot is not None and snapshot in words and snapshot not in known.snapshots:
        if known.is_object:
            yield f"Name GpuSnapshot {snapshot!r} in spec.image.snapshotRef.name."
            return
        yield "The snapshot must be in the VM's VPC and cluster."
        yield suggestion(snapshot, known.snapshots, "snapshot").lstrip()


def _system_correction(system: str, known: tuple[str, ...]) -> str:
    """Return the sentence on an operating system that the cloud complains of; empty if nothing better is known."""
    spelt = _spelt(system)
    if known and spelt not in known:
        return _correction("image", spelt, known, "in use")
    return "" if spelt == system else question((spelt,), "image").lstrip()


def _file_correction(file: str, known: KnownNames) -> str:
    """Return the sentence on an image file. Listings show operating systems among the files: of theirs only a near one is."""
    near = suggestion(file, dict.fromkeys((*known.files, *known.images)), "image").lstrip()
    if near or not known.files:
        return near or "Image files cannot be listed: check the name."
    return _correction("image file", file, known.files, "in use")


def _correction(what: str, name: str, known: tuple[str, ...], how: str) -> str:
    near = suggestion(name, known, what).lstrip()
    if near:
        return near
    rest = f" and {len(known) - NAMED} more" if len(known) > NAMED else ""
    return f"{what[0].upper()}{what[1:]}s {how}: {cloud_names(known[:NAMED])}{rest}."


def _spelt(system: str) -> str:
    """Return an operating system's name as orders spell it: listings may show its blanks as "_" (field notes)."""
    return system.replace("_", " ")
