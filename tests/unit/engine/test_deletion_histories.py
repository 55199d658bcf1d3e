"""Histories of a deletion that the cloud accepts without effect, and of snapshots that come right before it."""

from __future__ import annotations

import asyncio

import pytest

from support.builders import an_order
from support.fakes import a_resource
from support.orderrig import MakingCloud, history_over

pytestmark = pytest.mark.looptime
OURS, BY_HAND = "ours", "by-hand"
RETAIN, KEEP = "spec.deletion.policy: Retain", "spec.deletion.snapshots: Keep"
HOUR = 3600


class IdleCloud(MakingCloud):
    """Carries out no deletion of the ``idle`` operations, and answers them all the same; keeps snapshots of the VM."""

    def __init__(self):
        super().__init__()
        self.idle, self.snapshots, self.partial = {}, [], ()  # ``partial``: what the next listings of snapshots lack, in turn

    async def handle_async_request(self, request):
        operation = request.url.path.rsplit("/", 1)[1]
        source, lacked = next(iter(self.vms), ""), ""
        if operation == "GetSnapshots" and self.partial:
            lacked, *self.partial = self.partial
        self.worlds["own-made-up-key"]["GetSnapshots"] = [
            {
                "id": name,
                "sourceName": source,
                "namespace": "acme",
                "cluster": "Msc1",
                "tenancyName": "acme",
                "readyToUse": "true",
            }
            for name in self.snapshots
            if name != lacked
        ]
        kept = dict(self.vms)
        answer = await super().handle_async_request(request)
        if operation in self.idle:
            self.vms = kept
        elif operation == "DeleteSnapshot":
            self.snapshots.remove(request.url.params["Id"])
        elif operation == "DestroyServer" and request.url.params.get("DeleteSnapshots") == "true":
            self.snapshots.clear()
        return answer


it = history_over(IdleCloud)


async def ready(it, **spec):
    await it.apply(**spec)
    await it.until(lambda: it.ready == "True/Running")
    await asyncio.sleep(60)


def takes_snapshots(it, *names):
    """A GpuSnapshot stands for the first one; the others nobody declared."""
    it.cloud.snapshots = list(names)
    order = an_order(names[0], vpc="acme").model_dump(mode="json", by_alias=True)
    status = {"account": "(operator)", "order": order, "snapshotId": names[0]}
    body = a_resource("GpuSnapshot", "s", uid="u-s", spec={"vmRef": {"name": "train"}, "snapshotName": names[0]}, status=status)
    it.kube.bodies["u-s"] = body
    it.kube.known["gpusnapshots"].add("u-s")
    it.engine.on_event("GpuSnapshot", "ADDED", body)


def ready_of(it):
    return next(item for item in it.status["conditions"] if item["type"] == "Ready")


def is_stalled(it):
    return any(item["type"] == "Stalled" and item["status"] == "True" for item in it.status["conditions"])


async def test_a_snapshot_that_the_cloud_only_pretends_to_delete_is_asked_for_ever_more_rarely(it):
    """It was asked for every grace, 69 times an hour, and Ready said that the VM is being destroyed."""
    it.cloud.idle = {"DeleteSnapshot"}
    await ready(it, deletion={"snapshots": "Delete"})
    takes_snapshots(it, OURS, BY_HAND)
    await asyncio.sleep(30)
    it.delete()
    words = set()
    for _ in range(HOUR):
        await asyncio.sleep(1)
        words.add(it.words)
    assert len(it.cloud.asked("DeleteSnapshot")) <= 5
    assert len(it.cloud.asked("GetSnapshots")) <= 300
    assert it.cloud.asked("DestroyServer") == []
    assert not any("is being destroyed" in said for said in words)
    assert (it.ready, is_stalled(it)) == ("False/DeletionBlocked", True)
    assert KEEP in it.words
    assert len(words) == 2, words
    it.change(spec={"deletion": {"snapshots": "Keep"}}, deletionTimestamp="2026-01-01T00:00:00Z")
    await it.until(lambda: it.gone)
    assert it.cloud.snapshots == [OURS, BY_HAND]


async def test_what_the_cloud_deletes_late_goes_on(it):
    it.cloud.idle = {"DeleteSnapshot"}
    await ready(it, deletion={"snapshots": "Delete"})
    takes_snapshots(it, OURS, BY_HAND)
    await asyncio.sleep(30)
    it.delete()
    await asyncio.sleep(1000)
    it.cloud.snapshots.remove(OURS)
    await it.until(lambda: it.gone, 120)
    assert (it.cloud.snapshots, it.cloud.vms) == ([BY_HAND], {})


@pytest.mark.parametrize("answer", [None, 404])
async def test_a_vm_that_the_cloud_only_pretends_to_destroy_is_blocked_and_polled_slowly(it, answer):
    """It said for ever that the VM is being destroyed, with 1,810 listings an hour."""
    await ready(it)
    it.cloud.idle = {"DestroyServer"}
    if answer is not None:
        it.cloud.refuse("DestroyServer", answer)
    it.delete()
    await asyncio.sleep(310)
    before = len(it.cloud.asked("GetServers"))
    assert (it.ready, is_stalled(it)) == ("False/DeletionBlocked", True)
    assert RETAIN in it.words
    await asyncio.sleep(HOUR)
    assert len(it.cloud.asked("DestroyServer")) <= 6
    assert len(it.cloud.asked("GetServers")) - before <= 90
    it.cloud.vms.clear()
    await it.until(lambda: it.gone, 150)


async def test_a_cloud_that_destroys_again_after_hours_is_asked_within_a_quarter_of_an_hour(it):
    """The wait doubled to an hour, and the VM was billed for it (simulated world, seed 9002)."""
    await ready(it)
    it.cloud.idle = {"DestroyServer"}
    it.delete()
    await asyncio.sleep(4.5 * HOUR)
    it.cloud.idle = {}
    await it.until(lambda: it.gone, 1000)


async def test_a_snapshot_that_somebody_takes_right_before_the_deletion_stays(it):
    """DeleteSnapshots=true rested on a listing from before the deletion."""
    await ready(it, deletion={"snapshots": "Delete"})
    takes_snapshots(it, OURS)
    before = len(it.cloud.asked("GetSnapshots"))
    await it.until(lambda: len(it.cloud.asked("GetSnapshots")) > before, 100)
    await asyncio.sleep(0.05)
    it.cloud.snapshots.append(BY_HAND)
    await asyncio.sleep(0.5)
    it.delete()
    await it.until(lambda: it.gone)
    assert it.cloud.snapshots == [BY_HAND]


@pytest.mark.parametrize("lacked", [[BY_HAND], [OURS, BY_HAND], [BY_HAND, OURS, BY_HAND]])
async def test_a_snapshot_that_one_partial_listing_lacks_stays(it, lacked):
    """DeleteSnapshots=true deletes every snapshot of the VM, and rested on one listing that showed only ours."""
    await ready(it, deletion={"snapshots": "Delete"})
    takes_snapshots(it, OURS, BY_HAND)
    await asyncio.sleep(30)
    it.cloud.partial = lacked
    it.delete()
    await it.until(lambda: it.gone, 120)
    assert BY_HAND in it.cloud.snapshots


async def test_the_snapshots_go_with_the_vm_when_two_listings_show_only_ours(it):
    await ready(it, deletion={"snapshots": "Delete"})
    takes_snapshots(it, OURS)
    it.delete()
    await it.until(lambda: it.gone, 60)
    assert (it.cloud.snapshots, it.cloud.asked("DeleteSnapshot")) == ([], [])
