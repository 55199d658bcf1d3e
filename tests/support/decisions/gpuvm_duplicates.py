"""Rows of a GpuVM beside VMs that no object uses: of an earlier object of its name, or perhaps its own in another place."""

from __future__ import annotations

from datetime import timedelta

from gpucloud.kinds.meta import Reason, rfc3339
from gpucloud.reconcile.core.create import SLOW_SECONDS
from gpucloud.reconcile.facts import Absent, Unknown, UnknownReason
from gpucloud.reconcile.naming import Identity
from gpucloud.reconcile.time_annotations import Said
from support.builders import NOW, START, a_reading, a_spec
from support.gpuvmfacts import NAME
from support.rows import OLD, YOUNG, Row, noted

FREE = Absent(NOW, NOW - 40, NOW - 2)
THERE = Identity("Hou1", "acme-old", NAME)
PRESENT, SOON = (rfc3339(START + timedelta(seconds=NOW + ahead)) for ahead in (0, 40))
NOT_YET = Unknown(NOW, UnknownReason.NOT_LISTED, "Hou1")

ROWS = {
    "a lookalike is held for a person": Row(
        "a manifest re-applied with a new UID must not buy a second VM",
        {"lookalikes": ("train-tagaa-aaaaaaaaaa",)},
        Reason.POSSIBLE_DUPLICATE,
        progress="Stalled",
        wakes=60,
        says=(
            "or delete this object, and apply in its place what this prints: kubectl gpucloud adopt train-tagaa-aaaaaaaaaa",
            "kubectl annotate gpuvm train",
        ),
    ),
    "a lookalike is overridden by one value only": Row(
        "who wrote yes believes to have said it",
        {"lookalikes": ("train-tagaa-aaaaaaaaaa",), "meta": noted(BUY_ANYWAY="yes")},
        Reason.POSSIBLE_DUPLICATE,
        progress="Stalled",
        wakes=60,
        says="To buy another ('yes' is set, not 'true'): kubectl annotate",
    ),
    "a lookalike may be overridden": Row(
        "a person said to buy",
        {"lookalikes": ("train-tagaa-aaaaaaaaaa",), "meta": noted(BUY_ANYWAY="true")},
        Reason.CREATING,
        records=True,
    ),
    "a VM of its name in another cluster is held for a person where the status was lost": Row(
        "the lost record may have named that cluster, and a second one would be bought",
        {"strays": (THERE,)},
        Reason.POSSIBLE_DUPLICATE,
        progress="Stalled",
        wakes=60,
        says=(
            "in VPC 'acme-old' of cluster 'Hou1' may be this object's",
            "Destroy that VM, or adopt it with another object.",
        ),
    ),
    "where it is stays untold if it may be another namespace's": Row(
        "a chosen name says nothing of whose it is, and the operator's own account shows all",
        {"strays": (THERE,), "spec": a_spec(vmName="prod"), "found": FREE, "history": OLD, "may_adopt": False},
        Reason.POSSIBLE_DUPLICATE,
        progress="Stalled",
        wakes=60,
        says="in another place may be this object's",
    ),
    "a VM of its name in another cluster may be overridden": Row(
        "a person said to buy",
        {"strays": (THERE,), "meta": noted(BUY_ANYWAY=rfc3339(START + timedelta(seconds=NOW)))},
        Reason.CREATING,
        records=True,
    ),
    "what was said before an operator began is not said of what it finds": Row(
        "seed 92310697: it stood there since the first purchase, and a lost status bought a second VM",
        {"strays": (THERE,), "meta": noted(BUY_ANYWAY=rfc3339(START)), "history": OLD},
        Reason.POSSIBLE_DUPLICATE,
        progress="Stalled",
        wakes=60,
        says="To buy another ('2026-01-01T00:00:00Z' is before this doubt began): kubectl annotate",
    ),
    "what lay ahead when it was set is not said of what it finds when it has come": Row(
        "local time, written as UTC, was refused, and would buy a second VM hours later",
        {"strays": (THERE,), "meta": noted(BUY_ANYWAY=PRESENT), "said_to_buy": Said(PRESENT, a_reading(NOW - 90))},
        Reason.POSSIBLE_DUPLICATE,
        progress="Stalled",
        wakes=60,
        says="To buy another ('2026-01-01T00:16:40Z' was in the future when set): kubectl annotate",
    ),
    "a clock that is a little ahead may set it": Row(
        "people type it on their own machines",
        {"strays": (THERE,), "meta": noted(BUY_ANYWAY=SOON), "said_to_buy": Said(SOON, a_reading(NOW))},
        Reason.CREATING,
        records=True,
    ),
    "what stood there when an operator began excuses no clock": Row(
        "it was set before, and would cover what came since",
        {"strays": (THERE,), "meta": noted(BUY_ANYWAY=SOON), "said_to_buy": Said(SOON, a_reading(NOW), stood=True)},
        Reason.POSSIBLE_DUPLICATE,
        progress="Stalled",
        wakes=60,
        says="was in the future when set",
    ),
    "a value that is true for ever stands for no VM of this object": Row(
        "as above",
        {"strays": (THERE,), "meta": noted(BUY_ANYWAY="true")},
        Reason.POSSIBLE_DUPLICATE,
        progress="Stalled",
        wakes=60,
        says="To buy another ('true' is set, not the present time): kubectl annotate",
    ),
    "a time overrides a lookalike as well": Row(
        "else one command took back what the other one said",
        {"lookalikes": ("train-tagaa-aaaaaaaaaa",), "meta": noted(BUY_ANYWAY=rfc3339(START + timedelta(seconds=NOW)))},
        Reason.CREATING,
        records=True,
    ),
    "nothing is bought while a cluster cannot be listed where the status was lost": Row(
        "its VM may be there",
        {"strays": Unknown(NOW - 1, UnknownReason.UNREACHABLE, "Hou1")},
        Reason.API_UNAVAILABLE,
        ready="Unknown",
        pending=False,
        says=("cluster 'Hou1' cannot be read now", "buy-anyway"),
    ),
    "nothing is said while the listings of the other clusters are on their way": Row(
        "they take about a second",
        {"strays": NOT_YET, "history": YOUNG},
        wakes=SLOW_SECONDS,
    ),
    "a listing of another cluster that does not come is named": Row(
        "nobody knows what holds the purchase up otherwise",
        {"strays": NOT_YET, "history": OLD},
        Reason.API_UNAVAILABLE,
        ready="Unknown",
        pending=False,
        says="cluster 'Hou1' is not read yet",
    ),
}
