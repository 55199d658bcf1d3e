"""What the options of ``create`` say about the new GpuVM, as they were typed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVm:
    """Its fields by the keys of the options; what was not given is empty."""

    name: str | None
    configuration: str
    in_cluster: str
    pool: str
    vpc: str
    vpc_ref: str
    ssh_key: tuple[str, ...]
    image: str
    snapshot: str
    disk: int | None
