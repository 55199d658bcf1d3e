"""What a kind says to Kubernetes beyond types: CEL rules, immutability, list merge types, defaults of the schema only.

Markers ride in ``Annotated`` and end up in pydantic's JSON schema, where ``kinds.schema`` finds them. Python validation
ignores them: the apiserver is their judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import GetJsonSchemaHandler
    from pydantic.config import JsonDict
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

VALIDATIONS = "x-kubernetes-validations"
LIST_TYPE = "x-kubernetes-list-type"
LIST_MAP_KEYS = "x-kubernetes-list-map-keys"

# Our own notes to kinds.schema; never printed.
IMMUTABLE_NOTE = "x-gpucloud-immutable"
REPLACEABLE_NOTE = "x-gpucloud-replaceable"
DEFAULT_NOTE = "x-gpucloud-default"

FieldReason = Literal["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"]


@dataclass(frozen=True, slots=True)
class CEL:
    """A rule that the apiserver checks. In ``Annotated`` it speaks of that value; see ``rules`` for a whole model.

    Attributes:
        rule: the expression; true means accepted. It may name ``self``, and ``oldSelf`` in a rule about updates.
        message: for people: what is wrong and what to do.
        reason: how the apiserver classes the error; FieldValueInvalid when not set.
        field_path: the field to blame, from ``self``, for example ``.image``.
        optional_old_self: also check on creation a rule that names ``oldSelf``, which is then an optional.
    """

    rule: str
    message: str
    reason: FieldReason | None = None
    field_path: str | None = None
    optional_old_self: bool = False

    def entry(self) -> JsonDict:
        """The item of ``x-kubernetes-validations``."""
        entry: JsonDict = {"rule": self.rule, "message": self.message}
        if self.reason is not None:
            entry["reason"] = self.reason
        if self.field_path is not None:
            entry["fieldPath"] = self.field_path
        if self.optional_old_self:
            entry["optionalOldSelf"] = True
        return entry

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core)
        return {**schema, VALIDATIONS: [*schema.get(VALIDATIONS, []), self.entry()]}


def rules(*cel: CEL) -> JsonDict:
    """Rules about a whole model: ``model_config = ConfigDict(json_schema_extra=rules(...))``."""
    return {VALIDATIONS: [item.entry() for item in cel]}


@dataclass(frozen=True, slots=True)
class Keywords:
    """Words added to the schema of the value that it annotates."""

    words: Mapping[str, Any]

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(core), **self.words}


# A field of the spec that may be given at creation only: changing, adding and removing it are refused.
IMMUTABLE = Keywords({IMMUTABLE_NOTE: True})

# As IMMUTABLE, unless spec.replacePolicy is Recreate: then a changed field replaces what was ordered.
REPLACEABLE = Keywords({IMMUTABLE_NOTE: True, REPLACEABLE_NOTE: True})

# A list without duplicates whose order means nothing. Lists are atomic otherwise.
SET = Keywords({LIST_TYPE: "set"})


def list_map(key: str) -> Keywords:
    """A list whose items are told apart by one field, so that several writers can own items of it."""
    return Keywords({LIST_TYPE: "map", LIST_MAP_KEYS: [key]})


def schema_default(value: Any) -> Keywords:
    """A default that the apiserver fills in, where the model's own is another."""
    return Keywords({DEFAULT_NOTE: value})
