"""Rows of a GpuVM that is replaced while its VM is in another cluster that the spec accepts."""

from __future__ import annotations

from decimal import Decimal

from gpucloud.kinds.common import DestroyingCall, DestroyingPurpose, OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Absent, AccountFacts, Present, Unknown, UnknownReason, Verb
from gpucloud.reconcile.gpuvm import template
from gpucloud.reconcile.gpuvm.misnamed import KnownNames
from gpucloud.reconcile.naming import Identity
from gpucloud.reconcile.ownership import record_id
from gpucloud.reconcile.quota import Quota, Usage
from gpucloud.reconcile.waiting_line import Line, Offer
from support.builders import NOW, UID, a_spec, a_status, an_order, known, present
from support.decisions.gpuvm_placement import in_hand
from support.decisions.gpuvm_replacement import CONFIGURATION, DISK, LARGE, OLD, SMALL, WALL
from support.decisions.gpuvm_replacement_equal import accepting, made_of
from support.gpuvmfacts import NAME
from support.rows import LONG_KNOWN, Row

HOME, AWAY, HUGE = "Msc1", "Hou1", "A100_40GB_PCIe_4x"
RECREATION = DestroyingCall(number=1, announced_at=WALL, purpose=DestroyingPurpose.RECREATION)
CALLED = {"destroying_call": RECREATION}
THERE = {"cluster": AWAY}
OFFERED = KnownNames(configurations=(SMALL, HUGE))
ABSENT = Absent(NOW - 0.5, NOW - 8, NOW - 3)


def there(spec, plan, **more):
    """The VM of SMALL runs in the other cluster, where it was made from the old spec."""
    return made_of(spec, plan, SMALL, cluster=AWAY, found=Present(present(cluster=AWAY).record, NOW)) | more


def turn(*free, listed=()):
    """What the lines of both clusters say: which offers are full, and which has the turn."""
    offers = [Offer(configuration, None, cluster) for configuration, cluster in (*free, *listed)]
    return Line(listed=frozenset(offers), turn=offers[0] if free else None)


def of_disk(*alternatives, **placement):
    """A spec that asks for another disk."""
    return a_spec(replacePolicy="Recreate", rootDiskGiB=300, placement={"alternatives": list(alternatives), **placement})


def corrected(configuration, pool):
    """The record of the VM in the other cluster, as it is told what that is made of."""
    pooled = a_spec(replacePolicy="Recreate", configuration=configuration, resourcePool="here")
    made_from = {"template": template.of(pooled), "configuration": configuration, "resource_pool": pool}
    return an_order(NAME, cluster=AWAY, **made_from)


def gone(state=OrderState.GONE, spec=None, cluster=AWAY, **fields):
    """The old VM is proven gone in the other cluster, or the order of the new one has come to this there."""
    order = an_order(NAME, state, cluster=cluster, configuration=SMALL, template=OLD, cloud_id=None, **fields)
    plan, waits = None if fields else DISK, in_hand(SMALL, None, since=WALL, cluster=AWAY)
    return {
        "spec": spec or of_disk(THERE),
        "status": a_status("Replacing", order=order, replacement=plan, recreations=(WALL,), placement=waits),
        "known": known(order, ago=5, recorded=9, absence_counts_from=NOW - 9),
        "found": ABSENT,
        "history": LONG_KNOWN,
    }


