"""What the owner does in a history: makes, edits, deletes, backs up and restores objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.people import APPLY, KEY_LINE, OBJECTS, path_of, plain
from simulation.publication_acts import PublicationActs

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.actors import Actors
    from simulation.world import World

NAMES = ("a", "b", "c")
CHOSEN = ("prod", "db", "web")
TEXTS = ("2026-01-01T00:00:00Z", "\U0001f680 now", "line\u0000\u001b[31m", "\u2028x\ufffe", "2026-02-02T00:00:00Z", "")
VPC = "acme"


ALTERNATIVES = ({"configuration": "A100_40GB_PCIe_2x"}, {"resourcePool": "on-demand"})


class OwnerActs:
    """Each act is drawn when its time comes."""

    def __init__(self, world: World, actors: Actors) -> None:
        self._world = world
        self._actors = actors
        self._owner = actors.owner
        self._backups: list[dict[str, Any]] = []
        self._publications = PublicationActs(world, actors)
        self.acts: dict[str, Callable[[], object]] = {
            "create vm": self.create_vm,
            "create vpc": self._create_vpc,
            "create snapshot": self._create_snapshot,
            "delete": self._delete,
            "edit power": self._edit_power,
            "edit deletion": self._edit_deletion,
            "pause": self._pause,
            "restart vm": self._restart,
            "annotate": self._annotate,
            "force": self._force,
            "wipe status": self._wipe,
            "back up status": self._back_up,
            "restore status": self._restore,
            "edit immutable": self._edit_immutable,
        }

    def create_one(self) -> None:
        """Apply an object of any kind."""
        kind = self._world.choices.choose("kind", ("vm", "snapshot", "vpc"), (5, 2, 2))
        {"vm": self.create_vm, "snapshot": self._create_snapshot, "vpc": self._create_vpc}[kind]()

    def _namespace(self) -> str:
        return self._world.choices.choose("namespace", ("team", "other"), (4, 1))

    def _name(self) -> str:
        return self._world.choices.choose("name", NAMES)

    def create_vm(self) -> None:
        """Apply a GpuVM."""
        choose = self._world.choices.choose
        spec: dict[str, Any] = {"cluster": self._actors.cluster, "configuration": "A100_40GB_PCIe_1x", "sshKeys": [KEY_LINE]}
        place = choose("vm in", ("vpc", "ref"), (8, 1))
        spec |= {"vpc": VPC} if place == "vpc" else {"vpcRef": {"name": "net"}}
        chosen = choose("vm name", ("", *CHOSEN), (6, 2, 1, 1))
        spec |= {"vmName": chosen} if chosen else {}
        if choose("vm power", ("Running", "Stopped"), (6, 1)) == "Stopped":
            spec["powerState"] = "Stopped"
        policy, snapshots = (
            choose("vm policy", ("Delete", "Retain"), (8, 1)),
            choose("vm snapshots", ("Keep", "Delete"), (5, 1)),
        )
        if (policy, snapshots) != ("Delete", "Keep"):
            spec["deletion"] = {"policy": policy, "snapshots": snapshots}
        others = choose("vm alternatives", ((), ALTERNATIVES[:1], ALTERNATIVES[1:], ALTERNATIVES), (6, 1, 1, 1))
        spec |= {"placement": {"alternatives": list(others)}} if others else {}
        if place == "vpc" and not chosen and choose("vm in other clusters", (False, True), (9, 1)):
            others = (*others, {"cluster": "Hou1"})
            spec["placement"] = {"alternatives": list(others)}
        if others and choose("vm alternatives by price", (False, True), (2, 1)):
            spec["placement"]["order"] = "Price"
        if others and choose("vm waits", (False, True), (3, 1)):
            spec["placement"]["waitSeconds"] = 30
        if choose("vm final snapshot", ("None", "Required"), (8, 1)) == "Required":
            spec["deletion"] = {**spec.get("deletion", {}), "finalSnapshot": "Required"}
        priority = choose("vm priority", (0, 7, -7), (6, 1, 1))
        spec |= {"placement": spec.get("placement", {}) | {"priority": priority}} if priority else {}
        if choose("vm on loss", ("Fail", "Recreate"), (5, 1)) == "Recreate":
            spec["onLoss"] = "Recreate"
        elsewhere = any("cluster" in one for one in others)  # a snapshot is in one cluster
        if choose("vm image", ("", "snapshot"), (9, 1)) and not elsewhere:
            spec["image"] = {"snapshotRef": {"name": "s"}}
        namespace, name = self._namespace(), self._name()
        self._publications.create(namespace, name, spec)

    def _create_vpc(self) -> None:
        choose = self._world.choices.choose
        spec = {"cluster": self._actors.cluster, "name": choose("vpc name", (f"{VPC}-net", f"{VPC}-two", VPC), (4, 2, 1))}
        adoption = choose("vpc adoption", ("Never", "IfExists", "Required"), (5, 2, 1))
        spec |= {} if adoption == "Never" else {"adoption": adoption}
        self._owner.create("GpuVpc", self._namespace(), choose("vpc object", ("net", "net2")), spec)

    def _create_snapshot(self) -> None:
        choose = self._world.choices.choose
        spec: dict[str, Any] = {"vmRef": {"name": self._name()}}
        if choose("snapshot of", ("ref", "vm"), (4, 1)) == "vm":
            spec = {"vm": {"cluster": self._actors.cluster, "vpc": VPC, "name": choose("snapshot of vm", CHOSEN)}}
        chosen = choose("snapshot name", ("", "snap"), (3, 1))
        spec |= {"snapshotName": chosen} if chosen else {}
        if choose("snapshot policy", ("Delete", "Retain"), (8, 1)) == "Retain":
            spec["deletion"] = {"policy": "Retain"}
        self._owner.create("GpuSnapshot", self._namespace(), choose("snapshot object", ("s", "t")), spec)

    def _delete(self) -> None:
        item = self._actors.some()
        if item is not None:
            self._owner.delete(item)
            if self._world.choices.choose("and again", (False, True), (3, 1)):
                kept = {name: value for name, value in item["metadata"].items() if name in {"name", "annotations"}}
                self._world.act_later(
                    self._world.grace * self._world.choices.choose("again after", (0.5, 0.1, 3.0)),
                    lambda: self._owner.create(item["kind"], item["metadata"]["namespace"], spec=item["spec"], **kept),
                )

    def _edit_power(self) -> None:
        item = self._actors.some("GpuVM")
        if item is not None:
            self._owner.patch(item, {"spec": {"powerState": self._world.choices.choose("power", ("Stopped", "Running"))}})

    def _edit_deletion(self) -> None:
        item = self._actors.some()
        if item is not None:
            deletion = {"policy": self._world.choices.choose("policy", ("Retain", "Delete"))}
            final = self._world.choices.choose("edit final snapshot", ("", "Required", "None"), (4, 1, 1))
            if final and item["kind"] == "GpuVM":
                deletion = {"finalSnapshot": final}
            self._owner.patch(item, {"spec": {"deletion": deletion}})

    def _pause(self) -> None:
        item = self._actors.some()
        if item is not None:
            self._owner.annotate(item, paused=self._world.choices.choose("paused", ("true", None), (2, 1)))

    def _restart(self) -> None:
        item = self._actors.some("GpuVM")
        if item is not None:
            self._owner.annotate(item, restart_requested_at=self._text(TEXTS))

    def _text(self, texts: tuple[str, ...]) -> str:
        plain = "odd texts" in self._world.weather.without
        return "2026-03-03T00:00:00Z" if plain else self._world.choices.choose("text", texts)

    def _annotate(self) -> None:
        item = self._actors.some()
        if item is not None:
            which = self._world.choices.choose(
                "annotation", ("reconcile_requested_at", "accept_absence", "buy_anyway"), (3, 1, 1)
            )
            text = self._text(TEXTS) if which == "reconcile_requested_at" else "true"
            if which == "accept_absence":
                text = self._world.stamp()
            if which == "buy_anyway":
                text = self._purchase_said()
            self._owner.annotate(item, **{which: text})

    def _purchase_said(self) -> str:
        """How the owner says to buy another VM: "true", or a time, which a clock that is ahead or a wrong zone puts ahead."""
        ahead = self._world.choices.choose("buy anyway until", (None, 0.0, 40.0, 300.0), (2, 2, 1, 1))
        return "true" if ahead is None else self._world.stamp(ahead)

    def _force(self) -> None:
        for item in self._owner.all(*OBJECTS):
            if "deletionTimestamp" in item["metadata"]:
                self._owner.patch(item, {"metadata": {"finalizers": None}})
                return

    def _wipe(self) -> None:
        item = self._actors.some()
        if item is not None:
            self._actors.wipe(item)

    def _back_up(self) -> None:
        self._backups += self._owner.all(*OBJECTS)

    def _restore(self) -> None:
        """A backup tool puts back an object as it was, its status under the tool's own name."""
        if not self._backups:
            return
        part = self._world.choices.pick("which backup", 0.0, lambda part: round(part, 3))
        old = self._backups[int(part * len(self._backups)) % len(self._backups)]  # a part of 0.9996 is rounded to 1
        meta = old["metadata"]
        self._owner.create(old["kind"], meta["namespace"], meta["name"], old["spec"])
        now = self._owner.get(path_of(old))
        if now is not None and old.get("status"):
            headers = self._world.choices.choose("restore by", ("apply", "put"))
            body = {**plain(now | {"kind": old["kind"]}), "status": old["status"]}
            if headers == "put":
                self._owner.call("PUT", f"{path_of(old)}/status", body)
            else:
                body["metadata"] = {name: meta[name] for name in ("name", "namespace")}
                self._owner.call("PATCH", f"{path_of(old)}/status?fieldManager=backup&force=true", body, APPLY)

    def _edit_immutable(self) -> None:
        item = self._actors.some("GpuVM")
        if item is not None:
            change = self._world.choices.choose("immutable", ("cluster", "vmName", "configuration"))
            value = {"cluster": "Hou1", "vmName": "web", "configuration": "A100_40GB_PCIe_2x"}[change]
            self._owner.patch(item, {"spec": {change: value}})
