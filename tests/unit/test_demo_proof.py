"""The demo's proof must be able to fail: every broken promise is an error that says which."""

from __future__ import annotations

import json
import socket

import pytest

from demo import proof
from demo.errors import DemoError

MADE = {"GpuVpc": 1, "GpuVM": 2, "GpuSnapshot": 1}
AS_PROMISED = {
    "CreateVpc": 1,
    "DestroyVpc": 1,
    "CreateServer": 2,
    "DestroyServer": 2,
    "CreateSnapshot": 1,
    "DeleteSnapshot": 1,
}


def test_what_was_promised_passes():
    proof.judge([], AS_PROMISED, MADE)


@pytest.mark.parametrize(
    ("left", "changed", "words"),
    [
        (["train-x"], {}, "train-x would still be there"),
        ([], {"CreateServer": 3}, "3 CreateServer for 2 VMs"),
        ([], {"DestroyServer": 0}, "0 DestroyServer for 2 VMs"),
        ([], {"CreateVpc": 2}, "2 CreateVpc for 1 VPC"),
        ([], {"DeleteSnapshot": 2}, "2 DeleteSnapshot for 1 snapshot"),
    ],
    ids=["a leak", "bought twice", "vanished without being destroyed", "a second VPC", "deleted twice"],
)
def test_a_broken_promise_is_told(left, changed, words):
    with pytest.raises(DemoError, match=words):
        proof.judge(left, AS_PROMISED | changed, MADE)


def test_what_nobody_declared_must_not_have_been_ordered():
    with pytest.raises(DemoError, match="1 CreateSnapshot for 0 snapshots"):
        proof.judge([], AS_PROMISED, MADE | {"GpuSnapshot": 0})


def test_an_account_stands_for_nothing_that_is_made():
    assert proof.orders(["GpuCloudAccount", "GpuVM", "GpuVpc", "GpuVM", "GpuSnapshot"]) == MADE


def test_the_verdict_counts_what_was_made():
    assert (
        proof.verdict(MADE) == "The cloud is empty. 1 VPC, 2 VMs and 1 snapshot were made, each once, and destroyed, each once."
    )
    assert proof.verdict({"GpuVM": 2}).startswith("The cloud is empty. 2 VMs were made")


def test_everything_that_somebody_made_is_named():
    world = {
        "vms": [{"order": {"name": "vm"}}],
        "snapshots": [{"name": "snap"}],
        "vpcs": [{"name": "acme", "is_default": True}, {"name": "acme-lab", "is_default": False}],
        "hosts": [],
    }
    assert proof.living(world) == ["acme-lab", "snap", "vm"]


def test_a_cloud_that_does_not_answer_is_a_clear_error():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound, not listening: refused, and nobody else can take the port
        with pytest.raises(DemoError, match="does not tell its world"):
            proof.ask(f"http://127.0.0.1:{held.getsockname()[1]}", "world")


def test_calls_are_counted_by_operation_and_told_by_kind():
    ledger = [{"operation": "GetServers"}, {"operation": "CreateServer"}, {"operation": "GetServers"}]
    received = proof.calls(ledger)
    assert proof.summary(received, ["CreateServer"], {"gpuvms/status": 2}) == [
        "Calls that changed the cloud: 1 CreateServer.",
        "Calls that only looked: 2 GetServers.",
        "The operator's writes to the apiserver: 2 gpuvms/status.",
    ]


def test_without_an_audit_log_of_ours_nothing_is_said_about_writes():
    assert len(proof.summary({}, [], None)) == 2


def test_only_the_operators_writes_count(tmp_path):
    log = tmp_path / "audit.log"
    entries = [
        ("operator", "update", {"resource": "gpuvms", "subresource": "status"}),
        ("operator", "watch", {"resource": "gpuvms"}),
        ("admin", "delete", {"resource": "gpuvms"}),
        ("operator", "create", {"resource": "selfsubjectaccessreviews", "apiGroup": "authorization.k8s.io"}),  # a question
    ]
    log.write_text(
        "".join(json.dumps({"user": {"username": who}, "verb": verb, "objectRef": what}) + "\n" for who, verb, what in entries)
    )
    assert proof.writes(log, "operator") == {"gpuvms/status": 1}
