"""Nothing of the UID of a GpuVM that is gone remains in what its reconciler keeps, whatever the GpuVM was at."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.reconcile.deletion_guard import Rule
from gpucloud.reconcile.facts import Absent
from gpucloud.reconcile.naming import Identity, external_name
from gpucloud.reconcile.plan import Plan
from gpucloud.reconcile.quota import Quota
from gpucloud.reconcile.waiting_line import Offer, Waiter
from support.builders import TAG
from support.guardrig import bought
from support.ordered import NOW

UID = "u-train"
ONE = "A100_40GB_PCIe_1x"
GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
WAITER = Waiter(UID, datetime(2026, 1, 1, tzinfo=UTC), (Offer(ONE, "default"),))


def remains(root, start):
    """Yield the ways by which the UID stands in the object graph below this; of the fakes, only what is given is walked."""
    seen, todo = set(), [(root, start)]
    while todo:
        one, way = todo.pop()
        if isinstance(one, str):
            if UID in one:
                yield way
            continue
        if id(one) in seen or isinstance(one, type):
            continue
        seen.add(id(one))
        if isinstance(one, Mapping):
            todo += [(part, way) for pair in one.items() for part in pair]
        elif isinstance(one, (list, tuple, set, frozenset)):
            todo += [(part, way) for part in one]
        elif type(one).__module__.startswith("gpucloud."):
            slots = [name for kind in type(one).__mro__ for name in getattr(kind, "__slots__", ())]
            names = dict.fromkeys([*getattr(one, "__dict__", ()), *slots])
            todo += [(getattr(one, name), f"{way}.{name}") for name in names if hasattr(one, name)]


def all_remains(them):
    """Return these ways from the reconciler, the waiting lines of the session, and its searches."""
    session = them.session
    roots = ((them.vms, "vms"), (session.capacity.joined, "lines"), (session.cluster_searches["vms"].searching, "searches"))
    return sorted({way for root, start in roots for way in remains(root, start)})


async def watches(them):
    them.put("GpuVM")
    await them.facts("GpuVM")


async def searches(them):
    """As a GpuVM does that was refused where its spec is, and accepts another cluster."""
    here = external_name("train", UID, TAG)
    refused = {"state": "Refused", "id": "a-b", "name": here, "cluster": "Msc1", "vpc": "acme", "configuration": ONE}
    spec = {"placement": {"alternatives": [{"cluster": "Hou1"}]}}
    them.session.vms.seen[Identity("Msc1", "acme", here)] = Absent(NOW, NOW - 80, NOW)
    them.put("GpuVM", spec=spec, status={"observedGeneration": 1, "account": OWN_ACCOUNT, "order": refused})
    await them.facts("GpuVM")


async def counts(them):
    them.put("GpuVM", status=bought("train"))


async def is_held(them):
    for name in ("train", "other"):
        them.put("GpuVM", name, meta=GOING, status=bought(name))


async def publishes(them):
    them.vms._publisher._publishers.add(UID)  # as ``act`` does


async def waits(them):
    stored = them.put("GpuVM")
    them.vms.follow_up(UID, Plan(status=stored.status, waits=WAITER))


@pytest.mark.parametrize(
    ("at", "where"),
    [
        (watches, "._ownership._claims"),
        (watches, "._watches"),
        (watches, "._deps.references"),
        (watches, "._objects"),
        (searches, "searches"),
        (counts, "._quota_usage"),
        (is_held, "._guard._deletions"),
        (publishes, "._publisher"),
        (waits, "lines"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
async def test_nothing_remains_of_an_object_that_is_gone(make_reconcilers, at, where):
    them = make_reconcilers(rule=Rule(vms=1), quotas=(Quota("account", 9), Quota("namespace", 9)))
    await at(them)
    kept = all_remains(them)
    assert any(where in way for way in kept), kept
    them.drop("GpuVM")
    assert all_remains(them) == []
