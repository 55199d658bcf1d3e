"""An upgrade as the pages tell it, from a published chart, by a real Helm: what people set stays, what the chart sets is new.

Helm keeps the release in memory and renders the upgrade without a cluster; it asks an apiserver only what it can do.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import yaml

from chartfiles.places import CHART, ROOT
from release.chart import pin
from support.chart import MINIMAL, NAME, RELEASE, Rendered
from support.fakeapiserver import FakeApiServer

OLD = ("registry.example/older/gpucloud-operator", "sha256:" + "0a" * 32)
ASKED = {
    "/version": {"major": "1", "minor": "36", "gitVersion": "v1.36.3"},
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": []},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
}


@pytest.fixture
def deployed(helm, tmp_path):
    """A Helm that holds a release of the chart as an older version would have been published."""
    older, _ = pin(ROOT, tmp_path / "older", *OLD)
    name, namespace = RELEASE
    command = ("install", name, str(older), f"--namespace={namespace}", "--values=-", "--dry-run=client", "--output=json")
    done = helm.run(*command, stdin=json.dumps({**MINIMAL, "replicas": 3}))
    assert done.returncode == 0, done.stderr
    release = json.loads(done.stdout)
    release["info"]["status"] = "deployed"
    memory = tmp_path / "releases"
    memory.write_text(json.dumps([release]))
    with FakeApiServer() as api:
        api.canned = ASKED
        env = {"HELM_DRIVER": "memory", "HELM_MEMORY_DRIVER_DATA": str(memory)}
        yield replace(helm, kubeconfig=api.kubeconfig(tmp_path), env=env)


@pytest.mark.parametrize(
    ("option", "new", "why"),
    [
        ("--reset-then-reuse-values", True, "as the pages say"),
        ("--reuse-values", False, "why they do not say this: the old digest would stay"),
    ],
    ids=["told", "not told"],
)
def test_an_upgrade_brings_the_new_image_and_keeps_what_was_set(deployed, chart, option, new, why):
    name, namespace = RELEASE
    command = ("upgrade", name, str(CHART), f"--namespace={namespace}", option, "--dry-run=client", "--output=json")
    done = deployed.run(*command)
    assert done.returncode == 0, done.stderr
    rendered = Rendered([item for item in yaml.safe_load_all(json.loads(done.stdout)["manifest"]) if item])
    assert rendered.one("Deployment", NAME)["spec"]["replicas"] == 3
    expected = chart.render().container["image"] if new else "@".join(OLD)
    assert rendered.container["image"] == expected, why
