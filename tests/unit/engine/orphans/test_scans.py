"""Which records a scan counts and reports as orphans."""

import asyncio

import pytest

from gpucloud.engine.manager.manager import Engine
from gpucloud.engine.orphans.collector import REPORT_AGAIN_SECONDS, REPORTED_PER_SCAN
from gpucloud.kinds.common import OWN_ACCOUNT, OrderState
from gpucloud.reconcile.naming import Identity, external_name
from gpucloud.settings import Credentials, Settings
from support.builders import TAG, an_order
from support.fakes import DOWN, FakeKube, LoopClock, at
from support.orphanrig import KEY, LEFT, OTHER_KEY, URL, vm

pytestmark = pytest.mark.looptime


async def test_an_orphan_is_counted_and_told_once_a_day(rig):
    it = rig()
    it.account()
    assert it.gauge() is None, "before the first look nothing is said"
    for _ in range(3):
        await it.orphans.scan()
    ((label, kind, event),) = it.told
    assert (label, kind, event.reason, event.warning) == (OWN_ACCOUNT, "GpuVM", "Orphan", True)
    assert all(word in event.note for word in (LEFT, "'acme'", "'Msc1'", "ONLINE", "$2.05 an hour", "gpucloud orphans"))
    assert (it.gauge(), it.gauge(kind="snapshots")) == (1, 0)
    await asyncio.sleep(REPORT_AGAIN_SECONDS)
    await it.orphans.scan()
    assert len(it.told) == 2
    assert not it.cloud.asked("DestroyServer")


@pytest.mark.parametrize("how", ["gone", "claimed by its object", "claimed by name"])
async def test_it_is_counted_no_more_when_it_is_gone_or_somebodys(rig, how):
    it = rig()
    it.account()
    await it.orphans.scan()
    assert it.gauge() == 1
    if how == "gone":
        it.cloud.worlds[KEY]["GetServers"] = []
    elif how == "claimed by its object":
        it.owner(uid="u-gone")
    else:
        it.owner("else", spec={"vmName": LEFT})
    await it.orphans.scan()
    assert it.gauge() == 0


@pytest.mark.parametrize("spec", [{"vmName": "web"}, {"vpc": "elsewhere"}])
@pytest.mark.parametrize(("state", "orphans"), [(OrderState.SEEN, 0), (OrderState.LOST, 1)])
async def test_the_vm_of_an_object_whose_spec_was_edited_is_no_orphan(rig, spec, state, orphans):
    """Under a definition without rules: the message said that no object stands for it, and to destroy it."""
    it = rig()
    it.account()
    order = an_order(LEFT, state).model_dump(mode="json", by_alias=True)
    it.owner(uid="u-gone", spec=spec, status={"order": order})
    await it.orphans.scan()
    assert it.gauge() == orphans


async def test_what_goes_while_the_objects_are_listed_was_no_orphan(rig):
    """Its object was let go between the two listings of the cloud."""
    it = rig()
    it.account()
    listed = it.kube.uids

    async def uids(plural, namespaces):
        it.cloud.worlds[KEY]["GetServers"] = []
        return await listed(plural, namespaces)

    it.kube.uids = uids
    await it.orphans.scan()
    assert (it.gauge(), it.told) == (0, [])


async def test_every_cluster_that_the_credential_knows_is_looked_at(rig):
    it = rig()
    it.cloud.worlds[KEY] |= {
        "GetAll": ["Msc1", "Empty"],
        "GetServers": [],
    }  # a record of Msc1 in Empty's would be no whole listing
    it.account()
    await it.orphans.scan()
    asked = {(operation, call.get("Cluster") or call.get("cluster")) for _, operation, call in it.cloud.calls}
    assert asked >= {("GetServers", "Msc1"), ("GetServers", "Empty"), ("GetSnapshots", "Msc1"), ("GetSnapshots", "Empty")}
    assert it.gauge(cluster="Empty") == 0


@pytest.mark.parametrize(
    ("inventory", "watched"),
    [
        ("vms", "MSC1"),  # sorts before the cloud's spelling
        ("vms", "msc1"),  # sorts after it
        ("snapshots", "msc1"),  # the VMs of the cluster are listed in the cloud's spelling
    ],
)
async def test_an_orphan_is_counted_in_the_clouds_spelling_of_its_cluster(rig, inventory, watched):
    """It was counted, and told of again, in the spelling of whichever object came or went."""
    it = rig()
    session = it.account()
    await it.orphans.scan()
    session.inventories[inventory].watch("u-other", Identity(watched, "acme", "another"))
    await asyncio.sleep(1)
    asked = len(it.cloud.asked("GetServers"))
    await it.orphans.scan()
    assert (it.gauge(), it.gauge(cluster=watched), len(it.told)) == (1, None, 1)
    looked = [call["Cluster"] for *_, call in it.cloud.asked("GetServers")[asked:]]
    shared = ["Msc1", "Msc1"] if inventory == "snapshots" else [watched]
    assert looked == shared, "of what objects list already only what seems orphaned is listed once more"


async def test_a_spelling_that_the_cloud_refuses_hides_no_orphan(rig):
    """A spec said msc1, which sorted last, and the cloud knows Msc1 alone: its orphans were not looked for any more."""
    it = rig()
    session = it.account()
    it.cloud.refuse("GetServers", 400)
    session.vms.watch("u-other", Identity("msc1", "acme", "another"))
    await asyncio.sleep(1)
    it.cloud.heal()  # of a poller that is refused the next listing is minutes away
    await it.orphans.scan()
    assert (it.gauge(), len(it.told)) == (1, 1)


