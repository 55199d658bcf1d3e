"""The facts of a GpuVM from which its next offer follows. ``VmFacts`` extends them, and itself asks ``offers`` for it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpucloud.cloud.models import VmRecord
from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
from gpucloud.reconcile.core.facts import CloudFacts
from gpucloud.reconcile.waiting_line import Line

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class VmOfferFacts(CloudFacts[GpuVMSpec, GpuVMStatus, VmRecord]):
    """The object, its order and its VM, and what the waiting line and the catalogue say of its offers."""

    line: Line = field(default_factory=Line)
    default_pool: str | None = None  # of its account
    configuration_in_use: str | None = None  # by the catalogue, of the VM that is listed; None: not known
    prices: Mapping[str, str] = field(default_factory=dict)  # $ per hour by configuration, where their order depends on it
    too_dear: frozenset[str] = frozenset()  # configurations of alternatives that cost more than the limits on prices leave

    @property
    @abstractmethod
    def awaits_replacement(self) -> bool:
        """Whether another VM is asked for, and the destruction of this one is not announced."""
