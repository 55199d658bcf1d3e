"""A user reaches every operation, parameter and field of the specification, and whatever the table names exists."""

import inspect
import re
from pathlib import Path

import pytest
import yaml

from gpucloud.cli.plugin.usage.commands import VERBS
from gpucloud.cloud import CloudClient, models
from gpucloud.cloud.models import Record
from support.specification.catalogue import CHAPTERS
from support.specification.operations import OPERATIONS
from support.specification.reach import REACH, table

CRDS = Path(__file__).parents[2] / "crds"
RESOURCES = {"gpuoffers", "gpuvms"}


def stated():
    """Every operation, parameter and field that the specification names, without the rules about them."""
    sections = [section for chapter in CHAPTERS for section in chapter.sections]
    names = {one.id for section in sections for one in section.statements if ":" not in one.id}
    return {name for name in names if "." in name or name in {section.title for c in OPERATIONS for section in c.sections}}


def modelled():
    """Every field of the client's records, and of the body of CreateServer, under its name on the wire."""
    records = [cls for cls in vars(models).values() if inspect.isclass(cls) and issubclass(cls, Record) and cls is not Record]
    fields = {f"{cls.__name__}.{field.alias or name}" for cls in records for name, field in cls.model_fields.items()}
    body = models.CreateServer.model_fields.items()
    return fields | {f"CreateServer.{field.serialization_alias or name}" for name, field in body}


def test_everything_stated_has_a_row_and_every_row_is_of_something_stated():
    assert set(REACH) == stated()


def test_every_field_of_the_clients_models_has_a_row():
    assert modelled() <= set(REACH)
    assert len(modelled()) > 90


def test_the_table_has_a_row_for_each():
    lines = [line for line in table().splitlines() if line.startswith("| `")]
    assert len(lines) == len(REACH)


@pytest.mark.parametrize("name", REACH)
def test_no_row_is_empty_and_whatever_it_names_exists(name):
    found = [word for word in re.findall(r"`([^`]+)`", REACH[name]) if exists(word)]
    assert found, f"{name} names no field of a resource, no command and no method: {REACH[name]!r}"


@pytest.mark.parametrize("name", [name for name, text in REACH.items() if text.startswith("`CloudClient.")])
def test_what_only_programs_reach_says_why(name):
    _, _, why = REACH[name].partition(": ")
    assert len(why.split()) > 4, f"{name} names the client, and not why no object or command has it"


def exists(word):
    """Whether a word of the table is a field, a command or a method; fail if it looks like one and is none."""
    kind, _, path = word.partition(".")
    if kind in SCHEMAS:
        schema = SCHEMAS[kind]
        for step in path.split("."):
            assert step in schema.get("properties", {}), f"{word}: there is no field {step!r}"
            schema = schema["properties"][step]
        return True
    if kind == "CloudClient":
        assert callable(getattr(CloudClient, path, None)), f"{word}: there is no such method"
        return True
    if word.startswith("kubectl gpucloud "):
        verb, *options = word.removeprefix("kubectl gpucloud ").split()
        names = {name for parameter in VERBS[verb].takes for name in parameter.names}
        assert {one for one in options if one.startswith("-")} <= names, f"{word}: there is no such option"
        return True
    if word.startswith("kubectl get "):
        assert word.removeprefix("kubectl get ") in RESOURCES
        return True
    return False


def _schemas():
    documents = [yaml.safe_load(path.read_text()) for path in sorted(CRDS.glob("*.yaml"))]
    specs = [document["spec"] for document in documents]
    return {spec["names"]["kind"]: spec["versions"][0]["schema"]["openAPIV3Schema"] for spec in specs}


SCHEMAS = _schemas()
