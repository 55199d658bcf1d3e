"""Writes: create, update, patch, apply, delete, each checked and committed in one step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from simulation.apiserver import decoding, metadata, ownership, patches, reading, refusals, schema
from simulation.apiserver.ownership import Claims
from simulation.apiserver.refusals import Cause, Refusal, bad_request
from simulation.apiserver.store import Stored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from simulation.apiserver.ownership import Manager, Owners
    from simulation.apiserver.paths import Target
    from simulation.apiserver.resources import Resource
    from simulation.apiserver.store import Store

APPLY, MERGE, JSON_PATCH = "application/apply-patch+yaml", "application/merge-patch+json", "application/json-patch+json"
DELETES = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}
LONGEST_MANAGER = 128


class Request(NamedTuple):
    """A request that may change something. The names of the headers are in lower case."""

    user: str
    method: str
    target: Target
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: str | bytes | None

    @property
    def who(self) -> tuple[str, str]:
        """The user and the verb."""
        return self.user, f"{self.method} {self.target.subresource}".rstrip()

    def manager(self, operation: str) -> Manager:
        """The field manager: as asked, else the program's name, else the user."""
        agent = self.headers.get("user-agent", self.user).partition("/")[0]
        name = self.query.get("fieldManager") or agent[:LONGEST_MANAGER]
        return name, operation, self.target.subresource


