"""Acts that only some settings make interesting: objects abandoned, purged, applied in numbers, logins that end.

They take place beside the other acts, at times of their own: each is drawn under a name of its own, so none shifts another.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from simulation.credentials import LOGIN
from simulation.people import KEY_LINE, OBJECTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.world import World

RELEASE = "gpucloud.dev/brake-released-at"
MOST = 6  # of each kind of act


class Deeds:
    """Draws them when a history begins, and does each at its time."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._owner = world.actors.owner
        self._admin = world.actors.admin
        self._gone: list[dict[str, Any]] = []  # abandoned objects

    def schedule(self, seconds: float) -> None:
        """Say what happens within so many seconds."""
        settings = self._world.scenario.settings
        if settings.collect_orphans:
            acts = (("abandon", self._abandon, 4), ("apply again", self._apply_again, 1), ("crowd", self._crowd, 1))
            self._some("abandon", seconds, acts)
        if settings.brake_vms or settings.brake_price_per_hour:
            acts = (("purge", self._purge, 2), ("release", self._release, 1), ("release one", self._release_one, 1))
            self._some("purge", seconds, acts)
        if settings.max_vms_per_account or settings.max_vms_per_namespace or settings.max_price_per_hour_per_namespace:
            self._some("crowd", seconds, (("crowd", self._crowd, 1),))
        if LOGIN in {*self._world.actors.forms.values(), self._world.scenario.own_form}:
            self._some("login", seconds, (("logins end", self._end_logins, 1),))

    def _some(self, what: str, seconds: float, acts: tuple[tuple[str, Callable[[], None], int], ...]) -> None:
        choices = self._world.choices
        by_name = {name: act for name, act, _ in acts}
        weights = [weight for _, _, weight in acts]
        for _ in range(choices.choose(f"deeds {what}", range(MOST + 1))):
            when = choices.pick(f"deed {what} at", 0.5, lambda part: round(part, 3))
            name = choices.choose(f"deed {what}", list(by_name), weights)
            if name not in self._world.weather.without:
                self._world.act_later(when * seconds, by_name[name])

    def _one(self, *kinds: str) -> dict[str, Any] | None:
        """One of these, and rather one that has something in the cloud."""
        found = self._world.actors.unstaged(self._owner.all(*kinds))
        found = [one for one in found if _is_seen(one)] or found
        part = self._world.choices.pick(f"deed which {kinds[0]}", 0.0, lambda part: round(part, 3))
        return found[int(part * len(found)) % len(found)] if found else None

    def _abandon(self) -> None:
        """Somebody deletes an object and takes its finalizer away; or has it retained or paused first."""
        item = self._one("GpuVM", "GpuSnapshot")
        if item is None:
            return
        first = self._world.choices.choose("abandoned after", ("", "retain", "pause"), (5, 1, 1))
        if first == "retain":
            self._owner.patch(item, {"spec": {"deletion": {"policy": "Retain"}}})
        elif first == "pause":
            self._owner.annotate(item, paused="true")
        self._owner.delete(item)
        self._gone.append(item)
        after = self._world.choices.choose("stripped after", (0.0, 0.1, 1.0), (6, 1, 1)) * self._world.grace
        self._world.act_later(after, lambda: self._owner.patch(item, {"metadata": {"finalizers": None}}))

    def _apply_again(self) -> None:
        """The manifest of an object that was abandoned is applied once more."""
        if self._gone:
            item = self._gone[-1]
            self._owner.create(item["kind"], item["metadata"]["namespace"], item["metadata"]["name"], item["spec"])

    def _purge(self) -> None:
        """Somebody deletes everything, or all VMs, in whichever namespace."""
        kinds = self._world.choices.choose("purged", (("GpuVM",), OBJECTS))
        for item in self._world.actors.unstaged(self._owner.all(*kinds)):
            self._owner.delete(item)

    def _stamp(self) -> str:
        """A time as somebody types it: now, or one that releases nothing."""
        late = self._world.choices.choose("release of", (0.0, -3600.0, 10_800.0), (4, 1, 1))
        return str((self._world.now() + timedelta(seconds=late)).strftime("%Y-%m-%dT%H:%M:%SZ"))

    def _release(self) -> None:
        namespace = self._world.choices.choose("released", ("team", "other"), (4, 1))
        self.release(namespace, self._stamp())

    def release(self, namespace: str, stamp: str) -> None:
        """All of a namespace that has entered deletion may go."""
        self._admin.merge(f"/api/v1/namespaces/{namespace}", {"metadata": {"annotations": {RELEASE: stamp}}})

    def _release_one(self) -> None:
        item = self._one("GpuVM")
        if item is not None:
            self._owner.annotate(item, brake_released_at=self._stamp())

    def _crowd(self) -> None:
        """Somebody applies several GpuVMs at once."""
        namespace = self._world.choices.choose("crowded", ("team", "other"), (4, 1))
        spec = {"cluster": self._world.actors.cluster, "configuration": "A100_40GB_PCIe_1x", "vpc": "acme"}
        for number in range(self._world.choices.choose("crowd of", (3, 5))):
            self._owner.create("GpuVM", namespace, f"crowd-{number}", spec | {"sshKeys": [KEY_LINE]})

    def _end_logins(self) -> None:
        self._world.tell("cloud", "ends all logins")
        self._world.cloud.end_logins()


def _is_seen(item: dict[str, Any]) -> bool:
    return ((item.get("status") or {}).get("order") or {}).get("state") == "Seen" and "deletionTimestamp" not in item[
        "metadata"
    ]
