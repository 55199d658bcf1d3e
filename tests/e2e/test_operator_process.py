"""The operator as a process: its account, its ports, its end, and what it never says."""

from __future__ import annotations

import base64
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

import pytest

import product
from support import waiting
from support.kstatus import condition, ready
from support.manifests import gpuvm
from support.operatorproc import install_crds
from support.simcloud import API_KEY
from support.waiting import eventually

FLAGS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.5, "create_grace_seconds": 1}
PASSWORD = "made-up-p4ssphrase"  # of the simulated cloud's example account


def reach(vms, wanted, name="train"):
    return waiting.reach(vms, "gpuvm", name, wanted)


def fetch(port, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def listening(process):
    process.wait_for_line('"listening"')
    return next(record for record in process.logs() if record.get("event") == "listening")


def test_metrics_and_health(kubectl, namespace, operator):
    process = operator(**FLAGS)
    ports = listening(process)
    vms = kubectl.in_namespace(namespace)
    vms.apply(gpuvm())
    reach(vms, "True/Running")
    assert fetch(ports["health_port"], "/healthz") == (200, "ok\n")
    assert fetch(ports["health_port"], "/readyz") == (200, "ok\n")

    def shown():
        status, text = fetch(ports["metrics_port"], "/metrics")
        assert status == 200
        for line in (
            f'gpucloud_objects{{kind="GpuVM",namespace="{namespace}",ready="True",reason="Running"}} 1.0',
            'gpucloud_cloud_requests_total{code="202",operation="CreateServer"} 1.0',
            'gpucloud_time_to_ready_seconds_count{kind="GpuVM"} 1.0',
            'gpucloud_status_writes_total{kind="GpuVM",result="written"} 2.0',
        ):
            assert line in text
        return text

    text = eventually(shown, what="the metrics to count what the apiserver shows already")
    for name in ("controller_runtime_reconcile_total", "workqueue_depth", "gpucloud_cloud_listing_age_seconds"):
        assert f"\n{name}{{" in text
    assert re.search(r'^gpucloud_build_info\{[^}]*version="[0-9]', text, re.MULTILINE)
    assert 'rest_client_requests_total{code="200",method="PUT"}' in text, "its status writes are counted"
    assert "\nprocess_resident_memory_bytes " in text
    assert "_created" not in text, "a second series for each counter, which no query needs"
    assert "\ngpucloud_event_loop_lag_seconds_count 0.0\n" not in text, "the lag is measured"


def test_not_ready_before_the_first_list(control_plane, sim, crds, operator):  # noqa: ARG001
    process = operator(**FLAGS, namespace=["default"])
    ports = listening(process)
    eventually(lambda: fetch(ports["health_port"], "/readyz")[0] == 200, what="readiness after the first list")
    process.wait_for_line('"synced"')


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT], ids=lambda how: how.name)
def test_a_repeated_signal_ends_it_as_one_does(kubectl, namespace, sim, operator, how):
    process = operator(**FLAGS)
    vms = kubectl.in_namespace(namespace)
    vms.apply(gpuvm())
    reach(vms, "True/Running")
    sim.fault(kind="delay", seconds=15.0, operation="DestroyServer")  # so that there is something to wait for
    vms.delete("gpuvm", "train", wait=False)
    process.wait_for_line('"verb": "DestroyServer"')
    for _ in range(3):
        os.kill(process.pid, how)
        time.sleep(0.1)
    assert process.process.wait(60) == 0
    assert not [record for record in process.logs() if "text" in record or record.get("level") == "error"]


def test_a_login_renews_its_token_and_shows_nothing(kubectl, namespace, sim, operator):
    sim.turn(login_token_seconds=9.99)  # told as 9, so that what is sent in its last moment is not late
    account = {"GPUCLOUD_USERNAME": "ann", "GPUCLOUD_PASSWORD": PASSWORD}
    process = operator(**FLAGS, api_key_file=None, env=account, log_level="debug")
    vms = kubectl.in_namespace(namespace)
    vms.apply(gpuvm())
    reach(vms, "True/Running")
    eventually(lambda: len(sim.calls("Authenticate")) >= 3, 90, "the token to be renewed twice")
    assert ready(vms.get("gpuvm", "train")) == "True/Running"
    answers = [call["status"] for call in sim.calls("GetServers")]
    assert answers.count(401) == 0, "renewed early, not after a refusal"
    assert not any(call["secret_in_url"] for call in sim.calls())
    assert PASSWORD not in "\n".join(process.process.lines())


