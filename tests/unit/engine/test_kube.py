"""The calls to the Kubernetes API as they go over the wire, to a small server on 127.0.0.1."""

import asyncio
import json

import pytest
from aiohttp import web

from gpucloud.engine.kube import client as module
from gpucloud.engine.kube.client import CALL_SECONDS, KubeClient, KubeError
from gpucloud.engine.kube.transport import KubeAnswer, NoAnswer

OWNER = {
    "name": "train",
    "namespace": "team",
    "uid": "u-1",
    "resourceVersion": "7",
    "finalizers": ["other.example/a", "gpucloud.dev/finalizer", "other.example/b"],
    "creationTimestamp": "2026-01-01T00:00:00Z",
}
ITEM = "/apis/gpucloud.dev/v1alpha1/namespaces/team/gpuvms/train"


class Connection:
    proxy_url = None

    def __init__(self, server, token):
        self.server, self.token = server, token

    def as_http_headers(self):
        return {"Authorization": f"Bearer {self.token}"}

    def as_ssl_context(self):
        return True


class Server:
    """Answers by a function of the request, and remembers what came."""

    def __init__(self):
        self.seen = []
        self.answer = lambda _seen: (200, {"metadata": {}})
        self.logins = 0
        self.url = ""

    async def handle(self, request):
        text = await request.text()
        seen = {
            "method": request.method,
            "path": request.path,
            "query": dict(request.query),
            "type": request.headers.get("Content-Type"),
            "token": request.headers.get("Authorization"),
            "accept": request.headers.get("Accept"),
            "body": json.loads(text) if text else None,
        }
        self.seen.append(seen)
        answer = self.answer(seen)
        status, body = await answer if asyncio.iscoroutine(answer) else answer
        return web.Response(status=status, text=body if isinstance(body, str) else json.dumps(body))

    def login(self):
        self.logins += 1
        return Connection(self.url, f"made-up-{self.logins}")


@pytest.fixture
async def server():
    made = Server()
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", made.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield made
    await runner.cleanup()


@pytest.fixture
async def kube(server):
    made = KubeClient(server.login)
    yield made
    await made.aclose()


async def test_status_is_replaced_whole_and_guarded_by_uid_and_version(server, kube):
    server.answer = lambda seen: (200, {"metadata": {"resourceVersion": "8"}, "status": seen["body"]["status"]})
    answer = await kube.replace_status("gpuvms", "GpuVM", OWNER, {"vmId": "x"})
    (seen,) = server.seen
    assert (seen["method"], seen["path"]) == ("PUT", ITEM + "/status")
    assert seen["query"] == {"fieldManager": "gpucloud-operator"}
    assert seen["type"] == "application/json"
    assert seen["body"] == {
        "apiVersion": "gpucloud.dev/v1alpha1",
        "kind": "GpuVM",
        "metadata": {"name": "train", "namespace": "team", "uid": "u-1", "resourceVersion": "7"},
        "status": {"vmId": "x"},
    }
    assert answer["metadata"]["resourceVersion"] == "8"


