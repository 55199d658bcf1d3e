"""Both answer forms, every error form that has been met, and rubbish: what each becomes."""

import asyncio
import contextlib
import json
from datetime import UTC, datetime
from random import Random

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpucloud.cloud import CloudError, CreateServer, ErrorKind, LoginError, VmRecord
from gpucloud.cloud.answers import Answer, read
from gpucloud.cloud.calls import authenticate, create_vpc, get_all_clusters, get_server, get_servers
from gpucloud.cloud.redaction import redactor
from unit.cloud.fakes import Rig, plain, refusal, wrapped

KEY = {"id": "vm-1", "namespace": "acme", "cluster": "Msc1"}
NEW_VM = CreateServer(vpc="acme", configuration="c", cluster="Msc1", ssh_keys=("ssh-ed25519 AAAA a",))

FORMS = [
    ("plain, as specified", plain),
    ("wrapped", wrapped),
    ("wrapped, with __abp only", lambda value: plain({"result": value, "__abp": True})),
    ("wrapped, result alone", lambda value: plain({"result": value})),
    ("another 2xx", lambda value: plain(value, 202)),
]


# why -> what of the specification the row of that reason proves
PROVES = {
    "the list of states is open": ["state:open"],
    "every text may be null": ["record:null"],
    "text, unit not specified": ["open:root-disk"],
    "number for text": ["open:root-disk"],
    "401": ["auth:10.flag", "auth:10.expired"],
    "empty": ["auth:10.expired"],
    "403 wins over the flag": ["auth:10.scope", "auth:10.flag"],
}


def marked(rows):
    """The rows of a table under their reasons, which come last."""
    return [pytest.param(*row, id=row[-1], marks=pytest.mark.proves(*PROVES.get(row[-1], ()))) for row in rows]


@pytest.mark.parametrize("form", [row[1] for row in FORMS], ids=[row[0] for row in FORMS])
async def test_an_answer_is_understood_in_every_form(form):
    record = {"id": "vm-1", "status": "ONLINE"}
    async with Rig(lambda _: form(record)).client as client:
        assert await client.get_server(**KEY) == VmRecord(id="vm-1", status="ONLINE")
    async with Rig(lambda _: form({"items": [record]})).client as client:
        listing = await client.get_servers()
        assert (listing.items, listing.complete) == ((VmRecord(id="vm-1", status="ONLINE"),), True)
    async with Rig(lambda _: form(["Msc1", "Hou1"])).client as client:
        assert await client.get_all_clusters() == ("Msc1", "Hou1")


FIELDS = [
    ({"status": "SOMETHING_NEW"}, "status", "SOMETHING_NEW", "the list of states is open"),
    ({"status": "na"}, "status", "na", "met in CreateServer's own answer"),
    ({"status": None}, "status", None, "every text may be null"),
    ({"ip": ""}, "ip", None, "blank before readiness"),
    ({"ip": ["x"]}, "ip", None, "no text at all"),
    ({"configuration": 17}, "configuration", "17", "may return as a numeric id"),
    ({"storage": "1700"}, "storage", 1700, "number in a string"),
    ({"storage": "1700.0"}, "storage", 1700, "number in a string"),
    ({"storage": 1700.5}, "storage", None, "not whole"),
    ({"storage": True}, "storage", None, "no number"),
    ({"storage": "1" * 5000}, "storage", None, "absurdly long"),
    ({"gpus": "many"}, "gpus", None, "rubbish in one field must not hide the VM"),
    ({"rootDiskSize": "500Gi"}, "root_disk_size", "500Gi", "text, unit not specified"),
    ({"rootDiskSize": 500}, "root_disk_size", "500", "number for text"),
    ({"directAttachedStoragePersisted": "true"}, "direct_attached_storage_persisted", True, "boolean in a string"),
    ({"directAttachedStoragePersisted": 1}, "direct_attached_storage_persisted", None, "no boolean"),
    ({"lastUpdated": "2024-09-30T09:35:00"}, "last_updated", datetime(2024, 9, 30, 9, 35, tzinfo=UTC), "no zone: UTC"),
    ({"lastUpdated": "2024-09-30T11:35:00+02:00"}, "last_updated", datetime(2024, 9, 30, 9, 35, tzinfo=UTC), "zone"),
    (
        {"lastUpdated": "2024-09-30T09:35:00.1234567Z"},
        "last_updated",
        datetime(2024, 9, 30, 9, 35, 0, 123456, tzinfo=UTC),
        "seven digits, as .NET writes them",
    ),
    ({"lastUpdated": "0001-01-01T00:00:00"}, "last_updated", None, "the service's word for never"),
    ({"lastUpdated": "0001-01-01T00:00:00+05:00"}, "last_updated", None, "before year 1 in UTC"),
    ({"lastUpdated": "9999-12-31T23:59:59-05:00"}, "last_updated", None, "after year 9999 in UTC"),
    ({"lastUpdated": "yesterday"}, "last_updated", None, "no time"),
    ({"lastUpdated": 0}, "last_updated", None, "no time"),
    ({"surprise": {"a": 1}}, "status", None, "unknown fields are ignored"),
]


