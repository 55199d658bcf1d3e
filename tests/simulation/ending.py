"""The end of a history: faults are over, keys are good, nobody holds anything. Then the wanted state comes, and it is quiet."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from simulation.books import TABLES
from simulation.calling import REFERENCES
from simulation.cloud import name_of
from simulation.sightings import SECRET_SECONDS
from simulation.witness import RESTORED_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.books import Life
    from simulation.judge import Judge
    from simulation.world import World

GRACES = 20
FEW_PRETENDED, RESENT_SECONDS = 1, 920.0  # a second call for what the cloud accepted comes after five minutes, then up to 15
LEAST_SECONDS = 420.0  # what the cloud accepted and did not do is asked for again after five minutes, whatever the grace
QUIET_POLLS = 3
ROOM_SECONDS = 120.0  # whoever waits for room looks every minute; then it is ordered and made
WATCHED = 0.34  # of histories are looked at until long after their wanted state: that takes as long as all before it
PROMPT_SECONDS = 10.0
BILLED = {"True/Running": True, "True/PoweredOff": False}  # GpuVMs that say so: whether the cloud bills their price
CALL_SECONDS = 35.0  # until a call that hung when the faults ended is given up, and its end is written
PAUSE_SECONDS = 30.0  # the longest pause before a listing that failed is asked for again
LOOKS = 4  # for orphans, until one is called leaked
# With these reasons a call that failed is sent again every few minutes (reconcile/retry.py).
RETRIED = frozenset({"Rejected", "NotFound", "PermissionDenied", "CredentialsRefused", "ApiError", "DeletionBlocked"})


async def judge(world: World, of: Judge) -> None:
    """Wait for the wanted state, and for quiet; then delete everything, and see what is left."""
    watched = world.choices.draw("watched") < WATCHED
    if not await _wanted(world, of, "liveness", _settling(world) if watched else 0.0):
        return
    if watched:
        await _quiet(world, of)
    for life in of.books.standing():
        of.weigh(life)
    if world.choices.draw("delete everything") < 0.5:
        await _delete_everything(world, of)
    await _orphans(world, of)


def _settling(world: World) -> float:
    """For how long the wanted state must stand before anything may be called quiet: what hung has ended, listings have come."""
    polls = 2 * world.scenario.settings.poll_steady_seconds
    return polls + CALL_SECONDS + (SECRET_SECONDS if world.actors.changed_keys else 0.0)


async def _quiet(world: World, of: Judge) -> None:
    """Nothing is done any more. A process that has just begun, or is yet to follow a killed one, first says what it finds."""
    while world.loop.time() < of.collecting.last_birth() + _settling(world):  # noqa: ASYNC110 - virtual seconds cost nothing
        await asyncio.sleep(world.grace)
    before = _at_rest(of)
    await asyncio.sleep(QUIET_POLLS * world.scenario.settings.poll_steady_seconds + 5.0)
    for restless in _restless(of, before):
        of.found("quiet", restless)


class _Rest(NamedTuple):
    """How an object stands that is as its owner wants it, or needs a person."""

    ready: str
    mutations: int  # writes and calls for it until now
    priced: bool  # its status names its price


def _at_rest(of: Judge) -> dict[str, _Rest]:
    """What is as its owner wants it, or needs a person, by UID.

    Excused: a call that failed and is sent again every few minutes, or a credential that is read again; ``rates`` limits how
    often. And a snapshot that may go with its VM, whose destruction is asked for again after minutes when the cloud did not
    carry it out.
    """
    resting = (
        life for life in of.books.standing() if life.ready.startswith("True/") or (_stalled(life) and not _tries(of, life))
    )
    return {life.uid: _Rest(life.ready, life.mutations, _is_priced(life)) for life in resting if not of.goes_along(life)}


def _is_priced(life: Life) -> bool:
    return "pricePerHour" in life.status


def _tries(of: Judge, life: Life) -> bool:
    """Whether the last call for it failed and is sent again: not an order whose refusal is final for its spec."""
    if life.condition("Stalled").get("reason") not in RETRIED:
        return False
    final = (life.status.get("order") or {}).get("refusedGeneration") == life.last["metadata"]["generation"]
    return (life.failed and not final) or of.calling.lacks_its_credential(life)


def _restless(of: Judge, before: dict[str, _Rest]) -> Iterator[str]:
    """What was written, or called for, though nothing was left to do.

    Excused: what was Stalled, and went on by itself, since its wanted state had not been reached: an order that was refused is
    sent again every few minutes, a catalogue that failed is read again, and work goes on when the deadline for it is over. And
    what waits for room under a limit: it asks again at least every minute, and says what takes the room by then. And the one
    write of a price that the catalogue did not have before.
    """
    for uid, (ready, mutations, priced) in before.items():
        life = of.books.lives[uid]
        over = ready.endswith(("/ProgressDeadlineExceeded", "/LimitReached"))
        went_on = not ready.startswith("True/") and (over or life.ready != ready)
        done = life.mutations - mutations - (not priced and _is_priced(life))
        if done > 0 and not went_on:
            yield f"{life.name}: {done} writes or calls after the wanted state was reached"


async def _orphans(world: World, of: Judge) -> None:
    """What was abandoned is collected, where that is allowed; what is left is reported."""
    await asyncio.sleep(of.collecting.patience())
    for name in of.collecting.left():
        of.found("uncollected", f"{name!r} was abandoned, and is there still")
    look, began = world.scenario.settings.orphan_scan_seconds + 60.0, world.loop.time()
    for _ in range(LOOKS):  # the last one may have been in an outage, and a process that has just begun has to look
        if not any(_leaks(world, of)) or world.loop.time() >= max(began, of.collecting.last_birth()) + look:
            break
        await asyncio.sleep(look)
    for leak in _leaks(world, of):
        of.found("leak", leak)


async def _delete_everything(world: World, of: Judge) -> None:
    for item in world.actors.owner.all("GpuSnapshot", "GpuVM", "GpuVpc"):
        if "deletionTimestamp" not in item["metadata"]:
            world.actors.owner.delete(item)
    began = world.loop.time()
    await _wanted(world, of, "deletion", 0.0)
    for late in _late(world, of, began):
        of.found("slow", late)


def _late(world: World, of: Judge, began: float) -> Iterator[str]:
    """What is gone from the cloud by our own call is let go after two listings: a listing that hung is given up before them,
    and asked for again after a pause.

    Where the process that sent the call was killed, by those of the next one.
    """
    prompt = PROMPT_SECONDS + 5 * world.grace
    begun = max(of.collecting.last_birth(), world.healed_at + CALL_SECONDS + PAUSE_SECONDS)
    for uid, gone in of.vanished.items():
        life, listed = of.books.lives[uid], max(gone, begun)
        if gone >= began and life.let_go_at > listed + prompt and not life.touched:
            yield f"{life.name} was let go {life.let_go_at - gone:.0f} s after its thing was gone from the cloud"


async def _wanted(world: World, of: Judge, oracle: str, settling: float) -> bool:
    world.actors.heal()
    patience = _patience(world, of)
    since = world.loop.time()
    end = world.loop.time() + patience
    unmet: list[str] = []
    while world.loop.time() < end:
        await asyncio.sleep(max(1.0, world.grace / 2))
        world.tidy()
        world.actors.give_keys()
        world.actors.accept_absences()
        unmet = list(_unmet(of))
        if unmet:
            since = world.loop.time()
        elif world.loop.time() - since >= settling:
            return True
    if unmet:
        of.found(oracle, f"{patience:.0f} s after all faults: {'; '.join(unmet)}")
    return False


def _patience(world: World, of: Judge) -> float:
    """Seconds until the wanted state, after all faults.

    After an outage the retries of both sides have backed off to a minute; a restarted process lists first. A watch that goes on
    through a restore of etcd may miss objects until the second resync (docs/how-to/disaster-recovery.md). What the cloud has
    accepted to destroy again and again, and left, is asked for ever more rarely.
    """
    patience = max(LEAST_SECONDS, GRACES * world.grace + 180.0 + 4 * world.scenario.settings.poll_steady_seconds)
    patience += ROOM_SECONDS * of.guarding.has_limits  # there may be room only when the last of the others has gone
    if of.sometimes["destruction pretended"] > FEW_PRETENDED:
        patience = max(patience, RESENT_SECONDS + 2 * world.grace)
    return max(patience, RESTORED_SECONDS) if of.sometimes["etcd restored"] else patience


def _unmet(of: Judge) -> Iterator[str]:
    """What is not as its owner wants it, and no reason stands for which a person must act."""
    yield from of.hosts.unmet()
    yield from of.offering.unmet()
    for life in of.books.standing():
        yield from of.guarding.unmet(life)
        yield from of.publishing.unmet(life)
        if life.deleting:
            kept = (_blocked(life) and of.calling.holds_its_vpc(life)) or _is_held(of, life)
            if not of.calling.needs_a_person(life) and not kept:
                yield f"{life.name} is being deleted still: {life.ready}"
        elif not life.ready.startswith("True/") and not of.calling.needs_a_person(life) and not _waits(of, life):
            yield f"{life.name} is {life.ready}"
        elif of.lies(life):
            yield f"{life.name} says {life.ready}, and it is not so"
        elif life.ready in BILLED and ("billedSince" in life.status) is not BILLED[life.ready]:
            yield f"{life.name} says {life.ready}, and that it is billed since {life.status.get('billedSince')}"
        elif life.kind == "GpuVM" and life.ready in BILLED and "pricePerHour" not in life.status:
            yield f"{life.name} says {life.ready}, and not what it costs"
        elif life.status.get("observedGeneration") != life.last["metadata"]["generation"]:
            yield f"{life.name} has observed an older generation"


def _stalled(life: Life) -> bool:
    """Whether a person must act. A deadline that has passed calls one, too, while the work goes on: it must come to its end."""
    stalled = life.condition("Stalled")
    return stalled.get("status") == "True" and stalled.get("reason") != "ProgressDeadlineExceeded"


def _waits(of: Judge, life: Life) -> bool:
    """It needs another object that is not there, is not ready itself, or is being deleted; or its namespace is going.

    Or a new VM is made once more where the cloud fails to make any, three times at most.
    """
    reason, meta = life.ready.partition("/")[2], life.last["metadata"]
    if reason == "NamespaceTerminating" or of.recreating.has_just_begun(life):
        return True
    if reason == "AccountNotReady":
        return of.calling.lacks_its_credential(life)
    if reason != "DependencyNotReady":
        return False
    vpcs = [one for one in of.books.standing() if one.kind == "GpuVpc" and one.deleting and _blocked(one)]
    if life.spec.get("vpc") and any(_bars(one, meta["namespace"], life.spec["vpc"]) for one in vpcs):
        return True  # nothing is created in a VPC that is to go, and waits for what is in it, or that the cloud keeps
    for field, kind in REFERENCES:
        named = (life.spec.get(field) or (life.spec.get("image") or {}).get(field) or {}).get("name")
        if named is None:
            continue
        found = [one for one in of.books.standing() if (one.kind, one.last["metadata"]["name"]) == (kind, named)]
        needed = [one for one in found if one.last["metadata"]["namespace"] == meta["namespace"]]
        if not needed or any(one.deleting or not one.ready.startswith("True/") for one in needed):
            return True
    return False


def _is_held(of: Judge, life: Life) -> bool:
    """Whether its deletion waits for an object that refers to it, and calls a person: nobody knows what its order made."""
    if life.ready.partition("/")[2] != "DeletionBlocked":
        return False
    for field, kind in REFERENCES:
        for other in of.books.standing():
            named = (other.spec.get(field) or (other.spec.get("image") or {}).get(field) or {}).get("name")
            here = (kind, named, other.namespace) == (life.kind, life.last["metadata"]["name"], life.namespace)
            if here and of.calling.needs_a_person(other):
                return True
    return False


def _blocked(life: Life) -> bool:
    """A VPC waits for what is in it, whosever that is."""
    return life.kind == "GpuVpc" and life.ready.partition("/")[2] == "DeletionBlocked"


def _bars(vpc: Life, namespace: str, name: str) -> bool:
    """Whether a GpuVpc keeps others out of its VPC: in its own namespace if it was adopted, else everywhere (docs/adr/0004)."""
    return vpc.spec.get("name") == name and (vpc.namespace == namespace or not vpc.status.get("adopted"))


def _leaks(world: World, of: Judge) -> Iterator[str]:
    """Everything that we made has an object, was to stay, or is reported.

    Forgiven: a name that tells nobody whose it is, of what nobody could know to be there, or of an object whose finalizer
    somebody else took away. VPCs cannot bear a mark. What was just told to go is going.
    """
    for table, row, maker in world.cloud.live():
        life = of.books.lives.get(maker)
        if life is None or life.now is not None or life.retained or getattr(row, "leaving", False):
            continue
        if TABLES[life.kind] != table:
            continue
        why = "finalizer taken" if life.forced else of.untraceable(life, row)
        if of.is_unmarked(life, row) and of.forgives(why):
            continue
        if not any(f"'{name_of(row)}'" in note for note in of.books.reported):
            yield f"{name_of(row)!r} was made for {life.name}, which is gone, and nobody tells of it"
