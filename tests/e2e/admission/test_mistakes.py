"""The mistakes of a first manifest as kubectl shows them: each names the field, what is wrong with it, and what to write."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from support.crdcases.gpuvm import PRIVATE_KEY, VM
from support.messages import judge
from support.messages.named import unreal
from support.waiting import eventually

TROUBLESHOOTING = Path(__file__).parents[3] / "docs" / "how-to" / "troubleshooting.md"
# what is wrong, the manifest, the field that is blamed, and the way out
MISTAKES = [
    ("no VPC", {"vpc": None}, "spec.vpc", "Name the VPC: spec.vpc"),
    ("two VPCs", {"vpcRef": {"name": "lab"}}, "spec.vpcRef", "Set spec.vpc or spec.vpcRef, not both."),
    ("no key", {"sshKeys": None}, "spec.sshKeys", "A new VM needs at least one public SSH key"),
    ("a private key", {"sshKeys": [PRIVATE_KEY]}, "spec.sshKeys[0]", "Give the public key"),
    ("the path of a key", {"sshKeys": ["~/.ssh/id_rsa.pub"]}, "spec.sshKeys[0]", "Not an OpenSSH public key"),
]
# what is wrong, the manifest, the apiserver's own words, and how the page of troubles has them
OF_THE_SCHEMA = [
    ("a field that there is not", {"colour": "red"}, 'strict decoding error: unknown field "spec.colour"', "unknown field"),
    ("a field that is nearly right", {"sshkeys": ["x"]}, 'unknown field "spec.sshkeys"', "unknown field"),
    ("a field in the wrong place", {"image": {"os": "x"}}, 'unknown field "spec.image.os"', "unknown field"),
    ("no cluster", {"cluster": None}, "spec.cluster: Required value", "Required value"),
    ("a word that is none", {"powerState": "Off"}, 'supported values: "Running", "Stopped"', "Unsupported value"),
    ("a string for a list", {"sshKeys": "x"}, "must be of type array", "must be of type"),
    (
        "rules not looked at",
        {"cluster": None},
        "some validation rules were not checked",
        "some validation rules were not checked",
    ),
]


def refused(namespaced, changes):
    """What a person who types ``kubectl apply`` reads."""
    manifest = json.dumps(VM.manifest(**changes))
    done = namespaced.run("apply", "--dry-run=server", "-f", "-", stdin=manifest)
    assert done.returncode != 0
    return done.stderr


@pytest.mark.parametrize(("changes", "blamed", "way_out"), [pytest.param(*row[1:], id=row[0]) for row in MISTAKES])
def test_a_mistake_is_answered_with_what_to_write(namespaced, figure, changes, blamed, way_out):
    told = refused(namespaced, changes)
    figure(told)
    line = next(line for line in told.splitlines() if f"{blamed}: " in line and way_out in line)
    words = line.partition(f"{blamed}: ")[2]
    assert judge.way_out(words) or judge.says_what_is_expected(words), words
    assert unreal(words) == []


@pytest.mark.parametrize(("changes", "words", "entry"), [pytest.param(*row[1:], id=row[0]) for row in OF_THE_SCHEMA])
def test_the_apiservers_own_words_are_in_the_table_of_troubles(namespaced, figure, changes, words, entry):
    told = refused(namespaced, changes)
    figure(told)
    assert words in told
    assert entry in told
    row = next(line for line in TROUBLESHOOTING.read_text(encoding="utf-8").splitlines() if entry in line.split(" | ")[0])
    assert unreal(row) == []


def test_each_command_that_the_table_names_for_a_field_prints_it(namespaced):
    named = re.findall(r"`kubectl explain ([\w.]+)`", TROUBLESHOOTING.read_text(encoding="utf-8"))
    assert "gpuvm.spec" in named
    for path in named:
        shown = eventually(lambda path=path: namespaced.run("explain", path).stdout, what=f"kubectl explain {path}")
        assert path.rpartition(".")[2] in shown
    assert "sshKeys\t" in namespaced.ok("explain", "gpuvm.spec"), "the field that was nearly right"
