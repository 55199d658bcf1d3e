"""What people are shown of the cloud, and what they are told is missing."""

import asyncio

import pytest

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import (
    AvailabilityRecord,
    ConfigurationRecord,
    HostRecord,
    Listing,
    SnapshotRecord,
    VmRecord,
    VpcRecord,
)
from gpucloud.engine.cloud import queries


class Client:
    """A cloud of one cluster with these VMs."""

    def __init__(self, vms):
        self.vms = vms

    async def get_all_clusters(self):
        return ("Msc1",)

    async def get_servers(self, *, cluster):  # noqa: ARG002
        return self.vms

    async def get_snapshots(self, *, cluster):  # noqa: ARG002
        return Listing((SnapshotRecord(id="s"),))

    async def get_vpcs(self, *, cluster):  # noqa: ARG002
        return Listing((VpcRecord(id="7", name="acme", cluster="Msc1"),))

    async def get_hosts(self, *, cluster):  # noqa: ARG002
        return Listing((HostRecord(id="bm-1", cluster="Msc1"),))

    async def get_configurations(self):
        return Listing(())


@pytest.mark.parametrize(
    ("listing", "shown", "told"),
    [
        (Listing((VmRecord(id="a", cluster="Msc1"), VmRecord(id="b"))), ["a", "b"], ""),
        (Listing((VmRecord(id="a", cluster="MSC1"),)), ["a"], ""),
        (Listing((VmRecord(id="a", cluster="Hou1"), VmRecord(id="b"))), ["b"], "holds records of another"),
        (Listing((VmRecord(id="a"),), False, "the listing holds 1 of 2 records"), ["a"], "1 of 2"),
        (Listing((VmRecord(id="a"),), complete=False), ["a"], "told apart"),
    ],
)
async def test_what_a_listing_lacks_is_told(listing, shown, told):
    found = await queries.records(Client(listing))
    assert [item.id for item in found.clusters[0].vms] == shown
    assert (len(found.failures), told in "".join(found.failures)) == (1 if told else 0, True)


@pytest.mark.parametrize(
    ("more", "shown", "why"),
    [
        ({"hosts": True}, ["bm-1"], "they were asked for"),
        ({}, None, "a credential that may list no hosts is not asked in vain: not listed is not none"),
    ],
)
async def test_hosts_are_listed_where_they_are_asked_for(more, shown, why):
    (here,) = (await queries.records(Client(Listing(())), **more)).clusters
    assert (None if here.hosts is None else [item.id for item in here.hosts]) == shown, why


@pytest.mark.parametrize(
    ("kind", "hosts", "failures", "why"),
    [
        (ErrorKind.FORBIDDEN, None, (), "a credential that was made for VMs has no other fault"),
        (ErrorKind.SERVER, (), ("the hosts in cluster 'Msc1' cannot be listed: no",), "there may be some"),
    ],
)
async def test_a_credential_that_may_not_list_hosts_is_no_failure(kind, hosts, failures, why):
    client = Client(Listing(()))

    async def refuse(*, cluster):  # noqa: ARG001
        raise CloudError(kind, "no")

    client.get_hosts = refuse
    found = await queries.records(client, hosts=True)
    assert (found.clusters[0].hosts, found.failures) == (hosts, failures), why


async def test_an_empty_list_of_clusters_does_not_pass_for_an_empty_cloud():
    cloud = Client(Listing(()))
    cloud.get_all_clusters = no_clusters
    with pytest.raises(CloudError, match="the list of clusters is empty"):
        await queries.records(cloud)


async def no_clusters():
    return ()


LISTED = VpcRecord(id="7", name="acme", cluster="Msc1")
VPC_LISTINGS = [
    (Listing((LISTED, VpcRecord(name="lab"))), {"acme", "lab"}, "all of them"),
    (Listing(()), set(), "there are none"),
    (Listing((LISTED, VpcRecord(id="8"))), None, "one has no name"),
    (Listing((LISTED, VpcRecord(name="lab", cluster="Hou1"))), None, "one is of another cluster, so the query was not obeyed"),
    (Listing((LISTED,), complete=False), None, "records are missing"),
]


