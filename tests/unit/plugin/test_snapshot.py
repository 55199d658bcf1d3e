"""``snapshot``: the name of the GpuSnapshot, and one that is there already."""

import re

import pytest

from support.pluginworld import a_body


@pytest.mark.parametrize("name", ["Before_1", "before-", "a..b"])
def test_a_snapshots_name_that_breaks_the_rule_is_refused_with_the_rule(api, plugin, name):
    """The apiserver answers with the expression of RFC 1123."""
    api.add(a_body("GpuVM", "train", status={"vmId": "train-x"}))
    code, out, err = plugin("snapshot", "train", "--name", name)
    assert (code, out, api.changed("POST")) == (2, "", [])
    assert f"{name!r} is not a name for a GpuSnapshot.\nUse lower-case letters, digits, '-' and '.', and start and end" in err


SAME = {"spec": {"vmRef": {"name": "train"}}}
TAKEN = "2026-11-01T08:00:00Z"
THERE = [
    ("Working", SAME, 0, "", "the same request once more: an answer that was lost, or a script that was run again"),
    ("Unseen", SAME, 0, "", "the operator has not looked at it yet"),
    ("Ready", SAME, 1, "an earlier call had it taken of GpuVM/train", "it shows an older state of the VM: no script may go on"),
    (
        "Working",
        SAME | {"status": {"creationDate": TAKEN}},
        1,
        f"had it taken of GpuVM/train at {TAKEN}",
        "it is copied, of then",
    ),
    ("Unknown", SAME | {"status": {"creationDate": TAKEN}}, 1, f"had it taken of GpuVM/train at {TAKEN}", "it is out of sight"),
    ("Stalled", SAME, 1, "as it was asked for, and is Stalled", "nothing comes of it"),
    (
        "Ready",
        {"spec": {"vmRef": {"name": "other"}}},
        1,
        "exists already in namespace 'team'.\n",
        "of another VM",
    ),
    (
        "Working",
        {"spec": {"vm": {"name": "train"}}},
        1,
        "exists already in namespace 'team'.\n",
        "one that adopts",
    ),
]


@pytest.mark.parametrize("row", THERE, ids=[row[4] for row in THERE])
def test_a_snapshot_of_that_name_that_is_there(row, api, plugin):
    how, body, expected, says, why = row
    api.add(a_body("GpuVM", "train", status={"vmId": "train-x"}), a_body("GpuSnapshot", "s1", how, **body))
    before = dict(api.objects)
    code, out, err = plugin("snapshot", "train", "--name", "s1")
    assert (code, api.objects, says in err) == (expected, before, True), why
    same = "GpuSnapshot/s1: exists already, as it was asked for, of GpuVM/train; it is not taken yet\n"
    assert (out, err == "") == ((same, True) if expected == 0 else ("", False)), why
    if how != "Stalled" and expected:
        assert re.search(r"\nkubectl gpucloud snapshot gvm/train --name=s1-\d{8}-\d{6} --namespace=team\n", err), why


def test_the_same_request_once_more_waits_for_the_snapshot(api, plugin):
    api.add(a_body("GpuVM", "train", status={"vmId": "train-x"}), a_body("GpuSnapshot", "s1", "Working", **SAME))
    assert plugin("snapshot", "train", "--name", "s1", "--wait", "--timeout", "0")[0] == 4
