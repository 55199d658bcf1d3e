"""From a kind's models to its CustomResourceDefinition, as a dict and as YAML that is the same on every machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import yaml

from gpucloud.kinds.meta import GROUP, VERSION
from gpucloud.kinds.schema import structural

if TYPE_CHECKING:
    from pydantic import BaseModel

CATEGORY = "gpucloud"  # never "all": `kubectl delete all --all` would destroy paid machines
HEADER = "# printed from gpucloud.kinds by `make crds`\n"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of ``kubectl get``; a wide one is shown with ``-o wide`` only."""

    name: str
    path: str
    description: str
    type: Literal["string", "integer", "boolean", "date"] = "string"
    wide: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """How the apiserver and kubectl name and show a kind."""

    kind: str
    plural: str
    short_name: str
    description: str
    columns: tuple[Column, ...]
    selectable_fields: tuple[str, ...]

    @property
    def file_name(self) -> str:
        """The file under ``crds/`` that holds it."""
        return f"{GROUP}_{self.plural}.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition(Names):
    """A kind whose objects people declare (spec), and the operator answers (status)."""

    spec: type[BaseModel]
    status: type[BaseModel]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordDefinition(Names):
    """A kind whose objects the operator writes whole: its fields stand at the top, with neither spec nor status."""

    fields: type[BaseModel]


def custom_resource_definition(definition: Definition | RecordDefinition) -> dict[str, Any]:
    """The CustomResourceDefinition.

    Raises:
        gpucloud.kinds.schema.NotStructuralError: the models cannot be printed.
    """
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{definition.plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": definition.kind,
                "listKind": f"{definition.kind}List",
                "plural": definition.plural,
                "singular": definition.kind.lower(),
                "shortNames": [definition.short_name],
                # What people declare. Hundreds of records would drown it.
                **({"categories": [CATEGORY]} if isinstance(definition, Definition) else {}),
            },
            "versions": [_version(definition)],
        },
    }


def to_yaml(document: dict[str, Any]) -> str:
    """The text of the file: our header, then the document in the order of its making."""
    text = yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True)
    return f"{HEADER}---\n{text}"


class _Dumper(yaml.SafeDumper):
    """Writes what is said twice twice: anchors would be hard to read."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the base class gives the signature
        return True


def _version(definition: Definition | RecordDefinition) -> dict[str, Any]:
    return {
        "name": VERSION,
        "served": True,
        "storage": True,
        **({"subresources": {"status": {}}} if isinstance(definition, Definition) else {}),
        "additionalPrinterColumns": [_column(column) for column in definition.columns],
        "selectableFields": [{"jsonPath": path} for path in definition.selectable_fields],
        "schema": {"openAPIV3Schema": _root(definition)},
    }


def _column(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "type": column.type,
        "jsonPath": column.path,
        "description": column.description,
        **({"priority": 1} if column.wide else {}),
    }


def _root(definition: Definition | RecordDefinition) -> dict[str, Any]:
    parts = _declared(definition) if isinstance(definition, Definition) else _recorded(definition)
    return {
        "type": "object",
        "description": definition.description,
        "required": parts["required"],
        "properties": {
            "apiVersion": {"type": "string", "description": f"{GROUP}/{VERSION}."},
            "kind": {"type": "string", "description": f"{definition.kind}."},
            "metadata": {"type": "object"},  # the apiserver describes it
            **parts["properties"],
        },
    }


def _declared(definition: Definition) -> dict[str, Any]:
    status = structural(definition.status, "status")
    # Without a status, tools such as helm --wait take a fresh object for a finished one.
    defaulted = {"type": "object", "default": {}, **{k: v for k, v in status.items() if k != "type"}}
    return {"required": ["spec"], "properties": {"spec": structural(definition.spec, "spec"), "status": defaulted}}


def _recorded(definition: RecordDefinition) -> dict[str, Any]:
    return structural(definition.fields, definition.kind)
