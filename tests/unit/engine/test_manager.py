"""The engine as a whole, between a fake apiserver and a fake cloud: who is watched, woken, followed and left alone."""

import asyncio

import pytest

from gpucloud.engine.cloud.account_session import EVIDENCE_SECONDS
from gpucloud.engine.cloud.configuration import credential
from gpucloud.engine.cloud.operator_account import INTERVAL_SECONDS as CREDENTIALS_SECONDS
from gpucloud.engine.manager.manager import Engine
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.reconcile.naming import external_name
from gpucloud.settings import Credentials, Settings, SettingsError
from support.builders import TAG, an_order
from support.fakes import GOING, SECRET_WORDS, FakeKube, LoopClock, a_resource, a_secret, at
from support.graph import mentions

pytestmark = pytest.mark.looptime
OWN, KEY = "own-made-up-key", "made-up-key"
URLS = ("prod=https://prod.example", "staging=https://staging.example")
PLURALS = {"GpuVM": "gpuvms", "GpuVpc": "gpuvpcs", "GpuSnapshot": "gpusnapshots", "GpuCloudAccount": "gpucloudaccounts"}
OURS = external_name("train", "u-train", TAG)


def vm(name, vpc="acme", **more):
    return {"id": name, "namespace": vpc, "cluster": "Msc1", "tenancy_name": "acme", "status": "ONLINE"} | more


class Rig:
    def __init__(self, cloud, **settings):
        self.cloud, self.kube, self.clock = cloud, FakeKube(), LoopClock()
        given = {"endpoint": URLS, "install_tag": TAG, "workers": 4, "credentials": Credentials(api_key=OWN)} | settings
        self.engine = Engine(Settings(**given), lambda: None, self.clock, at(self.kube))
        self.uids = {plural: set() for plural in PLURALS.values()}
        self.kube.known = self.uids
        self.kube.release = self.release

    def show(self, kind, name="train", event="ADDED", **more):
        """One event of the watch."""
        self.kube.version += 1
        uid = more.pop("uid", f"u-{name}")
        body = self.kube.bodies[uid] = a_resource(kind, name, uid=uid, version=self.kube.version, **more)
        self.uids[PLURALS[kind]].add(uid)
        self.engine.observe(kind, event, body)

    async def release(self, plural, owner):
        """Nobody else holds it: the watch tells at once that it is gone."""
        self.kube.released.append(owner["uid"])
        kind = next(kind for kind, name in PLURALS.items() if name == plural)
        self.engine.observe(kind, "DELETED", self.kube.bodies[owner["uid"]])

    def status(self, name="train"):
        return self.kube.bodies[f"u-{name}"].get("status", {})

    def ready(self, name="train"):
        return next((it["reason"] for it in self.status(name).get("conditions", ()) if it["type"] == "Ready"), None)

    def passes(self, kind):
        totals = [
            self.engine.metrics.registry.get_sample_value(
                "controller_runtime_reconcile_total", {"controller": kind, "result": result}
            )
            or 0
            for result in ("success", "requeue", "error")
        ]
        return sum(totals)


@pytest.fixture
async def rig(cloud):
    made = []
    cloud.world(OWN, GetVpcs=[{"id": "7", "name": "acme", "cluster": "Msc1", "tenancyName": "acme"}])
    cloud.world(KEY, GetVpcs=[{"id": "8", "name": "acme", "cluster": "Msc1", "tenancyName": "acme"}])

    async def make(known=(), **settings):
        made.append(Rig(cloud, **settings))
        made[-1].uids.update(known)
        await made[-1].engine.start()
        return made[-1]

    yield make
    for item in made:
        await item.engine.stop(1.0)


async def test_every_kind_is_taken_to_its_own_verdict(rig):
    it = await rig()
    it.kube.secrets["team", "key"] = a_secret(apikey=KEY)
    it.show("GpuVM")
    it.show("GpuVpc", "net")
    it.show("GpuSnapshot", "copy")
    it.show("GpuCloudAccount", "prod")
    await asyncio.sleep(10)
    assert [it.ready(name) for name in ("train", "net", "copy", "prod")] == [
        "Creating",
        "Creating",
        "DependencyNotReady",
        "Connected",
    ]
    assert {operation for _, operation, _ in it.cloud.calls} >= {"CreateServer", "CreateVpc"}
    assert it.cloud.asked("CreateSnapshot") == []


