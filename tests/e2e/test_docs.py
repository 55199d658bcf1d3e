"""The tutorial and the how-to pages do what they say: every command in them is typed, in order, by a reader with a terminal.

The reader has a real kubectl, a real apiserver and a simulated cloud. What cannot run here bears a note that says why;
tests/unit/test_docs_snippets.py counts these.
"""

from __future__ import annotations

import json
import os
import urllib.request
from functools import partial
from pathlib import Path

import pytest
import yaml

from controlplane import ControlPlane
from helmcli import obtain_helm
from support.kubectl import Kubectl
from support.manifests import gpucloudaccount, gpusnapshot, gpuvm, secret
from support.simcloud import API_KEY
from support.snippets import ROOT, Terminal, blocks, environment, free_port
from support.waiting import reach

pytestmark = pytest.mark.timeout(600)  # a page is many commands
TUTORIAL = ROOT / "docs" / "tutorial.md"
HELM = "install-with-helm.md"  # in a cluster of its own: a release owns resource definitions
HOW_TO = [page for page in sorted((ROOT / "docs" / "how-to").glob("*.md")) if any(block.runs for block in blocks(page))]
ADDRESS = "https://cloud.example"  # what the pages call the cloud
FLAGS = {"poll_steady_seconds": 1, "create_grace_seconds": 1, "cloud_qps": 500, "cloud_burst": 100}
# What stands before a page begins, where that is more than an operator with an account of its own.
BEFORE = {
    "account.md": {"api_key_file": None},
    "adopt.md": {"api_key_file": None},
    "brakes-and-limits.md": {"brake_price_per_hour": 1},
    "from-terraform.md": {"api_key_file": None},
}


def terminal(home, plane, namespace, *folders):
    """In a folder like a checkout, with a kubeconfig of its own in a home of its own."""
    for name in ("crds", "deploy", ".venv"):
        (home / name).symlink_to(ROOT / name)
    config = yaml.safe_load(Path(plane.kubeconfig).read_text())
    for entry in config["contexts"]:
        entry["context"]["namespace"] = namespace
    kubeconfig = home / ".kube" / "config"
    kubeconfig.parent.mkdir()
    kubeconfig.write_text(yaml.safe_dump(config))
    for name, content in (("gpucloud-api-key", API_KEY), ("gpucloud-password", "made-up-p4ssphrase")):
        (home / name).write_text(content)
    free = {"GPUCLOUD_METRICS_PORT": "0", "GPUCLOUD_HEALTH_PORT": "0"}
    quick = {f"GPUCLOUD_SIM_{verb}_SECONDS": "0.5" for verb in ("DESTROY", "STOP", "START", "SNAPSHOT")}
    around = environment(home, kubeconfig, ROOT / ".venv" / "bin", plane.kubectl.parent, *folders) | free | quick
    return partial(Terminal, home, around)


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def reader(control_plane, crds, namespace, home):  # noqa: ARG001  # the pages speak of our kinds
    """A function that opens a terminal, in a namespace of its own; it takes what is typed in place of words of the page."""
    return terminal(home, control_plane, namespace)


def names_of(namespace, usual):
    """Where a page shows the namespace that its reader most likely is in, ours is shown."""
    forms = ("Namespace {}:", "namespace '{}'", "{} namespace")
    return {form.format(usual): form.format(namespace) for form in forms}


def tell(opened, figure):
    """Print how long each step of the page took. The times are never judged."""
    for step in opened.took:
        figure(str(step))


def test_the_tutorial(reader, namespace):
    port = free_port()
    with reader({"8080": str(port), **names_of(namespace, "default")}) as opened:
        opened.run(TUTORIAL)
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"http://127.0.0.1:{port}/_sim/world") as answer:
            world = json.load(answer)
    assert (world["vms"], world["snapshots"]) == ([], [])
    assert [vpc["name"] for vpc in world["vpcs"] if not vpc["is_default"]] == []


def of_the_plugin(here):
    """An account, and two objects that cannot go on."""
    here.apply([secret(apikey=API_KEY), gpucloudaccount(), gpuvm("waits", vpc=None, vpcRef={"name": "nowhere"})])
    here.apply(gpusnapshot("waits-too", vmRef={"name": "waits"}))


def of_the_recovery(here, operator):
    """One VM that is there and is to go, one that is to come, and an operator that only looks."""
    first = operator(**FLAGS)
    here.apply(gpuvm("old"))
    reach(here, "gpuvm", "old", "True/Running")
    first.stop()
    here.ok("delete", "gpuvm", "old", "--wait=false")
    here.apply(gpuvm("new"))
    operator(**FLAGS, observe_only=True)
    for name in ("old", "new"):
        reach(here, "gpuvm", name, "Unknown/ObserveOnly")


@pytest.mark.parametrize("page", [page for page in HOW_TO if page.name != HELM], ids=lambda page: page.name)
def test_a_how_to_page(page, reader, here, kubectl, sim, operator, *, figure):
    sim.turn(snapshot_seconds=0.2, stop_seconds=0.2, start_seconds=0.2, destroy_seconds=0.2, snapshot_delete_seconds=0.2)
    if page.name == "disaster-recovery.md":
        of_the_recovery(here, operator)
    elif page.name != "run-the-operator.md":  # that one starts its own
        operator(**{**FLAGS, **BEFORE.get(page.name, {})})
    if page.name == "kubectl-plugin.md":
        of_the_plugin(here)
    with reader({ADDRESS: sim.url, **names_of(here.namespace, "team")}) as opened:
        opened.run(page)
    tell(opened, figure)
    if page.name == "brakes-and-limits.md":  # it speaks of a namespace that outlives the test
        kubectl.ok("delete", "gpuvm", "--all", "--namespace=team", "--timeout=5m")


def test_the_page_about_helm(home, figure):
    with ControlPlane.start() as plane:
        kubectl = Kubectl(plane.kubectl, plane.kubeconfig)
        with terminal(home, plane, "default", obtain_helm(os.environ).parent)() as opened:
            opened.run(ROOT / "docs" / "how-to" / HELM)
        tell(opened, figure)
        assert kubectl.get("deployment", "gpucloud-operator", "gpucloud-system") is not None
