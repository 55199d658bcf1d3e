"""Histories of a GpuVpc whose name is another's: the cloud gives no id twice, so what stood before an order is not of it."""

from __future__ import annotations

import asyncio

import pytest

from gpucloud.kinds.common import MOST_OTHERS_IDS
from support.fakes import FakeCloud
from support.orderrig import KEY, VPC, history_over

pytestmark = pytest.mark.looptime
THEIRS = {"id": "5", "name": "acme-train", "cluster": "Msc1", "tenancyName": "acme"}


class NamedCloud(FakeCloud):
    """Has somebody else's VPC of the name, which its listings lack for a while, and makes no second one."""

    def __init__(self):
        super().__init__()
        self.vpcs = {"5": THEIRS}
        self.hides = False
        self.world(KEY)

    async def handle_async_request(self, request):
        operation, here = request.url.path.rsplit("/", 1)[1], self.worlds[KEY]
        if operation == "DestroyVpc":
            self.vpcs.pop(request.url.params["Id"], None)
            here[operation] = {"status": "accepted"}
        here["GetVpcs"] = [VPC] if self.hides else [VPC, *self.vpcs.values()]
        return await super().handle_async_request(request)


it = history_over(NamedCloud, "GpuVpc")


ANSWERS = {
    "the cloud reports what stands as an error": 500,
    "no answer says that the name is taken": 503,
    "it says so, which is a certain refusal": 409,
    "it answers with what stands already": THEIRS,
}


RESTARTED = {
    "never": (),
    "before the order, and the new process sees theirs": ("before", "looks"),
    "before the order, while listings lack theirs": ("before",),
    "at the call, so that the answer is in no record": ("at the call",),
}


@pytest.mark.parametrize("restarted", RESTARTED.values(), ids=RESTARTED)
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_a_vpc_that_had_the_name_before_the_order_is_not_of_it(it, answer, restarted):
    """Two partial listings lacked it, and an order was sent: it was called Ready, and destroyed with the object."""
    await it.apply()
    await it.until(lambda: it.ready == "False/Conflict")
    it.cloud.refuse("CreateVpc", answer)
    it.cloud.hides = restarted == ("before",)
    if "before" in restarted:
        await it.start()
        await asyncio.sleep(5)
    it.cloud.hides = True
    await it.until(lambda: it.cloud.asked("CreateVpc"), 100)
    written = seen(it)
    if "at the call" in restarted:
        await it.start()
    it.cloud.hides = False
    await it.until(lambda: it.ready == "False/Conflict", 900)
    assert "True/Available" not in written | seen(it)
    it.delete()
    await it.until(lambda: it.gone, 900)
    assert (list(it.cloud.vpcs), it.cloud.asked("DestroyVpc")) == (["5"], [])


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_vpc_that_was_adopted_is_not_of_an_order_that_follows(it, restarted):
    """The spec allows that no more, listings lack it for a grace, and the order for one of its own has no clear answer."""
    await it.start(own_account_sharing="Shared")
    await it.apply(adoption="IfExists")
    await it.until(lambda: it.ready == "True/Adopted")
    it.change(spec={"adoption": "Never"})
    it.cloud.refuse("CreateVpc", 500)
    it.cloud.hides = True
    await it.until(lambda: it.cloud.asked("CreateVpc"), 600)
    if restarted:
        await it.start(own_account_sharing="Shared")
    it.cloud.hides = False
    await it.until(lambda: it.ready == "False/Conflict", 900)
    it.delete()
    await it.until(lambda: it.gone, 900)
    assert (list(it.cloud.vpcs), it.cloud.asked("DestroyVpc")) == (["5"], [])


