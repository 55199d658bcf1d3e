"""Specs and statuses drawn from the printed schemas: whatever the apiserver lets in is read, decided upon and reported upon.

And what is reported is something that the apiserver takes: a status that it refuses would hold the object up for ever.
"""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest
from jsonschema import Draft202012Validator

from gpucloud.cloud.calls import create_server
from gpucloud.engine.cache.store import Store
from gpucloud.engine.cloud.catalogue import Catalogue
from gpucloud.engine.kinds.gpuvm import create_server_request
from gpucloud.kinds.definitions import DEFINITIONS
from gpucloud.kinds.meta import Annotation, ConditionType, Reason
from gpucloud.reconcile import gpusnapshot, gpuvm, gpuvpc, unreadable
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import AccountFacts, Now, SSHKeys
from gpucloud.reconcile.naming import Identity
from gpucloud.reconcile.ownership import own_record
from gpucloud.reconcile.unreadable import Unreadable
from support import anyfacts, builders, vpcfacts
from support.builders import NOW, START, TAG, a_place
from support.fakes import LoopClock, a_resource
from support.generated_amount import amount, drawn_for, replay
from support.generated_specs import SCHEMAS, WRONG_TYPES, all_breaks, known_rules, status, text, valid
from unit.cloud.fakes import Rig, plain

MODELS = {definition.kind: definition for definition in DEFINITIONS}
CLOUD_KINDS = ("GpuVM", "GpuVpc", "GpuSnapshot")
DECIDE = {"GpuVM": gpuvm.decide, "GpuVpc": gpuvpc.decide, "GpuSnapshot": gpusnapshot.decide}
ANY = {"GpuVM": anyfacts.any_vm, "GpuVpc": anyfacts.any_vpc, "GpuSnapshot": anyfacts.any_snapshot}
FILE = "tests/unit/fuzz/test_specs.py"
ORDER_WORDS = {  # what the specification names for CreateServer, and of which type
    "vpc": str, "configuration": str, "cluster": str, "ssh_keys": list, "name": str, "rpool": str, "snapshotName": str,
    "tenantCustomImageFileName": str, "operatingSystemImage": str, "personalStorageMountPath": str,
    "tenantSharedAdditionalStorage": str, "persistStorage": bool, "directStorageMountPath": str, "blockStorageNames": list,
    "rootDiskSize": int, "selectedNode": str,
}  # fmt: skip

each_kind = pytest.mark.parametrize("kind", sorted(SCHEMAS))
each_cloud_kind = pytest.mark.parametrize("kind", CLOUD_KINDS)


def refusals(kind, written):
    """Why the apiserver would refuse this status."""
    schema = SCHEMAS[kind]["status"]
    found = [
        f"{'.'.join(map(str, item.path))}: {item.message[:120]}" for item in Draft202012Validator(schema).iter_errors(written)
    ]
    return found + [f"{value!r} is no RFC 3339 time" for value in times(written, schema) if not is_time(value)]


def times(written, schema):
    """Every value whose schema calls it a time."""
    match schema:
        case {"format": "date-time"}:
            yield written
        case {"properties": fields}:
            for name in fields.keys() & written.keys():
                yield from times(written[name], fields[name])
        case {"items": inner}:
            for item in written:
                yield from times(item, inner)


def is_time(value):
    """In the one form in which we write times: four digits of a year that there is, UTC, whole seconds."""
    date, _, clock = value.partition("T")
    digits = date.split("-") + clock.removesuffix("Z").split(":")
    return [len(part) for part in digits] == [4, 2, 2, 2, 2, 2] and value.endswith("Z") and digits[0] != "0000"


def judge(kind, plan, before=()):
    """What must hold of any plan's status: the apiserver takes it, and what it says anew reads like words for people."""
    if plan.status is None:
        return
    written = plan.status.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert refusals(kind, written) == []
    for item in plan.status.conditions:
        assert item.message.isprintable() or item in before, f"control characters in a message: {item.message!r}"
    assert find(plan.status.conditions, ConditionType.READY) is not None


def each(sample, whole, *names):
    """So many sources of random numbers, each with its number to draw the same again."""
    for number in range(amount(sample, whole)):
        yield number, drawn_for(*names, number)


