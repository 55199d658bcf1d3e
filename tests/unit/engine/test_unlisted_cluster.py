"""The cloud leaves a cluster out of its lists for a while, in which VMs run."""

import asyncio

import pytest

from support.orderrig import KEY, MakingCloud, history_over

pytestmark = pytest.mark.looptime
it = history_over(MakingCloud)


@pytest.mark.parametrize(
    ("listed", "says"),
    [
        (["Hou1"], "The cloud lists no cluster 'Msc1' now"),
        (["mSC1"], "The cloud refuses to list VMs in cluster 'Msc1'"),
        (["Msc1"], "The cloud refuses to list VMs in cluster 'Msc1'"),
    ],
    ids=["it is not listed", "it is spelt in another way", "only its VMs are not listed"],
)
async def test_nobody_is_told_to_delete_the_object_of_a_vm_that_runs(it, listed, says):
    await it.apply(cluster="Msc1", vpc="acme")
    await it.until(lambda: it.ready == "True/Running", 120)
    it.cloud.clusters.clear()
    it.cloud.worlds[KEY]["GetAll"] = listed
    await it.until(lambda: it.ready == "Unknown/InvalidSpec", 1200)
    assert it.words.startswith(says)
    assert "This VM was last seen there. Nothing is done meanwhile. Ask the cloud's support." in it.words
    assert it.words.endswith("Do not delete this object: that destroys the VM.")
    await asyncio.sleep(60)
    it.cloud.clusters |= {None, "Msc1"}
    it.cloud.worlds[KEY]["GetAll"] = ["Msc1"]
    await it.until(lambda: it.ready == "True/Running", 900)
    assert it.cloud.vms
