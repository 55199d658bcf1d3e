"""Lists: pages of one version, by name, whole or metadata alone."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from simulation.apiserver.refusals import bad_request, expired, too_large
from simulation.apiserver.store import dumped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simulation.apiserver.paths import Target
    from simulation.apiserver.store import Store

NOT_ASKED = {"", "0"}  # any version will do


def listed(store: Store, target: Target, query: Mapping[str, str], *, partial: bool) -> str:
    """The JSON text of a list."""
    limit, after, version = _page(store, query)
    matches = _selector(target, query.get("fieldSelector", ""))
    found = [(key, stored) for key, stored in store.listed(target.resource, target.prefix, version) if matches(stored.seen)]
    rest = [(key, stored) for key, stored in found if key > after]
    page = rest[:limit] if limit else rest
    meta: dict[str, Any] = {"resourceVersion": str(version)}
    if len(page) < len(rest):
        meta["continue"] = _token(version, page[-1][0])
        if not query.get("fieldSelector"):
            meta["remainingItemCount"] = len(rest) - len(page)
    if partial:
        head = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": meta}
        items = [dumped(metadata_of(stored.seen)) for _, stored in page]
        return _joined(head, f"[{','.join(items)}]" if items else "null")
    resource = target.resource
    head = {"kind": f"{resource.kind}List", "apiVersion": resource.api_version, "metadata": meta}
    if resource.custom:
        meta.setdefault("continue", "")
        return _joined(head, f"[{','.join(stored.text for _, stored in page)}]")
    bare = [{name: value for name, value in stored.seen.items() if name not in {"kind", "apiVersion"}} for _, stored in page]
    return _joined(head, dumped(bare))


def metadata_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The object's metadata alone."""
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": body["metadata"]}


def _joined(head: Mapping[str, Any], items: str) -> str:
    return f'{dumped(head)[:-1]},"items":{items}}}'


def _page(store: Store, query: Mapping[str, str]) -> tuple[int, str, int]:
    """Limit, the key after which to begin, and the version."""
    try:
        limit = int(query.get("limit") or 0)
        asked = query.get("resourceVersion", "")
        version = store.version if asked in NOT_ASKED else int(asked)
    except ValueError as error:
        raise bad_request(str(error)) from error
    after = ""
    if query.get("continue"):
        version, after = _continued(query["continue"])
    elif version > store.version:
        raise too_large(version, store.version)
    elif query.get("resourceVersionMatch") != "Exact":
        version = store.version
    if version < store.compacted or version > store.version:
        raise expired("The provided continue parameter is too old to display a consistent list result.")
    return limit, after, version


def _token(version: int, key: str) -> str:
    return (
        base64.urlsafe_b64encode(json.dumps({"v": "meta.k8s.io/v1", "rv": version, "start": key}).encode()).decode().rstrip("=")
    )


def _continued(token: str) -> tuple[int, str]:
    try:
        found = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        return int(found["rv"]), str(found["start"])
    except (ValueError, KeyError, TypeError) as error:
        raise bad_request("invalid continue token") from error


def _selector(target: Target, text: str) -> Callable[[Mapping[str, Any]], bool]:
    terms = []
    for term in filter(None, text.split(",")):
        name, sign, value = term.partition("!=") if "!=" in term else term.partition("=")
        if not sign:
            raise bad_request(f"invalid selector: '{term}'")
        if name not in {"metadata.name", "metadata.namespace"} | target.resource.selectable:
            raise bad_request(f"field label not supported: {name}")
        terms.append((name.split("."), value.removeprefix("="), sign != "!="))
    return lambda body: all((_at(body, path) == value) is wanted for path, value, wanted in terms)


def _at(body: Any, path: list[str]) -> str:
    for step in path:
        body = body.get(step, "") if isinstance(body, dict) else ""
    return str(body)