@pytest.mark.parametrize(("fields", "name", "value", "_why"), marked(FIELDS))
def test_a_field_is_read_tolerantly(fields, name, value, _why):
    body = json.dumps({"id": "vm-1"} | fields).encode()
    record = read(get_server(**KEY), Answer(200, body), redactor(()))
    assert (record.id, getattr(record, name)) == ("vm-1", value)


LISTINGS = [
    ({"items": []}, 0, True, "an empty list is a real empty listing"),
    ({"items": [{"id": "a"}, {"id": "b"}]}, 2, True, "all usable"),
    ({"items": [{"id": "a"}, None]}, 1, False, "something is there that cannot be named"),
    ({"items": [{"id": "a"}, {"id": ""}]}, 1, False, "a blank id names nothing"),
    ({"items": [{"id": "a"}, {"status": "ONLINE"}]}, 1, False, "no id"),
    ({"items": [{"id": {}}, "x", 3]}, 0, False, "nothing usable"),
    ({"items": [{"id": 7}]}, 1, True, "a number is a usable id"),
    ({"items": [{"id": "a"}], "totalCount": 1}, 1, True, "counted and shown"),
    ({"items": [{"id": "a"}], "totalCount": 2}, 1, False, "the first page of more"),
    ({"items": [], "totalCount": 1}, 0, False, "counted, and none shown"),
    ({"items": [{"id": "a"}], "totalCount": 0}, 1, True, "more than counted hides nothing"),
    ({"items": [{"id": "a"}], "totalCount": "2"}, 1, False, "a number may come as text"),
    ({"items": [{"id": "a"}], "totalCount": 2.0}, 1, False, "or with a point"),
    ({"items": [{"id": "a"}], "totalCount": "1"}, 1, True, "counted as text, and shown"),
    ({"items": [{"id": "a"}], "totalCount": None}, 1, True, "nothing was counted"),
    ({"items": [], "totalCount": True}, 0, False, "no number: this may be the first page"),
    ({"items": [], "totalCount": "many"}, 0, False, "no number either"),
    ({"items": [], "totalCount": 0.5}, 0, False, "no whole number"),
    ({"result": {"items": [{"id": "a"}], "totalCount": 2}, "success": True}, 1, False, "the first page, wrapped"),
]


@pytest.mark.parametrize(("payload", "count", "complete", "_why"), LISTINGS)
async def test_a_listing_says_whether_absence_proves_anything(payload, count, complete, _why):
    async with Rig(lambda _: plain(payload)).client as client:
        listing = await client.get_servers()
    assert (len(listing.items), listing.complete) == (count, complete)


LISTED = {"id": "vm-1", "status": "ONLINE", "gpus": 1}


