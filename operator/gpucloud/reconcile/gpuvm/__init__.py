"""Decisions about a GpuVM: ``decide(facts) -> plan``, a chain of named steps of which the first with a plan wins."""

from gpucloud.reconcile.gpuvm.decide import decide
from gpucloud.reconcile.gpuvm.delete import with_snapshots
from gpucloud.reconcile.gpuvm.facts import VmFacts
from gpucloud.reconcile.gpuvm.identity import VmLocation

__all__ = ["VmFacts", "VmLocation", "decide", "with_snapshots"]
