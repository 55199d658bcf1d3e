"""A GpuHost on a real apiserver: watched, rebooted and reprovisioned by request, each request at most once, never destroyed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from support.kstatus import assert_row, condition
from support.manifests import gpucloudaccount, gpuhost, gpuvm, secret
from support.simcloud import API_KEY
from support.waiting import eventually, reach

FLAGS = {
    "poll_pending_seconds": 0.2,
    "poll_steady_seconds": 0.5,
    "create_grace_seconds": 1,
    "cloud_qps": 500,
    "cloud_burst": 100,
    "cloud_timeout_seconds": 60,
}
REBOOT, REPROVISION = "gpucloud.dev/reboot-requested-at", "gpucloud.dev/reprovision-requested-at"
SIGNATURE = "canary-of-a-signed-url-0007"
IMAGE = f"https://images.example/gpu-node.qcow2?X-Signature={SIGNATURE}"
CHECKSUM = f"https://images.example/gpu-node.qcow2.sha256?X-Signature={SIGNATURE}"
INSTALL = {
    "imageUrl": IMAGE,
    "imageChecksumUrl": CHECKSUM,
    "cloudInitSecretRef": {"name": "metal-cloud-init", "key": "user-data"},
}
CLOUD_INIT = "#canary_of_user_data_0008"
HELD = 120.0  # seconds that a fault holds an answer: longer than the test needs


@pytest.fixture
def sim(sim):
    sim.turn(host_reboot_seconds=1, host_provision_seconds=1.5)
    sim.canaries.plant("the signature of an image's URL", SIGNATURE)
    return sim


def stamp(**ago):
    """A time of now, or a while ago, as people type it."""
    return (datetime.now(UTC) - timedelta(**ago)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def request(here, annotation, value=None, name="metal"):
    """Set the annotation; return its value."""
    value = value or stamp()
    here.annotate("gpuhost", name, **{annotation: value})
    return value


def outcome(here, value, *wanted, name="metal"):
    """Wait until the operation of this request has one of these outcomes, and return the status."""

    def look():
        status = here.get("gpuhost", name)["status"]
        operation = status["operation"]
        assert (operation["id"], operation["outcome"] in wanted) == (value, True), operation
        return status

    return eventually(look, what=f"the request {value} to be {' or '.join(wanted)}")


def running(here, name="metal"):
    return reach(here, "gpuhost", name, "True/Running")["status"]


def row(here, reason, kstatus, standing, name="metal", says=""):
    """Wait for this verdict, and judge it as Flux, Helm and Argo CD do."""
    item = reach(here, "gpuhost", name, reason, says=says)
    assert_row(here, item, kstatus=kstatus, standing=standing, met=reason.startswith("True"))
    return item


def sent(sim):
    """The operations on hosts that the cloud was asked for, in order."""
    return [call["operation"] for call in sim.calls() if call["operation"] in {"RebootHost", "ReprovisionHost"}]


def listings(sim, operation):
    return len(sim.calls(operation))


def looked_again(sim, operation, times=3):
    before = listings(sim, operation)
    eventually(lambda: listings(sim, operation) >= before + times, what=f"{operation} to be called again")


def test_it_is_watched_rebooted_and_reprovisioned_and_its_host_outlives_it(here, sim, operator):
    operator(**FLAGS)
    here.apply(gpuvm())
    reach(here, "gpuvm", "train", "True/Running")
    assert not sim.calls("GetHosts"), "hosts are listed only while a GpuHost exists"

    here.apply([secret("metal-cloud-init", **{"user-data": CLOUD_INIT})])
    here.apply(gpuhost(reprovision=INSTALL))
    status = row(here, "True/Running", "Current", "-")["status"]
    assert (status["hostId"], status["provisioningState"], status["poweredOn"]) == ("bm-128", "provisioned", True)
    assert "finalizers" not in here.get("gpuhost", "metal")["metadata"]
    assert sent(sim) == [], "nobody has asked for anything"

    asked = request(here, REBOOT)
    status = outcome(here, asked, "Done")
    assert status["lastHandledRebootAt"] == asked
    running(here)

    asked = request(here, REPROVISION)
    status = outcome(here, asked, "Done")
    assert status["lastHandledReprovisionAt"] == asked
    assert running(here)["image"] == IMAGE.partition("?")[0]
    assert sent(sim) == ["RebootHost", "ReprovisionHost"]
    (call,) = sim.calls("ReprovisionHost")
    assert (call["parameters"]["imageUrl"], call["parameters"]["imageChecksum"]) == (IMAGE, CHECKSUM)
    assert "cloudInitBase64" in call["parameters"]
    expected = {("metal", "RebootRequested"), ("metal", "ReprovisionRequested")}
    eventually(lambda: expected <= set(here.events()), what="an Event of each")

    here.delete("gpuhost", "metal")
    looked_again(sim, "GetServers", 1)
    before = listings(sim, "GetHosts")
    looked_again(sim, "GetServers")
    assert listings(sim, "GetHosts") == before, "nobody needs to know of hosts any more"
    assert sent(sim) == ["RebootHost", "ReprovisionHost"]
    assert [host["id"] for host in sim.ask("GET", "servers/metal/GetHosts", Cluster="Msc1")["items"]] == ["bm-128"]


def test_a_refusal_by_the_hosts_state_and_an_unavailable_cloud_are_told_apart(here, sim, operator):
    """422 says that nothing was carried out, and why; 503 says neither. Neither is sent again."""
    operator(**FLAGS)
    here.apply(gpuhost(reprovision={"imageUrl": IMAGE}))
    running(here)
    sim.control("hosts/force", {"id": "bm-128", "cluster": "Msc1", "powered_on": False})
    row(here, "False/HostOff", "InProgress", "Reconciling")

    refused = request(here, REBOOT)
    item = row(here, "False/Rejected", "Failed", "Stalled", says='"bm-128" is provisioned and powered off')
    assert "reports as provisioned, powered off, OK" in condition(item, "Stalled")["message"]
    assert (item["status"]["operation"]["outcome"], item["status"]["lastHandledRebootAt"]) == ("Refused", refused)
    eventually(lambda: ("metal", "RebootFailed") in here.events(), what="the Event")

    sim.control("hosts/force", {"id": "bm-128", "cluster": "Msc1", "powered_on": True})
    sim.fault(kind="status", operation="ReprovisionHost", status=503, message=f"cannot fetch {IMAGE} now", nth=1)
    unclear = request(here, REPROVISION)
    reach(here, "gpuhost", "metal", "False/ApiError", says="out of service")
    assert outcome(here, unclear, "Unclear")["lastHandledReprovisionAt"] == unclear
    eventually(lambda: condition(here.get("gpuhost", "metal"), "Stalled"), what="a person to be called")
    row(here, "False/ApiError", "Failed", "Stalled")
    looked_again(sim, "GetHosts")
    assert sent(sim) == ["RebootHost", "ReprovisionHost"], "neither is sent again"

    here.annotate("gpuhost", "metal", **{REPROVISION: None})  # a person has looked at the host
    running(here)
    asked = request(here, REPROVISION)
    outcome(here, asked, "Done")
    assert sent(sim) == ["RebootHost", "ReprovisionHost", "ReprovisionHost"]


def test_a_cloud_init_that_is_missing_or_too_large_is_waited_for(here, sim, operator):
    operator(**FLAGS)
    here.apply(gpuhost(reprovision=INSTALL))
    running(here)
    asked = request(here, REPROVISION)
    row(here, "False/SecretNotFound", "InProgress", "Reconciling", says="'metal-cloud-init'")
    here.apply(secret("metal-cloud-init", other="x"))
    reach(here, "gpuhost", "metal", "False/SecretNotFound", says="'user-data'")
    here.apply(secret("metal-cloud-init", **{"user-data": "#" * 65537}), "--server-side", "--force-conflicts")
    item = reach(here, "gpuhost", "metal", "False/InvalidSecret", says="at most 65536 are taken")
    assert condition(item, "Stalled")
    assert sent(sim) == []
    here.apply(secret("metal-cloud-init", **{"user-data": CLOUD_INIT}), "--server-side", "--force-conflicts")
    outcome(here, asked, "Done")
    assert sent(sim) == ["ReprovisionHost"]


def test_what_the_cloud_quotes_of_a_cloud_init_is_shown_nowhere(here, sim, operator):
    """Of the refusal the rest is kept: it says what is wrong. At its end each such test searches status, Events and log."""
    password = sim.canaries.plant("a password in the cloud-init", "hunter2-of-the-tests")
    operator(**FLAGS)
    here.apply([secret("metal-cloud-init", **{"user-data": f"#cloud-config\nusers:\n- name: ann\n  passwd: {password}\n"})])
    here.apply(gpuhost(reprovision=INSTALL))
    running(here)
    said = f"cloud-init line 4 is wrong: '  passwd: {password}' ({password[:12]}…)"
    sim.fault(kind="status", operation="ReprovisionHost", status=422, message=said, nth=1)
    asked = request(here, REPROVISION)
    row(here, "False/Rejected", "Failed", "Stalled", says="cloud-init line 4 is wrong: ' [redacted]'")
    outcome(here, asked, "Refused")
    eventually(lambda: ("metal", "ReprovisionFailed") in here.events(), what="the Event")


def test_without_a_host_of_its_own_a_request_is_not_sent(here, sim, operator):
    operator(**FLAGS)
    here.apply(gpuhost("first"))
    running(here, "first")
    here.apply([gpuhost("second"), gpuhost("nowhere", hostId="bm-999")])
    row(here, "False/Conflict", "Failed", "Stalled", "second", says="GpuHost 'first'")
    row(here, "False/NotFound", "Failed", "Stalled", "nowhere", says="'bm-999'")
    for name in ("second", "nowhere"):
        request(here, REBOOT, name=name)
    looked_again(sim, "GetHosts")
    assert sent(sim) == []
    here.delete("gpuhost", "first")
    reach(here, "gpuhost", "second", "False/Rejected", says="before the operator saw the host")
    assert sent(sim) == [], "what stood there while the host was another's is not carried out later"


def test_a_host_of_an_account_that_strangers_share_is_not_touched(here, sim, operator):
    """The id in a spec proves nothing: any namespace could wipe another's host."""
    operator(**FLAGS, own_account_sharing="Isolated")
    here.apply(gpuhost())
    item = reach(here, "gpuhost", "metal", "False/InvalidReference", says="--own-account-sharing=Shared")
    assert "hostId" not in item["status"]
    request(here, REBOOT)
    here.apply([secret(apikey=API_KEY), gpucloudaccount("own")])
    here.apply(gpuhost("mine", accountRef={"name": "own"}))
    running(here, "mine")
    outcome(here, request(here, REBOOT, name="mine"), "Done", name="mine")
    assert sent(sim) == ["RebootHost"]


