"""Class C6 of the catalogue: one field of a status or annotation is not what was written, as when etcd's disk has lied.

The operator is shown it on the watch, so no schema stands in between: emptied, a bit flipped, or swapped with what belongs to
somebody else. Whatever it makes of that: nothing of anybody else is touched, and nothing of ours goes unless its own object
is being deleted. A lie may cost the proof that a thing is ours; then it is let go and kept, and an Event says so.

The one forgery that no reader can tell from the truth, a whole record of an order for a name that the owner chose, is no
corruption of one field; docs/adr/0002 says who may write a status.
"""

from __future__ import annotations

import copy
import json
import random
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from chaos.rig.campaign import Run
from chaos.rig.ledger import Books
from chaos.rig.lives import Lives, undeserved
from chaos.rig.oracles import NOT_IN_LOGS
from chaos.rig.strangers import plant, things
from chaos.rig.workloads import AVAILABLE, COMPLETED, RUNNING
from support.manifests import gpusnapshot, gpuvm, gpuvpc
from support.waiting import eventually

ROUNDS = 20  # corruptions in one run
ANNOTATIONS = ("paused", "accept-absence", "buy-anyway", "restart-requested-at", "reconcile-requested-at", "adopt", "x")
TELLING = ("order", "account", "tenancy")  # and ids: what says whose a thing is; most lies are about these
PLURALS = {"GpuVM": "gpuvms", "GpuVpc": "gpuvpcs", "GpuSnapshot": "gpusnapshots"}


@dataclass
class Liar:
    """An ``on_line`` that shows the next event of one object with one field of it changed."""

    dice: random.Random
    pool: list[Any]
    meant: tuple[str, str] | None = None
    chosen: tuple[tuple[str, ...], str] | None = None  # the lie to tell next, in place of one by the dice
    told: list[str] = field(default_factory=list)

    def __call__(self, call, line):
        """The line, or the lie in its place."""
        said = json.loads(line)
        if said["type"] != "MODIFIED" or (call.resource, said["object"]["metadata"]["name"]) != self.meant:
            return ((0.0, line),)
        self.meant = None
        if self.chosen is None:
            self.told.append(corrupt(said["object"], self.dice, self.pool))
        else:
            self.told.append(swap(said["object"]["status"], *self.chosen))
        return ((0.0, json.dumps(said).encode() + b"\n"),)


def swap(status, path, value):
    """Put a stranger's name or id in the place of ours."""
    *way, last = path
    for step in way:
        status = status.setdefault(step, {})
    status[last] = value
    return f"status{list(path)} = {value!r}"


def corrupt(body, dice, pool):
    """Change one field in place; answers what was done to it."""
    if dice.random() < 0.2:
        name, value = f"gpucloud.dev/{dice.choice(ANNOTATIONS)}", dice.choice(["true", "", "\x00", *pool])
        body["metadata"].setdefault("annotations", {})[name] = str(value)
        return f"annotation {name} = {value!r}"
    status = body.setdefault("status", {})
    paths = [path for path in leaves(status) if path]
    if not paths:
        return "nothing: there is no status yet"
    telling = [path for path in paths if path[0] in TELLING or path[0].endswith("Id")]
    path = dice.choice(telling if telling and dice.random() < 0.6 else paths)
    if len(path) > 1 and dice.random() < 0.2:
        path = path[:-1]  # the whole part
    holder = status
    for step in path[:-1]:
        holder = holder[step]
    before = holder[path[-1]]
    how = dice.choice(("removed", "emptied", "flipped", "swapped", "swapped"))
    if how == "removed" and isinstance(holder, dict):
        del holder[path[-1]]
        return f"status{list(path)} removed"
    holder[path[-1]] = {"emptied": None, "removed": None}.get(
        how, flipped(before, dice) if how == "flipped" else dice.choice(pool)
    )
    return f"status{list(path)} {how}: {before!r} -> {holder[path[-1]]!r}"


