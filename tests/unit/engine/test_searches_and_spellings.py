"""Histories of a GpuVM that is searched for everywhere, while its spec spells the cluster otherwise than the cloud."""

from __future__ import annotations

import asyncio

import pytest

from support.fakes import a_resource
from support.orderrig import ManyClusters, history_over

pytestmark = pytest.mark.looptime
NOT_ORDERED = {"order": {"state": "NotOrdered"}}


class AnyCase(ManyClusters):
    """It takes a cluster's name in any case of letters, and names it in its own."""

    def __init__(self):
        super().__init__("Hou1")
        self.clusters |= {"msc1"}

    def listed(self, cluster):
        return super().listed(cluster and cluster.capitalize())


it = history_over(AnyCase)


def listed_since(it, calls):
    return {call["Cluster"] for _, operation, call in it.cloud.calls[calls:] if operation == "GetServers"}


def listed_clusters(it):
    return it.engine.parts.shared.accounts.own.session.vms.clusters


async def search(it, cluster="msc1"):
    """A process that has ordered nothing of it yet looks in every cluster before it orders, and one cannot be listed."""
    await it.engine.stop(0.0)
    it.engine, it.bodies = None, {"u-train": a_resource("GpuVM", uid="u-train", status=NOT_ORDERED, spec={"cluster": cluster})}
    it.cloud.hidden = {"Hou1"}
    await it.start()
    await it.until(lambda: "Hou1" in listed_clusters(it))


async def test_its_own_cluster_is_listed_once_while_it_is_searched_for(it):
    """Seeds 92316958 and 92330149: it was listed as msc1 for the object, and as Msc1 for the search."""
    await search(it)
    await asyncio.sleep(5)
    calls = len(it.cloud.calls)
    await asyncio.sleep(60)
    assert (listed_clusters(it), listed_since(it, calls)) == ({"msc1", "Hou1"}, {"msc1"}), "Hou1 fails before it is noted"
    it.cloud.hidden = set()
    await it.until(lambda: it.status.get("order", {}).get("state") == "Seen", 300)
    assert (len(it.cloud.vms), listed_clusters(it)) == (1, {"msc1"})


async def test_who_types_a_spelling_that_the_cloud_refuses_is_told_the_right_one(it):
    """Beside an object that says it right, and is searched for: a listing that all spellings shared had it ordered."""
    it.cloud.clusters.discard("msc1")
    await search(it, "Msc1")
    it._show("ADDED", a_resource("GpuVM", "newcomer", uid="u-new", spec={"cluster": "msc1"}))
    await asyncio.sleep(60)
    (said,) = (one for one in it.kube.bodies["u-new"]["status"]["conditions"] if one["type"] == "Ready")
    assert "Did you mean 'Msc1'?" in said["message"]
    assert (it.cloud.asked("CreateServer"), listed_clusters(it)) == ([], {"Msc1", "msc1", "Hou1"})