def test_from_the_manifest_nothing_is_sent(here, sim, operator):
    operator(**FLAGS)
    here.apply(gpuhost(annotations={REBOOT: stamp(), REPROVISION: stamp()}, reprovision=INSTALL))
    item = reach(here, "gpuhost", "metal", "False/Rejected", says="before the operator saw the host")
    assert item["status"]["lastHandledRebootAt"]
    request(here, REBOOT, stamp(minutes=1))
    here.annotate("gpuhost", "metal", **{REPROVISION: None})
    reach(here, "gpuhost", "metal", "False/Rejected", says="was answered already")
    here.annotate("gpuhost", "metal", **{REBOOT: None})
    running(here)
    assert sent(sim) == []


def test_for_another_time_than_now_nothing_is_sent(here, sim, operator):
    operator(**FLAGS)
    here.apply(gpuhost())
    running(here)
    for value, says in (
        (stamp(minutes=11), "older than this object"),
        (stamp(minutes=-5), "in the future"),
        ("now", "not a time such as"),
    ):
        request(here, REBOOT, value)
        reach(here, "gpuhost", "metal", "False/Rejected", says=says)
    assert sent(sim) == []


def test_paused_nothing_is_sent(here, sim, operator):
    operator(**FLAGS)
    here.apply(gpuhost())
    running(here)
    here.annotate("gpuhost", "metal", **{"gpucloud.dev/paused": "true"})
    eventually(lambda: condition(here.get("gpuhost", "metal"), "Paused"), what="the pause to be seen")
    row(here, "True/Running", "Current", "-")
    request(here, REBOOT)
    looked_again(sim, "GetHosts")
    assert sent(sim) == []
    here.annotate("gpuhost", "metal", **{"gpucloud.dev/paused": None})
    outcome(here, here.get("gpuhost", "metal")["metadata"]["annotations"][REBOOT], "Done")
    assert sent(sim) == ["RebootHost"]


