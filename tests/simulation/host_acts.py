"""What people do with a GpuHost: request a reboot or a reprovisioning, repeat or take back a request, pause, start over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.people import path_of

if TYPE_CHECKING:
    from simulation.actors import Actors
    from simulation.world import World

HOST = "bm-128"  # in the cluster Msc1 of every simulated cloud
SPEC = {"hostId": HOST, "reprovision": {"imageUrl": "https://images.invalid/node.qcow2"}}
FAULTS = ("write-unsaid", "write-500", "cloud-503")
VERBS = ("reboot_requested_at", "reprovision_requested_at")
ACTS = {"request": 8, "repeat": 2, "both": 1, "take back": 1, "pause": 1, "resume": 2, "wipe status": 1, "start over": 1}


class HostActs:
    """Some histories have a GpuHost. All draws are in domains of their own."""

    def __init__(self, world: World, actors: Actors) -> None:
        self._world, self._owner, self._cluster = world, actors.owner, actors.cluster
        self._values = [world.stamp]  # of earlier requests: each says what stood in an annotation

    def begin(self, seconds: float) -> None:
        """Apply a GpuHost, and act upon it during the storm."""
        choose = self._world.choices.choose
        if not choose("host", (False, True), (5, 1)):
            return
        self._make()
        meets = choose("host calls meet", ("", "committed", "answered", *FAULTS), (4, 3, 2, 1, 1, 1))
        for operation in ("RebootHost", "ReprovisionHost"):
            if meets in FAULTS:
                self._world.arranged.fault(operation, meets, times=1)
            elif meets:
                self._world.arranged.death(operation, meets)
        for _ in range(choose("host acts", (2, 1, 4, 8))):
            part = self._world.choices.pick("host act at", 0.5, lambda part: round(part, 2))
            self._world.act_later(seconds * part, self._act)

    def _make(self) -> None:
        self._owner.create("GpuHost", "team", "metal", {"cluster": self._cluster, **SPEC})

    def _act(self) -> None:
        choose = self._world.choices.choose
        act = choose("host act", tuple(ACTS), tuple(ACTS.values()))
        item = next(iter(self._owner.all("GpuHost")), None)
        if item is None:
            self._make()
            return
        verb, now = choose("host verb", VERBS), self._world.stamp()
        match act:
            case "request":
                self._request(item, verb, now)
            case "repeat":
                earlier = choose("host request repeated", (-1, 0))
                self._request(item, verb, self._values[earlier]())
            case "both":
                self._owner.annotate(item, **dict.fromkeys(VERBS, now))
            case "take back":
                self._owner.annotate(item, **dict.fromkeys(VERBS, None))
            case "pause":
                self._owner.annotate(item, paused="true")
            case "resume":
                self._owner.annotate(item, paused=None)
            case "wipe status":
                whole = {**item, "status": {}}
                self._owner.call("PUT", f"{path_of(item)}/status", whole)
            case _:
                self._owner.delete(item)
                self._make()

    def _request(self, item: dict[str, object], verb: str, value: str) -> None:
        self._values = [*self._values, lambda: value][-4:]
        self._owner.annotate(item, **{verb: value})
