"""Objects that publish an address: who may be changed, what is kept, and what a late write can still do."""

import pytest

from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.kube.published import NotCurrentError, NotOwnedError, Publication, Publications
from support.builders import UID, an_object
from support.ownedobjects import OwnedObjects

DATA = {"host": "192.0.2.1"}
MAP = Publication("configmaps", "train", {"data": DATA})
FULL = {"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}], "ports": [{"name": "metrics", "port": 9400}]}
SLICE = Publication(
    "endpointslices", "train", FULL, empty={"addressType": "IPv4", "endpoints": []}, labels={"of": "us"}, fixed=("addressType",)
)


@pytest.fixture
def kube():
    return OwnedObjects()


@pytest.fixture
def ours(kube):
    return Publications(kube, an_object(), lambda: True)


@pytest.mark.parametrize("wanted", [MAP, SLICE], ids=lambda one: one.resource)
async def test_an_object_is_created_without_an_address_and_then_filled(kube, ours, wanted):
    """A creation whose answer was lost may come after the withdrawal; then it leads nowhere."""
    created = []
    kube.before = lambda method, _path: created.append(dict(kube.find(wanted.resource, "train"))) if method == "PUT" else None
    assert await ours.put(wanted)
    assert not created[0].get("data")
    assert not created[0].get("endpoints")
    found = kube.find(wanted.resource, "train")
    assert {name: found[name] for name in wanted.fields} == wanted.fields
    assert [one["uid"] for one in found["metadata"]["ownerReferences"]] == [UID]


async def test_a_second_look_writes_nothing(kube, ours):
    await ours.put(SLICE)
    kube.requests.clear()
    assert not await ours.put(SLICE)
    assert kube.writes == []


@pytest.mark.parametrize("owner", [None, "another"])
async def test_an_object_of_another_owner_is_neither_changed_nor_deleted(kube, ours, owner):
    kube.put("configmaps", "train", owner, data={"host": "theirs"})
    with pytest.raises(NotOwnedError, match="ConfigMap 'train'"):
        await ours.put(MAP)
    assert not await ours.remove("configmaps", "train")
    assert kube.writes == []
    assert kube.find("configmaps", "train")["data"] == {"host": "theirs"}


async def test_what_others_have_added_is_kept(kube, ours):
    kube.put("endpointslices", "train", UID, addressType="IPv4", endpoints=[{"addresses": ["10.9.9.9"], "zone": "a"}])
    kube.edit("endpointslices", "train", metadata=kube.find("endpointslices", "train")["metadata"] | {
        "labels": {"team": "blue", "of": "them"}, "annotations": {"note": "theirs"},
    })  # fmt: skip
    assert await ours.put(SLICE)
    found = kube.find("endpointslices", "train")
    assert found["endpoints"] == [{"addresses": ["10.0.0.1"], "zone": "a"}]
    assert found["metadata"]["labels"] == {"team": "blue", "of": "us", "app.kubernetes.io/managed-by": "gpucloud-operator"}
    assert found["metadata"]["annotations"] == {"note": "theirs"}


async def test_an_address_of_another_family_needs_a_new_object(kube, ours):
    kube.put("endpointslices", "train", UID, addressType="IPv6", endpoints=[])
    assert await ours.put(SLICE)
    assert kube.writes == ["DELETE endpointslices", "POST endpointslices", "PUT endpointslices"]
    assert kube.find("endpointslices", "train")["addressType"] == "IPv4"


LATE = ("POST", "PUT")


@pytest.mark.parametrize("late", LATE)
async def test_a_write_that_arrives_after_the_withdrawal_publishes_no_address(kube, ours, late):
    """The other process withdraws between two requests of this one."""
    other = Publications(kube, an_object(), lambda: True)
    waiting = [late]

    def withdrawn(method, _path):
        if waiting and method == waiting[0]:
            waiting.clear()
            kube.objects.clear()  # as the other process's DELETE does

    kube.before = withdrawn
    if late == "PUT":
        with pytest.raises(KubeError, match="404"):
            await ours.put(SLICE)
        assert kube.find("endpointslices", "train") is None
        return
    kube.refused = {("PUT", ""): 500}  # its answer is lost, so no PUT follows
    with pytest.raises(KubeError):
        await ours.put(SLICE)
    assert kube.find("endpointslices", "train")["endpoints"] == []
    kube.refused = {}
    assert await other.remove("endpointslices", "train")


async def test_an_object_that_was_made_again_is_not_filled_by_an_old_write(kube, ours):
    def made_again(method, _path):
        if method == "PUT":
            kube.remove("configmaps", "train")
            kube.put("configmaps", "train", UID, data={})

    kube.before = made_again
    with pytest.raises(KubeError, match="409"):
        await ours.put(MAP)
    assert kube.find("configmaps", "train")["data"] == {}


async def test_an_object_that_was_replaced_is_not_deleted(kube, ours):
    kube.put("configmaps", "train", UID)

    def replaced(method, _path):
        if method == "DELETE":
            kube.remove("configmaps", "train")
            kube.put("configmaps", "train")

    kube.before = replaced
    with pytest.raises(KubeError, match="409"):
        await ours.remove("configmaps", "train")
    assert kube.find("configmaps", "train") is not None


@pytest.mark.parametrize("current_for", [0, 1])
async def test_nothing_more_is_written_once_the_decision_is_old(kube, current_for):
    answers = [True] * current_for
    target = Publications(kube, an_object(), lambda: bool(answers) and answers.pop())
    with pytest.raises(NotCurrentError):
        await target.put(MAP)
    assert len(kube.writes) == current_for
    kube.put("services", "train", UID)
    with pytest.raises(NotCurrentError):
        await target.remove("services", "train")
    assert kube.find("services", "train") is not None


async def test_what_finalizers_keep_is_not_withdrawn(kube, ours):
    kube.put("services", "train", UID)
    kube.edit("services", "train", metadata=kube.find("services", "train")["metadata"] | {"finalizers": ["example.com/keep"]})
    with pytest.raises(KubeError, match="finalizers keep Service 'train': remove them"):
        await ours.remove("services", "train")


async def test_an_answer_that_is_no_object_is_a_failure_of_the_withdrawal(kube, ours):
    """Only a failure counts towards the end of the wait for it."""
    kube.put("services", "train", UID)
    kube.objects = {path: {} for path in kube.objects}
    with pytest.raises(KubeError, match="the answer is not an object"):
        await ours.remove("services", "train")
