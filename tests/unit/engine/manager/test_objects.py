"""The whole engine: what the watch brings and does not bring, and how often objects are reconciled."""

import asyncio

import pytest

from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.settings import Credentials
from support.builders import an_order
from support.enginerig import KEY, OURS, OWN, PLURALS, Rig, vm
from support.fakes import GOING, SECRET_WORDS, a_secret
from support.graph import mentions

pytestmark = pytest.mark.looptime


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


async def test_a_new_object_is_given_our_finalizer_and_is_looked_at_when_its_listing_has_come(rig):
    it = await rig()
    await asyncio.sleep(5)
    it.show("GpuVM", meta={"finalizers": []})
    await asyncio.sleep(2)
    looks = {"controller": "gpuvm", "result": "unchanged"}
    assert it.kube.guarded != []
    assert it.engine.metrics.registry.get_sample_value("controller_runtime_reconcile_total", looks) == 0
    assert it.ready() == "Creating"


async def test_a_first_status_does_not_wait_until_all_later_objects_have_their_finalizer(rig):
    it, many = await rig(cloud_qps=1e6, cloud_burst=10**6), 500
    await asyncio.sleep(5)
    for number in range(many):  # as fast as the workers that one cluster may have can add finalizers, if they do nothing else
        it.show("GpuVM", f"vm-{number}", meta={"finalizers": []})
        await asyncio.sleep(0.005)
    told = sum(it.ready(f"vm-{number}") is not None for number in range(many))
    assert told > many / 4


@pytest.mark.parametrize("kind", ["GpuVM", "GpuVpc", "GpuSnapshot", "GpuCloudAccount", "GpuHost"])
async def test_every_kind_whose_end_has_work_is_given_our_finalizer(rig, kind):
    it = await rig()
    it.show(kind, meta={"finalizers": []}, spec={"cluster": None} if kind == "GpuVM" else {})
    await asyncio.sleep(5)
    assert it.kube.guarded == ([] if kind == "GpuHost" else it.kube.guarded[:1])
    assert bool(it.kube.guarded) is (kind != "GpuHost"), "nothing is destroyed with a GpuHost"


async def test_stop_leaves_no_task(cloud):
    cloud.world(OWN)
    it = Rig(cloud)
    await it.engine.start()
    it.show("GpuVM")
    await asyncio.sleep(3)
    await it.engine.stop(1.0)
    await asyncio.sleep(0)
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_what_vanished_unseen_is_forgotten(rig):
    """The watch lists anew after a long break, and a list says nothing of what is not in it."""
    it = await rig()
    for name in ("first", "second"):
        it.show("GpuVM", name, spec={"vmName": "shared"})
    await asyncio.sleep(20)
    assert it.ready("second") == "Conflict"
    it.uids["gpuvms"].remove("u-first")
    it.engine.on_event("GpuVM", None, it.kube.bodies["u-second"])
    await asyncio.sleep(10)
    assert it.ready("second") != "Conflict", "nobody else claims the name any more"


async def test_a_watch_that_does_not_bring_what_lists_show_is_noticed_and_forgiven(rig):
    it = await rig()
    it.show("GpuVM")
    await asyncio.sleep(10)
    it.uids["gpuvms"].add("u-unseen")
    it.engine.on_event("GpuVM", None, it.kube.bodies["u-train"])  # a new list: the roll is called
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
    it.engine.on_event("GpuVM", "DELETED", it.kube.bodies["u-train"])
    await asyncio.sleep(later)
    it.show("GpuVM", event="MODIFIED")
    await asyncio.sleep(20)
    assert (it.ready() is not None) is known, why


async def test_one_slow_listing_makes_no_object_reconcile_in_circles(rig):
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


async def test_a_vpc_that_is_deleted_takes_few_passes_however_slow_a_listing_is(rig):
    it = await rig()
    order = an_order("acme-train", vpc="acme-train", cloud_id="9").model_dump(mode="json", by_alias=True)
    it.cloud.worlds[OWN]["GetVpcs"] = [{"id": "9", "name": "acme-train", "cluster": "Msc1", "tenancyName": "acme"}]
    it.cloud.takes["GetSnapshots"] = 5.0
    it.show("GpuVpc", "net", status={"vpcId": "9", "order": order, "account": OWN_ACCOUNT}, meta=GOING)
    await asyncio.sleep(30)
    ((_, _, where),) = it.cloud.asked("DestroyVpc")
    assert where == {"Id": "9", "Cluster": "Msc1"}
    it.cloud.worlds[OWN]["GetVpcs"] = []
    await asyncio.sleep(30)
    assert it.kube.released == ["u-net"]
    assert it.passes("GpuVpc") < 100


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
        it.engine.on_event(kind, "DELETED", it.kube.bodies[f"u-{name}"])
    await asyncio.sleep(120)
    kept = {path for name in shown for path in mentions(it.engine, f"u-{name}")}
    assert [path for path in kept if "_tombstones" not in path and "queue._heap" not in path] == []
    assert len(it.engine.entries) == 0
