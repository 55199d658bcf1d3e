"""From a kind's CustomResourceDefinition to the JSON schema that editors and kubeconform read.

Its file lies where their catalogues have it. It says what a schema can say: names, types, bounds, words. The rules between
fields (CEL) are the apiserver's alone.
"""

from __future__ import annotations

import json
from typing import Any

from gpucloud.kinds.meta import GROUP, VERSION

DRAFT = "http://json-schema.org/draft-07/schema#"
KUBERNETES_WORDS = "x-kubernetes-"


def file_name(kind: str) -> str:
    """``{group}/{kind}_{version}.json``, as the CRDs catalogue has it."""
    return f"{GROUP}/{kind.lower()}_{VERSION}.json"


def json_schema(definition: dict[str, Any]) -> dict[str, Any]:
    """The schema of a definition as ``crd.custom_resource_definition`` answers it."""
    kind = definition["spec"]["names"]["kind"]
    root = _strict(definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
    properties = root["properties"] | {
        "apiVersion": {**root["properties"]["apiVersion"], "enum": [f"{GROUP}/{VERSION}"]},
        "kind": {**root["properties"]["kind"], "enum": [kind]},
    }
    return {
        "$schema": DRAFT,
        "title": kind,
        **root,
        "required": ["apiVersion", "kind", "metadata", *root["required"]],
        "properties": properties,
    }


def to_json(document: dict[str, Any]) -> str:
    """The text of the file."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _strict(node: dict[str, Any]) -> dict[str, Any]:
    """Without Kubernetes' own words, and with no fields but those that are named: a misspelt one is what people look for."""
    said = {word: value for word, value in node.items() if not word.startswith(KUBERNETES_WORDS)}
    if "properties" in node:
        said["properties"] = {name: _strict(field) for name, field in node["properties"].items()}
        said["additionalProperties"] = False
    if "items" in node:
        said["items"] = _strict(node["items"])
    return said