def test_a_lost_answer_is_not_followed_by_a_second_reboot(here, sim, operator):
    """Where the host shows it, it was carried out; where it does not, nobody knows, and a person decides."""
    operator(**FLAGS)
    here.apply(gpuhost())
    running(here)
    sim.turn(host_reboot_seconds=5)  # a busy machine lists later than it was told to
    sim.fault(kind="lost_answer", operation="RebootHost", nth=1)
    outcome(here, request(here, REBOOT), "Done")
    running(here)
    sim.turn(host_reboot_seconds=0.01)  # too quick for any listing
    sim.fault(kind="status_after_commit", operation="RebootHost", status=500, message="upstream", nth=1)
    outcome(here, request(here, REBOOT), "Unclear")
    item = reach(here, "gpuhost", "metal", "False/ApiError", says="not sent again")
    eventually(lambda: condition(here.get("gpuhost", "metal"), "Stalled"), what="a person to be called")
    assert "upstream" in condition(item, "Ready")["message"]
    looked_again(sim, "GetHosts")
    assert sent(sim) == ["RebootHost"] * 2


@pytest.mark.parametrize(
    ("fault", "ends"),
    [
        ({"kind": "silence"}, "Unclear"),  # the cloud never carried it out, and nobody can know that
        ({"kind": "delay_answer"}, "Done"),  # it did, and the host shows it to the next process
    ],
    ids=lambda value: value if isinstance(value, str) else value["kind"],
)
def test_killed_between_the_call_and_its_answer_it_reboots_no_second_time(here, sim, operator, fault, ends):
    sim.turn(host_reboot_seconds=20 if ends == "Done" else 1)
    first = operator(**FLAGS)
    here.apply(gpuhost())
    running(here)
    sim.fault(operation="RebootHost", seconds=HELD, nth=1, **fault)
    asked = request(here, REBOOT)
    eventually(lambda: sent(sim), what="the call to be sent")
    assert here.get("gpuhost", "metal")["status"]["operation"]["outcome"] == "Announced", "recorded before it is sent"
    first.kill9()
    operator(**FLAGS)
    outcome(here, asked, ends)
    looked_again(sim, "GetHosts")
    assert sent(sim) == ["RebootHost"]
    if ends == "Unclear":
        reach(here, "gpuhost", "metal", "False/ApiError", says="was restarted")
        outcome(here, request(here, REBOOT), "Done")
        assert sent(sim) == ["RebootHost"] * 2, "a new time is a new request"


def test_killed_between_the_record_and_the_call_it_reboots_no_host(here, sim, operator):
    """The record of the dead process is all that is left: the next one cannot know that nothing was sent."""
    first = operator(**FLAGS)
    here.apply(gpuhost())
    running(here)
    first.stop()
    asked = request(here, REBOOT)
    record = {"verb": "Reboot", "generation": 1, "id": asked, "at": stamp(), "outcome": "Announced"}
    here.patch("gpuhost", "metal", {"status": {"operation": record}}, subresource="status")
    operator(**FLAGS)
    outcome(here, asked, "Unclear")
    looked_again(sim, "GetHosts")
    assert sent(sim) == []
