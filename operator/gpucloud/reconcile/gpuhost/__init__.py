"""Decisions about a GpuHost: ``decide(facts) -> plan``, a chain of named steps of which the first with a plan wins."""

from gpucloud.reconcile.gpuhost.decide import decide
from gpucloud.reconcile.gpuhost.facts import CloudInit, HostFacts, identity

__all__ = ["CloudInit", "HostFacts", "decide", "identity"]