async def test_a_listing_that_is_kept_anyway_is_not_asked_for_again(rig):
    it = rig()
    session = it.account()
    it.owner(uid="u-gone")
    session.vms.watch("u-gone", Identity("Msc1", "acme", LEFT))
    await asyncio.sleep(1)
    before = len(it.cloud.asked("GetServers"))
    await it.orphans.scan()
    assert len(it.cloud.asked("GetServers")) == before
    assert it.gauge() == 0


async def test_a_failed_look_keeps_the_count_and_shows_its_age(rig, logs):
    it = rig()
    it.account()
    await it.orphans.scan()
    it.cloud.refuse("GetServers", 403)
    for _ in range(3):
        await asyncio.sleep(600)
        await it.orphans.scan()
    assert it.gauge() == 1, "a failure is not the end of an orphan"
    assert it.gauge("gpucloud_orphans_scan_age_seconds") > 1799
    assert it.gauge("gpucloud_orphans_scan_age_seconds", kind="snapshots") < 10
    (line,) = [line for line in logs if line["event"] == "orphan scan failed for this listing"]
    assert (line["kind"], line["cluster"]) == ("vms", "Msc1")
    it.cloud.heal()
    it.cloud.worlds[KEY]["GetServers"] = []
    await it.orphans.scan()
    assert it.gauge() == 0


@pytest.mark.parametrize("listing", [[{"namespace": "acme"}], 500], ids=["an entry without a name", "an error"])
async def test_a_listing_that_cannot_be_read_is_no_look(rig, listing):
    it = rig()
    it.account()
    if isinstance(listing, int):
        it.cloud.refuse("GetServers", listing)
    else:
        it.cloud.worlds[KEY]["GetServers"] = [vm(), *listing]
    await it.orphans.scan()
    assert (it.gauge(), it.told) == (None, [])


async def test_without_a_list_of_objects_nothing_is_said(rig):
    it = rig(collect=True, age=0.0)
    it.account()

    async def down(_plural, _namespaces):
        raise DOWN

    it.kube.uids = down
    await it.orphans.scan()
    assert (it.gauge(), it.told) == (None, [])


async def test_without_the_list_of_clusters_those_in_use_are_looked_at(rig, logs):
    it = rig()
    session = it.account()
    it.cloud.refuse("GetAll", 403)
    session.vms.watch("u-1", Identity("Msc1", "acme", "any"))
    await asyncio.sleep(1)
    await it.orphans.scan()
    assert it.gauge() == 1
    assert [line["kind"] for line in logs if line["event"] == "orphan scan failed for this listing"] == ["clusters"]


async def test_an_empty_list_of_clusters_ends_no_report(rig, logs):
    it = rig()
    it.account()
    await it.orphans.scan()
    it.cloud.worlds[KEY]["GetAll"] = []
    await it.orphans.scan()
    assert it.gauge() == 1
    failed = [line["why"] for line in logs if line["event"] == "orphan scan failed for this listing"]
    assert failed == ["the list of clusters is empty"]


async def test_two_accounts_of_one_tenant_tell_of_it_once(rig):
    it = rig()
    it.account(KEY, "team/default")
    it.account(OTHER_KEY, "crew/default")
    await it.orphans.scan()
    assert [label for label, _, _ in it.told] == ["crew/default"]
    assert (it.gauge(account="crew/default"), it.gauge(account="team/default")) == (1, 0)


async def test_one_account_that_fails_keeps_no_other_from_being_looked_at(rig):
    it = rig()
    it.account(OTHER_KEY, "crew/default")
    it.account(KEY, "team/default")
    it.cloud.refuse("GetServers", 500, OTHER_KEY)
    await it.orphans.scan()
    assert [label for label, _, _ in it.told] == ["team/default"]


@pytest.mark.parametrize("accounts", [1, 2])
async def test_an_orphan_whose_event_was_lost_is_told_of_again_and_logged_once(rig, logs, accounts):
    """Of two accounts: simulated world, seed 658. The scan of the second one forgot what the first one was to hear."""
    it = rig()
    for key, label in ((KEY, "crew/default"), (OTHER_KEY, "team/default"))[:accounts]:
        it.account(key, label)
    it.loses = 2
    for told in (0, 0, 1, 1):
        await it.scan()
        assert len(it.told) == told
    assert len([line for line in logs if line["event"] == "orphan"]) == 1


async def test_many_orphans_are_reported_a_few_per_scan(rig):
    it = rig()
    it.cloud.worlds[KEY]["GetServers"] = [vm(external_name(f"vm-{number}", f"u-{number}", TAG)) for number in range(50)]
    it.account()
    for told in (REPORTED_PER_SCAN, 2 * REPORTED_PER_SCAN, 50, 50):
        await it.orphans.scan()
        assert (len(it.told), it.gauge()) == (told, 50)


async def test_some_namespaces_without_an_own_tag_are_not_looked_at(cloud, logs):
    cloud.world(KEY, GetServers=[vm()])
    settings = Settings(endpoint=(f"prod={URL}",), namespace=("team",), credentials=Credentials(api_key=KEY), workers=1)
    engine = Engine(settings, lambda: None, LoopClock(), at(FakeKube()))
    await engine.start()
    await asyncio.sleep(2000)
    assert not cloud.asked("GetServers")
    assert any("--install-tag" in line["event"] for line in logs)
    await engine.stop(1.0)