@pytest.mark.parametrize(
    ("item", "held", "why"),
    [
        (dict(LISTED), True, "equal JSON"),
        (LISTED | {"status": "OFFLINE"}, False, "another value"),
        (LISTED | {"gpus": True}, False, "Python takes True for 1"),
        (LISTED | {"gpus": "1"}, False, "another type that reads the same"),
        (LISTED | {"image": "\ud83d"}, False, "half of an emoji, which no UTF-8 can carry"),
        (LISTED | {"gpus": 2**70}, False, "a number beyond 64 bits"),
    ],
)
def test_an_item_of_a_listing_that_did_not_change_is_the_record_that_is_held(item, held, why):
    def listed(item):
        return read(get_servers(), Answer(200, json.dumps({"items": [item]}).encode()), str).items[0]

    before, after = listed(LISTED), listed(item)
    assert (after is before) is held, why
    assert after == VmRecord.model_validate(item)


async def test_offers_are_identified_by_their_configuration():
    async with Rig(lambda _: plain({"items": [{"name": "A100"}, {"id": 3}]})).client as client:
        assert (await client.get_configurations()).complete is False
    async with Rig(lambda _: plain({"items": [{"configuration": "A100", "maxCount": 0}]})).client as client:
        listing = await client.get_availability(cluster="Msc1")
    assert (listing.complete, listing.items[0].available_node_names) == (True, ())


NO_LISTINGS = [{}, {"items": None}, {"items": {}}, {"items": "x"}, [], None, "x", 3, {"result": None, "success": True}]


@pytest.mark.parametrize("payload", NO_LISTINGS, ids=json.dumps)
async def test_rubbish_is_never_an_empty_listing(payload):
    async with Rig(lambda _: plain(payload)).client as client:
        with pytest.raises(CloudError) as caught:
            await client.get_servers()
    assert (caught.value.kind, caught.value.status) == (ErrorKind.MALFORMED, 200)


@pytest.mark.parametrize("payload", [{}, {"items": []}, None, [None], [{}], "Msc1"], ids=json.dumps)
async def test_rubbish_is_never_an_empty_list_of_clusters(payload):
    async with Rig(lambda _: plain(payload)).client as client:
        with pytest.raises(CloudError) as caught:
            await client.get_all_clusters()
    assert caught.value.kind is ErrorKind.MALFORMED


HTML = b"<html><head><title>502 Bad Gateway</title></head><body>host not found</body></html>"
DENIED = "Required permissions are not granted. At least one of these permissions must be granted: Pages.Vpc"


def raw(status, body=b"", **headers):
    return httpx.Response(status, content=body, headers=headers)


