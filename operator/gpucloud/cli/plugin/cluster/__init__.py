"""What the verbs ask of the cluster: our objects, their events, rights. What they write is in ``writing``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from gpucloud.cli.plugin.cluster import refusals
from gpucloud.cli.plugin.cluster.rights import Right, in_words, right_to
from gpucloud.cli.plugin.errors import NotServedError, PluginError, TransientError
from gpucloud.cli.plugin.kube.access import RefusedError
from gpucloud.cli.plugin.kube.answers import items, the_object
from gpucloud.cli.plugin.model.objects import KINDS, Event, Key, Thing, moment, thing
from gpucloud.cli.terminal import marks
from gpucloud.cli.terminal.text import clean
from gpucloud.kinds.meta import API_VERSION, GROUP, PART_OF, VERSION
from gpucloud.spelling import nearest, question

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gpucloud.cli.plugin.kube.access import Api

PAGE = "500"
LOG_LINES = "5000"
FORBIDDEN = 403
OPERATOR_PODS = "=".join(PART_OF) + ",app.kubernetes.io/component=operator"  # no value of the chart changes these two


class Cluster:
    """The cluster, through the user's eyes."""

    def __init__(self, api: Api, needs: tuple[Right, ...] = ()) -> None:
        self.api, self._needs = api, needs

    def within(self, seconds: float) -> Cluster:
        """The same cluster, all of whose answers together may take so long from now on."""
        return Cluster(self.api.within(seconds), self._needs)

    def needing(self, *rights: Right) -> Cluster:
        """The same cluster for a verb that needs these rights, in this order: a refusal names all that are lacking."""
        return Cluster(self.api, rights)

    @property
    def namespace(self) -> str:
        """The namespace that the options or the context name."""
        return self.api.namespace

    def things(self, namespace: str | None, kinds: Iterable[str] = tuple(KINDS), selector: str = "") -> tuple[Thing, ...]:
        """All objects of these kinds in a namespace, or in all when None; only those with these labels, if any are named.

        The CRDs in the cluster may be older than this plugin: a kind that is not served is left out, unless none is.
        """
        found, unserved, served = list[Thing](), list[NotServedError](), 0
        for kind in kinds:
            try:
                found += [thing(kind, body) for body in self.bodies(kind, namespace, selector)]
                served += 1
            except NotServedError as error:
                unserved.append(error)
        if unserved and not served:
            raise unserved[0]
        return tuple(found)

    def find(self, key: Key) -> Thing | None:
        """One object, if it is there."""
        try:
            body = self.api.call("GET", path_of(key.kind, key.namespace, key.name))
        except RefusedError as error:
            if error.status == 404 and not error.is_unserved:
                return None
            raise self._refusal(
                error, f"read {key} in namespace {key.namespace!r}", key.namespace, right_to("get", key.kind), key
            ) from None
        return the_object(key, body)

    def need(self, key: Key) -> Thing:
        """One object, which must be there.

        Raises:
            PluginError: it is not, or its namespace is not.
        """
        found = self.find(key)
        if found is None:
            self.check_namespace(key.namespace)
            short = KINDS[key.kind].short
            listing = marks.paste(f"kubectl get {short} --namespace={key.namespace}")
            raise PluginError(
                f"there is no {key} in namespace {key.namespace!r}.{self.suggested(key)}",
                do=f"Name another namespace with -n, or see what is there: {listing}",
            )
        return found

    def suggested(self, key: Key) -> str:
        """The question whether another object was meant: a near name, else this name of another kind; empty for none."""
        near = nearest(key.name, self._names(key.kind, key.namespace))
        if near:
            return question(near)
        others = (kind for kind in KINDS if kind != key.kind and key.name in self._names(kind, key.namespace))
        return question(tuple(f"{KINDS[kind].short}/{key.name}" for kind in others))

    def _names(self, kind: str, namespace: str) -> tuple[str, ...]:
        """Of all objects of a kind; none when they may not be listed."""
        try:
            return tuple(item.key.name for item in self.things(namespace, (kind,)))
        except PluginError:
            return ()

    def glimpse(self, key: Key) -> Thing | None:
        """One object, if it is there and can be looked at."""
        return self.look(key)[0]

    def look(self, key: Key) -> tuple[Thing | None, bool]:
        """One object, if it is there, and whether it could be looked for."""
        try:
            return self.find(key), True
        except PluginError:
            return None, False

    def events(self, item: Thing) -> tuple[Event, ...]:
        """What was recorded of this object, oldest first.

        Raises:
            PluginError: we may not see it.
        """
        key, query = item.key, {"fieldSelector": f"involvedObject.uid={item.uid}", "limit": PAGE}
        try:
            found = self.api.call("GET", f"/api/v1/namespaces/{key.namespace}/events", query)
        except RefusedError as error:
            raise self._refusal(
                error, f"read the events of {key} in namespace {key.namespace!r}", key.namespace, Right("list", "events", "")
            ) from None
        events = [_event(body) for body in items("events", found)]
        return tuple(sorted(events, key=lambda event: event.at.timestamp() if event.at else 0.0))

    def may(self, right: Right, namespace: str) -> bool:
        """Whether the user may do this here.

        Raises:
            TransientError: the apiserver cannot answer now.
        """
        attributes = {"verb": right.verb, "resource": right.resource, "group": right.group, "namespace": namespace}
        if right.name:
            attributes["name"] = right.name
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        try:
            answer = self.api.call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", None, body)
        except RefusedError as error:
            if error.is_transient:
                raise refusals.busy(error, f"ask whether you may {right.verb} {right.resource}") from None
            return False
        return bool((answer.get("status") or {}).get("allowed"))

    def _refusal(
        self, error: RefusedError, what: str, namespace: str | None, right: Right, key: Key | None = None
    ) -> PluginError:
        """What a refusal means."""
        return refusals.refusal(error, what, namespace, self.needed(error, namespace, right), key)

    def needed(self, error: RefusedError, namespace: str | None, right: Right) -> tuple[Right, ...]:
        """The right for what was refused, and those that the verb needs after this one, and lacks, too."""
        after = self._needs[self._needs.index(right) + 1 :] if error.status == FORBIDDEN and right in self._needs else ()
        return (right, *(other for other in after if other != right and not self._has(other, namespace or "")))

    def _has(self, right: Right, namespace: str) -> bool:
        try:
            return self.may(right, namespace)
        except TransientError:
            return False

    def whoami(self) -> str:
        """The name by which the apiserver knows the user; empty when it does not say."""
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        try:
            answer = self.api.call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", None, body)
        except RefusedError:
            return ""
        return clean(str(((answer.get("status") or {}).get("userInfo") or {}).get("username", "")))

    def read(self, path: str, query: Mapping[str, str] | None = None) -> dict[str, Any] | None:
        """Anything else, or None when it is not there or may not be seen.

        Raises:
            TransientError: the apiserver cannot answer now, which says neither of the two.
        """
        try:
            return self.api.call("GET", path, query)
        except RefusedError as error:
            if error.is_transient:
                raise refusals.busy(error, f"read {path}") from None
            return None

    def listed(self, what: str, path: str, query: Mapping[str, str] | None = None) -> list[dict[str, Any]] | None:
        """A list of anything else, or None when it is not there or may not be seen."""
        page = self.read(path, query)
        return None if page is None else items(what, page)

    def offers(self) -> list[dict[str, Any]]:
        """The GpuOffers of the namespace; none when they are not served or may not be seen.

        Raises:
            TransientError: the apiserver cannot answer now.
        """
        path = f"/apis/{API_VERSION}/namespaces/{quote(self.namespace, safe='')}/gpuoffers"
        return self.listed("gpuoffers", path) or []

    def other_namespaces(self, name: str) -> tuple[str, ...] | None:
        """The namespaces that there are, if this is none of them; None when it is there, or that may not be seen.

        Those that may not be listed are left out.

        Raises:
            TransientError: the apiserver cannot answer now, which says neither of the two.
        """
        try:
            self.api.call("GET", f"/api/v1/namespaces/{quote(name, safe='')}")
        except RefusedError as error:
            if error.status == 404:
                return self._namespaces()
            if error.is_transient:
                raise refusals.busy(error, f"look for namespace {name!r}") from None
        return None

    def _namespaces(self) -> tuple[str, ...]:
        """The namespaces that can be listed; they only make a suggestion."""
        try:
            listed = self.listed("namespaces", "/api/v1/namespaces") or ()
        except TransientError:
            return ()
        return tuple(str(item["metadata"]["name"]) for item in listed)

    def check_namespace(self, name: str) -> None:
        """Look for a namespace, after nothing was found in it.

        Raises:
            PluginError: there is none of this name.
        """
        others = self.other_namespaces(name)
        if others is not None:
            suggested = question(nearest(name, others))
            create = marks.paste(f"kubectl create namespace {name}")
            raise PluginError(
                f"there is no namespace {name!r}.{suggested}", do=f"Name another one with -n, or create it: {create}"
            )

    def secret(self, namespace: str, name: str) -> Mapping[str, str] | None:
        """``data`` of a Secret, or None when it is not there or may not be read."""
        found = self.read(_secret(namespace, name))
        data = (found or {}).get("data")
        return data if isinstance(data, dict) else ({} if found is not None else None)

    def lacks_secret(self, namespace: str, name: str) -> bool:
        """Whether a Secret is not there, and not merely hidden from this user."""
        try:
            self.api.metadata(_secret(namespace, name))
        except RefusedError as error:
            return error.status == 404
        return False

    def is_secret_dying(self, namespace: str, name: str) -> bool:
        """Whether a Secret that the user may read is in deletion. Its values are not asked for.

        Raises:
            TransientError: the apiserver cannot answer now.
        """
        try:
            found = self.api.metadata(_secret(namespace, name))
        except RefusedError as error:
            if error.is_transient:
                raise refusals.busy(error, f"read Secret '{name}'") from None
            return False
        return bool((found.get("metadata") or {}).get("deletionTimestamp"))

    def operator_pods(self, namespace: str) -> tuple[dict[str, Any], ...] | None:
        """The pods of operators in a namespace, or None when they may not be seen."""
        path = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods"
        listed = self.listed("pods", path, {"labelSelector": OPERATOR_PODS})
        return None if listed is None else tuple(listed)

    def pod_log(self, namespace: str, name: str) -> str | None:
        """The end of a pod's log, or None when it may not be read."""
        path = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(name, safe='')}/log"
        try:
            return self.api.text(path, {"tailLines": LOG_LINES, "timestamps": "true"})
        except RefusedError:
            return None

    def bodies(self, kind: str, namespace: str | None, selector: str = "") -> Iterable[dict[str, Any]]:
        """All objects of a kind as they stand, page by page."""
        asked = {"limit": PAGE, **({"labelSelector": selector} if selector else {})}
        query = asked
        while True:
            try:
                page = self.api.call("GET", path_of(kind, namespace), query)
            except RefusedError as error:
                if selector and error.status == 400:
                    raise refusals.no_selector(selector, error) from None
                raise self._refusal(
                    error, f"list {KINDS[kind].plural} {in_words(namespace)}", namespace, right_to("list", kind)
                ) from None
            yield from items(KINDS[kind].plural, page, ("name", "namespace", "uid"))
            following = (page.get("metadata") or {}).get("continue")
            if not following:
                return
            query = {**asked, "continue": following}


def _secret(namespace: str, name: str) -> str:
    return f"/api/v1/namespaces/{quote(namespace, safe='')}/secrets/{quote(name, safe='')}"


def path_of(kind: str, namespace: str | None, name: str = "") -> str:
    """Return the path of an object, or of all objects of a kind; ``namespace`` None: in all namespaces."""
    scope = f"/namespaces/{quote(namespace, safe='')}" if namespace is not None else ""
    return f"/apis/{GROUP}/{VERSION}{scope}/{KINDS[kind].plural}" + (f"/{quote(name, safe='')}" if name else "")


def _event(body: Mapping[str, Any]) -> Event:
    series = body.get("series") or {}
    times = (series.get("lastObservedTime"), body.get("lastTimestamp"), body.get("eventTime"), body.get("firstTimestamp"))
    return Event(
        at=next((found for found in map(moment, times) if found is not None), None),
        type=str(body.get("type", "")),
        reason=clean(str(body.get("reason", ""))),
        note=clean(str(body.get("message", ""))),  # no command of it is marked: who may write Events may write anything
        count=int(series.get("count") or body.get("count") or 1),
    )