async def test_release_takes_away_only_our_finalizer_and_only_of_this_version(server, kube):
    await kube.release("gpuvms", OWNER)
    (seen,) = server.seen
    assert (seen["method"], seen["path"], seen["type"]) == ("PATCH", ITEM, "application/json-patch+json")
    assert seen["body"] == [
        {"op": "test", "path": "/metadata/uid", "value": "u-1"},
        {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
        {"op": "replace", "path": "/metadata/finalizers", "value": ["other.example/a", "other.example/b"]},
    ]


@pytest.mark.parametrize(
    ("status", "conflict", "gone"),
    [
        (400, False, False),
        (403, False, False),
        (404, False, True),
        (409, True, False),
        (410, False, True),
        (422, False, False),
        (500, False, False),
    ],
)
async def test_refusals_by_kind(server, kube, status, conflict, gone):
    server.answer = lambda _seen: (status, {"kind": "Status", "reason": "Because", "message": "m" * 9000})
    with pytest.raises(KubeError) as caught:
        await kube.replace_status("gpuvms", "GpuVM", OWNER, {})
    error = caught.value
    assert (error.status, error.conflict, error.gone, error.reason) == (status, conflict, gone, "Because")
    assert len(str(error)) < 600


async def test_a_release_whose_test_failed_is_a_conflict(server, kube):
    server.answer = lambda _seen: (422, {"reason": "Invalid", "message": "test failed"})
    with pytest.raises(KubeError) as caught:
        await kube.release("gpuvms", OWNER)
    assert caught.value.conflict


@pytest.mark.parametrize("body", ["", "<html>no</html>", "[1]", "null", "{"])
async def test_an_error_that_is_no_json_is_an_error_all_the_same(server, kube, body):
    server.answer = lambda _seen: (502, body)
    with pytest.raises(KubeError) as caught:
        await kube.cluster_uid()
    assert caught.value.status == 502


async def test_a_rotated_token_is_fetched_once_and_the_call_sent_again(server, kube):
    server.answer = lambda seen: (200, {"metadata": {"uid": "u"}}) if seen["token"] == "Bearer made-up-2" else (401, {})
    assert await kube.cluster_uid() == "u"
    assert await kube.cluster_uid() == "u"
    assert [seen["token"] for seen in server.seen] == ["Bearer made-up-1", "Bearer made-up-2", "Bearer made-up-2"]


async def test_a_token_that_stays_refused_is_told(server, kube):
    server.answer = lambda _seen: (401, {"reason": "Unauthorized", "message": "no"})
    with pytest.raises(KubeError) as caught:
        await kube.cluster_uid()
    assert (caught.value.status, len(server.seen)) == (401, 2)
    assert "made-up" not in str(caught.value)


async def test_calls_under_way_survive_the_login_of_another(server, kube):
    """Twenty writes at once meet a rotated token."""

    async def slow(seen):
        await asyncio.sleep(0.05 if seen["path"].endswith("first") else 0.3)
        return (401, {}) if seen["token"] == "Bearer made-up-1" else (200, {"metadata": {}})

    server.answer = slow
    first = kube.data_of("secrets", "team", "first")
    others = [kube.data_of("secrets", "team", f"s{number}") for number in range(10)]
    assert await asyncio.gather(first, *others) == [{}] * 11


async def test_silence_is_an_error_of_status_zero(server, kube, monkeypatch):
    monkeypatch.setattr(module, "CALL_SECONDS", 0.1)

    async def never(_seen):
        await asyncio.sleep(5)
        return 200, {}

    server.answer = never
    with pytest.raises(KubeError) as caught:
        await kube.release("gpuvms", OWNER)
    assert (caught.value.status, caught.value.conflict, caught.value.gone) == (0, False, False)


async def test_no_connection_is_an_error_of_status_zero():
    kube = KubeClient(lambda: Connection("http://127.0.0.1:1", "made-up"))
    with pytest.raises(KubeError) as caught:
        await kube.replace_status("gpuvms", "GpuVM", OWNER, {})
    await kube.aclose()
    assert caught.value.status == 0
    assert "?" not in str(caught.value)


async def test_redirects_are_not_followed(server, kube):
    server.answer = lambda _seen: (307, {})
    await asyncio.gather(kube.record_event("team", {}), return_exceptions=True)
    assert len(server.seen) == 1


async def test_all_pages_are_read(server, kube):
    def answer(seen):
        second = seen["query"].get("continue") == "more"
        following = {} if second else {"continue": "more"}
        return 200, {"metadata": following, "items": [{"metadata": {"uid": "b" if second else "a"}}]}

    server.answer = answer
    assert await kube.uids("gpuvms", ()) == {"a", "b"}
    assert [seen["query"] for seen in server.seen] == [{"limit": "500"}, {"limit": "500", "continue": "more"}]
    assert "PartialObjectMetadataList" in server.seen[0]["accept"]


async def test_whole_objects_are_read_in_each_namespace(server, kube):
    server.answer = lambda seen: (200, {"metadata": {}, "items": [{"spec": {"path": seen["path"]}}]})
    found = [item["spec"]["path"].split("/")[-2] async for item in kube.resources("gpuvms", ("team", "crew"))]
    assert found == ["team", "crew"]
    assert {seen["accept"] for seen in server.seen} == {"application/json"}


async def test_a_null_list_is_an_empty_list(server, kube):
    server.answer = lambda _seen: (200, {"metadata": {}, "items": None})
    assert await kube.uids("gpuvms", ()) == set()


async def test_only_the_namespaces_asked_for_are_listed(server, kube):
    server.answer = lambda seen: (200, {"metadata": {}, "items": [{"metadata": {"uid": seen["path"]}}]})
    await kube.uids("gpuvms", ("a", "b"))
    assert [seen["path"].split("/")[5] for seen in server.seen] == ["a", "b"]


@pytest.mark.parametrize(
    ("status", "body", "answer"),
    [(200, {"metadata": {"name": "team"}}, {"name": "team"}), (404, {}, None)],
)
async def test_a_namespace_by_name(server, kube, status, body, answer):
    server.answer = lambda _seen: (status, body)
    assert await kube.namespace("team") == answer


@pytest.mark.parametrize(
    ("status", "body", "data"),
    [(200, {"data": {"k": "v"}}, {"k": "v"}), (200, {}, {}), (200, {"data": None}, {}), (404, {}, None)],
)
async def test_data_by_name(server, kube, status, body, data):
    server.answer = lambda _seen: (status, body)
    assert await kube.data_of("secrets", "team", "keys") == data
    assert server.seen[0]["path"] == "/api/v1/namespaces/team/secrets/keys"


async def test_an_unreadable_secret_is_an_error_not_absence(server, kube):
    server.answer = lambda _seen: (403, {"message": "forbidden"})
    with pytest.raises(KubeError):
        await kube.data_of("secrets", "team", "keys")


# --- holding a Secret

HELD = "gpucloud.dev/credentials-in-use"
SECRET = "/api/v1/namespaces/team/secrets/key"


def a_secret(finalizers=None, **meta):
    found = {"uid": "s-1", "resourceVersion": "7"} | meta
    return {"metadata": found | ({} if finalizers is None else {"finalizers": finalizers}), "data": {"apikey": "bWFkZS11cA=="}}


@pytest.mark.parametrize(
    ("finalizers", "held", "after"),
    [
        (None, True, [HELD]),
        ([], True, [HELD]),
        (["other.example/a"], True, ["other.example/a", HELD]),
        ([HELD], False, []),
        (["other.example/a", HELD, "other.example/b"], False, ["other.example/a", "other.example/b"]),
    ],
)
async def test_only_our_own_finalizer_of_a_secret_is_changed_and_only_of_this_version(server, kube, finalizers, held, after):
    server.answer = lambda _seen: (200, a_secret(finalizers))
    await kube.set_secret_finalizer("team", "key", held=held)
    read, seen = server.seen
    assert (read["method"], seen["method"], seen["path"]) == ("GET", "PATCH", SECRET)
    assert seen["type"] == "application/merge-patch+json"
    assert seen["body"] == {"metadata": {"uid": "s-1", "resourceVersion": "7", "finalizers": after}}


@pytest.mark.parametrize(
    ("status", "body", "held", "why"),
    [
        (404, {}, True, "gone"),
        (404, {}, False, "gone"),
        (200, a_secret([HELD]), True, "held already"),
        (200, a_secret(["other.example/a", HELD]), True, "held already, beside others"),
        (200, a_secret([]), False, "free already"),
        (200, a_secret(), False, "free already"),
        (
            200,
            a_secret(["other.example/a"], deletionTimestamp="2026-01-01T00:00:00Z"),
            True,
            "it goes: the apiserver would refuse",
        ),
    ],
)
async def test_nothing_is_written_where_nothing_is_to_be_done(server, kube, status, body, held, why):
    server.answer = lambda _seen: (status, body)
    await kube.set_secret_finalizer("team", "key", held=held)
    assert [seen["method"] for seen in server.seen] == ["GET"], why


async def test_a_secret_that_is_being_deleted_is_freed(server, kube):
    server.answer = lambda _seen: (200, a_secret([HELD], deletionTimestamp="2026-01-01T00:00:00Z"))
    await kube.set_secret_finalizer("team", "key", held=False)
    assert server.seen[-1]["body"]["metadata"]["finalizers"] == []


async def test_a_secret_that_has_changed_since_is_a_conflict(server, kube):
    server.answer = lambda seen: (200, a_secret()) if seen["method"] == "GET" else (409, {"reason": "Conflict"})
    with pytest.raises(KubeError) as caught:
        await kube.set_secret_finalizer("team", "key", held=True)
    assert caught.value.conflict


async def test_no_content_of_a_secret_is_sent_or_told(server, kube):
    server.answer = lambda seen: (200, a_secret()) if seen["method"] == "GET" else (422, {"reason": "Invalid"})
    with pytest.raises(KubeError) as caught:
        await kube.set_secret_finalizer("team", "key", held=True)
    assert "bWFkZS11cA" not in json.dumps(server.seen) + str(caught.value)


@pytest.mark.parametrize("name", ["../configmaps/x", "a/b", "a?b=c", "a#b", "%2e%2e"])
async def test_no_name_leads_to_another_resource(server, kube, name):
    server.answer = lambda _seen: (404, {})
    assert await kube.secret("team", name) is None
    assert server.seen[0]["path"].startswith("/api/v1/namespaces/team/secrets/")
    assert server.seen[0]["query"] == {}


@pytest.mark.parametrize("status", [403, 500])
async def test_a_secret_that_cannot_be_read_is_an_error_not_absence(server, kube, status):
    server.answer = lambda _seen: (status, {"message": "no"})
    with pytest.raises(KubeError) as caught:
        await kube.secret("team", "key")
    assert caught.value.status == status


@pytest.mark.parametrize(("asked", "pause"), [("3", 3), ("100000", 60), ("soon", 1), ("-5", 1)])
@pytest.mark.looptime
async def test_a_429_keeps_all_of_us_quiet_for_as_long_as_it_asks(asked, pause):
    transport = Answering(429, asked)
    kube, began = KubeClient(NoConnection, transport=transport), asyncio.get_running_loop().time()
    for call in (kube.cluster_uid(), kube.namespace("team")):
        with pytest.raises(KubeError):
            await call
    assert [round(at - began, 3) for at in transport.asked] == [0, pause]


@pytest.mark.looptime
async def test_a_transport_that_never_answers_is_given_up():
    kube = KubeClient(NoConnection, transport=Silent())
    with pytest.raises(KubeError) as caught:
        await kube.cluster_uid()
    assert (caught.value.status, caught.value.reason) == (0, "TimeoutError")
    assert asyncio.get_running_loop().time() == pytest.approx(CALL_SECONDS)


async def test_what_the_transport_says_of_a_lost_answer_is_told():
    kube = KubeClient(NoConnection, transport=Silent(NoAnswer("ConnectionReset")))
    with pytest.raises(KubeError) as caught:
        await kube.cluster_uid()
    assert (caught.value.status, caught.value.reason) == (0, "ConnectionReset")


async def test_a_transport_is_told_of_every_login():
    transport = Answering(401, "")
    with pytest.raises(KubeError):
        await KubeClient(NoConnection, transport=transport).cluster_uid()
    assert (len(transport.asked), transport.logins) == (2, 2)


class NoConnection:
    server, proxy_url = "http://127.0.0.1", None

    def as_http_headers(self):
        return {"Authorization": "Bearer made-up"}


class Answering:
    """A transport that gives one answer, and remembers when it was asked."""

    def __init__(self, status, retry_after):
        self.answer, self.asked, self.logins = KubeAnswer(status, {"Retry-After": retry_after}, "{}"), [], 0

    def connect(self, _connection):
        self.logins += 1

    async def request(self, *_args, **_more):
        self.asked.append(asyncio.get_running_loop().time())
        return self.answer


class Silent(Answering):
    """A transport that answers nothing, or says why it cannot."""

    def __init__(self, error=None):
        super().__init__(0, "")
        self.error = error

    async def request(self, *_args, **_more):
        if self.error is not None:
            raise self.error
        await asyncio.Event().wait()