def told(error, number, seen):
    """Let an error say from which number it comes."""
    error.add_note(f"number {number} of {replay(FILE)}: {seen!r}"[:2000])


# --- what is valid ----------------------------------------------------------------------------------------------------


@each_kind
def test_a_valid_spec_is_read_and_comes_back(kind):
    for _, r in each(150, 10_000, "valid", kind):
        spec = valid(r, kind)
        assert MODELS[kind].spec.model_validate(spec).model_dump(mode="json", by_alias=True, exclude_unset=True) == spec


def placed(kind, facts, spec):
    """The identity of facts with this spec."""
    order = own_record(facts.status.order, facts.meta.uid)
    match kind:
        case "GpuVM":
            return a_place(facts.meta, spec, order, referred_vpc="acme").placed()
        case "GpuVpc":
            return gpuvpc.identity(spec)
    vm = Identity("Msc1", "acme", "vm")
    return gpusnapshot.identity(facts.meta, spec, order, TAG, vm) or vm


def watched(kind, facts):
    """The cloud's record, if there is one, is that of the object's new identity."""
    record = getattr(facts.found, "record", None)
    if record is None:
        return facts.found
    field = "name" if kind == "GpuVpc" else "id"
    return replace(facts.found, record=record.model_copy(update={field: facts.identity.name}))


def any_facts(kind, r):
    """A situation, with a valid spec and annotations that people may set, as the engine would gather them."""
    spec = MODELS[kind].spec.model_validate(valid(r, kind))
    facts = ANY[kind](r)
    marks = {name: text(r, r.choice((1, 30, 253, 300))) for name in Annotation if r.random() < 0.2}
    meta = replace(facts.meta, annotations=facts.meta.annotations | stored(kind, {}, {}, annotations=marks).meta.annotations)
    facts = replace(facts, spec=spec, meta=meta, account=AccountFacts("made-up", frozenset({text(r, r.choice((5, 253)))})))
    facts = replace(facts, identity=placed(kind, facts, spec))
    if kind == "GpuVM" and facts.lookalikes:
        facts = replace(facts, lookalikes=("train-" + text(r, 10),))
    return anyfacts.on_update(replace(facts, found=watched(kind, facts)))


@each_cloud_kind
def test_any_valid_spec_in_any_situation_is_decided_upon(kind):
    for number, r in each(1000, 10_000, "situations", kind):
        facts = any_facts(kind, r)
        try:
            judge(kind, DECIDE[kind](facts))
        except Exception as error:
            told(error, number, facts)
            raise


def test_any_valid_spec_makes_an_order_of_known_words():
    for number, r in each(300, 10_000, "orders"):
        spec = MODELS["GpuVM"].spec.model_validate(valid(r, "GpuVM"))
        here = Identity(spec.cluster, spec.vpc or "acme", spec.vm_name or "made-up")
        body = create_server(create_server_request(here, spec, SSHKeys(spec.ssh_keys or ("ssh-rsa AAAA",)))).json
        assert {word: type(value) for word, value in body.items()} == {word: ORDER_WORDS[word] for word in body}, number
        assert all(isinstance(item, str) for value in body.values() if isinstance(value, list) for item in value), number
        assert "" not in body.values(), number
        json.dumps(body).encode()


# --- what was edited by people ----------------------------------------------------------------------------------------


def stored(kind, spec, written, **meta):
    """The object as the watch brings it and the store reads it."""
    store = Store(MODELS[kind].spec, MODELS[kind].status)
    store.put(a_resource(kind, meta=meta) | {"spec": spec, "status": written})
    (item,) = store
    return item


@each_cloud_kind
def test_any_status_that_people_can_write_is_lived_with(kind):
    for number, r in each(700, 10_000, "statuses", kind):
        facts, written = any_facts(kind, r), status(r, kind)
        found = stored(kind, {}, written).status
        facts = replace(facts, status=found)
        facts = replace(facts, identity=placed(kind, facts, facts.spec))
        facts = anyfacts.on_update(replace(facts, found=watched(kind, facts)))
        try:
            found.model_dump(mode="json", by_alias=True, exclude_none=True)
            judge(kind, DECIDE[kind](facts), before=found.conditions)
        except Exception as error:
            told(error, number, written)
            raise


