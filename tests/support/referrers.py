"""Objects that refer to each other, and their statuses as they stand in the apiserver."""

from gpucloud.kinds.common import Order
from gpucloud.reconcile.facts import Readiness
from gpucloud.reconcile.naming import external_name
from support.builders import TAG, a_status, an_order

BY_REF = {"vpc": None, "vpcRef": {"name": "net"}}
FROM_SNAPSHOT = {"image": {"snapshotRef": {"name": "golden"}}}


def status(reason=None, ready="False", progress="Reconciling", *, generation=1, order=None, **fields):
    """A status as it stands in the apiserver; ``order`` is a name, a name with its VPC, or a whole record of an order."""
    document = a_status(reason, ready, progress, generation=generation).model_dump(
        mode="json", by_alias=True, exclude_none=True
    )
    if order is not None:
        if not isinstance(order, Order):
            name, vpc = order if isinstance(order, tuple) else (order, "acme")
            order = an_order(name, vpc=vpc)
        document["order"] = order.model_dump(mode="json", by_alias=True)
    return document | fields


READY = status("Available", "True", None)
COMPLETED = status("Completed", "True", None)


async def need(reconcilers, kind="GpuVM"):
    """The needs that are not met, as words of readiness."""
    found = (await reconcilers.facts(kind)).needs
    return [(item.name, item.readiness) for item in found if item.readiness is not Readiness.READY]


TAKEN = external_name("copy", "u-copy", TAG)
