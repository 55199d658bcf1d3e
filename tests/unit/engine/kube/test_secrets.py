"""How a Secret is read, held and freed."""

import json

import pytest

from gpucloud.engine.kube.client import KubeClient
from gpucloud.engine.kube.errors import KubeError

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
@pytest.mark.parametrize("read", [KubeClient.secret, lambda kube, *name: kube.data_of("secrets", *name)])
async def test_a_secret_that_cannot_be_read_is_an_error_not_absence(server, kube, status, read):
    server.answer = lambda _seen: (status, {"message": "no"})
    with pytest.raises(KubeError) as caught:
        await read(kube, "team", "key")
    assert caught.value.status == status
