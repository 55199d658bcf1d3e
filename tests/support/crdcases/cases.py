"""What the tables for the tests of admission are made of, and the rows that every cloud kind has.

Each row opens with its reason or its field.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any

from gpucloud.kinds.crd import Definition, custom_resource_definition
from gpucloud.kinds.meta import API_VERSION


@dataclass(frozen=True)
class Edit:
    """A field of the spec and two values of it, for objects that have it and objects that lack it."""

    field: str
    value: Any
    other: Any
    needs: dict[str, Any] = dataclass_field(default_factory=dict)  # what else both objects need
    instead: dict[str, Any] = dataclass_field(default_factory=dict)  # what stands in place of the field where it is lacking


@dataclass(frozen=True)
class Cases:
    """The tables of one kind."""

    definition: Definition
    minimal: dict[str, Any]
    defaults: dict[str, Any]  # what the apiserver adds to the least spec
    accepted: list[tuple[str, dict[str, Any]]]  # (why, changes of the spec)
    refused: list[tuple[str, dict[str, Any], str, str]]  # (why, changes, the field blamed, a piece of the message)
    fixed: list[Edit]
    free: list[Edit]
    required: set[str]

    @property
    def kind(self):
        return self.definition.kind

    @property
    def short_name(self):
        return self.definition.short_name

    @property
    def schema(self):
        """The schemas of spec and status, as they are printed."""
        version = custom_resource_definition(self.definition)["spec"]["versions"][0]
        return version["schema"]["openAPIV3Schema"]["properties"]

    def manifest(self, name="it", /, **changes):
        """The least object with these changes of its spec; None removes a field."""
        spec = {field: value for field, value in {**self.minimal, **changes}.items() if value is not None}
        return {"apiVersion": API_VERSION, "kind": self.kind, "metadata": {"name": name}, "spec": spec}


def bad_references(field, inside=None):
    """What no reference may say; ``inside`` makes of a reference the change of the spec that holds it."""
    inside = inside or (lambda reference: {field: reference})
    return [
        (f"{field}: another namespace", inside({"name": "other/it"}), f"spec.{field}.name", "Other namespaces cannot be named"),
        (f"{field}: upper case", inside({"name": "It"}), f"spec.{field}.name", "Not a name of a Kubernetes object"),
        (f"{field}: a dot first", inside({"name": ".it"}), f"spec.{field}.name", "start and end with a letter or digit"),
        (f"{field}: a hyphen last", inside({"name": "it-"}), f"spec.{field}.name", "start and end with a letter or digit"),
        (f"{field}: a second line", inside({"name": "it\n"}), f"spec.{field}.name", "use lower-case letters, digits, '-'"),
        (f"{field}: empty", inside({"name": ""}), f"spec.{field}.name", "at least 1 chars long"),
        (f"{field}: too long", inside({"name": "x" * 254}), f"spec.{field}.name", "Too long"),
        (f"{field}: no name", inside({}), f"spec.{field}.name", "Required value"),
    ]


# What every cloud kind has.
CLOUD_ACCEPTED = [
    ("the least", {}),
    ("an account", {"accountRef": {"name": "research.gpu-1"}}),
    ("the longest name of an account", {"accountRef": {"name": "a" * 253}}),
    ("the shortest patience", {"progressDeadlineSeconds": 1}),
    ("the longest patience", {"progressDeadlineSeconds": 2592000}),
]
CLOUD_REFUSED = [
    *bad_references("accountRef"),
    ("no patience", {"progressDeadlineSeconds": 0}, "spec.progressDeadlineSeconds", "greater than or equal to 1"),
    ("patience beyond a month", {"progressDeadlineSeconds": 2592001}, "spec.progressDeadlineSeconds", "less than or eq"),
]
CLOUD_FIXED = [
    Edit("accountRef", {"name": "a"}, {"name": "b"}),
    Edit("accountRef.name", "a", "b"),
]
CLOUD_FREE = [Edit("progressDeadlineSeconds", 60, 90)]
