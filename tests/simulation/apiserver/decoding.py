"""Bodies as objects of their kind: what cannot be decoded at all is refused here, before any rule is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.apiserver import metadata, refusals, schema
from simulation.apiserver.refusals import Cause, bad_request

if TYPE_CHECKING:
    from simulation.apiserver.paths import Target
    from simulation.apiserver.resources import Resource


def decoded(target: Target, body: Any, *, nulls: bool = False) -> dict[str, Any]:
    """A body of a client as the kind's own object: shaped and, for built-in kinds, completed."""
    resource = target.resource
    if not isinstance(body, dict):
        raise bad_request("the object provided is unrecognized: json parse error")
    if resource.custom and not body.get("kind"):
        raise bad_request("the object provided is unrecognized: Object 'Kind' is missing")
    kind, version = body.get("kind") or resource.kind, body.get("apiVersion") or resource.api_version
    if version != resource.api_version:
        raise bad_request(f"the API version in the data ({version}) does not match the expected ({resource.api_version})")
    if kind != resource.kind:
        raise bad_request(f'{kind} in version "{resource.version}" cannot be handled as a {resource.kind}')
    meta = body.get("metadata") or {}
    if not isinstance(meta, dict):
        raise bad_request("the object provided is unrecognized: metadata is no object")
    if meta.get("namespace", target.namespace) != target.namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    if target.subresource:  # nothing else of the body counts
        body = {"metadata": meta} | {name: value for name, value in body.items() if name == target.subresource}
    shaped = schema.shaped({**body, "kind": kind, "apiVersion": version, "metadata": meta}, resource.node, nulls=nulls)
    if schema.causes(shaped["metadata"], {}, resource.node.properties["metadata"], ()):
        raise bad_request(f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}')
    return _completed(resource, {**shaped, "metadata": metadata.tidy(shaped["metadata"])})


def patched(target: Target, old: dict[str, Any], body: Any) -> dict[str, Any]:
    """What a patch has made of an object, read again as an object."""
    resource, name = target.resource, target.name
    meta = body.get("metadata") if isinstance(body, dict) else None
    if not isinstance(meta, dict):
        raise refusals.unprocessable()
    if meta.get("name", name) != name:
        raise bad_request(f"the name of the object ({meta['name']}) does not match the name on the URL ({name})")
    if found := schema.causes(meta, old["metadata"], resource.node.properties["metadata"], ("metadata",)):
        raise refusals.invalid(resource, name, [Cause("FieldValueInvalid", "patch", found[0].message)])
    return _completed(resource, body)


def _completed(resource: Resource, body: dict[str, Any]) -> dict[str, Any]:
    if resource.custom:
        return body
    if schema.causes(body, {}, resource.node, ()):
        raise bad_request(f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}')
    return resource.read(body)