def leaves(value, path=()):
    """Paths of everything in a document that has no parts."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if parts is None:
        yield path
        return
    for name, part in parts:
        yield from leaves(part, (*path, name))


def flipped(value, dice):
    """The same with one bit changed; for what is no text, another value of its kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value ^ (1 << dice.randrange(31))
    if isinstance(value, str) and value:
        at = dice.randrange(len(value))
        return value[:at] + chr(ord(value[at]) ^ (1 << dice.randrange(7))) + value[at + 1 :]
    return copy.deepcopy(dice.choice(["", 0, [], {}]))


def household(trial):
    """Ours, of each kind, by derived and by chosen names; one that claims a stranger's VM, and one a stranger's VPC."""
    return {
        "GpuVM/train": gpuvm("train"),
        "GpuVM/p0": gpuvm("p0"),
        "GpuVM/named": gpuvm("named", vmName=f"chosen-{trial.tag}"),
        "GpuVM/greedy": gpuvm("greedy", vmName="train-zzzzz-0234567abc"),
        "GpuVpc/lab": gpuvpc("lab", name=f"acme-{trial.tag}-lab"),
        "GpuVpc/grasping": gpuvpc("grasping", name=f"acme-{trial.tag}-lab2"),
        "GpuSnapshot/before": gpusnapshot("before"),
    }


REACHED = {
    "GpuVpc/lab": AVAILABLE,
    "GpuSnapshot/before": COMPLETED,
    "GpuVM/greedy": "False/Conflict",
    "GpuVpc/grasping": "False/Conflict",
}


def worst(trial):
    """The lies that would do most harm, told of an object in the moment of its deletion: its name or id is a stranger's."""
    vpc = next(one["id"] for one in trial.sim.control("world")["vpcs"] if one["name"] == f"acme-{trial.tag}-lab2")
    return (
        ("GpuVM/p0", ("order", "name"), "builder-zzzzz-2234567abc"),
        ("GpuVM/train", ("vmId",), "builder-zzzzz-2234567abc"),
        ("GpuVpc/lab", ("vpcId",), vpc),
        ("GpuVpc/lab", ("order", "name"), f"acme-{trial.tag}-lab2"),
        ("GpuSnapshot/before", ("order", "name"), "golden-zzzzz-9234567abc"),
        ("GpuSnapshot/before", ("snapshotId",), "golden-zzzzz-9234567abc"),
    )


def names_and_ids(trial):
    """What belongs to others, and to other objects of ours: what a field may be swapped with."""
    world = trial.sim.control("world")
    vms = [part for vm in world["vms"] for part in (vm["order"]["name"], vm["uid"])]
    vpcs = [part for vpc in world["vpcs"] for part in (vpc["id"], vpc["name"])]
    return [*vms, *vpcs, *(one["name"] for one in world["snapshots"]), "globex", "default", -1, True, None, {}, []]


def lied_to(rig, seed):
    """A household lives through the worst lies, then through so many by the dice, half of them in the moment of a deletion."""
    dice = random.Random(seed)
    with rig.trial() as trial:
        plant(trial)
        trial.start()
        lives = lives_of(trial)
        wanted = household(trial)
        for manifest in wanted.values():
            lives.begin(manifest)
        for who in wanted:
            trial.reach(*who.split("/"), REACHED.get(who, RUNNING))
        liar = trial.kube.on_line = Liar(dice, names_and_ids(trial))
        for number, (who, path, value) in enumerate(worst(trial)):
            trial.last_start = time.monotonic()
            trial.reach(*who.split("/"), REACHED.get(who, RUNNING))
            liar.chosen = (path, value)
            one_lie(trial, liar, who, -number, deletes=True, lives=lives, manifest=wanted[who])
        liar.chosen = None
        for number in range(ROUNDS):
            who = dice.choice(list(wanted))
            one_lie(trial, liar, who, number, deletes=dice.random() < 0.5, lives=lives, manifest=wanted[who])
        trial.kube.on_line = None
        time.sleep(2.0)
        found = harm(trial, lives)
        told = [f"told: {lie}" for lie in liar.told] if found else []
        return found + told


