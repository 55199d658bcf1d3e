"""Fixtures of the end-to-end tests: a real apiserver, our resources, a namespace each, a simulated cloud, operators.

A control plane that cannot be obtained fails the tests with its reason; nothing is skipped in silence.
"""

from __future__ import annotations

import contextlib
import secrets
import socket
import sys
import threading
from pathlib import Path

import pytest

from controlplane import ControlPlane
from support.audit import AuditLog
from support.canaries import Canaries, WatchedCloud, assert_not_shown
from support.kubectl import Kubectl, remove_objects
from support.operatorproc import USER, OperatorProcess, grant_rights, install_crds
from support.pluginproc import runner
from support.rights import PLUGIN

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
def control_plane(request):
    with ControlPlane.start(audit=True) as plane:
        yield plane
        request.config.pluginmanager.get_plugin(PLUGIN).note(plane.audit_log)


@pytest.fixture(scope="session")
def kubectl(control_plane):
    """The administrator's kubectl."""
    return Kubectl(control_plane.kubectl, control_plane.kubeconfig)


@pytest.fixture
def plugin(control_plane, namespace):
    """The plugin as a user of the test's namespace starts it, as ``runner`` says."""
    return runner(control_plane, namespace)


@pytest.fixture
def audit(control_plane):
    """The audit log from here on; a borrowed cluster has none that we can read, so there the test is skipped."""
    if control_plane.audit_log is None:
        pytest.skip(f"needs an audit log, which a borrowed cluster does not give ({control_plane.how})")
    return AuditLog(control_plane.audit_log).since_now()


@pytest.fixture(scope="session")
def crds(kubectl):
    """Our resource definitions; returns the plural names with their group."""
    install_crds(kubectl)
    return [item["metadata"]["name"] for item in kubectl.list("crds") if item["spec"]["group"] == "gpucloud.dev"]


@pytest.fixture
def namespaces():
    """The names of the namespaces that the test has made."""
    return []


@pytest.fixture
def new_namespace(kubectl, crds, namespaces):
    """A factory of fresh namespaces; what the test left of our objects is removed afterwards, finalizers included.

    GpuOffers have no finalizer, and may be hundreds: they stay.
    """
    made = namespaces

    def make() -> str:
        made.append(f"test-{secrets.token_hex(4)}")
        answer = kubectl.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": made[-1]}}, None)
        assert answer.ok, answer.document
        return made[-1]

    yield make
    held = [kind for kind in crds if not kind.startswith("gpuoffers.")]
    for name in made:
        remove_objects(kubectl, held, name)
        answer = kubectl.api.delete("namespace", name, None)
        assert answer.ok, answer.document


@pytest.fixture
def namespace(new_namespace):
    """A fresh namespace."""
    return new_namespace()


@pytest.fixture
def here(kubectl, namespace):
    """The administrator's kubectl in the test's own namespace."""
    return kubectl.in_namespace(namespace)


@pytest.fixture(scope="session")
def rights(kubectl, crds):  # noqa: ARG001  # they speak of our resources
    """What the operators of the tests may do."""
    grant_rights(kubectl)


@pytest.fixture
def denials_meant(request):
    """A function that takes a namespace in which the test takes rights away."""
    return request.config.pluginmanager.get_plugin(PLUGIN).denials_meant.add


@pytest.fixture
def trap():
    """A port that nobody should come to, and who came."""
    came = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def watch():
            with contextlib.suppress(OSError):
                while True:
                    came.append(listener.accept()[1])

        threading.Thread(target=watch, daemon=True).start()
        yield listener.getsockname()[1], came
        listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def canaries():
    """The secrets of the test."""
    return Canaries()


@pytest.fixture
def sim(tmp_path, canaries):
    """A simulated cloud that makes a VM in a fifth of a second."""
    with WatchedCloud(tmp_path, canaries, provision_seconds=0.2) as cloud:
        yield cloud


@pytest.fixture
def no_secret_shown(kubectl, sim, namespaces, new_namespace, request):  # noqa: ARG001  # they go after this look
    """A function that looks, at the end of a test that has not failed already, for its secrets in all that was shown."""

    def look(operators: list[OperatorProcess]) -> None:
        if not operators or request.node.stash.get(FAILED, False):
            return
        assert_not_shown(kubectl, namespaces, operators, sim)

    return look


@pytest.fixture
def operator(control_plane, sim, rights, canaries, no_secret_shown, request):  # noqa: ARG001  # without its rights it would not start
    """A factory: each call starts one operator against the test's cloud, with a user of its own in the audit log.

    At the end of every test nothing that its operators have shown may hold a secret of the test.
    """
    started: list[OperatorProcess] = []

    def start(**flags: object) -> OperatorProcess:
        kubeconfig = control_plane.kubeconfig_for(USER)
        key_file = flags.pop("api_key_file", sim.api_key_file)
        canaries.plant_surroundings(flags.get("env") or {})
        process = OperatorProcess(sim.url, kubeconfig, key_file, **{"poll_pending_seconds": 0.2, **flags})
        started.append(process)
        return process

    yield start
    try:
        no_secret_shown(started)
    finally:
        _end(started, request)


def _end(started: list[OperatorProcess], request: pytest.FixtureRequest) -> None:
    for process in started:
        if request.node.stash.get(FAILED, False):
            sys.stderr.write("\n".join([f"--- operator {process.pid}, its last words:", *process.process.lines()[-40:]]))
        process.close()
