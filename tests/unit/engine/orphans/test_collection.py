"""Which orphans the whole engine destroys, and what it says of them."""

import asyncio

import pytest

from gpucloud.engine.cloud.port import Door, withdrawn
from gpucloud.kinds.common import OWN_ACCOUNT
from support.fakes import GOING, a_resource, a_secret
from support.orphanrig import KEY, OTHER_KEY, PRICES, vm

pytestmark = pytest.mark.looptime


async def test_an_abandoned_vm_is_destroyed_after_its_age(whole):
    it = await whole("train", "other")
    it.strip("train")
    await asyncio.sleep(990)
    assert it.destroyed == []
    await asyncio.sleep(210)
    assert it.destroyed == [it.thing("train")]
    reasons = [event["reason"] for event in it.kube.events]
    assert {"Orphan", "OrphanCollected"} <= set(reasons)
    (told,) = [event for event in it.kube.events if event["reason"] == "OrphanCollected"]
    assert told["regarding"]["kind"] == "CustomResourceDefinition"
    assert told["metadata"]["namespace"] == "default"


@pytest.mark.parametrize(
    ("accounts", "regarding"),
    [
        ({"other": GOING, "team": {}}, ("GpuCloudAccount", "team")),
        ({"other": GOING}, ("CustomResourceDefinition", "default")),
    ],
)
async def test_an_orphan_is_told_of_where_events_can_be_recorded(whole, accounts, regarding):
    """Found by the simulated world: the first account of the credential was in a namespace that was being deleted."""
    it = await whole()
    it.cloud.world(OTHER_KEY, GetServers=[vm()], GetConfigurations=PRICES)
    for namespace, meta in accounts.items():
        it.kube.secrets[namespace, "key"] = a_secret(apikey=OTHER_KEY)
        spec = {"secretRef": {"name": "key"}}
        it.engine.on_event(
            "GpuCloudAccount",
            "ADDED",
            a_resource("GpuCloudAccount", "default", namespace, f"u-{namespace}", meta=meta, spec=spec),
        )
    await asyncio.sleep(250)
    (told,) = [event for event in it.kube.events if event["reason"] == "Orphan"]
    assert (told["regarding"]["kind"], told["metadata"]["namespace"]) == regarding


async def test_an_account_that_goes_is_forgotten(whole):
    """Found by the simulated world: the collector took its end for that of something with a thing in the cloud."""
    it = await whole("train")
    account = a_resource("GpuCloudAccount", "default", uid="u-account")
    it.engine.on_event("GpuCloudAccount", "ADDED", account)
    it.engine.on_event("GpuCloudAccount", "DELETED", account)
    assert list(it.engine.console_deps().objects.accounts) == []


async def test_one_is_destroyed_at_a_time(whole):
    it = await whole("one", "two")
    it.strip("one", "two")
    await asyncio.sleep(1050)
    assert len(it.destroyed) == 1
    await asyncio.sleep(100)
    assert sorted(it.destroyed) == sorted([it.thing("one"), it.thing("two")])


@pytest.mark.parametrize("applied", [False, True])
async def test_a_call_that_waits_is_not_meant_any_more_when_an_object_of_the_name_comes(whole, monkeypatch, applied):
    it, still = await whole("train"), []

    async def waits(_door, change):
        if applied:
            it.engine.on_event("GpuVM", "ADDED", a_resource("GpuVM", "train", uid="u-again"))
        still.append(change.unmet() is None)

    monkeypatch.setattr(Door, "send", waits)
    it.strip("train")
    await asyncio.sleep(1150)
    assert still[0] is not applied


async def test_a_call_that_the_port_refuses_is_no_failure_and_is_decided_anew(whole, monkeypatch):
    it, refusals = await whole("train"), [withdrawn("not met: this process holds the Lease")]
    send = Door.send

    async def refuses_once(door, change):
        if refusals:
            raise refusals.pop()
        return await send(door, change)

    monkeypatch.setattr(Door, "send", refuses_once)
    it.strip("train")
    await asyncio.sleep(1250)
    assert (refusals, it.destroyed) == ([], [it.thing("train")]), "the next scan sends it"
    assert "OrphanCollectionFailed" not in {event["reason"] for event in it.kube.events}


