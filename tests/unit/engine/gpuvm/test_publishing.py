"""What is published and withdrawn for a GpuVM, and what is remembered of it."""

import pytest
import yaml

from gpucloud.engine.kinds.gpuvm.publishing import REASSERT_SECONDS, Publisher
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Present, Verb
from gpucloud.reconcile.plan import Plan
from support.builders import NOW, a_record
from support.gpuvmrig import ours
from support.ownedobjects import OwnedObjects
from support.snippets import ROOT, blocks

PORT = {"name": "metrics", "port": 9400}
CONNECTION = {"configMapName": "train-connection", "service": {"name": "train", "ports": [PORT]}}
TARGETS = ("endpointslices/train", "services/train", "configmaps/train-connection")


@pytest.fixture
def kube():
    return OwnedObjects()


@pytest.fixture
def publisher(rig, kube):
    return Publisher(kube, rig.reconciler.store, rig.reconciler._tracker)


async def act(rig, publisher, verb, targets=()):
    facts = await rig.facts()
    return await publisher.act(facts, Plan(action=verb, targets=targets), verb)


@pytest.fixture
def running(rig):
    rig.put(spec={"connection": CONNECTION})
    rig.inventory.seen[ours()] = Present(a_record(name=ours().name, private_ip="10.0.0.7", ip="192.0.2.7"), NOW)
    return rig


async def test_the_objects_lead_to_the_vm_and_are_withdrawn_address_first(running, publisher, kube):
    event = await act(running, publisher, Verb.PUBLISH)
    assert (event.reason, event.warning) == (Reason.PUBLISHED, False)
    assert kube.find("configmaps", "train-connection")["data"] == {
        "host": "192.0.2.7", "privateAddress": "10.0.0.7", "port": "22", "user": "ubuntu"
    }  # fmt: skip
    assert kube.find("endpointslices", "train")["endpoints"][0]["addresses"] == ["10.0.0.7"]
    assert kube.find("services", "train")["spec"]["ports"] == [{**PORT, "protocol": "TCP", "targetPort": 9400}]
    assert await act(running, publisher, Verb.PUBLISH) is None, "a second look finds nothing to do"

    kube.requests.clear()
    event = await act(running, publisher, Verb.WITHDRAW, TARGETS)
    assert event.note == f"Withdrew {', '.join(TARGETS)}."
    assert kube.writes == ["DELETE endpointslices", "DELETE services", "DELETE configmaps"]


async def test_the_recipe_that_scrapes_an_exporter_finds_the_service_of_the_example(rig, publisher, kube):
    """The page's ServiceMonitor names a label and a port; the Prometheus Operator that would read it is not installed here."""
    example = yaml.safe_load((ROOT / "deploy" / "examples" / "gpuvm-connection.yaml").read_text())["spec"]["connection"]
    page = [
        yaml.safe_load(block.text) for block in blocks(ROOT / "docs" / "how-to" / "connection.md") if block.language == "yaml"
    ]
    (monitor,) = (item["spec"] for item in page if item["kind"] == "ServiceMonitor")
    rig.put(spec={"connection": example})
    rig.inventory.seen[ours()] = Present(a_record(name=ours().name, private_ip="10.0.0.7", ip="192.0.2.7"), NOW)
    await act(rig, publisher, Verb.PUBLISH)
    name = example["service"]["name"]
    service, found = kube.find("services", name), kube.find("endpointslices", name)
    assert monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    (scraped,) = (one["port"] for one in monitor["endpoints"])
    assert scraped in {port["name"] for port in service["spec"]["ports"]}
    assert [port["port"] for port in found["ports"] if port["name"] == scraped] == [9400]
    assert found["metadata"]["labels"]["kubernetes.io/service-name"] == name


async def test_one_of_both_verbs_is_remembered(running, publisher):
    for verb, other in ((Verb.PUBLISH, Verb.WITHDRAW), (Verb.WITHDRAW, Verb.PUBLISH), (Verb.PUBLISH, Verb.WITHDRAW)):
        await act(running, publisher, verb, TARGETS)
        facts = await running.facts()
        assert facts.attempt(verb) is not None
        assert facts.attempt(other) is None


async def test_a_publication_that_breaks_off_ends_what_was_known_of_the_withdrawal(running, publisher, kube):
    """Else a stop right after it would take the VM's objects for withdrawn."""
    await act(running, publisher, Verb.WITHDRAW, TARGETS)
    facts = await running.facts()

    def edited(method, path):
        if (method, path.rsplit("/", 1)[-1]) == ("POST", "services"):
            running.put(spec={"connection": CONNECTION, "powerState": "Stopped"}, generation=2)

    kube.before = edited
    assert await publisher.act(facts, Plan(action=Verb.PUBLISH), Verb.PUBLISH) is None
    assert kube.find("configmaps", "train-connection") is not None, "it was half done"
    known = (await running.facts()).history.attempts
    assert not {Verb.PUBLISH, Verb.WITHDRAW} & known.keys()


@pytest.mark.parametrize("verb", [Verb.PUBLISH, Verb.WITHDRAW])
async def test_a_missing_right_for_one_object_does_not_keep_the_others(running, publisher, kube, verb):
    if verb is Verb.WITHDRAW:
        await act(running, publisher, Verb.PUBLISH)
    kube.refused = {("GET", "/configmaps/"): 403}
    event = await act(running, publisher, verb, TARGETS)
    assert event.warning
    assert "Let the operator get, create, update and delete ConfigMaps, Services and EndpointSlices." in event.note
    assert ("A stop or destruction waits 60 s, then is sent anyway" in event.note) is (verb is Verb.WITHDRAW)
    assert (kube.find("endpointslices", "train") is None) is (verb is Verb.WITHDRAW)
    assert (await running.facts()).attempt(verb).refusal.message == event.note


async def test_a_terminating_namespace_is_no_missing_right(running, publisher, kube):
    kube.refused = {("POST", "/configmaps"): 403}
    kube.words, kube.causes = "whatever it says of it", frozenset({"NamespaceTerminating"})
    event = await act(running, publisher, Verb.PUBLISH)
    assert "whatever it says of it" in event.note
    assert "Let the operator" not in event.note


async def test_a_missing_right_is_no_terminating_namespace_whatever_it_says(running, publisher, kube):
    kube.refused = {("POST", "/configmaps"): 403}
    kube.words = 'configmaps "being terminated" is forbidden: no rule allows it'
    assert "Let the operator" in (await act(running, publisher, Verb.PUBLISH)).note


async def test_a_taken_name_is_said_and_left_alone(running, publisher, kube):
    kube.put("services", "train", "another", spec={})
    event = await act(running, publisher, Verb.PUBLISH)
    assert event.reason == Reason.PUBLISH_FAILED
    assert event.note.startswith("Service 'train' exists and does not belong to this GpuVM")
    assert kube.find("configmaps", "train-connection") is not None, "what does not depend on it is published"
    assert kube.find("endpointslices", "train") is None


async def test_looks_come_more_rarely_the_more_vms_publish(publisher):
    assert publisher.reassert_seconds == REASSERT_SECONDS
    for number in range(400):
        publisher._publishers.add(str(number))
    assert publisher.reassert_seconds == 80
    for number in range(400):
        publisher.drop(str(number))
    assert publisher.reassert_seconds == REASSERT_SECONDS
