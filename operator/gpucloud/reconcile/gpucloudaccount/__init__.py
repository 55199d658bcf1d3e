"""Decisions about a GpuCloudAccount: ``decide(facts) -> plan``, a chain of named steps of which the first with a plan wins."""

from gpucloud.reconcile.gpucloudaccount.decide import decide
from gpucloud.reconcile.gpucloudaccount.facts import AccountStateFacts, Contact, SecretFacts

__all__ = ["AccountStateFacts", "Contact", "SecretFacts", "decide"]
