"""What people are shown of the cloud, and what they are told is missing."""

import pytest

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import HostRecord, Listing, SnapshotRecord, VmRecord, VpcRecord
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