def one_lie(trial, liar, who, number, *, deletes, lives, manifest):
    """One corrupted view; then, unless it was deleted, a true one, as after any later change of the object."""
    kind, name = who.split("/")
    before = len(liar.told)
    liar.meant = (PLURALS[kind], name)
    if deletes:  # the first that is seen of the deletion is the lie
        lives.end(kind, name)
    else:
        touch(trial, kind, name, str(number))
    eventually(lambda: len(liar.told) > before or trial.here.get(kind, name) is None, 10, "the lie to be told")
    liar.meant = None
    time.sleep(0.5)  # two polls
    if trial.here.get(kind, name) is None:
        lives.begin(manifest)
    elif deletes:
        release_finalizer(trial, kind, name, number)
        lives.begin(manifest)
    else:
        touch(trial, kind, name, f"{number} in truth")


def touch(trial, kind, name, what):
    """Any change, so that the watch shows the object; it may have gone meanwhile."""
    with suppress(AssertionError):
        trial.here.annotate(kind, name, **{"tests/touched": what})


def release_finalizer(trial, kind, name, number):
    """It goes once its view is true again; if the lie has cost it the proof of what it owns, its owner says Retain."""
    touch(trial, kind, name, f"{number} in truth")

    def gone():
        item = trial.here.get(kind, name)
        if item is not None and "DeletionBlocked" in json.dumps(item.get("status", {})):
            with suppress(AssertionError):  # it has gone meanwhile
                trial.here.patch(kind, name, {"spec": {"deletion": {"policy": "Retain"}}})
        return item is None

    trial.last_start = time.monotonic()
    trial.wait(gone, f"{kind}/{name} to go")


def lives_of(trial):
    return Lives(trial, {f"chosen-{trial.tag}": "GpuVM/named"})


def harm(trial, lives):
    """What must never come of a lie. The household's own state is the operator's to mend; leaks are told, not harm."""
    books, strangers, left = Books.of(trial), trial.strangers, things(trial.sim)
    found = [f"C6: {name} of somebody else is not as it was" for name, was in strangers.items() if left.get(name) != was]
    found += [f"I1: more than one lived at once: {name}" for name in books.crowds()]
    found += [f"C6: {line}" for line in undeserved(trial, books, lives)]
    logged = [line for text in trial.logs() for line in text.splitlines() if any(word in line for word in NOT_IN_LOGS)]
    return found + [f"I8: {line[:500]}" for line in logged[:3]]


def test_what_bears_the_name_of_something_deleted_is_told_from_it(rig):
    """The judge itself: each of these things goes without anybody's wish, after an earlier one of its name was deleted."""
    with rig.trial() as trial:
        plant(trial)
        trial.start()
        lives, wanted = lives_of(trial), household(trial)
        judged = ("GpuVM/train", "GpuVM/named", "GpuVpc/lab")
        for _ in range(2):
            for who in judged:
                lives.begin(wanted[who])
            for who in judged:
                trial.reach(*who.split("/"), REACHED.get(who, RUNNING))
            assert harm(trial, lives) == []
            if not lives.deleted:
                for who in judged:
                    lives.end(*who.split("/"))
                for who in judged:
                    trial.gone(*who.split("/"))
        trial.kill()
        vpc = next(one["id"] for one in trial.sim.control("world")["vpcs"] if one["name"] == f"acme-{trial.tag}-lab")
        for name in (trial.here.get("gpuvm", "train")["status"]["vmId"], f"chosen-{trial.tag}"):
            trial.sim.ask("DELETE", "servers/virtual/DestroyServer", Id=name, Namespace="acme", Cluster="Msc1")
        trial.sim.destroy_vpc(vpc)
        told = [line for line in harm(trial, lives) if "which nobody had deleted" in line]
        assert [sum(who in line for line in told) for who in judged] == [2, 2, 2], told  # by the ledger, and by the world


def test_one_field_of_a_status_or_annotation_is_a_lie(rig, campaign):
    """C6: 1,000 corruptions in the whole, 40 in the sample; 0 foreign destroys."""
    runs = [Run(f"{ROUNDS} lies, dice {seed}", partial(lied_to, rig, seed)) for seed in range(50)]
    campaign.carry_out("C6", runs, sample=2)
