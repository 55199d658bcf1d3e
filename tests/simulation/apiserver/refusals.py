"""Refusals: the errors of an apiserver as their HTTP status, reason, message and details."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.apiserver.resources import Resource

MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"
UNPROCESSABLE = "the server rejected our request due to an error in our request"


class Cause(NamedTuple):
    """One entry of ``details.causes``."""

    reason: str
    field: str
    message: str

    def as_json(self) -> dict[str, str]:
        return {"reason": self.reason, "message": self.message, "field": self.field}


class Refusal(Exception):  # noqa: N818 - a refusal is an answer, not a defect
    """A request that is answered with an error."""

    def __init__(self, status: int, reason: str, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.document: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
        self.document["message"] = message
        if reason:
            self.document["reason"] = reason
        if details is not None:
            self.document["details"] = details
        self.document["code"] = status


def bad_request(message: str) -> Refusal:
    """The body or the query cannot be read."""
    return Refusal(400, "BadRequest", message)


def unknown_path() -> Refusal:
    """No resource is served under this path."""
    return Refusal(404, "NotFound", "the server could not find the requested resource", {})


def not_found(resource: Resource, name: str) -> Refusal:
    """There is no object of this name."""
    return Refusal(404, "NotFound", f'{resource.qualified} "{name}" not found', _details(resource, name))


def exists(resource: Resource, name: str) -> Refusal:
    """A create met an object of the same name."""
    return Refusal(409, "AlreadyExists", f'{resource.qualified} "{name}" already exists', _details(resource, name))


def conflict(resource: Resource, name: str, why: str = MODIFIED) -> Refusal:
    """The object is not the one that the request was made for."""
    message = f'Operation cannot be fulfilled on {resource.qualified} "{name}": {why}'
    return Refusal(409, "Conflict", message, _details(resource, name))


def other_uid(resource: Resource, name: str, wanted: str, found: str) -> Refusal:
    """A precondition names another UID."""
    return conflict(resource, name, f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}")


def terminating(resource: Resource, name: str, namespace: str) -> Refusal:
    """A create in a namespace that is being deleted."""
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    message = f'{resource.qualified} "{name}" is forbidden: {why}'
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {namespace} is being terminated",
        "field": "metadata.namespace",
    }
    return Refusal(403, "Forbidden", message, _details(resource, name) | {"causes": [cause]})


def invalid(resource: Resource, name: str, causes: Sequence[Cause]) -> Refusal:
    """The object breaks its schema or the rules of its kind."""
    told = ", ".join(f"{cause.field}: {cause.message}" for cause in causes)
    who = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    message = f'{who} "{name}" is invalid: {told if len(causes) == 1 else f"[{told}]"}'
    details = _details(resource, name) | {"kind": resource.kind, "causes": [cause.as_json() for cause in causes]}
    return Refusal(422, "Invalid", message, details)


def unprocessable() -> Refusal:
    """A JSON patch whose test failed, or that leads nowhere."""
    return Refusal(422, "Invalid", UNPROCESSABLE, {})


def expired(message: str) -> Refusal:
    """A version or a continue token that is no longer kept."""
    return Refusal(410, "Expired", message)


def too_large(wanted: int, current: int) -> Refusal:
    """A version that lies in the future."""
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    message = f"Timeout: Too large resource version: {wanted}, current: {current}"
    return Refusal(504, "Timeout", message, {"causes": [cause], "retryAfterSeconds": 1})


def _details(resource: Resource, name: str) -> dict[str, Any]:
    details = {"name": name, "group": resource.group, "kind": resource.plural}
    return {key: value for key, value in details.items() if value}