# --- what is not valid ------------------------------------------------------------------------------------------------


def said_of(kind, spec):
    """What is said of an object of this spec, that no apiserver of this version can have let in."""
    item = stored(kind, spec, {})
    if item.spec is None:
        return unreadable.decide(Unreadable(Now(START, NOW), kind, item.meta, item.status, item.flaw))
    if kind not in ANY:
        return None
    facts = ANY[kind](Random(1))
    return DECIDE[kind](replace(facts, spec=item.spec, identity=placed(kind, facts, item.spec)))


@each_kind
def test_a_broken_spec_leads_to_a_condition_and_never_to_an_exception(kind):
    told = 0
    for number in range(amount(3, 100)):
        for broken in all_breaks(drawn_for("specs", kind, number), kind):
            plan = said_of(kind, broken.spec)
            if plan is None or plan.status is None:
                continue
            judge(kind, plan)
            ready = find(plan.status.conditions, ConditionType.READY)
            if ready.reason == Reason.INVALID_SPEC:
                told += 1
                assert broken.blamed.split("[")[0] in ready.message or "spec." in ready.message
    assert told > 20, "too few of them are ones that the models cannot read"


@each_kind
def test_every_rule_of_the_schema_is_known_here_and_can_be_broken(kind):
    rules, known = known_rules(kind)
    assert set(rules) == set(known)


@each_kind
def test_every_field_is_broken_in_some_way_and_every_break_has_a_name(kind):
    found = all_breaks(drawn_for("breaks", kind), kind)
    assert len({(item.why, item.blamed) for item in found}) > len(found) * 0.8
    names = SCHEMAS[kind]["spec"]["properties"]
    assert {item.blamed.removeprefix("spec.").split(".")[0].split("[")[0] for item in found} >= set(names)
    assert set(WRONG_TYPES) == {"object", "array", "integer", "boolean", "string"}


# --- found, and kept --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("annotation", [Annotation.RECONCILE_REQUESTED_AT, Annotation.RESTART_REQUESTED_AT])
def test_a_long_annotation_does_not_hold_an_object_up(annotation):
    meta = stored("GpuVM", {}, {}, annotations={annotation: "2026 " + "x" * 300}).meta
    running = builders.present()
    judge("GpuVM", gpuvm.decide(builders.facts(meta=meta, found=running)))
    judge("GpuVM", gpuvm.decide(builders.facts(meta=replace(meta, deleting=True), found=running)))


@pytest.mark.parametrize("year", ["0001", "0002", "0999", "9999"])
@pytest.mark.parametrize("zone", ["Z", "+14:00", "-14:00"])
def test_a_time_at_the_ends_of_the_calendar_is_written_as_a_time(year, zone):
    order = {
        "state": "Seen",
        "name": "x",
        "cluster": "c",
        "vpc": "v",
        "recordedAt": f"{year}-{'12-31T23:59:59' if year == '9999' else '01-01T00:00:00'}{zone}",
    }
    written = stored("GpuVM", {}, {"order": order}).status.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert refusals("GpuVM", written) == []


def test_an_old_vpc_is_shown_with_its_date():
    record = vpcfacts.a_vpc(createdAt="0999-12-31T23:59:59Z")
    judge("GpuVpc", gpuvpc.decide(vpcfacts.vpc_facts(found=record, status=vpcfacts.a_vpc_status(**vpcfacts.MADE))))


async def test_an_absurd_price_is_no_price():
    async with Rig(lambda _: plain({"items": [{"name": "A100_40GB_PCIe_1x", "price": 1e300}]})).client as client:
        catalogue = Catalogue(client, LoopClock())
        catalogue.refresh()
        await catalogue._task
        price = catalogue.price_per_hour("A100_40GB_PCIe_1x")
        await catalogue.aclose()
    judge("GpuVM", gpuvm.decide(builders.facts(found=builders.present(), price_per_hour=price)))


def test_what_the_owner_wrote_is_quoted_in_a_message():
    spec = builders.a_spec(cluster="Ms\nc1", configuration="A100\r\n\x1b[31mREADY")
    judge("GpuVM", gpuvm.decide(builders.facts(spec=spec, found=builders.present("PENDING_RESOURCES"))))