async def test_a_vpc_that_had_the_name_can_be_adopted_all_the_same(it):
    """As the message of the Conflict says. It is no order's then, so what had the name before proves nothing against it."""
    await it.start(own_account_sharing="Shared")
    await it.apply()
    await it.until(lambda: it.ready == "False/Conflict")
    it.change(spec={"adoption": "IfExists"})
    await it.until(lambda: it.ready == "True/Adopted")
    written = len(it.kube.statuses)
    await asyncio.sleep(900)
    assert (it.ready, len(it.kube.statuses)) == ("True/Adopted", written)
    it.delete()
    await it.until(lambda: it.gone, 900)
    assert (list(it.cloud.vpcs), it.cloud.asked("DestroyVpc"), it.cloud.asked("CreateVpc")) == (["5"], [], [])


async def test_a_vpc_whose_record_was_lost_for_a_while_is_its_objects(it):
    """It counted as another's meanwhile; a backup tool puts the status back later than the object."""
    it.cloud.vpcs.clear()
    it.cloud.refuse("CreateVpc", THEIRS | {"id": "6"})
    await it.apply()
    await it.until(lambda: it.cloud.asked("CreateVpc"))
    it.cloud.vpcs["6"] = THEIRS | {"id": "6"}
    await it.until(lambda: it.ready == "True/Available")
    await asyncio.sleep(10)
    status = it.kube.bodies["u-train"].pop("status")
    await it.start()
    await it.until(lambda: it.ready == "False/Conflict", 400)
    it.restore(status)
    await it.until(lambda: it.ready == "True/Available", 400)
    await asyncio.sleep(900)
    assert it.ready == "True/Available"
    it.delete()
    await it.until(lambda: it.gone, 900)
    assert it.cloud.vpcs == {}


async def test_what_the_order_made_beside_it_is_ours(it):
    """Theirs is gone, and the order without a clear answer was carried out: its id is a new one."""
    await it.apply()
    await it.until(lambda: it.ready == "False/Conflict")
    it.cloud.refuse("CreateVpc", 500)
    it.cloud.vpcs.clear()
    await it.until(lambda: it.cloud.asked("CreateVpc"), 100)
    it.cloud.vpcs["6"] = THEIRS | {"id": "6"}
    await it.until(lambda: it.ready == "True/Available", 60)
    it.delete()
    await it.until(lambda: it.gone, 900)
    assert it.cloud.vpcs == {}


async def test_so_many_had_the_name_before_that_a_person_must_look(it):
    """The record has room for eight ids. With so many, no id tells what an order without a clear answer has made."""
    await it.apply()
    for stranger in map(str, range(MOST_OTHERS_IDS)):
        it.cloud.vpcs = {stranger: THEIRS | {"id": stranger}}
        await it.until(lambda known=stranger: known in it.status.get("order", {}).get("othersIds", ()), 200)
    it.cloud.refuse("CreateVpc", 500)
    it.cloud.vpcs.clear()
    await it.until(lambda: it.cloud.asked("CreateVpc"), 100)
    it.cloud.vpcs["16"] = THEIRS | {"id": "16"}
    await it.start()
    await it.until(lambda: it.ready == "False/Ambiguous", 60)
    it.delete()
    await asyncio.sleep(900)
    assert (it.ready, list(it.cloud.vpcs), it.cloud.asked("DestroyVpc")) == ("False/DeletionBlocked", ["16"], [])


async def test_once_its_own_id_is_known_the_record_needs_no_others(it):
    await it.apply()
    await it.until(lambda: it.ready == "False/Conflict")
    it.cloud.vpcs.clear()
    it.cloud.refuse("CreateVpc", THEIRS | {"id": "6"})
    await it.until(lambda: it.status["order"]["state"] == "Intended", 100)
    assert it.status["order"]["othersIds"] == ["5"], "it is in the record before the call is sent"
    await it.until(lambda: it.cloud.asked("CreateVpc"), 100)
    it.cloud.vpcs["6"] = THEIRS | {"id": "6"}
    await it.until(lambda: it.ready == "True/Available", 60)
    assert "othersIds" not in it.status["order"]


def seen(it):
    """What Ready said in each status that was written."""
    conditions = [one for status in it.kube.statuses for one in status.get("conditions", ()) if one["type"] == "Ready"]
    return {f"{one['status']}/{one['reason']}" for one in conditions}
