"""The look for orphans between a fake apiserver and a fake cloud: what is told, counted, kept and, when allowed, destroyed."""

import asyncio

import pytest

from gpucloud.cloud.options import ApiKey
from gpucloud.engine.cloud.accounts import AccountSessions
from gpucloud.engine.cloud.port import Door, withdrawn
from gpucloud.engine.kinds.listers import new_listers
from gpucloud.engine.manager.manager import Engine
from gpucloud.engine.orphans.collector import REPORT_AGAIN_SECONDS, REPORTED_PER_SCAN, CollectorDeps, OrphanCollector
from gpucloud.engine.telemetry.metrics import Metrics
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.reconcile.naming import Identity, external_name
from gpucloud.reconcile.orphans import Rules
from gpucloud.settings import Credentials, Settings
from support.builders import TAG, an_order
from support.fakes import DOWN, GOING, FakeKube, LoopClock, a_resource, a_secret, at

pytestmark = pytest.mark.looptime
KEY, OTHER_KEY, URL = "made-up-key", "other-made-up-key", "https://cloud.example"
LEFT = external_name("train", "u-gone", TAG)
PRICES = [{"name": "A100_40GB_PCIe_1x", "price": 2.05}]


def vm(name=LEFT, **more):
    configuration = "A100_40GB_PCIe_1x"
    record = {"id": name, "namespace": "acme", "cluster": "Msc1", "tenancy_name": "acme", "status": "ONLINE"}
    return record | {"configuration": configuration} | more


class Rig:
    """One look, with the accounts that a test gives it."""

    def __init__(self, cloud, around, **rules):
        self.cloud, self.kube, self.told = cloud, FakeKube(), []
        self.sessions = AccountSessions(around)
        self.objects = new_listers(TAG)
        self.orphans = OrphanCollector(
            CollectorDeps(
                sessions=self.sessions,
                objects=self.objects,
                kube=self.kube,
                clock=LoopClock(),
                synced=lambda: True,
                record=self.record,
                namespaces=(),
                rules=Rules(**rules),
                interval=600.0,
            )
        )
        self.metrics = Metrics()
        self.metrics.export_orphans(self.orphans.counts, self.orphans.refusals)
        self.loses = 0  # so many Events are not recorded

    def record(self, session, kind, event, lost):
        if self.loses:
            self.loses -= 1
            lost()
            return
        self.told.append((min(self.sessions.users(session)), kind, event))

    def account(self, key=KEY, label=OWN_ACCOUNT):
        return self.sessions.open(URL, ApiKey(key), label)

    def owner(self, name="train", uid="u-train", **more):
        """An object that the apiserver lists and the watch has shown."""
        self.objects.vms.put(a_resource("GpuVM", name, uid=uid, **more))
        self.kube.known.setdefault("gpuvms", set()).add(uid)

    def gauge(self, name="gpucloud_orphans", account=OWN_ACCOUNT, kind="vms", cluster="Msc1"):
        labels = {"account": account} if name.endswith("refused") else {"account": account, "kind": kind, "cluster": cluster}
        return self.metrics.registry.get_sample_value(name, labels)


@pytest.fixture
async def rig(cloud, around):
    made = []
    cloud.world(KEY, GetServers=[vm()], GetConfigurations=PRICES)
    cloud.world(OTHER_KEY, GetServers=[vm()], GetConfigurations=PRICES)

    def make(**rules):
        made.append(Rig(cloud, around, **rules))
        return made[-1]

    yield make
    for item in made:
        await item.sessions.aclose()


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
    assert it.gauge("gpucloud_orphans_look_age_seconds") > 1799
    assert it.gauge("gpucloud_orphans_look_age_seconds", kind="snapshots") < 10
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


async def test_an_orphan_whose_event_was_lost_is_told_of_again_and_logged_once(rig, logs):
    it = rig()
    it.account()
    it.loses = 2
    for told in (0, 0, 1, 1):
        await it.orphans.scan()
        assert len(it.told) == told
    assert len([line for line in logs if line["event"] == "orphan"]) == 1


async def test_a_flood_is_told_bit_by_bit(rig):
    it = rig()
    it.cloud.worlds[KEY]["GetServers"] = [vm(external_name(f"vm-{number}", f"u-{number}", TAG)) for number in range(50)]
    it.account()
    for told in (REPORTED_PER_SCAN, 2 * REPORTED_PER_SCAN, 50, 50):
        await it.orphans.scan()
        assert (len(it.told), it.gauge()) == (told, 50)


