"""The calls of a GpuHost, the cloud-init in them, and what must be true in the instant of sending."""

import base64
import json

import pytest

from gpucloud.cloud.models import HostRecord, Listing
from gpucloud.engine.cache.claims import Claim
from gpucloud.engine.cache.store import Store
from gpucloud.engine.cloud import listings
from gpucloud.engine.kinds.gpuhost import DECLARATION, cloud_init
from gpucloud.engine.kinds.gpuhost.reconciler import is_seen
from gpucloud.engine.kinds.gpuhost.sending import EVENTS, preconditions, request_of
from gpucloud.engine.kinds.ownership import Ownership
from gpucloud.kinds.gpuhost import SecretKey
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile.facts import ResourceOwner, Verb
from gpucloud.reconcile.gpuhost import CloudInit, identity
from gpucloud.reconcile.plan import Plan
from support.fakes import FakeKube, a_resource
from support.hostfacts import RECENTLY, a_host_spec, host_facts

CANARY = "canary: made-up"
SOURCE = SecretKey(name="init", key="user-data")
URLS = {"imageUrl": "https://images.example/a?sig=1", "imageChecksumUrl": "https://images.example/a.sha256"}


def encoded(text):
    return base64.b64encode(text.encode()).decode()


async def read(data):
    kube = FakeKube()
    kube.objects = {} if data is None else {("secrets", "team", "init"): data}
    return await cloud_init.read(kube, "team", SOURCE)


async def test_a_cloud_init_is_encoded_for_the_wire_and_its_repr_hides_it():
    found = await read({"user-data": encoded(CANARY)})
    assert (base64.b64decode(found.encoded), found.trouble) == (CANARY.encode(), None)
    assert found.encoded not in repr(found)


async def test_the_largest_cloud_init_is_taken():
    assert (await read({"user-data": encoded("x" * 65536)})).trouble is None


@pytest.mark.parametrize(
    ("data", "trouble", "says"),
    [
        (
            None,
            Reason.SECRET_NOT_FOUND,
            "Create it: kubectl create secret generic init --namespace=team --from-file=user-data=FILE",
        ),
        ({"other": encoded(CANARY)}, Reason.SECRET_NOT_FOUND, "Add the key to the Secret"),
        ({"user-data": ""}, Reason.INVALID_SECRET, "is empty"),
        ({"user-data": f"{CANARY} is no base64"}, Reason.INVALID_SECRET, "cannot be decoded"),
        ({"user-data": encoded(CANARY + "x" * 65536)}, Reason.INVALID_SECRET, "at most 65536 are taken"),
    ],
)
async def test_what_keeps_a_cloud_init_from_being_sent(data, trouble, says):
    found = await read(data)
    assert (found.trouble, found.encoded) == (trouble, "")
    assert says in found.words
    assert CANARY not in found.words


def test_every_field_of_the_spec_has_its_place_in_the_call():
    facts = host_facts(spec=a_host_spec(reprovision=URLS), cloud_init=CloudInit("aW5pdA=="))
    assert request_of(facts, Verb.REPROVISION_HOST).call.json == {
        "id": "bm-128",
        "cluster": "Msc1",
        "imageUrl": URLS["imageUrl"],
        "imageChecksum": URLS["imageChecksumUrl"],
        "cloudInitBase64": "aW5pdA==",
    }
    assert request_of(facts, Verb.REBOOT_HOST).call.json == {"id": "bm-128", "cluster": "Msc1"}


def test_what_the_spec_leaves_out_is_not_sent():
    """A null for an optional field is refused by the cloud."""
    call = request_of(host_facts(spec=a_host_spec(reprovision={})), Verb.REPROVISION_HOST).call
    assert call.json == {"id": "bm-128", "cluster": "Msc1"}


def test_every_call_has_its_events():
    assert set(EVENTS) == {Verb.REBOOT_HOST, Verb.REPROVISION_HOST}


class Nobody:
    owned_by = None

    def owner(self, _uid):
        return self.owned_by


ANNOUNCED = {"verb": "Reboot", "generation": 1, "id": RECENTLY, "at": RECENTLY, "outcome": "Announced"}
BOOTS = {Annotation.REBOOT_REQUESTED_AT: RECENTLY}


def a_body(version=1, operation=ANNOUNCED, annotations=BOOTS):
    status = {"operation": operation} if operation else {}
    return a_resource("GpuHost", version=version, meta={"annotations": dict(annotations)}, status=status)


