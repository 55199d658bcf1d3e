"""What holds for every kind: what is printed is what is read and written, and what tools rely on is there."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from gpucloud.kinds.common import CloudSpec, CloudStatus
from gpucloud.kinds.crd import custom_resource_definition
from gpucloud.kinds.definitions import DEFINITIONS, GPUCLOUDACCOUNT, GPUHOST, GPUSNAPSHOT, GPUVM, GPUVPC
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.kinds.model import Condition
from pages import kinds
from support.crdschema import fields, rules, values, whole

PRINTED = {definition.kind: custom_resource_definition(definition) for definition in DEFINITIONS}
SLOW = settings(max_examples=100)

each_kind = pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda item: item.kind)


def version(definition):
    return PRINTED[definition.kind]["spec"]["versions"][0]


def schema(definition, part):
    return version(definition)["schema"]["openAPIV3Schema"]["properties"][part]


def every_field(definition):
    return [*fields(schema(definition, "spec"), "spec"), *fields(schema(definition, "status"), "status")]


# --- models and schemas agree -----------------------------------------------------------------------------------------


@each_kind
@given(data=st.data())
@SLOW
def test_every_spec_that_the_schema_accepts_is_read_and_comes_back_unchanged(definition, data):
    spec = data.draw(values(schema(definition, "spec")))
    assert definition.spec.model_validate(spec).model_dump(mode="json", by_alias=True, exclude_unset=True) == spec


@each_kind
@given(data=st.data())
@SLOW
def test_every_status_that_the_schema_accepts_is_read_and_comes_back_unchanged(definition, data):
    status = data.draw(values(schema(definition, "status")))
    assert definition.status.model_validate(status).model_dump(mode="json", by_alias=True, exclude_unset=True) == status


@each_kind
def test_models_share_the_set_of_the_fields_that_were_given(definition):
    status = whole(schema(definition, "status"))
    some, other = (definition.status.model_validate(status) for _ in range(2))
    assert some.model_fields_set is other.model_fields_set, "one set each would be a third of what an object takes"
    copies = [one.model_copy(update={"conditions": ()}) for one in (some, definition.status())]
    assert copies[0].model_fields_set is some.model_fields_set
    assert copies[1].model_fields_set == {"conditions"}
    assert definition.status().model_fields_set == set(), "what a copy was given is not given to others"


@each_kind
def test_a_field_of_a_newer_schema_is_no_error(definition):
    spec = whole(schema(definition, "spec"))
    assert definition.spec.model_validate({**spec, "fromTheFuture": {"a": 1}}) == definition.spec.model_validate(spec)


@each_kind
def test_an_empty_status_is_read_since_anybody_may_write_one(definition):
    assert definition.status.model_validate({}) == definition.status()
    assert definition.status().observed_generation == -1


@each_kind
def test_the_models_are_frozen(definition):
    with pytest.raises(ValidationError, match="frozen"):
        definition.status().observed_generation = 1


# --- what tools rely on -----------------------------------------------------------------------------------------------


@each_kind
def test_no_kind_is_in_the_category_all_whose_deletion_would_destroy_paid_machines(definition):
    assert PRINTED[definition.kind]["spec"]["names"]["categories"] == ["gpucloud"]


def test_names():
    names = {item["metadata"]["name"]: item["spec"]["names"]["shortNames"] for item in PRINTED.values()}
    assert names == {
        "gpuvms.gpucloud.dev": ["gvm"],
        "gpuvpcs.gpucloud.dev": ["gvpc"],
        "gpusnapshots.gpucloud.dev": ["gsnap"],
        "gpuhosts.gpucloud.dev": ["ghost"],
        "gpucloudaccounts.gpucloud.dev": ["gca"],
    }


@each_kind
def test_a_fresh_object_is_not_taken_for_a_finished_one(definition):
    status = schema(definition, "status")
    assert status["default"] == {}
    assert status["properties"]["observedGeneration"]["default"] == -1
    assert status["properties"]["observedGeneration"]["format"] == "int64"
    (first,) = status["properties"]["conditions"]["default"]
    assert (first["type"], first["status"], first["reason"]) == ("Ready", "Unknown", "Pending")
    assert first["lastTransitionTime"] == "1970-01-01T00:00:00Z"
    assert "observedGeneration" not in first


@each_kind
def test_conditions_are_told_apart_by_type_and_every_one_has_room(definition):
    conditions = schema(definition, "status")["properties"]["conditions"]
    assert conditions["x-kubernetes-list-map-keys"] == ["type"]
    assert conditions["maxItems"] >= len(ConditionType)


@each_kind
def test_status_is_a_subresource(definition):
    assert version(definition)["subresources"] == {"status": {}}


@each_kind
def test_every_field_is_described(definition):
    assert [path for path, field in every_field(definition) if not field.get("description", "").endswith(".")] == []


COLUMNS = [
    (GPUVM, "Ready Reason State Configuration Cluster IP Age", "VM-ID VM-Cluster VPC Account Price/h Adopted Paused Message"),
    (GPUVPC, "Ready Reason Name Cluster IP-Range Default Age", "VPC-ID Adopted Account Paused Message"),
    (GPUSNAPSHOT, "Ready Reason Source Cluster Size Age", "Snapshot-ID VPC Adopted Account Paused Message"),
    (GPUHOST, "Ready Reason State Host Cluster IP Age", "Type Image Operation Outcome Account Paused Message"),
    (GPUCLOUDACCOUNT, "Ready Reason Endpoint Tenant Users Age", "Credential Last-Contact Paused Message"),
]


@pytest.mark.parametrize(("definition", "plain", "wide"), [pytest.param(*row, id=row[0].kind) for row in COLUMNS])
def test_columns(definition, plain, wide):
    columns = version(definition)["additionalPrinterColumns"]
    assert [column["name"] for column in columns if not column.get("priority")] == plain.split()
    assert [column["name"] for column in columns if column.get("priority")] == wide.split()


@each_kind
def test_columns_and_selectable_fields_name_fields_that_exist_and_their_types(definition):
    types = {f".{path}": (field["type"], field.get("format")) for path, field in every_field(definition)}
    types[".metadata.creationTimestamp"] = ("string", "date-time")
    for column in version(definition)["additionalPrinterColumns"]:
        if "[?" not in column["jsonPath"]:
            kind, form = types[column["jsonPath"]]
            assert column["type"] == ("date" if form == "date-time" else kind), column["name"]
    selectable = [field["jsonPath"] for field in version(definition)["selectableFields"]]
    assert set(selectable) <= types.keys()
    assert len(selectable) <= 8, "Kubernetes allows no more"


FREE = [
    (
        GPUVM,
        {"adoption", "powerState", "onLoss", "replacePolicy", "deletion", "progressDeadlineSeconds", "connection", "placement"},
    ),
    (GPUVPC, {"adoption", "deletion", "progressDeadlineSeconds"}),
    (GPUSNAPSHOT, {"adoption", "deletion", "progressDeadlineSeconds"}),
    (GPUHOST, {"reprovision", "progressDeadlineSeconds"}),
    (GPUCLOUDACCOUNT, {"secretRef", "defaults"}),
]


@pytest.mark.parametrize(("definition", "free"), [pytest.param(*row, id=row[0].kind) for row in FREE])
def test_what_may_be_edited_is_this_and_no_more(definition, free):
    spec = schema(definition, "spec")
    fixed = {path for path, rule in rules(spec, "spec") if "oldSelf" in rule["rule"]}
    assert {f"spec.{name}" for name in spec["properties"]} - fixed == {f"spec.{name}" for name in free}


@each_kind
def test_the_reference_names_every_field_and_rule(definition):
    page = kinds.page(PRINTED[definition.kind])
    for path, field in every_field(definition):
        assert f"| `{path}` |" in page
        assert field["description"] in page
    for path, rule in rules(schema(definition, "spec"), "spec"):
        row = f"| `{path}` | {rule['message'].replace('|', '&#124;')} |"
        assert (row in page) == ("oldSelf" not in rule["rule"]), "what is fixed is said once, beside the field"


# --- what the cloud kinds share ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("definition", [GPUVM, GPUVPC, GPUSNAPSHOT], ids=lambda item: item.kind)
def test_every_cloud_kind_names_its_account_records_its_order_and_has_a_deadline(definition):
    assert issubclass(definition.spec, CloudSpec)
    assert issubclass(definition.status, CloudStatus)
    names = list(schema(definition, "status")["properties"])
    assert names[:10] == [
        "observedGeneration",
        "conditions",
        "account",
        "endpoint",
        "tenancy",
        "progressDeadlineAt",
        "lastHandledReconcileAt",
        "order",
        "deletionPolicy",
        "adopted",
    ]


def test_every_reason_and_condition_type_is_one_that_the_schema_accepts():
    conditions = TypeAdapter(list[Condition])
    read = conditions.validate_python(
        [
            {"type": kind, "status": "True", "reason": reason, "message": "", "lastTransitionTime": 0}
            for kind in ConditionType
            for reason in Reason
        ]
    )
    assert len(read) == len(ConditionType) * len(Reason)


@each_kind
def test_every_condition_type_is_named_where_kubectl_explains_it(definition):
    explained = schema(definition, "status")["properties"]["conditions"]["items"]["properties"]["type"]["description"]
    assert [kind for kind in ConditionType if kind not in explained] == []
