"""Statuses of objects whose thing in the cloud was ordered, and the names that such things bear."""

from gpucloud.reconcile.naming import Identity, external_name
from support.builders import TAG, an_order

NOW = 1000.0
NOT_ORDERED = {"order": {"state": "NotOrdered"}}  # the status of an object that was seen before any order
ELDER, YOUNGER = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
SHARED = Identity("Msc1", "acme", "shared")


def bought(name, *, vpc="acme", tenancy=None, **more):
    """The status of something that was ordered under this name."""
    order = an_order(name, vpc=vpc).model_dump(mode="json", by_alias=True)
    return {"order": order, "observedGeneration": 1} | ({"tenancy": tenancy} if tenancy else {}) | more


def ours(name="train"):
    return Identity("Msc1", "acme", external_name(name, f"u-{name}", TAG))
