"""The life of VPCs."""

import pytest

from simulator.test_sim_client import Cloud, at


async def test_sim_the_life_of_a_vpc():
    cloud = Cloud()
    created = (await cloud.call("CreateVpc", name="acme-train", cluster="Msc1", blockIntraVpcComms=True)).data
    assert created["id"] != created["name"]
    assert (created["isDefault"], created["blockIntraVpcComms"], created["tenancyName"]) == (False, True, "acme")
    place = {"Id": created["id"], "Cluster": "Msc1"}
    assert (await cloud.call("GetVpc", **place)).data == created
    assert len((await cloud.call("GetVpcs", cluster="Msc1")).items) == 2
    await cloud.online()
    await cloud.create("inside", vpc="acme-train")
    assert (await cloud.call("DestroyVpc", **place)).status == 400
    await cloud.call("DestroyServer", **at("inside", "acme-train"))
    assert (await cloud.call("DestroyVpc", **place)).status == 400  # until the record has vanished
    cloud.clock.advance(5)
    destroyed = await cloud.call("DestroyVpc", **place)
    assert (destroyed.status, destroyed.data) == (200, created)
    assert (await cloud.call("GetVpc", **place)).status == 400


@pytest.mark.proves("CreateVpc.isDefault:one-per-cluster", "limit:default-vpc", "VmRecord.namespace:default")
async def test_sim_each_cluster_has_one_default_vpc_which_stays():
    cloud = Cloud()
    defaults = [item for item in (await cloud.call("GetVpcs")).items if item["isDefault"]]
    assert sorted((item["name"], item["cluster"]) for item in defaults) == [("acme", "Hou1"), ("acme", "Msc1")]
    for item in defaults:
        assert (await cloud.call("DestroyVpc", Id=item["id"], Cluster=item["cluster"])).status == 400
    assert (await cloud.call("CreateVpc", name="acme", cluster="Msc1", isDefault=True)).status == 400
