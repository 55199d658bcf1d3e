"""The oracle of GpuHosts: a host is rebooted or wiped by a person's request, which status announces first, and once for each.

Excused: a request that was answered before etcd was put back. Its record may be gone, and nothing tells of it then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gpucloud.kinds.meta import Annotation
from simulation.books import OPERATOR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpucloud.sim.messages import Response
    from simulation.process import Process
    from simulation.world import World

REQUESTS = {
    "RebootHost": ("Reboot", Annotation.REBOOT_REQUESTED_AT),
    "ReprovisionHost": ("Reprovision", Annotation.REPROVISION_REQUESTED_AT),
}
REPEATED = frozenset({401, 429})  # after a new login, or a pause
ON_ITS_WAY = 110.0  # seconds: a call may rest on what its sender saw 45 s before, and travel for a minute


class Announced(NamedTuple):
    """An announcement that stood in a status: of which object and request, and when it was written."""

    uid: str
    value: str
    at: float


class HostRequests:
    """Looks at each write of a GpuHost, and at each call for a host and its answer."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._set: dict[tuple[str, str, str], float] = {}  # when a person last set it: by UID, annotation, value
        self._paused: dict[str, float] = {}  # since when, by UID
        self._announced: dict[str, Announced] = {}  # the last one, by operation of the cloud
        self._sent: dict[tuple[str, str], Announced] = {}  # for what a call is on its way: by process and operation
        self._answered: dict[tuple[str, str, str], float] = {}  # when a call last was: by operation, UID, value

    def committed(self, commit: Any) -> None:
        """A GpuHost has changed."""
        now, item = self._world.loop.time(), commit.after
        if item is None:
            return
        uid, annotations = item["metadata"]["uid"], item["metadata"].get("annotations") or {}
        if annotations.get(Annotation.PAUSED) == "true":
            self._paused.setdefault(uid, now)
        else:
            self._paused.pop(uid, None)
        if commit.user != OPERATOR:
            stood = ((commit.before or {}).get("metadata") or {}).get("annotations") or {}
            named = {name: annotations[name] for _, name in REQUESTS.values() if name in annotations}
            self._set |= {(uid, name, value): now for name, value in named.items() if value != stood.get(name)}
            return
        recorded = (item.get("status") or {}).get("operation") or {}
        for operation, (verb, _) in REQUESTS.items():
            if (recorded.get("verb"), recorded.get("outcome")) == (verb, "Announced"):
                self._announced[operation] = Announced(uid, recorded["id"], now)

    def sent(self, process: Process, operation: str) -> None:
        """An operator sends a call for a host: a status announces it, a person has requested it, and nobody holds it back."""
        if operation not in REQUESTS:
            return
        last = self._announced.get(operation)
        if last is None:
            self._found(f"{process.name} sends {operation}, which no status announces")
            return
        self._sent[process.name, operation] = last
        now, (_, name) = self._world.loop.time(), REQUESTS[operation]
        if (last.uid, name, last.value) not in self._set:
            self._found(f"{process.name} sends {operation} for {last.value}, which nobody has requested")
        if now - self._paused.get(last.uid, now) > ON_ITS_WAY:
            self._found(f"{process.name} sends {operation}, and its GpuHost is paused")

    def answered(self, process: Process, operation: str, response: Response) -> None:
        """The cloud has answered a call for a host. After 401 and 429 it may be sent again: nothing was carried out."""
        asked = self._sent.pop((process.name, operation), None)
        if asked is None or response.status in REPEATED:
            return
        self._world.judge.sometimes[f"answered {operation} {response.status or response.ending}"] += 1
        call, now = (operation, asked.uid, asked.value), self._world.loop.time()
        earlier = self._answered.get(call)
        requested = self._set.get((asked.uid, REQUESTS[operation][1], asked.value), 0.0)  # perhaps again, after another one
        if earlier is not None and self._world.judge.restored_at < earlier and requested <= earlier:
            self._found(f"{operation} was sent {now - earlier:.0f} s ago for the same request {asked.value}, and is sent again")
        self._answered[call] = now

    def unmet(self) -> Iterator[str]:
        """A request that is announced is sent or given up, and what is under way comes to its end."""
        for item in self._world.api.objects("gpuhosts"):
            operation = (item.get("status") or {}).get("operation") or {}
            ready = next((one for one in item["status"].get("conditions") or () if one["type"] == "Ready"), {})
            waits = operation.get("outcome") in {"Announced", "Accepted", "InProgress"}
            held = Annotation.PAUSED in (item["metadata"].get("annotations") or {})
            if waits and not held and ready.get("reason") in {"Rebooting", "Reprovisioning"}:
                yield f"GpuHost {item['metadata']['name']} is {ready['reason']} still: {operation['outcome']}"

    def _found(self, text: str) -> None:
        self._world.judge.found("host", text)
