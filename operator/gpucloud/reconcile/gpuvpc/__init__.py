"""What to do about one GpuVpc: ``decide(facts) -> plan``, a chain of named steps, the first that answers wins."""

from gpucloud.reconcile.gpuvpc.decide import decide
from gpucloud.reconcile.gpuvpc.facts import Occupants, VpcFacts
from gpucloud.reconcile.gpuvpc.identity import identity

__all__ = ["Occupants", "VpcFacts", "decide", "identity"]