@pytest.mark.parametrize(
    ("newer", "owned_by", "holds", "why"),
    [
        (None, None, True, "nothing has changed"),
        (a_body(2), None, True, "a newer view that says the same"),
        (a_body(2, operation=None), None, False, "nothing is announced: the status was lost"),
        (a_body(2, ANNOUNCED | {"outcome": "Unclear"}), None, False, "it was sent before, as another process says"),
        (a_body(2, ANNOUNCED | {"id": "another"}), None, False, "another request is announced"),
        (a_body(2, annotations={}), None, False, "the person has taken it back"),
        (a_body(2, annotations={Annotation.REPROVISION_REQUESTED_AT: RECENTLY}), None, False, "the other call is requested"),
        (a_body(2, annotations=BOOTS | {Annotation.PAUSED: "true"}), None, False, "a person holds all action back"),
        (None, ResourceOwner("GpuHost", "team", "first"), False, "another GpuHost owns the host now"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else None,
)
def test_what_must_be_true_in_the_instant_of_sending(newer, owned_by, holds, why):
    store, ownership = Store(DECLARATION.spec, DECLARATION.status), Nobody()
    store.put(a_body())
    (stored,) = list(store)
    conditions = list(preconditions(store, ownership, stored, Plan(action=Verb.REBOOT_HOST, targets=(RECENTLY,))))
    assert all(condition.holds() for condition in conditions)
    ownership.owned_by = owned_by
    if newer is not None:
        store.put(newer)
    assert all(condition.holds() for condition in conditions) is holds, why


@pytest.mark.parametrize(
    ("newer", "broken"),
    [
        (a_body(2, operation=None), "its operation is announced in status"),
        (a_body(2, annotations={}), "the annotation still requests it"),
        (a_body(2, annotations=BOOTS | {Annotation.PAUSED: "true"}), "the object is not paused"),
    ],
)
def test_each_precondition_sees_what_it_names(newer, broken):
    """Not only that the view is another one: the port reads an object again, and goes on with the newer view."""
    store = Store(DECLARATION.spec, DECLARATION.status)
    store.put(a_body())
    (stored,) = list(store)
    conditions = preconditions(store, Nobody(), stored, Plan(action=Verb.REBOOT_HOST, targets=(RECENTLY,)))
    named = {condition.what: condition for condition in conditions}
    store.put(newer)
    assert not named[broken].holds()


HOST = {"id": "bm-128", "cluster": "Msc1"}


@pytest.mark.parametrize(
    ("record", "is_ours", "why"),
    [
        (HOST, True, "id and cluster are the same"),
        (HOST | {"cluster": None}, True, "it was asked for by cluster"),
        (HOST | {"cluster": "msc1"}, True, "letter case of a cluster does not count"),
        (HOST | {"id": "bm-129"}, False, "another host"),
        (HOST | {"cluster": "Hou1"}, False, "an id is unique within its cluster only"),
        (HOST | {"id": None}, False, "every field may be null"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_whom_a_record_speaks_of(record, is_ours, why):
    ours = listings.host_identity(HostRecord.model_validate(record), "Msc1") == identity(a_host_spec())
    assert ours is is_ours, why


async def test_a_listing_with_another_clusters_host_is_not_complete():
    class Client:
        async def get_hosts(self, cluster):
            assert cluster == "Msc1"
            return Listing((HostRecord.model_validate(HOST | {"cluster": "Hou1"}),))

    assert not (await listings.hosts(Client(), "Msc1")).complete


def test_no_secret_is_shown_by_a_call():
    facts = host_facts(spec=a_host_spec(reprovision=URLS | {"imageUrl": "https://i.example/a?sig=canary-sig"}))
    call = request_of(facts, Verb.REPROVISION_HOST).call
    assert "canary-sig" in json.dumps(dict(call.json))
    assert "canary-sig" not in repr(call)


class NoOrders:
    def latest(self, _uid):
        return None


@pytest.mark.parametrize(
    ("recorded", "owner", "why"),
    [
        ("uid-2", "uid-2", "it was shown the host, and may have a request under way"),
        (None, "uid-1", "of two objects of one second the UID decides"),
    ],
)
def test_of_two_objects_of_one_second_the_one_that_records_the_host_owns_it(recorded, owner, why):
    store = Store(DECLARATION.spec, DECLARATION.status)
    ownership = Ownership("GpuHost", store, None, "", NoOrders(), is_seen)
    for uid in ("uid-1", "uid-2"):
        status = {"tenancy": "acme"} | ({"hostId": "bm-128"} if uid == recorded else {})
        store.put(a_resource("GpuHost", uid, uid=uid, meta={"creationTimestamp": RECENTLY}, status=status))
        ownership.put(uid, Claim("https://cloud.example", identity(store.get(uid).spec)))
    assert [uid for uid in ("uid-1", "uid-2") if ownership.owner(uid) is None] == [owner], why