@pytest.mark.parametrize(("listing", "expected", "why"), VPC_LISTINGS, ids=[row[2] for row in VPC_LISTINGS])
async def test_names_of_vpcs_are_known_where_the_listing_is_complete(listing, expected, why):
    class Vpcs(Client):
        async def get_vpcs(self, *, cluster):  # noqa: ARG002
            return listing

    assert await queries.vpc_names(Vpcs(Listing(())), "Msc1") == expected, why


class SlowClient:
    """A cloud of many clusters that answers after a while, the first cluster last; some of its answers are errors."""

    def __init__(self, clusters, refuses=()):
        self.clusters, self.refuses = clusters, refuses
        self.now = self.most = 0

    async def _answered(self, found, cluster=None, what=""):
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.01 if cluster is None else 0.01 * (len(self.clusters) - self.clusters.index(cluster)))
        self.now -= 1
        if (what, cluster) in self.refuses:
            raise CloudError(ErrorKind.SERVER, "no")
        return found

    async def get_all_clusters(self):
        return await self._answered(tuple(self.clusters))

    async def get_configurations(self):
        return await self._answered(Listing((ConfigurationRecord(name="a"),)), None, "configurations")

    async def get_availability(self, *, cluster, report_nodes):
        assert report_nodes
        return await self._answered(Listing((AvailabilityRecord(configuration="a", cluster=cluster),)), cluster, "availability")

    async def get_servers(self, *, cluster):
        return await self._answered(Listing((VmRecord(id=f"vm-{cluster}"),)), cluster, "vms")

    async def get_snapshots(self, *, cluster):
        return await self._answered(Listing(()), cluster, "snapshots")

    async def get_vpcs(self, *, cluster):
        return await self._answered(Listing(()), cluster, "vpcs")

    async def get_hosts(self, *, cluster):
        return await self._answered(Listing(()), cluster, "hosts")


MANY = [f"Msc{number}" for number in range(9)]


@pytest.mark.parametrize("ask", [queries.offers, queries.records], ids=["offers", "records"])
async def test_lists_are_asked_for_side_by_side_and_shown_in_the_order_of_the_clusters(ask):
    """One after the other they took the sum of their times, and somebody waits at a prompt. The budget is not used up."""
    client = SlowClient(MANY)
    found = await ask(client)
    assert 1 < client.most <= queries.AT_ONCE
    names = [item.cluster for item in (found.availability if ask is queries.offers else found.clusters)]
    assert names == MANY


async def test_each_list_is_in_its_place():
    found = await queries.records(SlowClient(MANY), hosts=True)
    assert [item.id for one in found.clusters for item in one.vms] == [f"vm-{name}" for name in MANY]
    assert all((one.snapshots, one.vpcs, one.hosts) == ((), (), ()) for one in found.clusters)
    assert found.configurations == {"a": "a"}


async def test_failures_are_told_in_the_order_of_the_clusters():
    refuses = {("vpcs", "Msc7"), ("snapshots", "Msc1"), ("vms", "Msc1"), ("availability", "Msc3"), ("availability", "Msc2")}
    client = SlowClient(MANY, refuses)
    told = [item.partition(" cannot")[0] for item in (await queries.records(client)).failures]
    assert told == ["the vms in cluster 'Msc1'", "the snapshots in cluster 'Msc1'", "the vpcs in cluster 'Msc7'"]
    told = [item.partition(" cannot")[0] for item in (await queries.offers(client)).failures]
    assert told == ["the availability in cluster 'Msc2'", "the availability in cluster 'Msc3'"]


async def test_nothing_is_still_asked_when_an_error_is_told():
    """The connection is closed then."""
    client = SlowClient(MANY, {("configurations", None)})
    with pytest.raises(CloudError):
        await queries.offers(client)
    assert client.now == 0