# --- the whole engine: abandonment seen, and collected


class Whole:
    """An engine that has bought or found a VM for each of these objects."""

    def __init__(self, cloud, kube, *names, **settings):
        self.cloud, self.kube, self.names = cloud, kube, names
        chosen = {"orphan_scan_seconds": 100.0, "orphan_age_seconds": 1000.0, "collect_orphans": True} | settings
        given = {"endpoint": (f"prod={URL}",), "install_tag": TAG, "workers": 4, "credentials": Credentials(api_key=KEY)}
        self.engine = Engine(Settings(**given | chosen), lambda: None, LoopClock(), at(kube))
        kube.known = {"gpuvms": {f"u-{name}" for name in names}}
        cloud.world(KEY, GetServers=[vm(self.thing(name)) for name in names], GetConfigurations=PRICES)

    @staticmethod
    def thing(name):
        return external_name(name, f"u-{name}", TAG)

    def show(self, name, event="ADDED", meta=None, **spec):
        self.kube.version += 1
        order = an_order(self.thing(name)).model_dump(mode="json", by_alias=True)
        status = {"vmId": self.thing(name), "order": order, "observedGeneration": 1, "tenancy": "acme"}
        body = a_resource("GpuVM", name, uid=f"u-{name}", version=self.kube.version, status=status, meta=meta or {}, spec=spec)
        self.kube.bodies[f"u-{name}"] = body
        self.engine.observe("GpuVM", event, body)

    async def start(self):
        await self.engine.start()
        for name in self.names:
            self.show(name)
        await asyncio.sleep(20)

    def strip(self, *names, **spec):
        """Deleted, and its finalizer taken off by force: the last view still bears it."""
        for name in names:
            self.kube.known["gpuvms"].discard(f"u-{name}")
            self.show(name, "DELETED", GOING, **spec)

    @property
    def destroyed(self):
        return [call["Id"] for _, _, call in self.cloud.asked("DestroyServer")]


@pytest.fixture
async def whole(cloud):
    made = []

    async def make(*names, **settings):
        made.append(Whole(cloud, FakeKube(), *names, **settings))
        await made[-1].start()
        return made[-1]

    yield make
    for item in made:
        await item.engine.stop(1.0)


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
        it.engine.observe(
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
    it.engine.observe("GpuCloudAccount", "ADDED", account)
    it.engine.observe("GpuCloudAccount", "DELETED", account)
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
            it.engine.observe("GpuVM", "ADDED", a_resource("GpuVM", "train", uid="u-again"))
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
async def test_a_doubt_keeps_it(whole, how):
    it = await whole("train", "other")
    reconciler = it.engine._cloud_reconcilers[0]
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
        it.engine.observe("GpuVM", "ADDED", body)
    await asyncio.sleep(5000)
    assert it.destroyed == []


@pytest.mark.parametrize("seen", ["all at once", "one after the other"])
async def test_the_brake_holds_for_the_collector_too(whole, seen):
    """A script deletes and strips four: more than the brake lets pass, and nobody has said that it was meant."""
    names = [f"vm-{number}" for number in range(40)]
    it = await whole(*names, brake_vms=1)
    for name in names[:4]:
        it.show(name, "MODIFIED", GOING)
        if seen == "one after the other":
            it.strip(name)
    if seen == "all at once":
        it.strip(*names[:4])
    await asyncio.sleep(5000)
    assert len(set(it.destroyed)) <= 1, "no more than pass the brake"


async def test_below_the_brake_the_collector_collects(whole):
    it = await whole("train", "other", brake_vms=1)
    it.show("train", "MODIFIED", GOING)
    it.strip("train")
    await asyncio.sleep(5000)
    assert set(it.destroyed) == {it.thing("train")}


async def test_what_is_seen_now_and_then_only_stays(whole):
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


async def test_some_namespaces_without_an_own_tag_are_not_looked_at(cloud, logs):
    cloud.world(KEY, GetServers=[vm()])
    settings = Settings(endpoint=(f"prod={URL}",), namespace=("team",), credentials=Credentials(api_key=KEY), workers=1)
    engine = Engine(settings, lambda: None, LoopClock(), at(FakeKube()))
    await engine.start()
    await asyncio.sleep(2000)
    assert not cloud.asked("GetServers")
    assert any("--install-tag" in line["event"] for line in logs)
    await engine.stop(1.0)
