"""Names are the only place where ours can be told; whatever an object is called, its VM's name is legal and its own."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpucloud.kinds.gpusnapshot import GpuSnapshotSpec
from gpucloud.kinds.gpuvm import GpuVMStatus
from gpucloud.reconcile.gpusnapshot import identity as identity_of_snapshot
from gpucloud.reconcile.naming import (
    FINGERPRINT_LENGTH,
    MAX_LENGTH,
    Identity,
    base_name,
    external_name,
    fingerprint,
    installation_tag,
    proves,
)
from gpucloud.reconcile.ownership import own_record
from support.builders import UID, a_place, a_spec, a_status, an_object, an_order

LEGAL = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
OBJECT_NAMES = st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?", fullmatch=True)  # Kubernetes' own rule
TAGS = st.from_regex(r"[a-z0-9]{3,8}", fullmatch=True)


@given(OBJECT_NAMES, st.uuids().map(str), TAGS)
def test_every_object_has_a_legal_name(name, uid, tag):
    made = external_name(name, uid, tag)
    assert len(made) <= MAX_LENGTH
    assert LEGAL.fullmatch(made)
    assert proves(made, uid)
    assert made.startswith(base_name(name, tag))
    assert len(made) == len(base_name(name, tag)) + FINGERPRINT_LENGTH


@given(OBJECT_NAMES, st.uuids(), st.uuids(), TAGS)
def test_the_name_is_the_objects_own_and_always_the_same(name, uid, other, tag):
    assert external_name(name, str(uid), tag) == external_name(name, str(uid), tag)
    if uid != other:
        assert external_name(name, str(uid), tag) != external_name(name, str(other), tag)
        assert not proves(external_name(name, str(uid), tag), str(other))


def test_names_are_stable_over_versions():
    """A change here would orphan every VM that was ever bought."""
    assert external_name("train", UID, installation_tag("kube-system-uid")) == KNOWN_NAME


KNOWN_NAME = "train-ibzrp-mzx7ntfklm"


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("train", "train-abcde-"),
        ("team.train", "team-train-abcde-"),
        ("x" * 253, "x" * 35 + "-abcde-"),
        ("a" * 34 + "." + "b", "a" * 34 + "-abcde-"),  # no two hyphens where the name was cut
    ],
)
def test_the_readable_part(name, base):
    assert base_name(name, "abcde") == base


@pytest.mark.parametrize("name", ["", "train", fingerprint(UID), "x" + fingerprint(UID), "-" + fingerprint("another")])
def test_what_proves_nothing(name):
    assert not proves(name, UID)


RECORDED_UNDER_ANOTHER_TAG = external_name("train", UID, "oldtg")


@pytest.mark.parametrize(
    ("spec", "status", "name"),
    [
        (a_spec(), GpuVMStatus(), external_name("train", UID, "tagaa")),
        (a_spec(vmName="mine"), GpuVMStatus(), "mine"),
        # a rebuilt cluster has another tag; the VM is found again
        (a_spec(), a_status(order=an_order(RECORDED_UNDER_ANOTHER_TAG)), RECORDED_UNDER_ANOTHER_TAG),
        # people can edit status: a name without our fingerprint is not looked at
        (a_spec(), a_status(order=an_order("somebody-elses")), external_name("train", UID, "tagaa")),
        (a_spec(), a_status(order=an_order(external_name("x", "other-uid", "t"))), external_name("train", UID, "tagaa")),
        (a_spec(vmName="mine"), a_status(order=an_order("somebody-elses")), "mine"),
    ],
)
def test_which_vm_an_object_stands_for(spec, status, name):
    found = a_place(spec=spec, order=own_record(status.order, UID)).placed()
    assert (found.cluster, found.vpc, found.name) == ("Msc1", "acme", name)


def test_the_place_is_the_specs_even_if_status_names_another():
    status = a_status(order=an_order(RECORDED_UNDER_ANOTHER_TAG, vpc="elsewhere", cluster="Hou1"))
    found = a_place(order=status.order).placed()
    assert (found.cluster, found.vpc) == ("Msc1", "acme")


@pytest.mark.parametrize(
    ("why", "spec", "recorded", "place"),
    [
        ("its name proves whose it is, wherever it stands", a_spec(), RECORDED_UNDER_ANOTHER_TAG, ("Hou1", "elsewhere")),
        ("a record of another name proves nothing", a_spec(), "somebody-elses", ("Msc1", "acme")),
        ("a chosen name may be another's there", a_spec(vmName="mine"), "mine", ("Msc1", "acme")),
    ],
)
def test_what_is_deleted_is_looked_for_where_it_was_ordered(why, spec, recorded, place):
    order = own_record(an_order(recorded, vpc="elsewhere", cluster="Hou1"), UID)
    found = a_place(an_object(deleting=True), spec, order).placed()
    assert (found.cluster, found.vpc) == place, why


REFERS = a_spec(vpc=None, vpcRef={"name": "net"})
OURS = external_name("train", UID, "tagaa")


@pytest.mark.parametrize(
    ("why", "status", "referred", "vpc"),
    [
        ("its GpuVpc says where", GpuVMStatus(), "acme", "acme"),
        ("its GpuVpc is gone: where it was recorded", a_status(order=an_order(OURS, vpc="acme")), None, "acme"),
        # else one VM was bought in each, and the first would leak
        ("a GpuVpc of that name stands for another VPC now", a_status(order=an_order(OURS, vpc="acme")), "acme-two", "acme"),
        ("a record of another name proves nothing", a_status(order=an_order("theirs", vpc="elsewhere")), "acme", "acme"),
        ("nobody can say: it is looked for in every VPC", GpuVMStatus(), None, ""),
        ("a place that was not known when it was recorded", a_status(order=an_order(OURS, vpc="")), "acme", "acme"),
    ],
)
def test_where_a_vm_with_a_reference_to_a_vpc_lives(why, status, referred, vpc):
    found = a_place(spec=REFERS, order=own_record(status.order, UID), referred_vpc=referred).placed()
    assert found.vpc == vpc, why


ELSEWHERE = Identity(cluster="Hou1", vpc="beta", name="vm")
NAMED = {"vm": {"cluster": "Hou1", "vpc": "beta", "name": "vm"}}


@pytest.mark.parametrize(
    ("why", "spec", "order", "referred", "place"),
    [
        ("where its VM is", {"vmRef": {"name": "vm"}}, None, ELSEWHERE, ("Hou1", "beta", OURS)),
        ("its VM is gone and nothing was taken: nowhere", {"vmRef": {"name": "vm"}}, None, None, None),
        ("it outlives its VM", {"vmRef": {"name": "vm"}}, an_order(OURS), None, ("Msc1", "acme", OURS)),
        ("another VM took its VM's name", {"vmRef": {"name": "vm"}}, an_order(OURS), ELSEWHERE, ("Msc1", "acme", OURS)),
        (
            "people can edit status",
            {"vmRef": {"name": "vm"}},
            an_order("theirs", id="edited"),
            ELSEWHERE,
            ("Hou1", "beta", OURS),
        ),
        ("the spec names the place", NAMED, None, None, ("Hou1", "beta", OURS)),
        ("and status cannot move it", NAMED, an_order(OURS), None, ("Hou1", "beta", OURS)),
        ("a chosen name", NAMED | {"snapshotName": "mine"}, an_order(OURS), None, ("Hou1", "beta", "mine")),
        (
            "a chosen name where it was recorded",
            {"vmRef": {"name": "vm"}, "snapshotName": "mine"},
            an_order("mine"),
            ELSEWHERE,
            ("Msc1", "acme", "mine"),
        ),
    ],
)
def test_which_snapshot_an_object_stands_for(why, spec, order, referred, place):
    own = own_record(order, UID)
    found = identity_of_snapshot(an_object(), GpuSnapshotSpec.model_validate(spec), own, "tagaa", referred)
    assert (found and (found.cluster, found.vpc, found.name)) == place, why


@pytest.mark.parametrize(
    ("some", "why"),
    [
        ([Identity("Msc1", f"vpc-{n}", "prod") for n in range(1000)], "one chosen name in many VPCs"),
        ([Identity("Msc1", f"vpc-{n}", "") for n in range(1000)], "everything in a VPC, of each that is deleted"),
        ([Identity("Msc1", f"vpc-{n}", f"vpc-{n}") for n in range(1000)], "VPCs"),
        ([Identity("Msc1", "acme", f"vm-{n}") for n in range(1000)], "VMs of one VPC"),
    ],
)
def test_identities_that_differ_nearly_always_hash_differently(some, why):
    """Else a listing compares each with each, and the process stands still for seconds."""
    assert len({hash(one) for one in some}) > 990, why
