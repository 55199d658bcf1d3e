"""What a VM is made from: how it is compared with the spec, and when the order's record is told it afterwards."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpucloud.kinds.common import Origin
from gpucloud.kinds.recreation import ReplacedField
from gpucloud.reconcile import takeover
from gpucloud.reconcile.gpuvm import decide, template
from support.builders import KEY, NOW, a_spec, a_status, an_order, facts, known, present
from support.gpuvmfacts import NAME
from support.rows import LONG_KNOWN

SMALL, LARGE, OTHER_KEY = "A100_40GB_PCIe_1x", "A100_40GB_PCIe_2x", "ssh-ed25519 AAAAOTHER test"
SECRET = {"secretKeyRef": {"name": "team-keys", "key": "id.pub"}}


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ({}, {}, ()),
        ({}, {"powerState": "Stopped", "replacePolicy": "Recreate", "deletion": {"policy": "Retain"}}, ()),
        ({"rootDiskGiB": 200}, {"rootDiskGiB": 300}, (ReplacedField(name="rootDiskGiB", before="200", after="300"),)),
        ({"rootDiskGiB": 200}, {}, (ReplacedField(name="rootDiskGiB", before="200"),)),
        (
            {"image": {"operatingSystem": "Ubuntu 22.04"}},
            {"image": {"customFile": "Ubuntu 22.04"}},
            (ReplacedField(name="image", before="operatingSystem: Ubuntu 22.04", after="customFile: Ubuntu 22.04"),),
        ),
        ({}, {"image": {"snapshotRef": {"name": "golden"}}}, (ReplacedField(name="image"),)),
        ({}, {"image": {}, "storage": {}, "sshKeysFrom": []}, ()),
        ({"sshKeys": [KEY, OTHER_KEY]}, {"sshKeys": [OTHER_KEY, KEY]}, ()),
        ({"sshKeys": [KEY]}, {"sshKeys": [OTHER_KEY]}, (ReplacedField(name="sshKeys"),)),
        ({}, {"sshKeysFrom": [SECRET]}, (ReplacedField(name="sshKeysFrom"),)),
        ({"storage": {"blockStorageNames": ["a", "b"]}}, {"storage": {"blockStorageNames": ["b", "a"]}}, ()),
        (
            {"storage": {"blockStorageNames": ["a", "b"]}},
            {"storage": {"blockStorageNames": ["b", "c"]}},
            (ReplacedField(name="storage"),),
        ),
    ],
)
def test_a_field_that_differs_is_shown_with_its_values_where_they_are_short_and_no_key_is(before, after, changes):
    assert template.changes(a_spec(**after), template.of(a_spec(**before))) == changes


def test_nothing_differs_from_what_no_record_tells():
    assert template.changes(a_spec(rootDiskGiB=300), None) == ()


@pytest.mark.parametrize(
    ("order", "spec", "asked"),
    [
        ({}, {}, True),
        ({}, {"rootDiskGiB": None}, False),
        ({}, {"replacePolicy": "Never"}, False),
        ({}, {"deletion": {"policy": "Retain"}}, False),
        ({"origin": Origin.ADOPTED}, {"deletion": {"policy": "Delete"}}, False),
        ({"cloud_cluster": "Hou1"}, {}, False),
        ({"template": None}, {}, False),
    ],
    ids=["it differs", "it does not", "the policy", "it is retained", "adopted", "placed by the cloud", "no record tells"],
)
def test_another_vm_is_asked_for_in_place_of_one_that_differs_and_that_nothing_keeps(order, spec, asked):
    made = an_order(NAME, **({"template": template.of(a_spec())} | order))
    assert template.asks_another(a_spec(**({"replacePolicy": "Recreate", "rootDiskGiB": 300} | spec)), made) is asked


def a_running_vm(policy, reason="Running"):
    """A settled VM of an earlier version, whose record does not tell what it was made from."""
    order = an_order(NAME)
    spec, status = a_spec(replacePolicy=policy), a_status(reason, "True", None, order=order, vm_id=NAME)
    found = present(configuration=SMALL)
    given = {"spec": spec, "status": status, "found": found, "history": LONG_KNOWN, "known": known(order)}
    first = decide(facts(configuration_in_use=SMALL, **given)).status
    plain = first.model_copy(update={"order": order})
    return facts(configuration_in_use=SMALL, **given | {"status": plain if reason == "Running" else status})


@pytest.mark.parametrize("reason", ["Creating", "Running"])
@pytest.mark.parametrize("policy", ["Never", "Recreate"])
def test_a_record_that_does_not_tell_it_is_told_at_once(policy, reason):
    """An edit that sets the policy, and what it allows, would count as done otherwise."""
    f = a_running_vm(policy, reason)
    told = decide(f).status
    assert told.order.template == template.of(f.spec)
    again = decide(replace(f, status=told))
    assert again.status == told


def test_a_record_does_not_tell_it_while_the_cloud_shows_another_vm():
    f = replace(a_running_vm("Never"), configuration_in_use=LARGE)
    assert decide(f).status.order.template is None


def test_what_only_the_status_tells_is_taken_over():
    mine, made_from = known(an_order(NAME)), template.of(a_spec())
    told = mine.order.model_copy(update={"template": made_from})
    versions = frozenset({takeover.version_of(told)})
    assert takeover.merged(mine, told, versions, NOW).order.template == made_from
    assert takeover.merged(mine, mine.order, versions, NOW) is mine


def test_what_a_process_is_about_to_write_of_a_vm_it_knows_from_then_on():
    mine = known(an_order(NAME, template=template.of(a_spec()), configuration=SMALL))
    shown = mine.order.model_copy(update={"template": template.of(a_spec(configuration=LARGE)), "configuration": LARGE})
    assert takeover.corrected(mine, shown).order == shown
    assert takeover.corrected(mine, shown.model_copy(update={"id": "another"})) is mine
    assert takeover.corrected(mine, shown.model_copy(update={"template": None})) is mine
