"""The control plane of the tests is a real one, tells users apart, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from controlplane import ControlPlane, ControlPlaneError, local
from support.audit import AuditLog, Request
from support.kubectl import Kubectl
from support.processes import ChildProcess
from support.waiting import eventually


@pytest.fixture(scope="module")
def whole_plane():
    with ControlPlane.start(controller_manager=True) as plane:
        yield plane


@pytest.fixture
def own_processes(control_plane):
    """For tests of what only a control plane of our own processes has; where a cluster is borrowed they are skipped."""
    if control_plane.how.startswith(("existing", "kind")):
        pytest.skip(f"about processes of our own, and the cluster is borrowed ({control_plane.how})")


@pytest.fixture
def fresh_namespace(kubectl, request):
    name = request.node.name.replace("_", "-")[:60].rstrip("-")
    kubectl.ok("create", "namespace", name)
    yield name
    kubectl.ok("delete", "namespace", name, "--wait=false")


def test_it_is_ready_and_says_how_it_was_obtained(control_plane, kubectl):
    assert kubectl.ok("get", "--raw", "/readyz") == "ok"
    assert kubectl.get("namespace", "default")["status"]["phase"] == "Active"
    assert control_plane.how.split(":")[0] in {"existing", "kind", "assets", "download", "build"}


def test_objects_can_be_written_changed_and_deleted(kubectl, fresh_namespace):
    here = kubectl.in_namespace(fresh_namespace)
    here.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"key": "one"}})
    here.patch("configmap", "a", {"data": {"key": "two"}})
    assert here.get("configmap", "a")["data"] == {"key": "two"}
    here.delete("configmap", "a")
    assert here.get("configmap", "a") is None


def test_a_refusal_is_the_apiservers_own_word(kubectl, fresh_namespace):
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "Not A Name"}}
    assert "Invalid value" in kubectl.apply(manifest, ns=fresh_namespace, expect_error=True)


def test_a_user_without_rights_is_denied(control_plane):
    viewer = Kubectl(control_plane.kubectl, control_plane.kubeconfig_for("viewer"))
    denied = viewer.run("get", "secrets", "--all-namespaces")
    assert denied.returncode != 0
    assert 'User "viewer" cannot list resource "secrets"' in denied.stderr


def test_anybody_else_is_impersonated(control_plane):
    jane = Kubectl(control_plane.kubectl, control_plane.kubeconfig_for("jane", ("team-a",)))
    said = json.loads(jane.ok("auth", "whoami", "--output=json"))["status"]["userInfo"]
    assert (said["username"], "team-a" in said["groups"]) == ("jane", True)


def test_the_audit_log_tells_users_apart(control_plane, kubectl, audit, fresh_namespace):
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s"},
        "stringData": {"word": "not-for-the-log"},
    }
    binding = ("rolebinding", "secrets", "--clusterrole=cluster-admin", "--user=gpucloud-operator")
    kubectl.ok("create", *binding, ns=fresh_namespace)
    Kubectl(control_plane.kubectl, control_plane.kubeconfig_for("gpucloud-operator")).apply(secret, ns=fresh_namespace)
    kubectl.delete("secret", "s", ns=fresh_namespace)

    def seen():
        return {(user, verb) for user, verb, *_ in audit.counts(namespace=fresh_namespace, reads=False)}

    # A line is written when its request has been answered, which kubectl does not wait for.
    eventually(lambda: seen() == {("gpucloud-operator", "create"), ("admin", "delete")}, 10, "both users in the log")
    assert audit.requests(user="gpucloud-operator", namespace=fresh_namespace, reads=False) == [
        Request("gpucloud-operator", "create", "secrets", namespace=fresh_namespace, name="s", code=201)
    ]
    assert "not-for-the-log" not in control_plane.audit_log.read_text()
    assert AuditLog(control_plane.audit_log).since_now().requests(user="gpucloud-operator") == []


def test_service_account_tokens_are_signed_and_accepted(control_plane, kubectl, fresh_namespace):
    here = kubectl.in_namespace(fresh_namespace)
    here.ok("create", "serviceaccount", "robot")
    config = json.loads(control_plane.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": here.ok("create", "token", "robot").strip()}
    as_robot = control_plane.folder / "robot.kubeconfig"
    as_robot.write_text(json.dumps(config))
    said = Kubectl(control_plane.kubectl, as_robot).ok("auth", "whoami")
    assert f"system:serviceaccount:{fresh_namespace}:robot" in said


def test_with_the_controller_manager_a_deleted_namespace_goes(whole_plane):
    kubectl = Kubectl(whole_plane.kubectl, whole_plane.kubeconfig)
    kubectl.ok("create", "namespace", "going")
    kubectl.ok("create", "configmap", "content", ns="going")
    kubectl.delete("namespace", "going")
    assert kubectl.get("namespace", "going") is None


@pytest.mark.usefixtures("own_processes")
def test_the_apiserver_comes_back_with_its_data_after_a_crash(whole_plane):
    kubectl = Kubectl(whole_plane.kubectl, whole_plane.kubeconfig)
    whole_plane.kill_apiserver()
    assert kubectl.run("get", "namespace", "default", "--request-timeout=5s").returncode != 0
    whole_plane.restart_apiserver()
    assert kubectl.get("namespace", "default")["status"]["phase"] == "Active"


def test_an_existing_cluster_is_used_and_left_alone(control_plane, kubectl, monkeypatch):
    monkeypatch.delenv("GPUCLOUD_CONTROL_PLANE", raising=False)
    monkeypatch.setenv("USE_EXISTING_CLUSTER", "true")
    monkeypatch.setenv("KUBECONFIG", str(control_plane.kubeconfig))
    with ControlPlane.start(audit=True) as borrowed:
        assert borrowed.how == "existing: the cluster of KUBECONFIG"
        assert borrowed.audit_log is None
        viewer = Kubectl(borrowed.kubectl, borrowed.kubeconfig_for("viewer"))
        assert 'User "viewer" cannot' in viewer.run("get", "secrets").stderr
        with pytest.raises(ControlPlaneError, match="not ours to kill"):
            borrowed.kill_apiserver()
    assert not borrowed.folder.exists()
    assert kubectl.ok("get", "--raw", "/readyz") == "ok"


FAKE_KIND = """#!/bin/sh
echo "$1 $2" >> "{calls}"
for word in "$@"; do case $word in --kubeconfig=*) target=${{word#*=}};; esac; done
[ "$1" = delete ] || {create}
"""


def fake_kind(folder: Path, create: str) -> Path:
    """A `kind` that notes its calls, beside an engine that answers; what the real one does is not shown."""
    calls = folder / "calls"
    for name, text in {"kind": FAKE_KIND.format(calls=calls, create=create), "docker": "#!/bin/sh\necho {}\n"}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return calls


def test_a_kind_cluster_is_made_used_and_deleted(control_plane, tmp_path, monkeypatch):
    calls = fake_kind(tmp_path, f'cp "{control_plane.kubeconfig}" "$target"')
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("GPUCLOUD_CONTROL_PLANE", "kind")
    with ControlPlane.start() as plane:
        assert plane.how.startswith("kind: ")
        assert Kubectl(plane.kubectl, plane.kubeconfig).ok("get", "--raw", "/readyz") == "ok"
        assert calls.read_text().splitlines() == ["create cluster"]
    assert calls.read_text().splitlines() == ["create cluster", "delete cluster"]


@pytest.mark.usefixtures("own_processes")
def test_when_kind_fails_the_next_way_follows_unless_kind_was_asked_for(tmp_path, monkeypatch, capsys):
    calls = fake_kind(tmp_path, "{ echo no image >&2; exit 1; }")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("GPUCLOUD_CONTROL_PLANE", raising=False)
    monkeypatch.delenv("USE_EXISTING_CLUSTER", raising=False)
    with ControlPlane.start() as plane:
        assert not plane.how.startswith("kind")
    assert "no image Trying the next way." in " ".join(capsys.readouterr().err.split())
    monkeypatch.setenv("GPUCLOUD_CONTROL_PLANE", "kind")
    with pytest.raises(ControlPlaneError, match="no image"):
        ControlPlane.start()
    assert calls.read_text().splitlines() == ["create cluster", "delete cluster"] * 2


@pytest.mark.usefixtures("own_processes")
def test_a_port_lost_to_somebody_else_is_replaced(monkeypatch):
    free_ports = local._free_ports
    with socket.create_server(("127.0.0.1", 0)) as somebody:
        taken = somebody.getsockname()[1]
        offers = [[*free_ports(2), taken], [taken, *free_ports(2)], free_ports(3)]
        monkeypatch.setattr(local, "_free_ports", lambda count: offers.pop(0) if offers else free_ports(count))
        with ControlPlane.start() as plane:
            assert Kubectl(plane.kubectl, plane.kubeconfig).ok("get", "--raw", "/readyz") == "ok"
    assert offers == []


STARTER = """
import os, time
os.setpgid(0, 0)
from controlplane import ControlPlane
plane = ControlPlane.start()
print("started", plane.supervisor_pid, plane.folder, flush=True)
time.sleep(600)
"""


@pytest.mark.usefixtures("own_processes")
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc, which this system does not have")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda how: how.name)
def test_nothing_is_left_when_the_starter_is_killed(how):
    with ChildProcess([sys.executable, "-c", STARTER], name="starter") as starter:
        _, supervisor, folder = starter.wait_for_line("started", 120).split()
        pids = [int(supervisor), *children_of(int(supervisor))]
        assert Path(folder).is_dir()
        os.killpg(starter.pid, how)  # the whole group, as a terminal or a job runner does
        starter.wait()
        eventually(lambda: not Path(folder).exists(), 30, f"{folder} is removed")
        eventually(lambda: not [pid for pid in pids if is_running(pid)], 30, f"none of {pids} runs")


def test_a_program_that_ends_at_once_is_reported_with_its_last_words(tmp_path, monkeypatch):
    for name in ("etcd", "kube-apiserver", "kubectl"):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho {name} cannot go on\nexit 3\n")
        program.chmod(0o755)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    monkeypatch.setenv("GPUCLOUD_CONTROL_PLANE", "assets")
    with pytest.raises(ControlPlaneError, match=r"exit code 3(.|\n)*cannot go on"):
        ControlPlane.start()


@pytest.mark.usefixtures("own_processes")
def test_the_command_prints_exports_that_are_all_that_is_needed_until_it_is_interrupted():
    with ChildProcess([sys.executable, "-m", "controlplane", "up"], name="up") as up:
        up.wait_for_line("Ctrl-C ends it.", 120)
        exports = [line for line in up.lines() if line.startswith("export ")]
        folder = Path(exports[0].partition("=")[2]).parent
        script = "\n".join([*exports, "command -v kubectl", "kubectl get namespaces"])
        with ChildProcess(["bash", "-euc", script], env={"PATH": "/usr/bin:/bin"}, name="typed") as typed:
            assert typed.wait(60) == 0, typed.log.read_text()
            assert f"{folder}/bin/kubectl" in typed.lines(), "none that the reader may have"
            assert "default " in typed.log.read_text()
        assert (folder / "cache").is_dir(), "kubectl's cache goes with the rest"
        os.kill(up.pid, signal.SIGINT)
        assert up.wait(120) == 0
        assert not folder.exists()


def children_of(pid: int) -> list[int]:
    found = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    assert len(found) >= 2, "etcd and kube-apiserver"
    return found


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
