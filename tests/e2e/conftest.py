"""Fixtures of the end-to-end tests: a real apiserver, our resources, a namespace each, a simulated cloud, operators.

A control plane that cannot be obtained fails the tests with its reason; nothing is skipped in silence.
"""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

import pytest

from controlplane import ControlPlane
from support.audit import AuditLog
from support.kubectl import Kubectl
from support.operatorproc import OperatorProcess
from support.simcloud import SimCloud

CRDS = Path(__file__).parents[2] / "crds"
RBAC = Path(__file__).parents[2] / "deploy" / "examples" / "operator-rbac.yaml"
E2E = Path(__file__).parent
FAILED = pytest.StashKey[bool]()


def pytest_collection_modifyitems(items):
    for item in items:
        if E2E in item.path.parents:
            item.add_marker(pytest.mark.e2e)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


@pytest.fixture(scope="session")
def control_plane():
    with ControlPlane.start(audit=True) as plane:
        yield plane


@pytest.fixture(scope="session")
def kubectl(control_plane):
    """The administrator's kubectl."""
    return Kubectl(control_plane.kubectl, control_plane.kubeconfig)


@pytest.fixture
def audit(control_plane):
    """The audit log from here on; a borrowed cluster has none that we can read, so there the test is skipped."""
    if control_plane.audit_log is None:
        pytest.skip(f"needs an audit log, which a borrowed cluster does not give ({control_plane.how})")
    return AuditLog(control_plane.audit_log).since_now()


@pytest.fixture(scope="session")
def crds(kubectl):
    """Our resource definitions, as the files that users apply; returns the plural names with their group."""
    files = sorted(CRDS.glob("*.yaml"))
    assert files, f"no resource definitions in {CRDS.name}/"
    for file in files:
        kubectl.apply(file, "--server-side", "--force-conflicts")
        kubectl.ok("wait", "--for=condition=Established", "--timeout=30s", "-f", str(file))
    return [item["metadata"]["name"] for item in kubectl.list("crds") if item["spec"]["group"] == "gpucloud.dev"]


@pytest.fixture
def namespace(kubectl, crds):
    """A fresh namespace; what the test left of our objects is removed afterwards, finalizers included."""
    name = f"test-{secrets.token_hex(4)}"
    kubectl.ok("create", "namespace", name)
    yield name
    for kind in crds:
        names = [item["metadata"]["name"] for item in kubectl.list(kind, ns=name)]
        if names:
            kubectl.run("delete", kind, *names, "--wait=false", ns=name)
            free = '--patch={"metadata":{"finalizers":null}}'
            kubectl.run("patch", kind, *names, "--type=merge", free, ns=name)
    kubectl.ok("delete", "namespace", name, "--wait=false")


@pytest.fixture(scope="session")
def rights(kubectl, crds):  # noqa: ARG001  # they speak of our resources
    """The documented rights, and no others, for the user that the operators of the tests run as."""
    kubectl.apply(RBAC)
    kubectl.apply(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "gpucloud-operator-of-the-tests"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "gpucloud-operator"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "gpucloud-operator"}],
        }
    )


@pytest.fixture
def sim(tmp_path):
    """A simulated cloud that makes a VM in a fifth of a second."""
    with SimCloud(tmp_path, provision_seconds=0.2) as cloud:
        yield cloud


@pytest.fixture
def operator(control_plane, sim, rights, request):  # noqa: ARG001  # without its rights it would not start
    """A factory: each call starts one operator against the test's cloud, with a user of its own in the audit log."""
    started: list[OperatorProcess] = []

    def start(**flags: object) -> OperatorProcess:
        kubeconfig = control_plane.kubeconfig_for("gpucloud-operator")
        key_file = flags.pop("api_key_file", sim.api_key_file)
        process = OperatorProcess(sim.url, kubeconfig, key_file, **{"poll_pending_seconds": 0.2, **flags})
        started.append(process)
        return process

    yield start
    for process in started:
        if request.node.stash.get(FAILED, False):
            sys.stderr.write("\n".join([f"--- operator {process.pid}, its last words:", *process.process.lines()[-40:]]))
        process.close()
