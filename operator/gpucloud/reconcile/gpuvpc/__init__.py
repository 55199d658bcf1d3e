"""Decisions about a GpuVpc: ``decide(facts) -> plan``, a chain of named steps of which the first with a plan wins."""

from gpucloud.reconcile.gpuvpc.decide import decide
from gpucloud.reconcile.gpuvpc.facts import Occupants, VpcFacts
from gpucloud.reconcile.gpuvpc.identity import identity

__all__ = ["Occupants", "VpcFacts", "decide", "identity"]
