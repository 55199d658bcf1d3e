"""Decisions about a GpuSnapshot: ``decide(facts) -> plan``, a chain of named steps of which the first with a plan wins."""

from gpucloud.reconcile.gpusnapshot.decide import decide
from gpucloud.reconcile.gpusnapshot.facts import SnapshotFacts, Source
from gpucloud.reconcile.gpusnapshot.identity import identity

__all__ = ["SnapshotFacts", "Source", "decide", "identity"]