# answer, kind of a reading call, words that must be kept, ambiguous for a changing call, why
ERRORS = [
    (refusal(400, "Your request is not valid!"), "INVALID", "not valid!", False, "a documented text"),
    (refusal(401, "Current user did not login", unauthorized=True), "UNAUTHORIZED", "did not login", False, "401"),
    (raw(401, **{"WWW-Authenticate": 'Bearer error="invalid_token"'}), "UNAUTHORIZED", "invalid_token", False, "empty"),
    (refusal(403, DENIED, unauthorized=True), "FORBIDDEN", "Pages.Vpc", False, "403 wins over the flag"),
    (refusal(403, "permission not found"), "FORBIDDEN", "not found", False, "403 wins over the words"),
    (refusal(404, "gone"), "NOT_FOUND", "gone", False, "404"),
    (refusal(404, ""), "NOT_FOUND", "no reason", False, "404 without words"),
    (refusal(400, '"vm-1" not found'), "NOT_FOUND", '"vm-1" not found', False, "a missing VM is told by its text"),
    (refusal(500, '"vm-1" not found'), "NOT_FOUND", "not found", True, "the same at 500, which may have been carried out"),
    (refusal(500, "VM Not Found."), "NOT_FOUND", "Not Found", True, "any case"),
    (refusal(503, "node not found"), "NOT_FOUND", "not found", True, "the words at any 5xx"),
    (refusal(409, "already exists"), "CONFLICT", "exists", False, "409"),
    (refusal(422, "wrong host state"), "INVALID", "host state", False, "422"),
    (refusal(408, "timed out"), "OUTCOME_UNKNOWN", "timed out", True, "a gateway's time-out may hide a success"),
    (refusal(429, "slow down"), "THROTTLED", "slow", False, "surely not carried out"),
    (refusal(500, "An internal error occurred during your request!"), "SERVER", "internal error", True, "500"),
    (refusal(500, "no rights", unauthorized=True), "UNAUTHORIZED", "no rights", True, "flag at 500 stays ambiguous"),
    (raw(502, HTML), "SERVER", "502 Bad Gateway", True, "HTML proves nothing, whatever its words"),
    (refusal(503, "no capacity"), "UNAVAILABLE", "no capacity", True, "503"),
    (raw(504), "SERVER", "no reason", True, "empty"),
    (raw(301, Location="http://192.0.2.1/"), "REDIRECTED", "base URL", True, "never followed"),
    (refusal(200, "business rule"), "SERVER", "business rule", True, "success:false at 200"),
    (refusal(200, "did not login", unauthorized=True), "UNAUTHORIZED", "login", False, "flag at 200"),
    (refusal(200, DENIED, unauthorized=True), "FORBIDDEN", "permissions", False, "flag at 200 with permissions"),
    (refusal(200, '"vm-1" not found'), "NOT_FOUND", "not found", True, "words at 200"),
    (refusal(200, '"vm-1" not found', code=500), "NOT_FOUND", "not found", True, "words at 200 with a code of 5xx"),
    (refusal(200, '"vm-1" not found', code=404), "NOT_FOUND", "not found", False, "words at 200 with a code of 4xx"),
    (refusal(200, "taken", code=409), "CONFLICT", "taken", False, "the service's own code at 200"),
    (plain({"success": False, "result": {"id": "x"}}), "SERVER", "no reason", True, "success:false beside a result"),
    (plain({"error": {"message": "odd"}}), "SERVER", "odd", True, "an error and nothing else at 200"),
    (plain({"error": None}, 500), "SERVER", "no reason", True, "error null"),
    (plain({"error": "plain words"}, 400), "INVALID", "plain words", False, "error as text"),
    (plain({"title": "Bad", "detail": "the detail", "status": 400}, 400), "INVALID", "the detail", False, "problem+json"),
    (plain(["first", {"message": "second"}], 400), "INVALID", "first; second", False, "bare list"),
    (plain("words", 400), "INVALID", "words", False, "bare text in JSON"),
    (plain(None, 400), "INVALID", "no reason", False, "null"),
    (plain(7, 500), "SERVER", "no reason", True, "a number"),
    (raw(500, b'{"error": {"message": "cut o'), "SERVER", "cut o", True, "truncated JSON"),
    (raw(400, b"\xff\xfe\x00"), "INVALID", "", False, "no UTF-8"),
    (raw(500, b"[" * 100_000), "SERVER", "[[", True, "absurd nesting"),
    (raw(200, b"<html>login page</html>"), "MALFORMED", "not JSON", True, "HTML at 200"),
    (raw(202), "MALFORMED", "not JSON", True, "empty 2xx: accepted, perhaps"),
    (raw(200, b"[1]"), "MALFORMED", "object", True, "a list for a record"),
    (
        plain({"error": {"message": "m", "details": "d", "validationErrors": [{"message": "v", "members": ["x"]}]}}, 400),
        "INVALID",
        "m; d; v",
        False,
        "details and validation are kept for people",
    ),
    (
        plain({"error": {"message": "failed", "details": "FileNotFoundException: x not found"}}, 500),
        "SERVER",
        "failed",
        True,
        "details may quote anything and prove nothing",
    ),
]


@pytest.mark.proves("open:error-body", "open:vm-errors")
@pytest.mark.parametrize(("answer", "kind", "words", "ambiguous", "_why"), marked(ERRORS))
async def test_an_error_form_becomes_its_kind(answer, kind, words, ambiguous, _why):
    async with Rig(lambda _: answer, max_retries=0).client as client:
        with pytest.raises(CloudError) as reading:
            await client.get_server(**KEY)
        with pytest.raises(CloudError) as changing:
            await client.create_server(NEW_VM)
    assert (reading.value.kind, reading.value.ambiguous) == (ErrorKind[kind], False)
    assert (changing.value.kind, changing.value.ambiguous) == (ErrorKind[kind], ambiguous)
    assert words in reading.value.message
    assert (reading.value.status, reading.value.operation) == (answer.status_code, "GetServer")


