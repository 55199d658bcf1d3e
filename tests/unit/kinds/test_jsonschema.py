"""The JSON schemas, as an editor or kubeconform reads them: our own manifests pass, and what people mistype does not."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft7Validator

from gpucloud.kinds.definitions import ALL_DEFINITIONS, DEFINITIONS
from gpucloud.kinds.jsonschema import file_name

ROOT = Path(__file__).parents[3]
SCHEMAS = ROOT / "schemas"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
HERE_DOCUMENT = re.compile(r"<<'END'\n(.*?)^END$", re.DOTALL | re.MULTILINE)
FENCED = re.compile(r"^ *```yaml\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
VM = {
    "apiVersion": "gpucloud.dev/v1alpha1",
    "kind": "GpuVM",
    "metadata": {"name": "train"},
    "spec": {"cluster": "Msc1", "vpc": "acme", "configuration": "A100_40GB_PCIe_1x", "sshKeys": ["ssh-ed25519 AAAA x"]},
}


def validator(kind):
    """By the place where kubeconform looks: {{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json."""
    return Draft7Validator(json.loads((SCHEMAS / f"gpucloud.dev/{kind.lower()}_v1alpha1.json").read_text()))


def complaints(manifest):
    return [f"{error.json_path}: {error.message}" for error in validator(manifest["kind"]).iter_errors(manifest)]


def ours(text):
    documents = yaml.safe_load_all(text)
    return [item for item in documents if isinstance(item, dict) and item.get("apiVersion") == "gpucloud.dev/v1alpha1"]


def manifests():
    for path in sorted((ROOT / "deploy" / "examples").glob("*.yaml")):
        yield from ((path.name, item) for item in ours(path.read_text()))
    for path in PAGES:
        texts = [*HERE_DOCUMENT.findall(path.read_text()), *FENCED.findall(path.read_text())]
        yield from ((path.name, item) for text in texts for item in ours(text))


MANIFESTS = list(manifests())


def test_there_are_manifests_of_each_kind_to_look_at():
    assert len(MANIFESTS) > 15
    assert {item["kind"] for _, item in MANIFESTS} >= {item.kind for item in DEFINITIONS}


def test_there_is_one_file_a_kind_and_no_other():
    assert sorted(str(path.relative_to(SCHEMAS)) for path in SCHEMAS.rglob("*.json")) == sorted(
        file_name(item.kind) for item in ALL_DEFINITIONS
    )


@pytest.mark.parametrize("item", ALL_DEFINITIONS, ids=lambda item: item.kind)
def test_each_is_a_schema(item):
    Draft7Validator.check_schema(validator(item.kind).schema)


@pytest.mark.parametrize(("place", "manifest"), MANIFESTS, ids=[f"{place}-{item['kind']}" for place, item in MANIFESTS])
def test_each_manifest_of_examples_and_documents_passes(place, manifest):
    assert complaints(manifest) == [], place


WRONG = [
    ("spec.clutser", "Msc1", "'clutser' was unexpected", "a misspelt field"),
    ("spec.image", {"snapshotref": {"name": "golden"}}, "'snapshotref' was unexpected", "a misspelt field, deeper"),
    ("spec.powerState", "stopped", "is not one of", "a word that does not exist"),
    ("spec.rootDiskGiB", "200", "is not of type 'integer'", "a string for a number"),
    ("spec.rootDiskGiB", 0, "is less than the minimum", "a number out of bounds"),
    ("spec.cluster", None, "'cluster' is a required property", "a field that must be there"),
    ("spec.sshKeys", ["x" * 20000], "is too long", "longer than the apiserver takes"),
    ("apiVersion", "gpucloud.dev/v1", "is not one of", "another version"),
    ("metadata", None, "'metadata' is a required property", "no name"),
    ("status.raedy", True, "'raedy' was unexpected", "not in the status either"),
]


def changed(path, value):
    manifest = copy.deepcopy(VM)
    *parents, last = path.split(".")
    node = manifest
    for parent in parents:
        node = node.setdefault(parent, {})
    if value is None:
        del node[last]
    else:
        node[last] = value
    return manifest


@pytest.mark.parametrize(("path", "value", "says", "why"), WRONG, ids=[row[3] for row in WRONG])
def test_what_is_wrong_is_found(path, value, says, why):
    assert complaints(VM) == []
    assert any(says in complaint for complaint in complaints(changed(path, value))), (why, complaints(changed(path, value)))
