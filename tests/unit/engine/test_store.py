"""What is kept of an object, and which views of it are newer."""

import pytest

from gpucloud.engine.cache.store import Store
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
from gpucloud.reconcile.naming import external_name
from support.builders import TAG, an_order
from support.fakes import UID, a_body


@pytest.fixture
def store():
    return Store(GpuVMSpec, GpuVMStatus)


def test_the_first_view_is_a_change(store):
    assert store.put(a_body())
    assert store.get(UID).spec.cluster == "Msc1"
    assert len(store) == 1


def test_the_names_of_a_namespace_are_those_of_what_is_there(store):
    store.put(a_body())
    assert (set(store.names("team")), set(store.names("others"))) == ({"train"}, set())
    store.drop(UID)
    assert set(store.names("team")) == set()


@pytest.mark.parametrize("version", [1, 4, 5])
def test_an_older_or_equal_view_is_ignored(store, version):
    store.put(a_body(version=5))
    assert not store.put(a_body(version=version, meta={"deletionTimestamp": "2026-01-01T00:00:00Z"}))
    assert not store.get(UID).meta.deleting


def test_versions_are_numbers_not_texts(store):
    store.put(a_body(version=9))
    assert store.put(a_body(version=10, spec={"powerState": "Stopped"}))
    assert store.get(UID).version == 10


@pytest.mark.parametrize(
    ("change", "matters"),
    [
        ({"spec": {"powerState": "Stopped"}}, True),
        ({"status": {"vmId": "edited"}}, True),  # edited by somebody: to be put right
        ({"meta": {"annotations": {"gpucloud.dev/paused": "true"}}}, True),
        ({"meta": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}}}, False),
        ({"meta": {"labels": {"team": "a"}}}, False),
        ({"meta": {"managedFields": [{"manager": "x"}]}}, False),
        ({"meta": {"generation": 2}}, True),
        ({"meta": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, True),
        ({"meta": {"finalizers": []}}, True),
        ({"meta": {"finalizers": ["gpucloud.dev/finalizer", "other.example/finalizer"]}}, False),
    ],
)
def test_what_a_decision_depends_on_is_a_change(store, change, matters):
    store.put(a_body())
    assert store.put(a_body(version=2, **change)) is matters
    assert store.get(UID).version == 2, "the version is taken in any case: writes need it"


def ordered(tenancy, state, record="a-1"):
    name = external_name("train", UID, TAG)
    order = an_order(name, state, id=record).model_dump(mode="json", by_alias=True)
    return {"order": order} | ({} if tenancy is None else {"tenancy": tenancy})


@pytest.mark.parametrize(
    ("status", "tenancy", "why"),
    [
        (ordered("globex", OrderState.SEEN), "acme", "somebody edited it"),
        (ordered(None, OrderState.SEEN), "acme", "somebody removed it"),
        ({}, "acme", "somebody removed the whole status"),
        (ordered("globex", OrderState.REFUSED), "acme", "a refused order brings none"),
        (ordered(None, OrderState.REFUSED), None, "the order made nothing"),
        (ordered("globex", OrderState.INTENDED, "a-2"), "globex", "a new order brings its own, whichever process recorded it"),
    ],
)
def test_a_tenant_changes_with_the_order_only(status, tenancy, why):
    store = Store(GpuVMSpec, GpuVMStatus, ("account", "tenancy"))
    store.put(a_body(status=ordered("acme", OrderState.INTENDED)))
    store.put(a_body(version=2, status=status))
    assert (store.get(UID).status.tenancy, store.get(UID).amended) == (tenancy, tenancy == "acme"), why


def test_the_tenant_of_what_stands_is_not_changed_by_a_forged_order():
    store = Store(GpuVMSpec, GpuVMStatus, ("account", "tenancy"))
    store.put(a_body(status=ordered("acme", OrderState.SEEN)))
    store.put(a_body(version=2, status=ordered("globex", OrderState.REFUSED, "a-2")))
    assert (store.get(UID).status.tenancy, store.get(UID).amended) == ("acme", True)


def test_a_late_view_of_one_that_is_gone_takes_no_name_from_the_living(store):
    store.put(a_body(uid="old", version=1))
    store.put(a_body(uid="new", version=5))
    store.put(a_body(uid="old", version=2))
    assert store.named("team", "train").meta.uid == "new"
    store.drop("old")
    assert store.named("team", "train").meta.uid == "new"