async def test_many_are_refused_and_it_is_said_once(whole):
    it = await whole("one", "two", "three")
    it.strip("one", "two", "three")
    await asyncio.sleep(5000)
    assert it.destroyed == []
    told = [event for event in it.kube.events if event["reason"] == "OrphanCollectionRefused"]
    assert len(told) == 1
    gauge = it.engine.metrics.registry.get_sample_value
    assert gauge("gpucloud_orphans_collection_refused", {"account": OWN_ACCOUNT}) == 1
    it.cloud.worlds[KEY]["GetServers"].pop()
    await asyncio.sleep(300)
    assert len(it.destroyed) == 2
    assert gauge("gpucloud_orphans_collection_refused", {"account": OWN_ACCOUNT}) == 0


@pytest.mark.parametrize(
    "settings",
    [
        {"collect_orphans": False},
        {"observe_only": True},
        {"orphan_scan_seconds": 0.0, "collect_orphans": False},
    ],
    ids=["not allowed", "observe only", "no look at all"],
)
async def test_unless_it_is_allowed_nothing_is_destroyed(whole, settings):
    it = await whole("train", **settings)
    it.strip("train")
    await asyncio.sleep(5000)
    assert it.destroyed == []


@pytest.mark.parametrize("how", ["retained", "paused", "freed by us", "came back", "came back and was retained", "a namesake"])
async def test_an_orphan_in_doubt_is_not_destroyed(whole, how):
    it = await whole("train", "other")
    reconciler = it.engine.parts.kinds.owned["GpuVM"]
    if how == "came back and was retained":
        it.strip("train")
        await asyncio.sleep(500)
        it.show("train")
    if how == "freed by us":
        reconciler._tracker.mark_released("u-train")
    if how == "paused":
        it.kube.known["gpuvms"].discard("u-train")
        it.show("train", "DELETED", GOING | {"annotations": {"gpucloud.dev/paused": "true"}})
    else:
        it.strip("train", **({"deletion": {"policy": "Retain"}} if "retained" in how else {}))
    if how == "came back":  # an etcd that was restored
        it.kube.known["gpuvms"].add("u-train")
    if how == "a namesake":
        it.kube.known["gpuvms"].add("u-new")
        body = a_resource("GpuVM", "train", uid="u-new", version=10_000, meta={"annotations": {"gpucloud.dev/paused": "true"}})
        it.engine.on_event("GpuVM", "ADDED", body)
    await asyncio.sleep(5000)
    assert it.destroyed == []


@pytest.mark.parametrize("seen", ["all at once", "one after the other"])
async def test_the_deletion_guard_holds_for_the_collector_too(whole, seen):
    """A script deletes and strips four: more than the guard admits, and nobody has released them."""
    names = [f"vm-{number}" for number in range(40)]
    it = await whole(*names, brake_vms=1)
    for name in names[:4]:
        it.show(name, "MODIFIED", GOING)
        if seen == "one after the other":
            it.strip(name)
    if seen == "all at once":
        it.strip(*names[:4])
    await asyncio.sleep(5000)
    assert len(set(it.destroyed)) <= 1, "no more than the guard admits"


async def test_below_the_limit_of_the_guard_the_collector_collects(whole):
    it = await whole("train", "other", brake_vms=1)
    it.show("train", "MODIFIED", GOING)
    it.strip("train")
    await asyncio.sleep(5000)
    assert set(it.destroyed) == {it.thing("train")}


async def test_what_only_some_scans_show_is_not_destroyed(whole):
    """In no two looks, one after the other, is it there."""
    it = await whole("train", "other")
    it.strip("train")
    records = it.cloud.worlds[KEY]["GetServers"]
    for number in range(40):
        it.cloud.worlds[KEY]["GetServers"] = records if number % 2 else records[1:]
        await asyncio.sleep(100)
    assert it.destroyed == []
    it.cloud.worlds[KEY]["GetServers"] = records
    await asyncio.sleep(300)
    assert it.destroyed == [it.thing("train")]


async def test_a_refusal_is_told_and_tried_again_later(whole):
    it = await whole("train")
    it.cloud.refuse("DestroyServer", 403)
    it.strip("train")
    await asyncio.sleep(1250)
    assert len(it.destroyed) == 1
    assert "OrphanCollectionFailed" in {event["reason"] for event in it.kube.events}
    it.cloud.heal()
    await asyncio.sleep(300)
    assert len(it.destroyed) == 2
