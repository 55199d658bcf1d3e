"""The status is replaced as a whole: no text can stop a write, and no other writer can hold up an object."""

from __future__ import annotations

import json
import threading
import time

import pytest

from support.kstatus import condition, ready
from support.manifests import gpuvm
from support.operatorproc import USER
from support.waiting import eventually

FLAGS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.5, "create_grace_seconds": 1, "blind_after_seconds": 1}
TEXTS = {
    "emoji": "\U0001f4a5\U0001f525",
    "beyond the BMP": "\U00010348",
    "controls": "\x00\x01\x1b[31m\x7f\x85\u2028",
    "a lone high surrogate": "\ud83d!",
    "a lone low surrogate": "!\udca5",
}
FOREIGN = {
    "type": "Restored",
    "status": "True",
    "reason": "Backup",
    "message": "Of another manager.",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}


@pytest.fixture
def vms(kubectl, namespace):
    return kubectl.in_namespace(namespace)


def reach(vms, wanted, name="train", timeout=30):
    return eventually(
        lambda: (item := vms.get("gpuvm", name)) and ready(item).startswith(wanted) and item, timeout, f"{name} to be {wanted}"
    )


def gone(vms, sim, name="train", timeout=30):
    vms.delete("gpuvm", name, timeout=timeout)
    assert len(sim.committed("DestroyServer")) == 1
    eventually(lambda: not sim.vms(), 10, "the VM to be gone")


def page(text):
    """An error page with this text, as the bytes of JSON can say it."""
    return json.dumps({"error": {"message": f"down {text} down", "code": 0}, "success": False})


def test_an_outage_with_any_text_is_told_and_the_vm_goes_afterwards(vms, sim, operator):
    operator(**FLAGS)
    vms.apply(gpuvm())
    for text in TEXTS.values():
        reach(vms, "True/Running")
        sim.fault(kind="status", operation="GetServers", status=503, body=page(text))
        message = condition(reach(vms, "Unknown/"), "Ready")["message"]
        assert "down" in message
        assert message.isprintable()
        assert (text in message) is text.isprintable()
        sim.clear_faults()
    reach(vms, "True/Running")
    sim.fault(kind="status", operation="GetServers", status=503, body=page(TEXTS["emoji"]))
    vms.delete("gpuvm", "train", wait=False)
    assert TEXTS["emoji"] in condition(reach(vms, "False/DeletionBlocked"), "Ready")["message"]
    sim.clear_faults()
    eventually(lambda: vms.get("gpuvm", "train") is None, 30, "the object to be gone")
    assert len(sim.committed("DestroyServer")) == 1


def test_a_refusal_with_any_text_is_told(vms, sim, operator):
    operator(**FLAGS)
    for number, text in enumerate(TEXTS.values()):
        sim.fault(kind="status", operation="CreateServer", status=400, body=page(text))
        vms.apply(gpuvm(f"vm{number}"))
        item = eventually(
            lambda name=f"vm{number}": (
                (seen := vms.get("gpuvm", name)) and "down" in (condition(seen, "Ready") or {}).get("message", "") and seen
            ),
            30,
            "the refusal to be told",
        )
        message = condition(item, "Ready")["message"]
        assert message.isprintable()
        assert (text in message) is text.isprintable()
        sim.clear_faults()


def test_a_state_word_and_an_annotation_with_an_emoji_hold_nothing_up(vms, sim, operator):
    operator(**FLAGS)
    vms.apply(gpuvm())
    name = reach(vms, "True/Running")["status"]["vmId"]
    sim.force(name, "PENDING \U0001f6e0 UPGRADE")
    eventually(lambda: vms.get("gpuvm", "train")["status"]["state"] == "PENDING \U0001f6e0 UPGRADE", 30, "the word to be shown")
    assert not ready(vms.get("gpuvm", "train")).startswith("True")
    vms.annotate("gpuvm", "train", **{"gpucloud.dev/reconcile-requested-at": "now \U0001f64f"})
    eventually(
        lambda: vms.get("gpuvm", "train")["status"].get("lastHandledReconcileAt") == "now \U0001f64f",
        30,
        "the request to be answered",
    )
    gone(vms, sim)


