"""Who acts in a history beside the operator: owner, stranger, second cluster, administrator, and what befalls processes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from gpucloud.kinds.meta import API_VERSION
from gpucloud.reconcile.naming import base_name, installation_tag
from gpucloud.sim.world.vms import Vm
from simulation import situations
from simulation.cloud import name_of
from simulation.credentials import KEY, LOGIN, secret_data
from simulation.people import APPLY, KEY_LINE, MERGE, OBJECTS, People, path_of
from simulation.stage import MAIN

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.choices import Choices
    from simulation.world import World

NAMES = ("a", "b", "c")
CHOSEN = ("prod", "db", "web")
TEXTS = ("2026-01-01T00:00:00Z", "\U0001f680 now", "line\u0000\u001b[31m", "\u2028x\ufffe", "2026-02-02T00:00:00Z", "")
VPC = "acme"
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
        self._backups: list[dict[str, Any]] = []
        self._snapshot: Any = None
        self._touched = 0
        self.staged: set[str] = set()  # names of objects that a plot is about
        self.changed_keys = False
        self.forms: dict[str, str] = {}  # of the credentials, by namespace
        self._acts: dict[str, Callable[[], object]] = {
            "nothing": lambda: None,
            "create vm": self._create_vm,
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
            "stranger makes": self._stranger_makes,
            "stranger destroys": self._stranger_destroys,
            "stranger powers": self._stranger_powers,
            "stranger's condition": self._stranger_says,
            "second cluster": self._second_cluster,
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
        self._create_vm()
        for _ in range(choose("objects", (0, 1, 2, 4), (6, 2, 1, 1))):
            self._create_one()
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
            while world.namespaces.step():
                pass
        await asyncio.sleep(max(0.0, end - world.loop.time()))
        while world.acts_to_come:  # noqa: ASYNC110 - virtual seconds cost nothing
            await asyncio.sleep(world.grace)
        while world.namespaces.step():
            pass

    def _create_one(self) -> None:
        kind = self._world.choices.choose("kind", ("vm", "snapshot", "vpc"), (5, 2, 2))
        {"vm": self._create_vm, "snapshot": self._create_snapshot, "vpc": self._create_vpc}[kind]()

    # The owner.

    def _namespace(self) -> str:
        return self._world.choices.choose("namespace", ("team", "other"), (4, 1))

    def _name(self) -> str:
        return self._world.choices.choose("name", NAMES)

    def _create_vm(self) -> None:
        choose = self._world.choices.choose
        spec: dict[str, Any] = {"cluster": self.cluster, "configuration": "A100_40GB_PCIe_1x", "sshKeys": [KEY_LINE]}
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
        if choose("vm image", ("", "snapshot"), (9, 1)):
            spec["image"] = {"snapshotRef": {"name": "s"}}
        self.owner.create("GpuVM", self._namespace(), self._name(), spec)

    def _create_vpc(self) -> None:
        choose = self._world.choices.choose
        spec = {"cluster": self.cluster, "name": choose("vpc name", (f"{VPC}-net", f"{VPC}-two", VPC), (4, 2, 1))}
        adoption = choose("vpc adoption", ("Never", "IfExists", "Required"), (5, 2, 1))
        spec |= {} if adoption == "Never" else {"adoption": adoption}
        self.owner.create("GpuVpc", self._namespace(), choose("vpc object", ("net", "net2")), spec)

    def _create_snapshot(self) -> None:
        choose = self._world.choices.choose
        spec: dict[str, Any] = {"vmRef": {"name": self._name()}}
        if choose("snapshot of", ("ref", "vm"), (4, 1)) == "vm":
            spec = {"vm": {"cluster": self.cluster, "vpc": VPC, "name": choose("snapshot of vm", CHOSEN)}}
        chosen = choose("snapshot name", ("", "snap"), (3, 1))
        spec |= {"snapshotName": chosen} if chosen else {}
        if choose("snapshot policy", ("Delete", "Retain"), (8, 1)) == "Retain":
            spec["deletion"] = {"policy": "Retain"}
        self.owner.create("GpuSnapshot", self._namespace(), choose("snapshot object", ("s", "t")), spec)

    def _some(self, *kinds: str) -> dict[str, Any] | None:
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

    def _delete(self) -> None:
        item = self._some()
        if item is not None:
            self.owner.delete(item)
            if self._world.choices.choose("and again", (False, True), (3, 1)):
                kept = {name: value for name, value in item["metadata"].items() if name in {"name", "annotations"}}
                self._world.act_later(
                    self._world.grace * self._world.choices.choose("again after", (0.5, 0.1, 3.0)),
                    lambda: self.owner.create(item["kind"], item["metadata"]["namespace"], spec=item["spec"], **kept),
                )

    def _edit_power(self) -> None:
        item = self._some("GpuVM")
        if item is not None:
            self.owner.patch(item, {"spec": {"powerState": self._world.choices.choose("power", ("Stopped", "Running"))}})

    def _edit_deletion(self) -> None:
        item = self._some()
        if item is not None:
            policy = self._world.choices.choose("policy", ("Retain", "Delete"))
            self.owner.patch(item, {"spec": {"deletion": {"policy": policy}}})

    def _pause(self) -> None:
        item = self._some()
        if item is not None:
            self.owner.annotate(item, paused=self._world.choices.choose("paused", ("true", None), (2, 1)))

    def _restart(self) -> None:
        item = self._some("GpuVM")
        if item is not None:
            self.owner.annotate(item, restart_requested_at=self._text(TEXTS))

    def _text(self, texts: tuple[str, ...]) -> str:
        plain = "odd texts" in self._world.weather.without
        return "2026-03-03T00:00:00Z" if plain else self._world.choices.choose("text", texts)

    def _annotate(self) -> None:
        item = self._some()
        if item is not None:
            which = self._world.choices.choose(
                "annotation", ("reconcile_requested_at", "accept_absence", "buy_anyway"), (3, 1, 1)
            )
            text = self._text(TEXTS) if which == "reconcile_requested_at" else "true"
            if which == "accept_absence":
                text = self._world.stamp()
            self.owner.annotate(item, **{which: text})

    def _force(self) -> None:
        for item in self.owner.all(*OBJECTS):
            if "deletionTimestamp" in item["metadata"]:
                self.owner.patch(item, {"metadata": {"finalizers": None}})
                return

    def _wipe(self) -> None:
        item = self._some()
        if item is not None:
            self.wipe(item)

    def wipe(self, item: dict[str, Any]) -> None:
        """Lose the status of an object."""
        self.owner.call("PUT", f"{path_of(item)}/status", {**_plain(item), "status": {}})

    def _back_up(self) -> None:
        self._backups += self.owner.all(*OBJECTS)

    def _restore(self) -> None:
        """A backup tool puts back an object as it was, its status under the tool's own name."""
        if not self._backups:
            return
        old = self._backups[
            int(self._world.choices.pick("which backup", 0.0, lambda part: round(part, 3)) * len(self._backups))
        ]
        meta = old["metadata"]
        self.owner.create(old["kind"], meta["namespace"], meta["name"], old["spec"])
        now = self.owner.get(path_of(old))
        if now is not None and old.get("status"):
            headers = self._world.choices.choose("restore by", ("apply", "put"))
            body = {**_plain(now | {"kind": old["kind"]}), "status": old["status"]}
            if headers == "put":
                self.owner.call("PUT", f"{path_of(old)}/status", body)
            else:
                body["metadata"] = {name: meta[name] for name in ("name", "namespace")}
                self.owner.call("PATCH", f"{path_of(old)}/status?fieldManager=backup&force=true", body, APPLY)

    def _edit_immutable(self) -> None:
        item = self._some("GpuVM")
        if item is not None:
            change = self._world.choices.choose("immutable", ("cluster", "vmName", "configuration"))
            value = {"cluster": "Hou1", "vmName": "web", "configuration": "A100_40GB_PCIe_2x"}[change]
            self.owner.patch(item, {"spec": {change: value}})

    # Strangers.

    def _stranger_makes(self) -> None:
        world, choose = self._world, self._world.choices.choose
        name = choose("stranger's name", CHOSEN)
        what = choose("stranger's thing", ("vm", "vpc", "snapshot"), (6, 1, 1))
        if what == "vm":
            world.cloud.make_vm(name, VPC, "Msc1", "stranger")
        elif what == "vpc":
            world.cloud.make_vpc(f"{VPC}-net", "Msc1", "stranger")
        elif self.vms():
            world.cloud.make_snapshot("snap", self.vms()[0].key, "stranger")

    def vms(self) -> list[Vm]:
        """All VMs that there are, whosever."""
        return [row for _, row, _ in self._world.cloud.live() if isinstance(row, Vm)]

    def _a_vm(self) -> Vm | None:
        found = [vm for vm in self.vms() if not self._is_staged(vm)]
        part = self._world.choices.pick("which vm", 0.0, lambda part: round(part, 3))
        return found[int(part * len(found)) % len(found)] if found else None

    def _is_staged(self, vm: Vm) -> bool:
        return bool(self.staged) and name_of(vm).partition("-")[0] in {*self.staged, MAIN}

    def _stranger_destroys(self) -> None:
        vm = self._a_vm()
        if vm is not None:
            self._world.tell("stranger", f"destroys {name_of(vm)}")
            self._world.judge.sometimes["stranger destroyed"] += 1
            self._world.cloud.end_vm(name_of(vm), vm.order.vpc, vm.order.cluster)
            # Never under a name that bears our mark: that would be a forgery, which nothing can tell.
            if name_of(vm) in CHOSEN and self._world.choices.choose("stranger makes it again", (False, True)):
                after = self._world.grace * self._world.choices.choose("made again after", (3.0, 0.3, 10.0))
                self._world.act_later(after, self._world.cloud.make_vm, name_of(vm), vm.order.vpc, vm.order.cluster, "stranger")

    def _stranger_powers(self) -> None:
        vm = self._a_vm()
        if vm is not None:
            on = self._world.choices.choose("stranger's power", (False, True))
            self._world.tell("stranger", f"{'starts' if on else 'stops'} {name_of(vm)}")
            self._world.cloud.power_vm(name_of(vm), vm.order.vpc, vm.order.cluster, on=on)

    def _stranger_says(self) -> None:
        item = self._some()
        if item is not None:
            kind = self._world.choices.choose("foreign condition", ("Backup", "Ready", "Stalled"))
            condition = {
                "type": kind,
                "status": "True",
                "reason": "Foreign",
                "message": "from somebody \U0001f984",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
                "observedGeneration": 1,
            }
            body = _plain(item) | {"status": {"conditions": [condition]}}
            body["metadata"] = {name: item["metadata"][name] for name in ("name", "namespace")}
            self.stranger.call("PATCH", f"{path_of(item)}/status?fieldManager=stranger&force=true", body, APPLY)

    def _second_cluster(self) -> None:
        """The operator of another cluster, in our tenant, makes a VM for an object of our name; its tag is ours or another."""
        tag = self._world.choices.choose("second tag", ("zzzzz", self.tag()))
        name = base_name(self._name(), tag) + "abcdefghij"
        self._world.cloud.make_vm(name, VPC, "Msc1", "second")

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


def _plain(item: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": item["kind"], "metadata": item["metadata"], "spec": item.get("spec", {})}