def test_the_finalizers_of_others_are_kept_for_the_write(store):
    store.put(a_body(meta={"finalizers": ["gpucloud.dev/finalizer", "other.example/finalizer"]}))
    assert store.get(UID).raw_meta["finalizers"] == ["gpucloud.dev/finalizer", "other.example/finalizer"]
    assert store.get(UID).meta.has_finalizer


@pytest.mark.parametrize(
    "meta", [{"finalizers": []}, {"finalizers": ["other.example/finalizer"]}, {"finalizers": ["gpucloud.dev/kopf"]}]
)
def test_guarded_means_our_finalizer(store, meta):
    store.put(a_body(meta=meta))
    assert not store.get(UID).meta.has_finalizer


def test_a_spec_that_cannot_be_read_says_where(store):
    store.put(a_body(spec={"powerState": "Sleeping"}))
    stored = store.get(UID)
    assert stored.spec is None
    assert "spec.powerState" in stored.flaw


def test_the_flaw_does_not_repeat_what_was_written(store):
    store.put(a_body(spec={"sshKeys": ["canary" * 2000]}))
    assert store.get(UID).spec is None
    assert "canary" not in store.get(UID).flaw


@pytest.mark.parametrize("status", [{"conditions": "rubbish"}, {"observedGeneration": "x"}, None])
def test_a_status_edited_beyond_recognition_is_as_none(store, status):
    store.put(a_body(status=status))
    assert store.get(UID).status == GpuVMStatus()


def test_heavy_metadata_is_not_kept(store):
    store.put(
        a_body(meta={"managedFields": [{}], "labels": {}, "annotations": {"x": "y" * 10000, "gpucloud.dev/paused": "true"}})
    )
    stored = store.get(UID)
    assert not {"managedFields", "labels", "annotations"} & set(stored.raw_meta)
    assert dict(stored.meta.annotations) == {"gpucloud.dev/paused": "true"}


def test_known_and_dropped(store):
    store.put(a_body())
    assert store.lacks({UID}) == 0
    assert store.lacks({UID, "another"}) == 1
    store.drop(UID)
    store.drop(UID)
    assert store.get(UID) is None
    assert list(store) == []


def test_the_answer_to_a_write_is_taken_without_parsing_it_again(store):
    store.put(a_body())
    before = store.get(UID)
    status = before.status.model_copy(update={"vm_id": "vm-1"})
    document = status.model_dump(mode="json", by_alias=True, exclude_none=True)
    shown = store.put_written(before, a_body(version=2, status=document), document, status)
    assert shown.status is status, "it stands as it was sent"
    assert (store.get(UID).version, store.get(UID).spec) == (2, before.spec)
    assert not store.put(a_body(version=2, status=document)), "its echo is no news"


def test_what_the_apiserver_made_of_a_write_is_read_from_its_answer(store):
    store.put(a_body())
    before = store.get(UID)
    status = before.status.model_copy(update={"vm_id": "vm-1"})
    shown = store.put_written(before, a_body(version=2, status={"vmId": "changed"}), {"vmId": "vm-1"}, status)
    assert shown.status.vm_id == store.get(UID).status.vm_id == "changed"


def test_an_answer_with_other_metadata_shows_another_spec_too(store):
    """Simulated world, seed 900633: after a restore of etcd a version was given twice, so the apiserver took the write."""
    store.put(a_body())
    before, document = store.get(UID), {"vmId": "vm-1"}
    status = before.status.model_copy(update={"vm_id": "vm-1"})
    edited = a_body(version=2, status=document, spec={"powerState": "Stopped"}, meta={"generation": 2})
    assert store.put_written(before, edited, document, status).spec == store.get(UID).spec
    assert store.get(UID).spec.power_state == "Stopped"


def test_an_answer_that_the_watch_has_overtaken_is_judged_and_not_kept(store):
    store.put(a_body())
    before = store.get(UID)
    store.put(a_body(version=3, spec={"powerState": "Stopped"}))
    status = before.status.model_copy(update={"vm_id": "vm-1"})
    assert store.put_written(before, a_body(version=2, status={"vmId": "vm-1"}), {"vmId": "vm-1"}, status).status is status
    assert store.get(UID).version == 3