async def test_nothing_is_ordered_before_every_object_of_every_kind_is_known(rig):
    it = await rig({"gpuvpcs": {"u-net"}})
    it.show("GpuVM")
    await asyncio.sleep(30)
    assert (it.engine.synced, it.cloud.asked("CreateServer")) == (False, [])
    assert it.passes("GpuVM") < 60, "waiting is no work"
    it.show("GpuVpc", "net")
    await asyncio.sleep(10)
    assert it.engine.synced
    assert len(it.cloud.asked("CreateServer")) == 1


async def test_an_object_is_not_looked_at_before_it_shows_our_finalizer(rig):
    it = await rig()
    await asyncio.sleep(5)
    it.show("GpuVM", meta={"finalizers": []})
    await asyncio.sleep(1)
    looks = {"controller": "GpuVM", "result": "unchanged"}
    assert it.engine.metrics.registry.get_sample_value("controller_runtime_reconcile_total", looks) == 0
    assert it.cloud.asked("GetServers"), "the listing that its creation needs is made meanwhile"
    it.show("GpuVM", event="MODIFIED")
    await asyncio.sleep(1)
    assert it.ready() == "Creating"


async def test_stop_leaves_no_task(cloud):
    cloud.world(OWN)
    it = Rig(cloud)
    await it.engine.start()
    it.show("GpuVM")
    await asyncio.sleep(3)
    await it.engine.stop(1.0)
    await asyncio.sleep(0)
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


# --- what the watch did not see


async def test_what_vanished_unseen_is_forgotten(rig):
    """The watch lists anew after a long break, and a list says nothing of what is not in it."""
    it = await rig()
    for name in ("first", "second"):
        it.show("GpuVM", name, spec={"vmName": "shared"})
    await asyncio.sleep(20)
    assert it.ready("second") == "Conflict"
    it.uids["gpuvms"].remove("u-first")
    it.engine.observe("GpuVM", None, it.kube.bodies["u-second"])
    await asyncio.sleep(10)
    assert it.ready("second") != "Conflict", "nobody else claims the name any more"


async def test_a_watch_that_does_not_bring_what_lists_show_is_noticed_and_forgiven(rig):
    it = await rig()
    it.show("GpuVM")
    await asyncio.sleep(10)
    it.uids["gpuvms"].add("u-unseen")
    it.engine.observe("GpuVM", None, it.kube.bodies["u-train"])  # a new list: the roll is called
    await asyncio.sleep(5)
    assert it.engine.staleness.stuck()[0] == "GpuVM"
    value = it.engine.metrics.registry.get_sample_value
    ages = {kind: value("gpucloud_watch_age_seconds", {"kind": kind}) for kind in PLURALS}
    assert [kind for kind, age in ages.items() if age > 10] == ["GpuVM"]
    it.show("GpuVM", "unseen")
    assert it.engine.staleness.stuck()[0] == ""


async def test_how_long_objects_wait_is_told_until_they_wait_no_more(rig):
    it = await rig()
    value = it.engine.metrics.registry.get_sample_value
    wait = "operator_gpusnapshot_status_condition_current_status_seconds"
    going = "operator_gpusnapshot_termination_current_time_seconds"
    said = {"type": "Reconciling", "status": "True", "reason": "DependencyNotReady"}
    it.show("GpuSnapshot")
    await asyncio.sleep(10)
    it.show("GpuSnapshot", event="MODIFIED", status=it.status())
    await asyncio.sleep(7200)
    assert 7200 <= value(wait, said) <= 7210
    assert value(going, {"type": "Reconciling", "reason": "DependencyNotReady"}) is None, "nothing goes"
    asked = {"deletionTimestamp": it.clock.wall().isoformat(), "annotations": {"gpucloud.dev/paused": "true"}}
    it.show("GpuSnapshot", event="MODIFIED", status=it.status(), meta=asked)
    await asyncio.sleep(10)
    it.show("GpuSnapshot", event="MODIFIED", status=it.status(), meta=asked)
    await asyncio.sleep(3600)
    assert value(wait, said) is None
    assert 3600 <= value(going, {"type": "Stalled", "reason": "DeletionBlocked"}) <= 3620
    it.show("GpuSnapshot", event="MODIFIED", status=it.status(), meta=asked | {"finalizers": ["example.com/other"]})
    assert value(going, {"type": "Stalled", "reason": "DeletionBlocked"}) is None, "it waits for somebody else"


