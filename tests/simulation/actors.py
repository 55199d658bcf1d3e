"""Who acts in a history beside the operator: owner, stranger, second cluster, administrator, and what befalls processes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from gpucloud.reconcile.naming import installation_tag
from gpucloud.sim.world.vms import Vm
from simulation import situations
from simulation.credentials import KEY, LOGIN, secret_data
from simulation.host_acts import HostActs
from simulation.offer_acts import OfferActs
from simulation.owner_acts import OwnerActs
from simulation.people import MERGE, OBJECTS, People, path_of, plain
from simulation.stranger_acts import StrangerActs

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.choices import Choices
    from simulation.world import World

WEIGHTS = {
    "nothing": 0.5,
    "create vm": 4,
    "create vpc": 0.7,
    "create snapshot": 1.2,
    "delete": 4,
    "edit power": 1,
    "edit deletion": 0.7,
    "pause": 0.7,
    "restart vm": 0.7,
    "annotate": 0.7,
    "force": 0.5,
    "wipe status": 0.4,
    "back up status": 0.5,
    "restore status": 0.7,
    "edit immutable": 0.3,
    "stranger makes": 1.2,
    "stranger destroys": 1.2,
    "stranger powers": 0.6,
    "stranger's condition": 0.5,
    "second cluster": 0.4,
    "key": 0.8,
    "delete secret": 0.3,
    "delete namespace": 0.2,
    "back up etcd": 0.3,
    "restore etcd": 0.3,
    "pause process": 0.5,
}


class Actors:
    """Everybody's acts, each drawn when its time comes."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.owner = People(world, "owner")
        self.admin = People(world, "admin")
        self.stranger = People(world, "stranger")
        self.cluster = "msc1" if world.respelled else "Msc1"
        self._snapshot: Any = None
        self._touched = 0
        self.staged: set[str] = set()  # names of objects that a plot is about
        self.changed_keys = False
        self.forms: dict[str, str] = {}  # of the credentials, by namespace
        self._owner_acts = OwnerActs(world, self)
        self._acts: dict[str, Callable[[], object]] = {
            "nothing": lambda: None,
            **self._owner_acts.acts,
            **StrangerActs(world, self).acts,
            "key": self._change_key,
            "delete secret": self.delete_secret,
            "delete namespace": self.delete_namespace,
            "back up etcd": self.back_up_etcd,
            "restore etcd": self.restore_etcd,
            "pause process": self._pause_process,
        }

    # The order of things.

    def prepare(self) -> None:
        """What stands before the first process starts."""
        for namespace in ("team", "other"):
            self.admin.call(
                "POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
            )
            if not self._world.scenario.own_account:
                self._account(namespace)

    def _account(self, namespace: str) -> None:
        choose = self._world.choices.choose
        self.forms[namespace] = choose(f"login in {namespace}", (KEY, LOGIN), (3, 1))
        self.admin.put_secret(namespace, "key", secret_data("good", self.forms[namespace]))
        self.owner.create("GpuCloudAccount", namespace, "default", {"secretRef": {"name": "key"}})

    async def act(self, seconds: float) -> None:
        """All acts, over so many seconds."""
        world, choose = self._world, self._world.choices.choose
        end = world.loop.time() + seconds
        if world.weather.has("no-capacity"):
            world.tell("cloud", "has no capacity")
            world.cloud.set_capacity(choose("capacity", (0, 1, 2)))
            world.act_later(seconds * choose("capacity after", (0.5, 0.1, 1.0)), world.cloud.set_capacity, 10_000)
        world.deeds.schedule(seconds)
        HostActs(world, self).begin(seconds)
        OfferActs(world).begin(seconds)
        self._owner_acts.create_vm()
        for _ in range(choose("objects", (0, 1, 2, 4), (6, 2, 1, 1))):
            self._owner_acts.create_one()
        if len(world.replicas) > 1 and world.weather.has("pause") and choose("the leader sleeps", (True, False)):
            world.act_later(seconds * choose("it sleeps after", (0.3, 0.1, 0.6)), self._pause_leader)
        if "situations" not in world.weather.without:
            situations.begin(world, self.cluster)
        for _ in range(world.scenario.slots):
            gap = world.choices.pick(
                "gap", 1.0, lambda part: round(world.grace * (0.3 * part if part < 0.7 else 4 * (part - 0.7)), 2)
            )
            await asyncio.sleep(min(gap, max(0.0, end - world.loop.time())))
            kind = next_act(world.choices)
            if kind not in world.weather.without:
                self._acts[kind]()
            world.tidy()
        await asyncio.sleep(max(0.0, end - world.loop.time()))
        while world.acts_to_come:  # noqa: ASYNC110 - virtual seconds cost nothing
            await asyncio.sleep(world.grace)
        world.tidy()

    def some(self, *kinds: str) -> dict[str, Any] | None:
        """One of the objects that there are."""
        found = self.owner.all(*(kinds or OBJECTS))
        found = self.unstaged(found)
        if not found:
            return None
        return found[int(self._world.choices.pick("which", 0.0, lambda part: round(part, 3)) * len(found)) % len(found)]

    def unstaged(self, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Without the objects that a plot is about: others rarely meddle with them."""
        if not self.staged or self._world.choices.choose("meddles", (False, True), (4, 1)):
            return found
        return [item for item in found if item["metadata"]["name"] not in self.staged]

    def wipe(self, item: dict[str, Any]) -> None:
        """Lose the status of an object."""
        self.owner.call("PUT", f"{path_of(item)}/status", {**plain(item), "status": {}})

    def vms(self) -> list[Vm]:
        """All VMs that there are, whosever."""
        return [row for _, row, _ in self._world.cloud.live() if isinstance(row, Vm)]

    def tag(self) -> str:
        """The tag of our installation."""
        found = self.admin.get("/api/v1/namespaces/kube-system") or {}
        return installation_tag(found["metadata"]["uid"])

    # The administrator.

    def _change_key(self) -> None:
        self.changed_keys = True
        if not self._world.scenario.own_account:
            which = self._world.choices.choose("key", ("good", "other", "wrong"), (1, 1, 1))
            self.put_key(which, self._world.choices.choose("key form", (self.forms["team"], KEY, LOGIN), (8, 1, 1)))

    def put_key(self, which: str, form: str = "") -> None:
        """Write another credential into the Secret, in its own form unless another is named."""
        self.changed_keys = True
        self._world.judge.key_changed()
        self.admin.put_secret("team", "key", secret_data(which, form or self.forms["team"]))

    def delete_secret(self) -> None:
        """Delete the Secret."""
        self.changed_keys = True
        self.admin.call("DELETE", "/api/v1/namespaces/team/secrets/key")

    def delete_namespace(self) -> None:
        """Delete a namespace with all that is in it."""
        self.changed_keys = True
        self.admin.call("DELETE", "/api/v1/namespaces/other")

    def back_up_etcd(self) -> None:
        """Keep the state of the apiserver as it is."""
        self._world.tell("admin", "backs up etcd")
        self._snapshot = self._world.api.snapshot()

    def restore_etcd(self) -> None:
        """Let the apiserver go back to that state."""
        self.changed_keys = True
        if self._snapshot is not None:
            self._world.tell("admin", "restores etcd")
            self._world.judge.restoring()
            self._world.api.restore(self._snapshot)
            self._world.judge.restored()
            self._world.stir()

    def overtake(self, path: str) -> None:
        """Somebody changes an object right before an operator's write of it arrives."""
        self._touched += 1
        if "/namespaces/" in path and "gpucloud.dev" in path:
            change = {"metadata": {"labels": {"touched": str(self._touched)}}}
            self.stranger.call("PATCH", path.removesuffix("/status"), change, MERGE)

    def give_keys(self) -> None:
        """Good keys, and the accounts that use them, wherever they are missing."""
        if self._world.scenario.own_account:
            return
        for namespace, form in self.forms.items():
            found = self.admin.get(f"/api/v1/namespaces/{namespace}/secrets/key")
            good = secret_data("good", form)
            if found is None or found["data"] != {name: value for name, value in good.items() if value is not None}:
                self.admin.put_secret(namespace, "key", good)
        accounts = {item["metadata"]["namespace"] for item in self.owner.all("GpuCloudAccount")}
        for namespace in sorted({"team", "other"} - accounts):
            self.owner.create("GpuCloudAccount", namespace, "default", {"secretRef": {"name": "key"}})

    def heal(self) -> None:
        """When all is over, keys are good again, and nobody holds anything."""
        self.give_keys()
        for item in self.owner.all(*OBJECTS):
            annotations = item["metadata"].get("annotations") or {}
            if "gpucloud.dev/paused" in annotations:
                self.owner.annotate(item, paused=None)
        self._world.judge.guarding.release_all()

    def accept_absences(self) -> None:
        """Say of what the operator does not believe to be gone that it is, where it is."""
        there = {maker for _, _, maker in self._world.cloud.live()}
        for item in self.owner.all(*OBJECTS):
            conditions = (item.get("status") or {}).get("conditions") or ()
            doubted = any("accept-absence" in str(one.get("message")) for one in conditions)
            if doubted and item["metadata"]["uid"] not in there:
                self.owner.annotate(item, accept_absence=self._world.stamp())

    # Processes.

    def _pause_process(self) -> None:
        world = self._world
        if world.weather.has("pause"):
            replica = world.replicas[world.choices.choose("paused replica", range(len(world.replicas)))]
            world.pause(replica.process, world.choices.choose("paused for", (10.0, 1.0, 30.0, 60.0)))

    def _pause_leader(self) -> None:
        """Put whoever holds the Lease to sleep for longer than it lasts."""
        for replica in self._world.replicas:
            if self._world.judge.is_leader(replica.process):
                self._world.pause(replica.process, 4 * self._world.scenario.settings.lease_duration_seconds)


def next_act(choices: Choices) -> str:
    """What somebody does next."""
    return choices.choose("act", tuple(WEIGHTS), tuple(WEIGHTS.values()))
