"""The life of hosts."""

import pytest

from simulator.test_sim_client import Cloud


@pytest.mark.proves("state:host")
async def test_sim_a_reboot_powers_off_and_on():
    cloud = Cloud(host_reboot_seconds=3)
    body, query = {"id": "bm-128", "cluster": "Msc1"}, {"Id": "bm-128", "Cluster": "Msc1"}
    assert (await cloud.call("RebootHost", **body)).data["poweredOn"] is False
    assert (await cloud.call("RebootHost", **body)).status == 422
    assert (await cloud.call("ReprovisionHost", **body)).status == 422
    cloud.clock.advance(3)
    assert (await cloud.call("GetHost", **query)).data["poweredOn"] is True


@pytest.mark.proves("state:host", "ReprovisionHost.imageUrl")
async def test_sim_a_reprovisioning_goes_through_its_states():
    cloud = Cloud(host_provision_seconds=10)
    body, query = {"id": "bm-128", "cluster": "Msc1"}, {"Id": "bm-128", "Cluster": "Msc1"}
    first = (await cloud.call("ReprovisionHost", **body, imageUrl="http://images/new.qcow2")).data
    assert (first["provisioningState"], first["image"]) == ("deprovisioning", "Ubuntu 22.04.4 LTS")
    assert (await cloud.call("ReprovisionHost", **body)).status == 422
    assert (await cloud.call("RebootHost", **body)).status == 422
    cloud.clock.advance(3)
    assert (await cloud.call("GetHost", **query)).data["provisioningState"] == "provisioning"
    cloud.clock.advance(7)
    last = (await cloud.call("GetHost", **query)).data
    assert (last["provisioningState"], last["image"]) == ("provisioned", "http://images/new.qcow2")


@pytest.mark.proves("open:host-words")
async def test_sim_a_host_can_be_forced_into_any_state():
    cloud = Cloud()
    await cloud.control(
        "hosts/force", {"id": "bm-129", "cluster": "Hou1", "operational": "error", "provisioning": "inspecting"}
    )
    host = (await cloud.call("GetHost", Id="bm-129", Cluster="Hou1")).data
    assert (host["operationalStatus"], host["provisioningState"]) == ("error", "inspecting")
    assert (await cloud.call("RebootHost", id="bm-129", cluster="Hou1")).status == 422


async def test_sim_a_host_forced_during_its_reboot_stays_as_forced():
    cloud = Cloud(host_reboot_seconds=3)
    await cloud.call("RebootHost", id="bm-128", cluster="Msc1")
    await cloud.control("hosts/force", {"id": "bm-128", "cluster": "Msc1", "powered_on": False})
    cloud.clock.advance(10)
    assert (await cloud.call("GetHost", Id="bm-128", Cluster="Msc1")).data["poweredOn"] is False
