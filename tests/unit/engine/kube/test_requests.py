"""Calls to the Kubernetes API as they go over the wire."""

import asyncio

import pytest

from gpucloud.engine.kube.errors import KubeError
from support.kubeserver import ITEM, OWNER


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


async def test_our_finalizer_is_added_to_this_version_beside_the_others(server, kube):
    server.answer = lambda _seen: (200, {"metadata": {"resourceVersion": "8"}})
    answer = await kube.add_finalizer("gpuvms", {**OWNER, "finalizers": ["other.example/a"]})
    (seen,) = server.seen
    assert (seen["method"], seen["path"], seen["type"]) == ("PATCH", ITEM, "application/json-patch+json")
    assert seen["body"] == [
        {"op": "test", "path": "/metadata/uid", "value": "u-1"},
        {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
        {"op": "add", "path": "/metadata/finalizers", "value": ["other.example/a", "gpucloud.dev/finalizer"]},
    ]
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


TERMINATING = {"reason": "NamespaceTerminating", "message": "it ends", "field": "metadata.namespace"}


@pytest.mark.parametrize(
    ("status", "fields", "terminating"),
    [
        (403, {"details": {"name": "train", "causes": [TERMINATING]}}, True),
        (403, {"details": {"causes": [{"reason": "FieldValueInvalid"}, TERMINATING]}}, True),
        (403, {"message": "namespace team because it is being terminated"}, False),
        (403, {"details": {"causes": []}}, False),
        (403, {"details": {"causes": None}}, False),
        (403, {"details": {"causes": ["NamespaceTerminating"]}}, False),
        (403, {"details": {"causes": {"reason": "NamespaceTerminating"}}}, False),
        (403, {"details": None}, False),
        (403, {"details": ["causes"]}, False),
        (404, {"details": {"causes": [TERMINATING]}}, False),
    ],
    ids=["alone", "among others", "words alone", "no cause", "null", "text", "no list", "no details", "a list", "no refusal"],
)
async def test_a_terminating_namespace_is_known_by_the_cause(server, kube, status, fields, terminating):
    server.answer = lambda _seen: (status, {"kind": "Status", "reason": "Forbidden", "message": "m", **fields})
    with pytest.raises(KubeError) as caught:
        await kube.create_resource("gpusnapshots", "team", {"metadata": {"name": "train"}})
    assert caught.value.namespace_terminating is terminating


async def test_an_apiserver_without_our_definitions_is_told_with_the_way_out(server, kube):
    server.answer = lambda _seen: (404, "404 page not found")
    with pytest.raises(KubeError, match=r"404 NoDefinition: .* kubectl apply --server-side -f crds/") as caught:
        await kube.find("gpuvms", "team", "train")
    assert (caught.value.undefined, caught.value.gone) == (True, False)


async def test_a_release_whose_test_failed_is_a_conflict(server, kube):
    server.answer = lambda _seen: (422, {"reason": "Invalid", "message": "test failed"})
    with pytest.raises(KubeError) as caught:
        await kube.release("gpuvms", OWNER)
    assert caught.value.conflict


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


async def test_one_object_shows_that_a_kind_can_be_listed(server, kube):
    server.answer = lambda _seen: (200, {"metadata": {"continue": "more"}, "items": [{"metadata": {"uid": "a"}}]})
    await kube.check_listing("gpuvms", ("a", "b"))
    assert [(seen["path"].split("/")[5], seen["query"]) for seen in server.seen] == [
        ("a", {"limit": "1"}),
        ("b", {"limit": "1"}),
    ]


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