async def test_the_services_code_is_kept():
    async with Rig(lambda _: refusal(400, "x", code=1234)).client as client:
        with pytest.raises(CloudError) as caught:
            await client.create_server(NEW_VM)
    assert caught.value.code == 1234
    assert str(caught.value) == "CreateServer: Invalid (HTTP 400): x"


async def test_a_message_is_one_bounded_line_without_control_characters():
    async with Rig(lambda _: refusal(400, "a\r\nb\x1b[31m\u202e\ud800" + "x" * 9000)).client as client:
        with pytest.raises(CloudError) as caught:
            await client.create_server(NEW_VM)
    assert caught.value.message.startswith("a b [31m x")
    assert caught.value.message.isprintable()
    assert len(caught.value.message) == 500
    caught.value.message.encode()


@pytest.mark.parametrize("flag", ["requiresTwoFactorVerification", "shouldResetPassword"])
def test_a_login_that_needs_a_person_says_so(flag):
    body = json.dumps({"result": {"accessToken": None, flag: True}, "success": True}).encode()
    with pytest.raises(LoginError) as caught:
        read(authenticate(username="ann", password="pw-0000"), Answer(200, body), redactor(()))
    assert caught.value.kind is ErrorKind.LOGIN


@pytest.mark.parametrize("value", [None, "", "two words", "new\nline", "naïve"])
def test_a_login_without_a_usable_token_is_malformed(value):
    with pytest.raises(CloudError) as caught:
        read(authenticate(username="a", password="b"), Answer(200, json.dumps({"accessToken": value}).encode()), str)
    assert caught.value.kind is ErrorKind.MALFORMED


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["result", "success", "error", "items", "id", "message", "code", "lastUpdated", "__abp"])
            | st.text(),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
bodies = st.binary(max_size=200) | json_values.map(lambda value: json.dumps(value).encode("utf-8", "surrogatepass"))
statuses = st.sampled_from([200, 202, 204, 301, 400, 401, 403, 404, 429, 500, 503]) | st.integers(100, 999)
CALLS = [
    get_all_clusters(),
    get_servers(),
    get_server(**KEY),
    authenticate(username="a", password="b"),
    create_vpc(name="acme-x", cluster="Msc1"),
]


def judged(call, status, body):
    try:
        read(call, Answer(status, body), redactor(("canary",)))
    except CloudError as error:
        failure = error
        str(failure).encode()
        assert len(failure.message) <= 500


@settings(max_examples=1000, deadline=None)
@given(st.sampled_from(CALLS), statuses, bodies)
def test_rubbish_causes_nothing_but_cloud_errors(call, status, body):
    judged(call, status, body)


def test_ten_thousand_damaged_answers_cause_nothing_but_cloud_errors():
    random = Random(20240930)
    seeds = [answer.content for answer, *_ in ERRORS] + [
        json.dumps(fields | {"items": [fields, fields], "id": "vm-1"}).encode() for fields, *_ in FIELDS
    ]
    for _ in range(10_000):
        body = bytearray(random.choice(seeds))
        for _ in range(random.randrange(4)):
            at = random.randrange(len(body) + 1)
            body[at : at + random.randrange(3)] = random.choice([b"", b"null", b"[", b"}", b'"', b"\xff", b"1e999", b"-"])
        cut = random.randrange(len(body) + 1) if random.random() < 0.3 else len(body)
        judged(random.choice(CALLS), random.choice([200, 202, 301, 400, 404, 500, 503]), bytes(body[:cut]))


@settings(max_examples=200, deadline=None)
@given(bodies, statuses)
def test_rubbish_through_the_whole_client_causes_nothing_but_cloud_errors(body, status):
    async def call():
        async with Rig(lambda _: httpx.Response(status, content=body), max_retries=0).client as client:
            with contextlib.suppress(CloudError):
                await client.get_servers()

    asyncio.run(call())
