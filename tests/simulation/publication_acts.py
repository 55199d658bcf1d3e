"""What people do with spec.connection of a GpuVM, and with what it publishes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.people import MERGE

if TYPE_CHECKING:
    from simulation.actors import Actors
    from simulation.world import World

SLICES, SERVICES, CONFIG_MAPS = "endpointslices", "services", "configmaps"
ROOTS = {SLICES: "/apis/discovery.k8s.io/v1", SERVICES: "/api/v1", CONFIG_MAPS: "/api/v1"}
PORTS = [{"name": "metrics", "port": 9400}]
ELSEWHERE = "203.0.113.9"  # where somebody who edits by hand leads to


class PublicationActs:
    """Each act is drawn when its time comes, all of them in domains of their own."""

    def __init__(self, world: World, actors: Actors) -> None:
        self._world, self._actors = world, actors

    def create(self, namespace: str, name: str, spec: dict[str, Any]) -> None:
        """Apply a GpuVM; perhaps it publishes its VM, and somebody changes that later."""
        choose = self._world.choices.choose
        form = choose("vm connection", ("", "both", "service", "config map", "public"), (60, 2, 1, 1, 1))
        if not form:
            self._actors.owner.create("GpuVM", namespace, name, spec)
            return
        published = choose("published as", (f"{name}-published", "shared"), (4, 1))
        if choose("published name is taken", (False, True), (9, 1)):
            self._take(namespace, published)
        made = self._actors.owner.create("GpuVM", namespace, name, spec | {"connection": connection(form, published)})
        change = choose("connection changes", ("", "removed", "renamed", "deleted", "edited"), (6, 1, 1, 1, 1))
        if made is None or not change:
            return
        later = self._world.grace * choose("connection changes after", (3.0, 1.0, 8.0))
        item = made | {"kind": "GpuVM"}
        deeds = {
            "removed": lambda: self._actors.owner.patch(item, {"spec": {"connection": None}}),
            "renamed": lambda: self._actors.owner.patch(item, {"spec": {"connection": connection("both", f"{name}-renamed")}}),
            "deleted": lambda: self._delete(namespace, published),
            "edited": lambda: self._edit(namespace, published),
        }
        self._world.act_later(later, deeds[change])

    def _take(self, namespace: str, name: str) -> None:
        """Somebody else has a Service of that name."""
        body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": {"ports": [{"port": 1}]}}
        self._actors.stranger.call("POST", path(SERVICES, namespace), body)

    def _delete(self, namespace: str, name: str) -> None:
        for plural in ROOTS:
            self._actors.stranger.call("DELETE", path(plural, namespace, name))

    def _edit(self, namespace: str, name: str) -> None:
        """Somebody lets what is published lead elsewhere."""
        changes = {SLICES: {"endpoints": [{"addresses": [ELSEWHERE]}]}, CONFIG_MAPS: {"data": {"host": ELSEWHERE}}}
        for plural, change in changes.items():
            self._actors.stranger.call("PATCH", path(plural, namespace, name), change, MERGE)


def connection(form: str, name: str) -> dict[str, Any]:
    """A ``spec.connection`` of one of the drawn forms."""
    service = {"name": name, "address": "Public" if form == "public" else "Private", "ports": PORTS}
    parts: dict[str, dict[str, Any]] = {"config map": {"configMapName": name}, "service": {"service": service}}
    return {"both": {**parts["config map"], **parts["service"]}, "public": parts["service"]}.get(form) or parts[form]


def path(plural: str, namespace: str, name: str = "") -> str:
    """The path of an object, or of all of a namespace."""
    return f"{ROOTS[plural]}/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")
