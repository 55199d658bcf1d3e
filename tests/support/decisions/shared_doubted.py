"""What is decided alike for a GpuVM, a GpuVpc and a GpuSnapshot in deletion, while the cloud's listing lacks too much."""

from __future__ import annotations

from gpucloud.kinds.common import Order, OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import CallHistory, Unknown, UnknownReason
from support.builders import NOW
from support.rows import Row

NOT_ORDERED = Order(state=OrderState.NOT_ORDERED)
DOUBTED = Unknown(NOW - 10, UnknownReason.IMPLAUSIBLE)


def doubted(k):
    """Nothing was seen of them before."""
    return {
        "a doubted listing, and never ordered: free": Row(
            "there is no absence that a person could accept, and the doubt may last as long as others' objects",
            k.deleting | {"found": DOUBTED, "history": CallHistory(first_seen=NOW - 9, seen_new=True)},
            released=Reason.GONE,
            says=f"No {k.noun}",
        ),
        "a doubted listing, and another process may have ordered: held": Row(
            "it may be there all the same",
            k.deleting | {"found": DOUBTED},
            Reason.DELETION_BLOCKED,
            progress="Stalled",
            says="accept-absence",
        ),
        "a doubted listing, and another process recorded that nothing was ordered: held": Row(
            "etcd may have been restored to before the order, and nothing is searched while listings are doubted",
            k.deleting | {"found": DOUBTED, "status": k.settled.model_copy(update={"order": NOT_ORDERED, "account": None})},
            Reason.DELETION_BLOCKED,
            progress="Stalled",
            says="This object is deleted when a listing shows no",
        ),
        "a doubted listing, never ordered, and a cluster that was not searched: held": Row(
            "the record may be older than the order",
            k.deleting
            | {
                "found": DOUBTED,
                "history": CallHistory(first_seen=NOW - 9, seen_new=True),
                "unsearched": Unknown(NOW, UnknownReason.UNREACHABLE, "Hou1"),
            },
            Reason.DELETION_BLOCKED,
            says="Cluster 'Hou1' cannot be searched for",
        ),
    }
