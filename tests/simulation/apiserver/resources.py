"""What is served: the custom resources of the given definitions, and the few built-in ones that the operator uses."""

from __future__ import annotations

import base64
import binascii
import itertools
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from simulation.apiserver.refusals import Cause, bad_request
from simulation.apiserver.schema import Node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def fields(names: Iterable[str], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Several properties of the same schema."""
    return {name: schema for name in names}  # noqa: C420 - a schema is never changed


STRINGS = {"type": "object", "additionalProperties": {"type": "string"}}
META = {
    "type": "object",
    "properties": {
        **fields(("name", "generateName", "namespace", "uid", "resourceVersion"), {"type": "string"}),
        **fields(("creationTimestamp", "deletionTimestamp"), {"type": "string", "format": "date-time"}),
        **fields(("generation", "deletionGracePeriodSeconds"), {"type": "integer"}),
        "labels": STRINGS,
        "annotations": STRINGS,
        "finalizers": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "ownerReferences": {
            "type": "array",
            "items": {
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": True,
                "properties": {"uid": {"type": "string"}},
            },
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["uid"],
        },
    },
}
TYPE_META = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": META}
CONFIG_KEY = re.compile(r"[-._a-zA-Z0-9]+")
MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)")


def _nothing(_: Mapping[str, Any]) -> list[Cause]:
    return []


def _as_is(body: dict[str, Any]) -> dict[str, Any]:
    return body


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """A kind and how it is served. ``read`` completes a decoded object, ``rules`` checks what no schema can say."""

    group: str
    version: str
    kind: str
    plural: str
    node: Node
    namespaced: bool = True
    custom: bool = False
    status: bool = False
    create_on_update: bool = False
    unconditional_update: bool = True
    selectable: frozenset[str] = frozenset()
    read: Callable[[dict[str, Any]], dict[str, Any]] = _as_is
    rules: Callable[[Mapping[str, Any]], list[Cause]] = _nothing

    @property
    def qualified(self) -> str:
        """``gpuvms.gpucloud.dev``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        """``gpucloud.dev/v1alpha1``."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def root(self) -> str:
        """The path of the group and version."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"


def served(definitions: Iterable[Mapping[str, Any]]) -> tuple[Resource, ...]:
    """All that a server with these definitions serves. Nothing of it ever changes, so many servers may share it."""
    return (*builtin(), *itertools.chain.from_iterable(custom(definition) for definition in definitions))


def custom(definition: Mapping[str, Any]) -> Iterable[Resource]:
    """The resources of a CustomResourceDefinition, one a served version."""
    spec = definition["spec"]
    for version in spec["versions"]:
        schema = version["schema"]["openAPIV3Schema"]
        whole = {**schema, "properties": {**schema["properties"], **TYPE_META}}
        yield Resource(
            group=spec["group"],
            version=version["name"],
            kind=spec["names"]["kind"],
            plural=spec["names"]["plural"],
            node=Node.of(whole),
            namespaced=spec["scope"] == "Namespaced",
            custom=True,
            status="status" in version.get("subresources", {}),
            unconditional_update=False,
            selectable=frozenset(field["jsonPath"].removeprefix(".") for field in version.get("selectableFields", ())),
        )


def builtin() -> Iterable[Resource]:
    """Namespaces, Secrets, ConfigMaps, Services, EndpointSlices, Events and Leases. A Service gets no defaults here."""
    core = Resource("", "v1", "", "", _node({}))
    yield replace(
        core, kind="Namespace", plural="namespaces", node=_node(NAMESPACE), namespaced=False, status=True, read=_namespace
    )
    yield replace(core, kind="Secret", plural="secrets", node=_node(SECRET), read=_secret, rules=_data_keys)
    yield replace(core, kind="ConfigMap", plural="configmaps", node=_node(CONFIG_MAP), rules=_data_keys)
    yield replace(core, kind="Service", plural="services", node=_node(SERVICE))
    yield replace(core, group="discovery.k8s.io", kind="EndpointSlice", plural="endpointslices", node=_node(ENDPOINT_SLICE))
    yield replace(
        core,
        group="events.k8s.io",
        kind="Event",
        plural="events",
        node=_node(EVENT),
        create_on_update=True,
        read=_event,
        rules=_event_rules,
    )
    yield replace(
        core,
        group="coordination.k8s.io",
        kind="Lease",
        plural="leases",
        node=_node(LEASE),
        create_on_update=True,
        unconditional_update=False,
        read=_lease,
        rules=_lease_rules,
    )


def _node(properties: dict[str, Any]) -> Node:
    return Node.of({"type": "object", "properties": {**TYPE_META, **properties}})


REFERENCE = {
    "type": "object",
    "properties": fields(
        ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"), {"type": "string"}
    ),
}
NAMESPACE = {
    "spec": {"type": "object", "properties": {"finalizers": {"type": "array", "items": {"type": "string"}}}},
    "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
}
SECRET = {
    "data": STRINGS,
    "stringData": STRINGS,
    "type": {"type": "string", "default": "Opaque"},
    "immutable": {"type": "boolean"},
}
CONFIG_MAP = {"data": STRINGS, "binaryData": STRINGS, "immutable": {"type": "boolean"}}
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
SERVICE = {"spec": OPEN}
ENDPOINT_SLICE = {"addressType": {"type": "string"}, **fields(("endpoints", "ports"), {"type": "array", "items": OPEN})}
LEASE = {
    "spec": {
        "type": "object",
        "properties": {
            **fields(("holderIdentity", "acquireTime", "renewTime", "strategy", "preferredHolder"), {"type": "string"}),
            **fields(("leaseDurationSeconds", "leaseTransitions"), {"type": "integer", "format": "int32"}),
        },
    }
}
EVENT = {
    **fields(("eventTime", "reportingController", "reportingInstance", "action", "reason", "note", "type"), {"type": "string"}),
    **fields(("deprecatedFirstTimestamp", "deprecatedLastTimestamp"), {"type": "string", "nullable": True}),
    "deprecatedSource": {"type": "object"},
    "regarding": REFERENCE,
    "related": REFERENCE,
    "series": {"type": "object", "properties": {"count": {"type": "integer"}, "lastObservedTime": {"type": "string"}}},
}


def _namespace(body: dict[str, Any]) -> dict[str, Any]:
    meta = body["metadata"]
    labels = {**meta.get("labels", {}), "kubernetes.io/metadata.name": meta.get("name", "")}
    return {
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
        **body,
        "metadata": {**meta, "labels": labels},
    }


def _secret(body: dict[str, Any]) -> dict[str, Any]:
    for value in body.get("data", {}).values():
        try:
            base64.b64decode(value, validate=True)
        except binascii.Error as error:
            raise bad_request('Secret in version "v1" cannot be handled as a Secret: illegal base64 data') from error
    if "stringData" not in body:
        return body
    plain = {name: base64.b64encode(value.encode()).decode() for name, value in body["stringData"].items()}
    rest = {name: value for name, value in body.items() if name != "stringData"}
    return {**rest, "data": {**body.get("data", {}), **plain}}


def _data_keys(body: Mapping[str, Any]) -> list[Cause]:
    names = [*body.get("data", {}), *body.get("binaryData", {})]
    return [
        Cause("FieldValueInvalid", f"data[{name}]", f'Invalid value: "{name}"')
        for name in names
        if not CONFIG_KEY.fullmatch(name)
    ]


def _micro_time(kind: str, body: Mapping[str, Any], names: Iterable[str]) -> None:
    for name in names:
        if name in body and not MICRO_TIME.fullmatch(body[name]):
            raise bad_request(f'{kind} cannot be handled as a {kind}: parsing time "{body[name]}"')


def _lease(body: dict[str, Any]) -> dict[str, Any]:
    _micro_time("Lease", body.get("spec", {}), ("acquireTime", "renewTime"))
    return {"spec": {}, **body}


def _lease_rules(body: Mapping[str, Any]) -> list[Cause]:
    seconds = body["spec"].get("leaseDurationSeconds", 1)
    message = f"Invalid value: {seconds}: must be greater than 0"
    return [Cause("FieldValueInvalid", "spec.leaseDurationSeconds", message)] if seconds <= 0 else []


def _event(body: dict[str, Any]) -> dict[str, Any]:
    _micro_time("Event", body, ("eventTime",))
    return {"deprecatedSource": {}, "deprecatedFirstTimestamp": None, "deprecatedLastTimestamp": None, **body}


def _event_rules(body: Mapping[str, Any]) -> list[Cause]:
    """An Event without a time is judged by the older rules of core/v1."""
    found = []
    if "eventTime" in body:
        names = ("reportingController", "reportingInstance", "action", "reason")
        found += [Cause("FieldValueRequired", name, "Required value") for name in names if not body.get(name)]
    else:
        found.append(Cause("FieldValueRequired", "eventTime", "Required value"))
        if body.get("regarding", {}).get("namespace") != body["metadata"]["namespace"]:
            found.append(
                Cause("FieldValueInvalid", "involvedObject.namespace", 'Invalid value: "": does not match event.namespace')
            )
    if body.get("type") not in {"Normal", "Warning"}:
        found.append(Cause("FieldValueInvalid", "type", 'Invalid value: "": has invalid value'))
    if len(body.get("note", "").encode()) > 1024:
        found.append(Cause("FieldValueInvalid", "message", 'Invalid value: "": can have at most 1024 characters'))
    return found