ROWS = {
    "a VM in another cluster is not destroyed without room for the other one there": Row(
        "what is free at home is of no use: the new VM stays in that cluster",
        there(accepting(THERE), CONFIGURATION, line=turn(listed=((LARGE, AWAY),))),
        Reason.WAITING_FOR_CAPACITY,
        says=f"capacity for '{LARGE}' of cluster '{AWAY}'. To keep it",
    ),
    "a VM in another cluster is destroyed when there is room for the other one there": Row(
        "it has the turn in the line of that cluster",
        there(accepting(THERE), CONFIGURATION, line=turn((LARGE, AWAY))),
        Reason.REPLACING,
        action=Verb.DESTROY,
        status={
            "order": an_order(NAME, OrderState.DESTROYING, cluster=AWAY, template=OLD, configuration=SMALL, **CALLED),
            "replacement": CONFIGURATION,
        },
    ),
    "a VM in another cluster is replaced by what the spec accepts there": Row(
        "nothing of the spec's own configuration is ordered there, so that it need not be offered",
        there(
            accepting(THERE | {"configuration": HUGE}, THERE | {"configuration": SMALL}),
            CONFIGURATION,
            known_names=OFFERED,
            line=turn((HUGE, AWAY)),
        ),
        Reason.REPLACING,
        action=Verb.DESTROY,
    ),
    "a VM in another cluster is not destroyed for a configuration that nobody offers there": Row(
        "the order would be refused, and nothing else is accepted there",
        there(of_disk(THERE | {"configuration": LARGE}), DISK, known_names=OFFERED, line=turn((LARGE, AWAY))),
        Reason.REPLACING,
        progress="Stalled",
        says=(f"cluster '{AWAY}' offers no configuration '{LARGE}'", "Correct spec.placement.alternatives"),
    ),
    "a VM in another cluster stays while the spec accepts nothing else there": Row(
        "what is accepted at home is not ordered: the new VM stays in that cluster",
        there(accepting(THERE | {"configuration": SMALL}), CONFIGURATION),
        Reason.REPLACING,
        progress="Stalled",
        says=(f"name first in cluster '{AWAY}'", "list another alternative there first"),
    ),
    "a VM in another cluster is not destroyed for its own equal, which comes first there": Row(
        "it holds the room of that one, and the new order would be for that one again",
        there(
            accepting(THERE | {"configuration": SMALL}, THERE | {"configuration": LARGE}),
            CONFIGURATION,
            line=turn((LARGE, AWAY)),
        ),
        Reason.REPLACING,
        progress="Stalled",
        says=(f"name first in cluster '{AWAY}'", "list another alternative there first"),
    ),
    "a VM is not destroyed for an alternative that the spec names after what it is": Row(
        "what it is comes before that",
        made_of(
            accepting({"configuration": SMALL}, {"configuration": HUGE}),
            CONFIGURATION,
            SMALL,
            line=Line(listed=frozenset({Offer(LARGE), Offer(HUGE)}), turn=Offer(HUGE)),
        ),
        Reason.WAITING_FOR_CAPACITY,
        says=f"when the cloud has capacity for '{LARGE}'. To keep it",
    ),
    "a VM is not destroyed for another one while a cluster of the spec cannot be listed": Row(
        "the new order would wait for that listing, without a VM",
        there(of_disk(THERE), DISK, strays=Unknown(NOW - 9, UnknownReason.UNREACHABLE, HOME)),
        Reason.API_UNAVAILABLE,
        says=f"cannot list cluster '{HOME}'",
        wakes=60,
        status={"replacement": DISK, "order": OrderState.SEEN},
    ),
    "the spec's own cluster is no alternative: a credential that may not list it": Row(
        "the field that the message names is the one that says it",
        there(of_disk(THERE), DISK, strays=Unknown(NOW - 9, UnknownReason.FORBIDDEN, HOME)),
        Reason.PERMISSION_DENIED,
        progress="Stalled",
        says="Let the credential list VMs there.",
        status={"replacement": DISK, "order": OrderState.SEEN},
    ),
    "the spec's own cluster is no alternative: the cloud does not know it": Row(
        "the same",
        there(
            of_disk(THERE),
            DISK,
            strays=Unknown(NOW - 9, UnknownReason.REJECTED, HOME),
            account=AccountFacts("default", clusters=(AWAY,)),
        ),
        Reason.INVALID_SPEC,
        progress="Stalled",
        says=(f"Unknown cluster '{HOME}' in spec.cluster.", "deleting this one destroys its VM"),
        status={"replacement": DISK, "order": OrderState.SEEN},
    ),
    "of what is ordered in place of the VM the catalogue has no price": Row(
        "that one is named, not what the VM is",
        there(
            accepting(THERE),
            CONFIGURATION,
            line=turn((LARGE, AWAY)),
            usage=(Usage(Quota("namespace", price=Decimal(8)), "The namespace 'team'"),),
        ),
        Reason.LIMIT_REACHED,
        progress="Stalled",
        says=(f"no price for '{LARGE}', which --max-price-per-hour-per-namespace needs.", "Put the old value back, or ask"),
        status={"replacement": CONFIGURATION, "order": OrderState.SEEN},
    ),
    "a VM is not destroyed for another one before each cluster of the spec is listed": Row(
        "it comes in a moment",
        there(of_disk(THERE), DISK, strays=Unknown(NOW - 1, UnknownReason.NOT_LISTED, HOME)),
        Reason.REPLACING,
        wakes=60,
        status={"replacement": DISK, "order": OrderState.SEEN},
    ),
    "a VM is not destroyed for another one while a second one of its name shows elsewhere": Row(
        "nothing would be ordered then, and nobody knows which of them to keep",
        there(of_disk(THERE), DISK, strays=(Identity(HOME, "acme", NAME),)),
        Reason.POSSIBLE_DUPLICATE,
        progress="Stalled",
        says=(f"VM '{NAME}' shows in VPC 'acme' of cluster '{HOME}'", f"cluster '{AWAY}'", "destroy the other one"),
    ),
    "an announced destruction does not wait for the listings of other clusters": Row(
        "the call may have been sent",
        there(of_disk(THERE), DISK, strays=Unknown(NOW - 9, UnknownReason.UNREACHABLE, HOME))
        | {
            "status": a_status(
                "Replacing",
                order=an_order(NAME, OrderState.DESTROYING, cluster=AWAY, template=OLD, configuration=SMALL),
                replacement=DISK,
                recreations=(WALL,),
            )
        },
        Reason.REPLACING,
        action=Verb.DESTROY,
    ),
    "a VM that was destroyed in another cluster is ordered there": Row(
        "only there a listing shows that it is gone",
        gone(),
        Reason.WAITING_FOR_CAPACITY,
        records=True,
        says="is being sent",
        status={
            "order": an_order(
                NAME,
                OrderState.INTENDED,
                cluster=AWAY,
                configuration=SMALL,
                cloud_id=None,
                recreation=1,
                template=template.of(of_disk(THERE)),
                recorded_at=WALL,
                id=record_id("", UID, NAME),
            ),
            "replacement": None,
        },
    ),
    "a VM that was destroyed in another cluster is not ordered at home though there is room": Row(
        "the same",
        gone() | {"line": turn((SMALL, HOME), listed=((SMALL, AWAY),))},
        Reason.WAITING_FOR_CAPACITY,
        records=False,
        status={"order": OrderState.GONE},
    ),
    "the new order that is refused in another cluster waits there": Row(
        "home is not in hand while the spec names that cluster",
        gone(OrderState.REFUSED, recreation=1) | {"line": turn((SMALL, HOME), listed=((SMALL, AWAY),))},
        Reason.WAITING_FOR_CAPACITY,
        records=False,
        says=f"Waiting for capacity for '{SMALL}' of cluster '{AWAY}'",
        status={"order": OrderState.REFUSED},
    ),
    "the new order that is refused goes home when the spec names that cluster no more": Row(
        "it has made nothing, and a person says where else to look",
        gone(OrderState.REFUSED, of_disk(THERE | {"cluster": HOME}), recreation=1),
        Reason.WAITING_FOR_CAPACITY,
        records=True,
        status={"placement": in_hand(SMALL, None, since=WALL)},
    ),
    "of what is wanted by price the cheapest is asked for": Row(
        "it is ordered first, whatever the VM is",
        there(
            of_disk(THERE | {"configuration": SMALL}, THERE | {"configuration": LARGE}, order="Price"),
            DISK,
            prices={SMALL: "2.00", LARGE: "1.00"},
            line=turn(listed=((LARGE, AWAY), (SMALL, AWAY))),
        ),
        Reason.WAITING_FOR_CAPACITY,
        says=f"capacity for '{LARGE}' of cluster '{AWAY}' or '{SMALL}' of cluster '{AWAY}'",
    ),
    "a record that the cloud contradicts is told the pool of the cluster that the VM is in": Row(
        "the pool of home says nothing of it",
        there(
            a_spec(
                replacePolicy="Recreate",
                configuration=LARGE,
                resourcePool="here",
                placement={"alternatives": [THERE | {"resourcePool": "there"}]},
            ),
            None,
            configuration_in_use=LARGE,
        ),
        Reason.RUNNING,
        "True",
        None,
        status={"order": corrected(LARGE, "there")},
    ),
}