def test_a_login_that_wants_two_factors_says_so(kubectl, namespace, operator):
    account = {"GPUCLOUD_USERNAME": "tia", "GPUCLOUD_PASSWORD": PASSWORD}
    operator(**FLAGS, api_key_file=None, env=account)
    vms = kubectl.in_namespace(namespace)
    vms.apply(gpuvm())
    item = reach(vms, "False/CredentialsRefused")
    assert "second factor" in condition(item, "Stalled")["message"]


def test_a_key_without_the_permission_to_create(kubectl, namespace, sim, operator):
    sim.fault(kind="status", operation="CreateServer", status=403, message="Required permissions are not granted.")
    operator(**FLAGS)
    vms = kubectl.in_namespace(namespace)
    vms.apply(gpuvm())
    item = reach(vms, "False/PermissionDenied")
    assert "Required permissions are not granted" in condition(item, "Stalled")["message"]
    assert len(sim.calls("CreateServer")) == 1


def test_what_only_the_cloud_can_refuse_is_told_in_its_words(kubectl, namespace, sim, operator):
    operator(**FLAGS)
    vms = kubectl.in_namespace(namespace)
    vms.apply([gpuvm("no-vpc", vpc="acme-nowhere"), gpuvm("no-image", image={"operatingSystem": "Plan 9"})])
    assert "acme-nowhere" in condition(reach(vms, "False/Rejected", "no-vpc"), "Stalled")["message"]
    assert "Plan 9" in condition(reach(vms, "False/Rejected", "no-image"), "Stalled")["message"]
    assert sim.vms() == []
    for name in ("no-vpc", "no-image"):
        vms.delete("gpuvm", name)


def test_sigterm_finishes_what_was_sent(kubectl, namespace, sim, operator):
    sim.fault(kind="delay_answer", operation="CreateServer", seconds=3)
    process = operator(**FLAGS)
    vms = kubectl.in_namespace(namespace)
    vms.apply(gpuvm())
    eventually(lambda: any(call["committed"] for call in sim.calls("CreateServer")), what="the order to be carried out")
    assert process.stop(grace=30) == 0
    assert any(record.get("verb") == "CreateServer" and record.get("outcome") == "Created" for record in process.logs())
    assert len(sim.vms()) == 1


def test_the_key_is_shown_nowhere(kubectl, namespace, sim, operator):
    process = operator(**FLAGS, log_level="debug")
    ports = listening(process)
    vms = kubectl.in_namespace(namespace)
    vms.apply([gpuvm(), gpuvm("bad", configuration="nonsense")])
    reach(vms, "True/Running")
    reach(vms, "False/Rejected", "bad")
    sim.fault(kind="status", operation="*", status=401)
    eventually(lambda: any(call["status"] == 401 for call in sim.calls("GetServers")), what="a refusal")
    said = "\n".join(
        [
            *process.process.lines(),
            vms.ok("get", "gpuvm,events.events.k8s.io", "--output=yaml"),
            fetch(ports["metrics_port"], "/metrics")[1],
        ]
    )
    for form in (API_KEY, base64.b64encode(API_KEY.encode()).decode(), API_KEY[-12:]):
        assert form not in said


def test_a_definition_that_is_deleted_while_it_runs_is_named_at_its_end(kubectl, operator):
    running = operator()
    running.wait_for_line('"synced"')
    try:
        kubectl.ok("delete", "crd", "gpuvms.gpucloud.dev")
        running.wait_for_line('"stopped"')
        assert running.stop() == 1
    finally:
        install_crds(kubectl)
    (last,) = [record for record in running.logs() if record.get("level") == "critical"]
    assert last["definition"] == "gpuvms.gpucloud.dev"
    assert last["install"] == "kubectl apply --server-side -f crds/"
    assert [record for record in running.logs() if "exception" in record] == []


def test_wrong_settings_end_at_once_with_a_sentence():
    done = subprocess.run(  # noqa: S603 - our own command
        [*product.command("operator"), "--endpoint", "default=ftp://somewhere"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "--endpoint: expected NAME=https://HOST" in done.stderr
    assert "Traceback" not in done.stderr
