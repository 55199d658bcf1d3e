"""What to do about one GpuCloudAccount: ``decide(facts) -> plan``, a chain of named steps, the first that answers wins."""

from gpucloud.reconcile.gpucloudaccount.decide import decide
from gpucloud.reconcile.gpucloudaccount.facts import AccountStateFacts, Contact, SecretFacts

__all__ = ["AccountStateFacts", "Contact", "SecretFacts", "decide"]