def write_status(vms, **fields):
    """What a restored backup, or another controller, does."""
    options = ("--subresource=status", "--type=merge", "--field-manager=backup")
    vms.ok("patch", "gpuvm", "train", *options, f"--patch={json.dumps({'status': fields})}")


def add_foreign(vms):
    item = vms.get("gpuvm", "train")
    conditions = [entry for entry in item["status"]["conditions"] if entry["type"] != FOREIGN["type"]]
    write_status(vms, conditions=[*conditions, FOREIGN])


def writes(audit, namespace):
    found = audit.counts(user=USER, namespace=namespace, reads=False, events=False)
    return sum(times for (_, verb, _, subresource, _), times in found.items() if (verb, subresource) == ("update", "status"))


def has_foreign(vms):
    return condition(vms.get("gpuvm", "train"), FOREIGN["type"]) is not None


def test_a_condition_of_another_manager_is_removed_by_one_write(vms, sim, operator, namespace, audit):
    operator(**FLAGS)
    vms.apply(gpuvm())
    reach(vms, "True/Running")
    began = audit.since_now()
    add_foreign(vms)
    eventually(lambda: not has_foreign(vms), 15, "the condition to be removed")
    time.sleep(2)
    assert writes(began, namespace) == 1
    gone(vms, sim)


def undone(vms):
    return [item["note"] for item in vms.list("events.events.k8s.io") if item["reason"] == "StatusUndone"]


def test_a_manager_that_adds_its_condition_again_and_again_meets_few_writes_and_stops_nothing(
    vms, sim, operator, namespace, audit, figure
):
    operator(**FLAGS)
    vms.apply(gpuvm())
    reach(vms, "True/Running")
    began, over, added = audit.since_now(), threading.Event(), []

    def rival():
        while not over.is_set():
            if (item := vms.get("gpuvm", "train")) and condition(item, FOREIGN["type"]) is None:
                add_foreign(vms)
                added.append(time.monotonic())
            over.wait(0.1)

    thread = threading.Thread(target=rival)
    thread.start()
    try:
        time.sleep(20)
        counted = writes(began, namespace)
        told = eventually(lambda: undone(vms), 60, "the Event that names who undoes the writes")
        vms.patch("gpuvm", "train", {"spec": {"powerState": "Stopped"}})
        reach(vms, "True/PoweredOff", timeout=60)
    finally:
        over.set()
        thread.join()
    figure(f"{counted} writes in 20 s against a manager that added its condition {len(added)} times")
    assert 1 <= counted <= 6
    assert "'backup' overwrites" in told[0]
    gone(vms, sim)


def test_the_apiserver_takes_a_status_without_a_spec_and_keeps_the_rest(vms):
    """So the body of a write holds nothing but whose status it is, and the status."""
    vms.apply(gpuvm())
    before = vms.get("gpuvm", "train")
    meta = {name: before["metadata"][name] for name in ("name", "namespace", "uid", "resourceVersion")}
    path = f"/apis/gpucloud.dev/v1alpha1/namespaces/{meta['namespace']}/gpuvms/train/status"

    def put(meta, status):
        body = {"apiVersion": "gpucloud.dev/v1alpha1", "kind": "GpuVM", "metadata": meta, "status": status}
        return vms.run("replace", f"--raw={path}", "-f", "-", stdin=json.dumps(body))

    condition_of_ours = FOREIGN | {"type": "Ready", "message": "\U0001f389" * 32768}
    status = {"observedGeneration": 1, "state": "\U0001f389" * 253, "conditions": [condition_of_ours]}
    assert put(meta, status).returncode == 0
    after = vms.get("gpuvm", "train")
    assert (after["spec"], after["status"]) == (before["spec"], status), "253 and 32768 count code points"
    assert "Conflict" in put(meta, status).stderr, "the version is an old one"
    other = after["metadata"] | {"uid": "11111111-1111-1111-1111-111111111111"}
    meta["resourceVersion"] = after["metadata"]["resourceVersion"]
    assert "Conflict" in put(meta | {"uid": other["uid"]}, status).stderr, "the object is another one"
    assert put(meta, status | {"state": "\U0001f389" * 254}).returncode != 0
