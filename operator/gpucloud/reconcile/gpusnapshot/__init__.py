"""What to do about one GpuSnapshot: ``decide(facts) -> plan``, a chain of named steps, the first that answers wins."""

from gpucloud.reconcile.gpusnapshot.decide import decide
from gpucloud.reconcile.gpusnapshot.facts import SnapshotFacts, Source
from gpucloud.reconcile.gpusnapshot.identity import identity

__all__ = ["SnapshotFacts", "Source", "decide", "identity"]
