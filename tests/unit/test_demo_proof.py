"""The demo's proof must be able to fail: every broken promise is an error that says which."""

from __future__ import annotations

import json

import pytest

from demo import proof
from demo.errors import DemoError

AS_PROMISED = {"CreateServer": 3, "DestroyServer": 3}


def test_what_was_promised_passes():
    proof.judge([], AS_PROMISED, 3)


@pytest.mark.parametrize(
    ("left", "received", "words"),
    [
        (["train-x"], AS_PROMISED, "train-x would still be billed"),
        ([], {**AS_PROMISED, "CreateServer": 4}, "4 CreateServer for 3 VMs"),
        ([], {"CreateServer": 3}, "0 DestroyServer for 3 VMs"),
    ],
    ids=["a leak", "bought twice", "vanished without being destroyed"],
)
def test_a_broken_promise_is_told(left, received, words):
    with pytest.raises(DemoError, match=words):
        proof.judge(left, received, 3)


def test_everything_billed_is_named():
    world = {"vms": [{"order": {"name": "vm"}}], "snapshots": [{"name": "snap"}], "vpcs": [{"name": "acme"}], "hosts": []}
    assert proof.living(world) == ["snap", "vm"]


def test_a_cloud_that_does_not_answer_is_a_clear_error(unused_tcp_port):
    with pytest.raises(DemoError, match="does not tell its world"):
        proof.ask(f"http://127.0.0.1:{unused_tcp_port}", "world")


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
        ("operator", "patch", {"resource": "gpuvms", "subresource": "status"}),
        ("operator", "watch", {"resource": "gpuvms"}),
        ("admin", "delete", {"resource": "gpuvms"}),
    ]
    log.write_text(
        "".join(json.dumps({"user": {"username": who}, "verb": verb, "objectRef": what}) + "\n" for who, verb, what in entries)
    )
    assert proof.writes(log, "operator") == {"gpuvms/status": 1}