class Writer:
    """The only one that changes the store."""

    def __init__(
        self, store: Store, resources: Iterable[Resource], now: Callable[[], datetime], new_uid: Callable[[], str]
    ) -> None:
        self._store = store
        self._now = now
        self._new_uid = new_uid
        self._generated = 0
        self._namespaces = next(resource for resource in resources if resource.plural == "namespaces")

    def create(self, request: Request, body: Any) -> tuple[int, Any]:
        """POST."""
        resource = request.target.resource
        body = decoding.decoded(request.target, body)
        meta = body["metadata"]
        if meta.get("resourceVersion"):
            raise Refusal(500, "", "resourceVersion should not be set on objects to be created")
        if not meta.get("name") and meta.get("generateName"):
            self._generated += 1
            meta = {**meta, "name": f"{meta['generateName']}{self._generated:05d}"}
        raw = {**body, "metadata": meta}
        claims = Claims({}).after(request.manager("Update"), {}, self._ownable(request, raw), resource.node)
        return self._created(request, raw, claims)

    def replace(self, request: Request, body: Any) -> tuple[int, Any]:
        """PUT."""
        target = request.target
        resource = target.resource
        body = decoding.decoded(request.target, body)
        meta = body["metadata"]
        if meta.get("name", target.name) != target.name:
            raise bad_request(f"the name of the object ({meta['name']}) does not match the name on the URL ({target.name})")
        live = self._store.get(resource, target.key)
        if live is None:
            if resource.create_on_update and not meta.get("resourceVersion"):
                return self.create(request, {**body, "metadata": {**meta, "name": target.name}})
            raise refusals.not_found(resource, target.name)
        if meta.get("uid", live.seen["metadata"]["uid"]) != live.seen["metadata"]["uid"]:
            raise refusals.other_uid(resource, target.name, meta["uid"], live.seen["metadata"]["uid"])
        if not meta.get("resourceVersion"):
            if not resource.unconditional_update:
                cause = Cause(
                    "FieldValueInvalid", "metadata.resourceVersion", "Invalid value: 0: must be specified for an update"
                )
                raise refusals.invalid(resource, target.name, [cause])
        elif meta["resourceVersion"] != str(live.version):
            raise refusals.conflict(resource, target.name)
        return self._updated(request, live, body, shaped=True)

    def patch(self, request: Request) -> tuple[int, Any]:
        """PATCH, in one of its three forms."""
        target = request.target
        kind = request.headers.get("content-type", "").partition(";")[0]
        if kind == APPLY:
            return self._apply(request)
        if kind not in {MERGE, JSON_PATCH}:
            raise Refusal(415, "UnsupportedMediaType", f"the body of the request was in an unknown format: {kind}")
        live = self._store.get(target.resource, target.key)
        if live is None:
            raise refusals.not_found(target.resource, target.name)
        change = reading.json_of(request.body)
        body = patches.merged(live.seen, change) if kind == MERGE else patches.patched(live.seen, change)
        return self._updated(request, live, decoding.patched(target, live.seen, body))

    def delete(self, request: Request, options: Any) -> tuple[int, Any]:
        """DELETE: at once, or when the finalizers are off."""
        target = request.target
        resource = target.resource
        live = self._store.get(resource, target.key)
        if live is None:
            raise refusals.not_found(resource, target.name)
        meta = live.seen["metadata"]
        self._check_preconditions(target, live, options)
        if "deletionTimestamp" in meta:
            return 200, live.text
        finalizers = meta.get("finalizers", [])
        more = DELETES.get(options.get("propagationPolicy", ""))
        if more and more not in finalizers:
            finalizers = [*finalizers, more]
        if not finalizers and resource is not self._namespaces:
            self._store.put(request.who, resource, target.key, None)
            details = {"name": target.name, "group": resource.group, "kind": resource.plural, "uid": meta["uid"]}
            told = {name: value for name, value in details.items() if value}
            return 200, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": told}
        return self._marked(request, live, finalizers)

    def _marked(self, request: Request, live: Stored, finalizers: list[str]) -> tuple[int, Any]:
        meta = {**live.seen["metadata"], "deletionTimestamp": self._stamp()}
        if finalizers:
            meta["finalizers"] = finalizers
        new = {**live.seen, "metadata": meta}
        if request.target.resource is self._namespaces:
            new["status"] = {**live.seen["status"], "phase": "Terminating"}
        else:
            meta["deletionGracePeriodSeconds"] = 0
        if "generation" in meta:
            meta["generation"] += 1
        return 200, self._put(request, new, live.claims).text

    def _apply(self, request: Request) -> tuple[int, Any]:
        target = request.target
        resource = target.resource
        if not request.query.get("fieldManager"):
            cause = {
                "reason": "FieldValueRequired",
                "message": "Required value: is required for apply patch",
                "field": "fieldManager",
            }
            details = {"group": "meta.k8s.io", "kind": "PatchOptions", "causes": [cause]}
            raise Refusal(422, "Invalid", 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value', details)
        live = self._store.get(resource, target.key)
        if live is None and target.subresource:
            raise refusals.not_found(resource, target.name)
        config = reading.applied(request.body)
        if (config.get("kind"), config.get("apiVersion")) != (resource.kind, resource.api_version):
            raise bad_request(f"invalid object type: {config.get('apiVersion')}, Kind={config.get('kind')}")
        meta = config.get("metadata") or {}
        if meta.get("name", target.name) != target.name:
            raise bad_request(f"the name of the object ({meta['name']}) does not match the name on the URL ({target.name})")
        if why := ownership.problem(config, resource.node):
            raise Refusal(500, "", f"failed to create typed patch object: {why}")
        wanted = self._ownable(request, config)
        force = request.query.get("force") in {"true", "1"}
        me = request.manager("Apply")
        if live is None:
            if meta.get("uid"):
                why = f"uid mismatch: the provided object specified uid {meta['uid']}, and no existing object was found"
                raise refusals.conflict(resource, target.name, why)
            new, owners = ownership.apply({}, wanted, resource.node, {}, me, force=force)
            named = {**meta, **new.get("metadata", {}), "name": target.name}
            body = {**new, "apiVersion": resource.api_version, "kind": resource.kind, "metadata": named}
            raw = decoding.decoded(target, body, nulls=True)
            return self._created(request, raw, Claims(owners))
        now = self._ownable(request, live.seen)
        new, owners = ownership.apply(now, wanted, resource.node, live.claims.owners(), me, force=force)
        rest = {name: value for name, value in live.seen.items() if name not in now}
        named = {name: meta[name] for name in ("uid", "resourceVersion") if name in meta}
        left = {name: value for name, value in live.seen["metadata"].items() if name not in ownership.OWNED_METADATA}
        owned = live.seen["metadata"] if target.subresource else {**left, **new.get("metadata", {})}
        return self._updated(request, live, {**rest, **new, "metadata": {**owned, **named}}, owners)

    def _updated(
        self, request: Request, live: Stored, body: dict[str, Any], owners: Owners | None = None, *, shaped: bool = False
    ) -> tuple[int, Any]:
        """Put ``body`` in the place of ``live``; ``owners``: as an apply has left them; ``shaped``: by its decoding."""
        target = request.target
        resource = target.resource
        old, sent = live.seen, metadata.tidy(body["metadata"])
        if sent.get("resourceVersion", str(live.version)) != str(live.version):
            raise refusals.conflict(resource, target.name)
        if target.subresource:
            new = {**old, "status": body["status"]} if "status" in body else {k: v for k, v in old.items() if k != "status"}
            wrong = []
        else:
            new = {**body, "metadata": metadata.kept(sent, old["metadata"])}
            if resource.custom and resource.status:
                new["status"] = old["status"]
            wrong = metadata.changes(sent, old["metadata"])
        if not shaped:  # an apply is not decoded again, and so keeps its nulls
            new = schema.shaped(new, resource.node, nulls=owners is not None, like=old)
        self._check(request, new, old, wrong)
        meta = new["metadata"]
        if resource.custom and not target.subresource and _outside_metadata(new) != _outside_metadata(old):
            meta["generation"] += 1
        if "deletionTimestamp" in meta and not meta.get("finalizers") and resource is not self._namespaces:
            self._store.put(request.who, resource, target.key, None)
            return 200, new
        if new == live.raw and (owners is None or owners == live.claims.owners()):
            return 200, live.text
        if owners is not None:
            return 200, self._put(request, new, Claims(owners)).text
        before, after = self._ownable(request, old), self._ownable(request, new)
        claims = live.claims.after(request.manager("Update"), before, after, resource.node)
        return 200, self._put(request, new, claims).text

    def _created(self, request: Request, raw: dict[str, Any], claims: Claims) -> tuple[int, Any]:
        target = request.target
        resource = target.resource
        sent = {name: value for name, value in raw["metadata"].items() if name not in metadata.SYSTEM}
        name = sent.get("name", "")
        if resource.namespaced:
            sent["namespace"] = target.namespace
            self._check_namespace(target, name)
        set_here = {"uid": self._new_uid(), "creationTimestamp": self._stamp()} | ({"generation": 1} if resource.custom else {})
        raw = {**raw, "metadata": metadata.tidy(sent | set_here)}
        if resource.custom and resource.status:
            raw.pop("status", None)  # so its defaults are seen, and stored by the first update only
        self._check(request, raw, {}, [])
        target = target._replace(name=name)
        if self._store.get(resource, target.key) is not None:
            raise refusals.exists(resource, name)
        return 201, self._put(request._replace(target=target), raw, claims, schema.shaped(raw, resource.node)).text

    def _put(self, request: Request, raw: dict[str, Any], claims: Claims, seen: dict[str, Any] | None = None) -> Stored:
        """Store an object under the next version; ``seen``: with its defaults, when ``raw`` has not all of them."""
        target, version = request.target, self._store.version + 1
        meta = {**raw["metadata"], "resourceVersion": str(version)}
        raw = {**raw, "metadata": meta}
        stored = Stored(raw, raw if seen is None else {**seen, "metadata": meta}, claims, version)
        self._store.put(request.who, target.resource, target.key, stored)
        return stored

    def _check(self, request: Request, new: dict[str, Any], old: dict[str, Any], wrong: list[Cause]) -> None:
        resource = request.target.resource
        meta = new["metadata"]
        found = wrong if request.target.subresource else wrong + metadata.causes(meta)
        found += schema.causes({**new, "metadata": None}, {**old, "metadata": None}, resource.node, ())
        found += resource.rules(new)
        if not found:
            return
        if resource.custom and any(cause.reason in schema.BLOCKING for cause in found):
            found.append(schema.NOT_CHECKED)
        raise refusals.invalid(resource, meta.get("name", ""), found)

    def _check_namespace(self, target: Target, name: str) -> None:
        found = self._store.get(self._namespaces, target.namespace)
        if found is None:
            raise refusals.not_found(self._namespaces, target.namespace)
        if found.seen["status"]["phase"] == "Terminating":
            raise refusals.terminating(target.resource, name, target.namespace)

    @staticmethod
    def _check_preconditions(target: Target, live: Stored, options: Any) -> None:
        if not isinstance(options, dict):
            raise bad_request("couldn't get version/kind; json parse error")
        meta = live.seen["metadata"]
        for name, wanted in (options.get("preconditions") or {}).items():
            if wanted is not None and meta.get(name) != wanted:
                why = f"the {name} in the precondition ({wanted}) does not match the one in record ({meta.get(name)})"
                raise refusals.conflict(target.resource, target.name, why)

    @staticmethod
    def _ownable(request: Request, body: dict[str, Any]) -> dict[str, Any]:
        target = request.target
        return ownership.ownable(body, target.subresource, has_status=target.resource.custom and target.resource.status)

    def _stamp(self) -> str:
        return self._now().strftime("%Y-%m-%dT%H:%M:%SZ")


def _outside_metadata(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in {"metadata", "status"}}
