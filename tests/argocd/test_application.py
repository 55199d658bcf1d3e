"""The sample Application, and the waves of what it applies: the order in which Argo CD goes is one in which nothing waits."""

from __future__ import annotations

import fnmatch
import json
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
APPLICATION = yaml.safe_load((ROOT / "deploy" / "argocd" / "application.yaml").read_text())
SPEC = APPLICATION["spec"]
PAGE = (ROOT / "docs" / "how-to" / "argocd.md").read_text()
WAVE = "argocd.argoproj.io/sync-wave"
STORY = ("app.kubernetes.io/part-of", "lab")
REFERENCES = {"accountRef": "GpuCloudAccount", "vpcRef": "GpuVpc", "vmRef": "GpuVM", "snapshotRef": "GpuSnapshot"}


def ours(paths):
    items = [item for path in sorted(paths) for item in yaml.safe_load_all(path.read_text())]
    return {(item["kind"], item["metadata"]["name"]): item for item in items if item["apiVersion"].startswith("gpucloud.dev/")}


def applied():
    """The files of the folder that the Application takes, as its ``include`` says: {one,or,another}."""
    patterns = SPEC["source"]["directory"]["include"].strip("{}").split(",")
    folder = ROOT / SPEC["source"]["path"]
    return [path for path in folder.iterdir() if any(fnmatch.fnmatch(path.name, pattern) for pattern in patterns)]


EXAMPLES = ours((ROOT / "deploy" / "examples").glob("*.yaml"))
SAMPLES = ours(applied())


def wave(item):
    return int(item["metadata"].get("annotations", {}).get(WAVE, "0"))


def needed(value):
    """What a spec refers to, as (kind, name), at any depth."""
    if not isinstance(value, dict):
        return []
    here = [(REFERENCES[key], part["name"]) for key, part in value.items() if key in REFERENCES]
    return here + [one for part in value.values() for one in needed(part)]


def before(item):
    """What must be there first; who names no account uses the one named default."""
    spec = item["spec"]
    account = [] if item["kind"] == "GpuCloudAccount" or "accountRef" in spec else [("GpuCloudAccount", "default")]
    return [EXAMPLES[one] for one in account + needed(spec)]


def test_the_application_applies_the_story_of_the_examples_and_nothing_else():
    assert (APPLICATION["apiVersion"], APPLICATION["kind"]) == ("argoproj.io/v1alpha1", "Application")
    story = {key for key, item in EXAMPLES.items() if item["metadata"].get("labels", {}).get(STORY[0]) == STORY[1]}
    assert SAMPLES.keys() == story
    assert len(SAMPLES) == len(applied()), "one object a file"


def test_it_goes_to_a_namespace_of_its_own_cluster():
    assert APPLICATION["metadata"]["namespace"] == "argocd"
    assert SPEC["destination"] == {"server": "https://kubernetes.default.svc", "namespace": "team"}
    assert {item["metadata"].get("namespace") for item in SAMPLES.values()} == {None}


def test_deleting_the_application_deletes_nothing_with_data():
    assert "finalizers" not in APPLICATION["metadata"], "with Argo CD's finalizer it takes the VMs along"
    for key, item in SAMPLES.items():
        assert item["metadata"]["annotations"]["argocd.argoproj.io/sync-options"] == "Prune=confirm,Delete=confirm", key


def test_its_options_are_those_that_the_page_explains():
    assert SPEC["syncPolicy"]["automated"] == {"prune": True, "selfHeal": True}
    assert SPEC["syncPolicy"]["syncOptions"] == [
        "CreateNamespace=true",
        "ServerSideApply=true",
        "RespectIgnoreDifferences=true",
    ]
    assert [option for option in SPEC["syncPolicy"]["syncOptions"] if f"`{option}`" not in PAGE] == []


def test_nothing_is_ignored_but_what_the_actions_set():
    pointer = {"group": "gpucloud.dev", "kind": "GpuVM", "jsonPointers": ["/spec/powerState"]}
    assert SPEC["ignoreDifferences"] == [pointer]
    schema = json.loads((ROOT / "schemas" / "gpucloud.dev" / "gpuvm_v1alpha1.json").read_text())
    assert "powerState" in schema["properties"]["spec"]["properties"]


@pytest.mark.parametrize("key", EXAMPLES, ids=" ".join)
def test_what_an_example_needs_is_in_a_lower_wave(key):
    late = [other["metadata"]["name"] for other in before(EXAMPLES[key]) if wave(other) >= wave(EXAMPLES[key])]
    assert late == []


def test_each_sample_shows_its_wave():
    assert {key for key, item in SAMPLES.items() if WAVE not in item["metadata"]["annotations"]} == set()
    assert len({wave(item) for item in SAMPLES.values()}) == len(SAMPLES), "each needs the one before it"