@pytest.mark.parametrize(
    ("later", "known", "why"),
    [(1.0, False, "an event that its last one overtook"), (90.0, True, "etcd was restored, and it is back")],
)
async def test_what_is_gone_is_not_brought_back_by_a_late_event(rig, later, known, why):
    it = await rig()
    it.show("GpuVM")
    await asyncio.sleep(10)
    it.engine.observe("GpuVM", "DELETED", it.kube.bodies["u-train"])
    await asyncio.sleep(later)
    it.show("GpuVM", event="MODIFIED")
    await asyncio.sleep(20)
    assert (it.ready() is not None) is known, why


# --- many eyes, one pace


async def test_one_eye_that_is_slow_makes_no_object_run_in_circles(rig):
    """The VMs of the cluster have been listed, its snapshots not yet: each pass used to wake the object again at once."""
    it = await rig()
    source = {"vmId": OURS, "order": an_order(OURS).model_dump(mode="json", by_alias=True), "observedGeneration": 1}
    it.cloud.worlds[OWN]["GetServers"] = [vm(OURS)]
    it.show("GpuVM", status=source)
    await asyncio.sleep(5)
    it.cloud.takes["GetSnapshots"] = 8.0
    it.show("GpuSnapshot", "copy")
    await asyncio.sleep(60)
    assert it.passes("GpuSnapshot") < 60


async def test_a_vpc_that_goes_takes_few_passes_whatever_its_eyes_do(rig):
    it = await rig()
    order = an_order("acme-train", vpc="acme-train", cloud_id="9").model_dump(mode="json", by_alias=True)
    it.cloud.worlds[OWN]["GetVpcs"] = [{"id": "9", "name": "acme-train", "cluster": "Msc1", "tenancyName": "acme"}]
    it.cloud.takes["GetSnapshots"] = 5.0
    it.show("GpuVpc", "net", status={"vpcId": "9", "order": order, "account": OWN_ACCOUNT}, meta=GOING)
    await asyncio.sleep(20)
    ((_, _, where),) = it.cloud.asked("DestroyVpc")
    assert where == {"Id": "9", "Cluster": "Msc1"}
    it.cloud.worlds[OWN]["GetVpcs"] = []
    await asyncio.sleep(30)
    assert it.kube.released == ["u-net"]
    assert it.passes("GpuVpc") < 100


# --- the operator's own account


async def test_without_an_account_of_its_own_the_operator_waits_for_others(rig):
    it = await rig(credentials=Credentials())
    it.show("GpuVM")
    await asyncio.sleep(10)
    assert (it.ready(), it.cloud.calls) == ("NoAccount", [])
    it.kube.secrets["team", "key"] = a_secret(apikey=KEY)
    it.show("GpuCloudAccount", "default")
    await asyncio.sleep(10)
    assert it.ready() == "Creating"
    assert {key for key, _, _ in it.cloud.calls} == {KEY}
    assert it.status()["account"] == "default"


async def test_a_namespace_that_the_own_account_does_not_serve_gets_none(rig):
    it = await rig(own_account_namespace=("others",))
    it.show("GpuVM", status={"account": OWN_ACCOUNT})
    await asyncio.sleep(10)
    assert it.ready() == "NoAccount"
    assert it.cloud.asked("CreateServer") == []


@pytest.fixture
def key_file(tmp_path, monkeypatch):
    path = tmp_path / "key"
    path.write_text(OWN)
    monkeypatch.setenv("GPUCLOUD_API_KEY_FILE", str(path))
    return path


async def test_a_rotated_file_is_taken_up_without_a_restart(rig, key_file):
    it = await rig()
    it.show("GpuVM", meta={"finalizers": []})
    await asyncio.sleep(5)
    before = it.engine.accounts.own.session
    key_file.write_text(KEY)
    await asyncio.sleep(CREDENTIALS_SECONDS + 1)
    after = it.engine.accounts.own.session
    assert after is not before
    assert (set(before.vms._watched), set(after.vms._watched)) == (set(), {"u-train"})
    asked = len(it.cloud.asked("GetServers", OWN))
    await asyncio.sleep(600)
    assert len(it.cloud.asked("GetServers", OWN)) == asked
    assert it.cloud.asked("GetServers", KEY)


