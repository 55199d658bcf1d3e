"""Which fields of each kind a real apiserver lets be changed."""

from __future__ import annotations

import copy

import pytest
import yaml

from gpucloud.reconcile.gpuvm.template import FIELDS
from support.crdcases.gpusnapshot import SNAPSHOT
from support.crdcases.gpuvm import VM
from support.crdcases.kinds import ALL, each_kind
from support.crdschema import fields
from support.kubeapi import DRY_RUN


def edits(table, wanted=lambda cases, row: True):  # noqa: ARG005 - the signature of a filter
    """The fields of one table of every kind, each named by its kind and its path."""
    return [
        pytest.param(cases, row, id=f"{cases.kind}: {row.field}")
        for cases in ALL
        for row in getattr(cases, table)
        if wanted(cases, row)
    ]


def is_required(cases, row):
    return row.field in cases.required


def is_optional(cases, row):
    return row.field not in cases.required


def nested(path, value):
    """``{"a": {"b": value}}`` of ``a.b``."""
    for name in reversed(path.split(".")):
        value = {name: value}
    return value


def merged(one, other):
    """Both, one within the other as deep as they have the same names."""
    below = {
        name: merged(one[name], other[name])
        for name in one.keys() & other.keys()
        if isinstance(other[name], dict) and one[name]
    }
    return {**one, **other, **below}


def object_name(field, *, given):
    return f"{field.lower().replace('.', '-')}-{'with' if given else 'without'}"


@pytest.fixture(scope="module")
def objects(namespaced):
    """For each field two objects: one with a value, one without; parents of nested fields stand in both."""
    manifests = []
    for cases in ALL:
        for row in cases.fixed + cases.free:
            top, _, below = row.field.partition(".")
            full = merged(row.needs, nested(row.field, row.value))
            manifests.append(cases.manifest(object_name(row.field, given=True), **full))
            if row.field not in cases.required:
                bare = {top: {} if below else None, **row.needs, **row.instead}
                manifests.append(cases.manifest(object_name(row.field, given=False), **bare))
    namespaced.apply(manifests)
    return namespaced


def edit(objects, cases, field, value, *, given):
    """Try to set ``field`` of the object that was made with it, or without it; returns the apiserver's answer."""
    change = {"spec": nested(field, value)}
    return objects.api.patch(cases.short_name, object_name(field, given=given), change, objects.namespace, **DRY_RUN)


def assert_fixed(answer, field):
    top, said = field.partition(".")[0], "\n".join(answer.complaints)
    assert not answer.ok, f"{field} could be edited: {answer.document}"
    assert f"spec.{top}: Forbidden: spec.{top} is immutable" in said
    assert "delete this object and create it again" in said


def assert_free(answer):
    assert (answer.complaints, answer.warnings) == ([], ())


@pytest.mark.parametrize(("cases", "row"), edits("fixed"))
def test_a_fixed_field_cannot_be_changed(objects, cases, row):
    assert edit(objects, cases, row.field, row.value, given=True).ok, "saying the same again is no change"
    assert_fixed(edit(objects, cases, row.field, row.other, given=True), row.field)


def is_replaceable(cases, row):
    return cases.kind == "GpuVM" and row.field.partition(".")[0] in FIELDS.values()


@pytest.mark.parametrize(("cases", "row"), edits("fixed", is_replaceable))
def test_a_field_that_replaces_the_vm_can_be_changed_where_the_policy_says_so(objects, cases, row):
    change = {"spec": {"replacePolicy": "Recreate", **nested(row.field, row.other)}}
    assert_free(objects.api.patch(cases.short_name, object_name(row.field, given=True), change, objects.namespace, **DRY_RUN))


@pytest.mark.parametrize(("cases", "row"), edits("fixed", is_optional))
def test_a_fixed_field_cannot_be_added(objects, cases, row):
    assert_fixed(edit(objects, cases, row.field, row.value, given=False), row.field)


@pytest.mark.parametrize(("cases", "row"), edits("fixed", is_optional))
def test_a_fixed_field_cannot_be_removed(objects, cases, row):
    assert_fixed(edit(objects, cases, row.field, None, given=True), row.field)


@pytest.mark.parametrize(("cases", "row"), [*edits("fixed", is_required), *edits("free", is_required)])
def test_a_required_field_cannot_be_removed(objects, cases, row):
    complaints = edit(objects, cases, row.field, None, given=True).complaints
    assert any(f"spec.{row.field}: Required value" in complaint for complaint in complaints), complaints


@pytest.mark.parametrize(("cases", "row"), edits("free"))
def test_a_free_field_can_be_changed(objects, cases, row):
    assert_free(edit(objects, cases, row.field, row.other, given=True))


@pytest.mark.parametrize(("cases", "row"), edits("free", is_optional))
def test_a_free_field_can_be_added_and_removed(objects, cases, row):
    assert_free(edit(objects, cases, row.field, row.value, given=False))
    assert_free(edit(objects, cases, row.field, None, given=True))


SWITCHED = [
    ("a VM's VPC, from name to object", VM, "vpc", {"vpc": None, "vpcRef": {"name": "lab"}}),
    ("a VM's VPC, from object to name", VM, "vpcRef", {"vpc": "acme", "vpcRef": None}),
    (
        "a snapshot's source, from object to name",
        SNAPSHOT,
        "vmRef",
        {"vmRef": None, "vm": {"cluster": "c", "vpc": "v", "name": "n"}},
    ),
    ("a snapshot's source, from name to object", SNAPSHOT, "vm", {"vmRef": {"name": "train"}, "vm": None}),
]


@pytest.mark.parametrize(("cases", "field", "spec"), [pytest.param(*row, id=why) for why, *row in SWITCHED])
def test_one_of_two_cannot_be_switched_for_the_other(objects, cases, field, spec):
    name = object_name(field, given=True)
    answer = objects.api.patch(cases.short_name, name, {"spec": spec}, objects.namespace, **DRY_RUN)
    for switched in spec:
        assert_fixed(answer, switched)


@each_kind
def test_the_tables_name_every_field_of_the_spec(cases):
    named = {row.field for row in cases.fixed + cases.free}
    assert {path for path, _ in fields(cases.schema["spec"]) if "[]" not in path} == named


def test_a_free_field_can_be_changed_beside_fixed_ones_that_stay(namespaced, example_file):
    example = yaml.safe_load(example_file.read_text())
    example["metadata"]["name"] = "edited"
    namespaced.apply(example)
    stopped = copy.deepcopy(example)
    stopped["spec"]["powerState"] = "Stopped"
    assert "configured" in namespaced.apply(stopped)
