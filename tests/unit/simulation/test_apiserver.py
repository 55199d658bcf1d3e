"""What only the apiserver in memory has: backups, its namespace controller, the record of all changes."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from simulation.apiserver.namespaces import NamespaceController
from simulation.apiserver.resources import served
from simulation.apiserver.server import ApiServer
from simulation.conformance.playing import Ask, InMemory, Player
from simulation.conformance.scripts import SCRIPTS

CRDS = Path(__file__).parents[3] / "crds"
VPCS = "/apis/gpucloud.dev/v1alpha1/namespaces/team/gpuvpcs"
MERGE = {"Content-Type": "application/merge-patch+json"}


@pytest.fixture(scope="module")
def definitions():
    return [yaml.safe_load(file.read_text()) for file in sorted(CRDS.glob("*.yaml"))]


@pytest.fixture
def api(definitions):
    uids = itertools.count(1)
    server = ApiServer(
        served(definitions), now=lambda: datetime(2026, 1, 1, tzinfo=UTC), new_uid=lambda: f"uid-{next(uids)}", history=50
    )
    server.request("admin", "POST", "/api/v1/namespaces", body='{"metadata":{"name":"team"}}')
    return server


def vpc(name, **meta):
    spec = {"cluster": "Msc1", "name": "acme"}
    return json.dumps(
        {"apiVersion": "gpucloud.dev/v1alpha1", "kind": "GpuVpc", "metadata": {"name": name, **meta}, "spec": spec}
    )


def sent(api, method, path, body=None, *, status=200, **headers):
    answer = api.request("admin", method, path, headers=headers, body=body)
    assert answer.status == status, answer.text
    return json.loads(answer.text)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_that_the_real_apiserver_answers_so_is_answered_so(api, name):
    """The whole answers are compared in ``tests/e2e/test_apiserver_conformance.py``."""
    steps = SCRIPTS[name]
    player = Player(InMemory(api), "conformance")
    player.play(steps)
    assert player.statuses == [step.status for step in steps if isinstance(step, Ask)]


def test_an_object_is_created_read_watched_and_deleted(api):
    watch = api.watch(VPCS, resource_version=sent(api, "GET", VPCS)["metadata"]["resourceVersion"])
    made = sent(api, "POST", VPCS, vpc("a"), status=201)
    assert sent(api, "GET", f"{VPCS}/a") == made
    sent(api, "DELETE", f"{VPCS}/a")
    assert [event["type"] for event in watch.poll()] == ["ADDED", "DELETED"]
    assert watch.poll() == []


def test_an_equal_write_takes_no_version_and_tells_no_watch(api):
    made = sent(api, "POST", VPCS, vpc("a"), status=201)
    stored = sent(api, "PUT", f"{VPCS}/a", json.dumps(made))
    assert stored["metadata"]["resourceVersion"] != made["metadata"]["resourceVersion"]  # its defaults were not stored yet
    watch = api.watch(VPCS, resource_version=stored["metadata"]["resourceVersion"])
    assert sent(api, "PUT", f"{VPCS}/a", json.dumps(stored)) == stored
    assert watch.poll() == []


def test_a_change_of_the_spec_and_the_first_deletion_raise_the_generation(api):
    sent(api, "POST", VPCS, vpc("a", finalizers=["gpucloud.dev/x"]), status=201)
    bodies = '{"spec":{"adoption":"Required"}}', '{"metadata":{"labels":{"l":"v"}}}', '{"spec":{"adoption":"Required"}}'
    found = [sent(api, "PATCH", f"{VPCS}/a", body, **MERGE) for body in bodies]
    found += [sent(api, "DELETE", f"{VPCS}/a") for _ in range(2)]
    assert [body["metadata"]["generation"] for body in found] == [2, 2, 2, 3, 3]


def test_the_last_finalizer_is_answered_with_the_old_version_and_told_with_a_new_one(api):
    sent(api, "POST", VPCS, vpc("a", finalizers=["gpucloud.dev/x"]), status=201)
    dying = sent(api, "DELETE", f"{VPCS}/a")["metadata"]
    watch = api.watch(VPCS, resource_version=dying["resourceVersion"])
    answered = sent(api, "PATCH", f"{VPCS}/a", '{"metadata":{"finalizers":null}}', **MERGE)["metadata"]
    (told,) = watch.poll()
    assert (answered["resourceVersion"], "finalizers" in answered) == (dying["resourceVersion"], False)
    assert (told["type"], told["object"]["metadata"]["finalizers"]) == ("DELETED", ["gpucloud.dev/x"])
    assert int(told["object"]["metadata"]["resourceVersion"]) > int(dying["resourceVersion"])


def test_later_pages_show_the_first_one_s_version(api):
    for name in ("a", "b", "c"):
        sent(api, "POST", VPCS, vpc(name), status=201)
    first = sent(api, "GET", f"{VPCS}?limit=2")["metadata"]
    sent(api, "DELETE", f"{VPCS}/c")
    second = sent(api, "GET", f"{VPCS}?limit=2&continue={first['continue']}")
    assert second["metadata"]["resourceVersion"] == first["resourceVersion"]
    assert [item["metadata"]["name"] for item in second["items"]] == ["c"]


def test_what_is_older_than_the_history_is_expired(api):
    first = sent(api, "POST", VPCS, vpc("a"), status=201)["metadata"]["resourceVersion"]
    sent(api, "POST", VPCS, vpc("b"), status=201)
    token = sent(api, "GET", f"{VPCS}?limit=1")["metadata"]["continue"]
    for number in range(120):
        sent(api, "PATCH", f"{VPCS}/a", json.dumps({"metadata": {"labels": {"l": str(number)}}}), **MERGE)
    sent(api, "GET", f"{VPCS}?limit=1&continue={token}", status=410)
    watch = api.watch(VPCS, resource_version=first)
    (told,) = watch.poll()
    assert (told["type"], told["object"]["code"], watch.ended) == ("ERROR", 410, True)


def test_a_restored_backup_brings_objects_and_versions_back_and_breaks_watches_off(api):
    first = sent(api, "POST", VPCS, vpc("a"), status=201)
    watch = api.watch(VPCS, resource_version="")
    backup = api.snapshot()
    last = sent(api, "POST", VPCS, vpc("b"), status=201)["metadata"]["resourceVersion"]
    sent(api, "DELETE", f"{VPCS}/a")
    api.restore(backup)
    assert sent(api, "GET", f"{VPCS}/a") == first
    sent(api, "GET", f"{VPCS}/b", status=404)
    assert watch.poll() == []
    assert watch.ended
    future = api.watch(VPCS, resource_version=last)
    assert sent(api, "POST", VPCS, vpc("c"), status=201)["metadata"]["resourceVersion"] == last
    assert future.poll() == []
    sent(api, "POST", VPCS, vpc("d"), status=201)
    assert [event["object"]["metadata"]["name"] for event in future.poll()] == ["d"]


def test_the_namespace_controller_waits_for_finalizers(api):
    sent(api, "POST", VPCS, vpc("held", finalizers=["gpucloud.dev/x"]), status=201)
    sent(api, "POST", VPCS, vpc("free"), status=201)
    controller = NamespaceController(api)
    assert not controller.step()
    sent(api, "DELETE", "/api/v1/namespaces/team")
    assert controller.step()
    assert [item["metadata"]["name"] for item in sent(api, "GET", VPCS)["items"]] == ["held"]
    assert not controller.step()
    api.request("admin", "PATCH", f"{VPCS}/held", headers=MERGE, body='{"metadata":{"finalizers":null}}')
    assert controller.step()
    sent(api, "GET", "/api/v1/namespaces/team", status=404)


def test_every_change_is_recorded_with_who_made_it(api):
    told = []
    api.subscribe(lambda: told.append(len(api.commits)))
    sent(api, "POST", VPCS, vpc("a"), status=201)
    sent(api, "DELETE", f"{VPCS}/a")
    made, gone = api.commits[-2:]
    assert (made.user, made.verb, made.before, made.plural) == ("admin", "POST", None, "gpuvpcs")
    assert (gone.verb, gone.before, gone.after) == ("DELETE", made.after, None)
    assert told == [len(api.commits) - 1, len(api.commits)]