@pytest.mark.parametrize("content", ["", "two words", b"\xff\xfe", None])
async def test_a_file_that_cannot_be_used_leaves_the_last_credential_and_the_next_is_taken_up(rig, key_file, logs, content):
    it = await rig()
    before = it.engine.accounts.own.session
    if content is None:
        key_file.unlink()
    elif isinstance(content, bytes):
        key_file.write_bytes(content)
    else:
        key_file.write_text(content)
    await asyncio.sleep(3 * CREDENTIALS_SECONDS)
    assert it.engine.accounts.own.session is before
    assert "two words" not in repr(logs)
    key_file.write_text(KEY)
    await asyncio.sleep(CREDENTIALS_SECONDS + 1)
    assert it.engine.accounts.own.session is not before


async def test_an_own_account_may_come_later(rig, key_file):
    key_file.write_text("")
    it = await rig(credentials=Credentials())
    it.show("GpuVM")
    await asyncio.sleep(5)
    assert it.ready() == "NoAccount"
    key_file.write_text(OWN)
    await asyncio.sleep(CREDENTIALS_SECONDS + 10)
    assert it.ready() == "Creating"


@pytest.mark.parametrize(
    ("found", "words"),
    [(Credentials(api_key=f"two {SECRET_WORDS}"), "GPUCLOUD_API_KEY"), (Credentials(api_key="gehëim"), "GPUCLOUD_API_KEY")],
)
def test_an_own_key_that_cannot_be_sent_is_refused_without_being_told(found, words):
    with pytest.raises(SettingsError) as caught:
        credential(found)
    assert words in str(caught.value)
    assert SECRET_WORDS not in str(caught.value)


# --- accounts and their objects


async def test_a_rotated_secret_moves_its_objects(rig):
    it = await rig(credentials=Credentials())
    it.cloud.world("second", GetVpcs=[{"id": "8", "name": "acme", "tenancyName": "acme"}])
    it.kube.secrets["team", "key"] = a_secret(apikey=KEY)
    it.show("GpuCloudAccount", "default")
    it.cloud.worlds[KEY]["GetServers"] = it.cloud.worlds["second"]["GetServers"] = [vm(OURS)]
    it.show("GpuVM", status={"vmId": OURS, "order": an_order(OURS).model_dump(mode="json", by_alias=True)})
    await asyncio.sleep(10)
    assert it.ready() == "Running"
    it.kube.secrets["team", "key"] = a_secret(apikey="second", version="2")
    await asyncio.sleep(120)
    asked = len(it.cloud.asked("GetServers", KEY))
    await asyncio.sleep(600)
    assert it.ready() == "Running"
    assert len(it.cloud.asked("GetServers", KEY)) == asked
    assert it.cloud.asked("GetServers", "second")


async def test_another_tenants_valid_key_destroys_creates_and_forgets_nothing(rig):
    """The dearest mistake: with it everything of ours looks gone."""
    it = await rig(credentials=Credentials())
    it.cloud.world("theirs", GetVpcs=[{"id": "1", "name": "other", "tenancyName": "other"}])
    it.kube.secrets["team", "key"] = a_secret(apikey=KEY)
    it.show("GpuCloudAccount", "default")
    it.cloud.worlds[KEY]["GetServers"] = [vm(OURS), vm(external_name("going", "u-going", TAG))]
    for name in ("train", "going"):
        known = external_name(name, f"u-{name}", TAG)
        it.show("GpuVM", name, status={"vmId": known, "order": an_order(known).model_dump(mode="json", by_alias=True)})
    await asyncio.sleep(10)
    it.kube.secrets["team", "key"] = a_secret(apikey="theirs", version="2")
    await asyncio.sleep(60)
    it.show("GpuVM", "going", event="MODIFIED", status=it.status("going"), meta=GOING)
    await asyncio.sleep(3600)
    mutations = {operation for key, operation, _ in it.cloud.calls if key == "theirs" and not operation.startswith("Get")}
    assert (mutations, it.kube.released) == (set(), [])
    assert it.ready() == "TenantMismatch"
    assert it.ready("going") == "DeletionBlocked"


async def test_a_deletion_ends_though_the_cloud_was_down_when_the_operator_began(rig):
    """The evidence of the tenant fails at first; nobody wakes the object later but the evidence itself."""
    cloud_is_down = ("GetVpcs", "GetServers", "GetSnapshots", "GetAll")
    it = await rig(credentials=Credentials())
    for operation in cloud_is_down:
        it.cloud.refuse(operation, 503)
    it.kube.secrets["team", "key"] = a_secret(apikey=KEY)
    it.show("GpuCloudAccount", "default")
    known = {"vmId": OURS, "order": an_order(OURS).model_dump(mode="json", by_alias=True), "tenancy": "acme"}
    it.show("GpuVM", status=known | {"account": "default"}, meta=GOING)
    await asyncio.sleep(20)
    it.cloud.heal()
    it.cloud.refuse("DestroyServer", 404)
    await asyncio.sleep(EVIDENCE_SECONDS + 180)
    assert it.kube.released == ["u-train"]


async def test_two_accounts_of_one_credential_share_its_listings(rig):
    it = await rig(credentials=Credentials())
    names = {space: external_name(f"vm-{space}", f"u-vm-{space}", TAG) for space in ("team", "others")}
    it.cloud.worlds[KEY]["GetServers"] = [vm(name) for name in names.values()]
    for space, name in names.items():
        it.kube.secrets[space, "key"] = a_secret(apikey=KEY)
        it.show("GpuCloudAccount", "shared", uid=f"u-{space}", meta={"namespace": space})
        known = {"vmId": name, "order": an_order(name).model_dump(mode="json", by_alias=True)}
        it.show("GpuVM", f"vm-{space}", spec={"accountRef": {"name": "shared"}}, status=known, meta={"namespace": space})
    await asyncio.sleep(60)
    assert [it.ready(f"vm-{space}") for space in names] == ["Running", "Running"]
    before = len([where for _, _, where in it.cloud.asked("GetServers") if where])
    await asyncio.sleep(600)
    assert len([where for _, _, where in it.cloud.asked("GetServers") if where]) - before in {10, 11}


# --- secrets


async def test_no_secret_is_told_by_the_whole_engine(rig, logs, caplog):
    it = await rig(credentials=Credentials(api_key=SECRET_WORDS))
    for kind, name in (("GpuVM", "train"), ("GpuVpc", "net"), ("GpuCloudAccount", "prod")):
        it.show(kind, name)
    it.kube.secrets["team", "key"] = a_secret(username="ann", password=SECRET_WORDS)
    for status in (401, 403, 500):
        for operation in ("GetServers", "GetVpcs", "GetAll", "Authenticate", "GetConfigurations"):
            it.cloud.refuse(operation, status)
        await asyncio.sleep(120)
    told = repr(logs) + caplog.text + repr(it.kube.statuses) + repr(it.kube.events) + repr(it.kube.bodies)
    assert it.kube.events
    assert SECRET_WORDS not in told


async def test_nothing_is_kept_of_objects_that_are_gone_but_their_tombstones(rig):
    """A cancelled wake-up stays in the heap until its time comes."""
    it = await rig(brake_vms=5)
    it.kube.secrets["team", "key"] = a_secret(apikey=KEY)
    shown = {"prod": "GpuCloudAccount", "net": "GpuVpc", "train": "GpuVM", "copy": "GpuSnapshot"}
    for name, kind in shown.items():
        it.show(kind, name)
    await asyncio.sleep(30)
    it.show("GpuVM", meta=GOING)
    await asyncio.sleep(30)
    assert len(mentions(it.engine, "u-train")) > 10
    for name, kind in shown.items():
        it.engine.observe(kind, "DELETED", it.kube.bodies[f"u-{name}"])
    await asyncio.sleep(120)
    kept = {path for name in shown for path in mentions(it.engine, f"u-{name}")}
    assert [path for path in kept if "_tombstones" not in path and "queue._heap" not in path] == []
    assert len(it.engine.entries) == 0
