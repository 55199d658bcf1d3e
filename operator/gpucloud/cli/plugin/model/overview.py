"""``status``: all our objects of some namespaces, what keeps them from being ready, and what they cost. Pure.

Two forms of one answer: lines for people, a document for programs.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin.model.dependencies import absence, absence_way_out, causes
from gpucloud.cli.plugin.model.health import STYLES, Standing, is_unread, message, pause_message, reason, standing
from gpucloud.cli.plugin.model.objects import ACCOUNT, VM, Key, Thing, moment
from gpucloud.cli.plugin.model.reasons import READY_AND_CALLS, SAYS_WHAT_IS_MISSING
from gpucloud.cli.terminal import marks
from gpucloud.cli.terminal.page import Line, plural
from gpucloud.cli.terminal.text import clean
from gpucloud.kinds import names
from gpucloud.kinds.meta import ConditionType, Reason, rfc3339
from gpucloud.reconcile.price import accrued, dollars, in_cloud, is_failed, is_off, may_be_billed, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from gpucloud.cli.plugin.model.dependencies import Cause, World
    from gpucloud.cli.plugin.model.objects import Event

# Fields of the status, by kind: beside the reason, and with -o wide.
DETAILS = {item.kind: item.details for item in names.KINDS}
WIDE_DETAILS = {item.kind: item.wide_details for item in names.KINDS}
NAMELESS = frozenset({"tenant"})
NAMED_WAITERS = 8
NARROW = "Configurations that do not fit are left out: use -o wide, or a wider terminal."
NEXT = f"Nothing moves here? '{marks.paste('kubectl gpucloud doctor --namespace={}')}' looks for the reason."


@dataclass(frozen=True, slots=True)
class Cost:
    """Dollars an hour of the VMs that may be billed now, what all VMs have cost so far, and what the sums leave out."""

    per_hour: Decimal
    so_far: Decimal
    unpriced: int
    off: int
    failed: int  # not in the sum, and perhaps billed all the same
    failed_per_hour: Decimal


def cost(things: Iterable[Thing], now: datetime) -> Cost:
    """Of the VMs that the cloud may bill; a lost one, or one that never came to be, costs nothing."""
    vms = [item for item in things if item.key.kind == VM]
    prices = [dollars(item.text("pricePerHour")) for item in vms if may_be_billed(item.status, item.uid)]
    known = sum((price for price in prices if price is not None), Decimal(0))
    failed = [dollars(item.text("pricePerHour")) or Decimal(0) for item in vms if is_failed(item.status, item.uid)]
    off = sum(is_off(item.status, item.uid) for item in vms)
    so_far = sum((_so_far(item, now) or Decimal(0) for item in vms), Decimal(0))
    return Cost(known, so_far, prices.count(None), off, len(failed), sum(failed, Decimal(0)))


def _so_far(vm: Thing, now: datetime) -> Decimal | None:
    """Return what a VM has cost; None if it is not in the cloud, or its price is not known."""
    price, seconds = dollars(vm.text("pricePerHour")), vm.status.get("billedSeconds")
    if price is None or not in_cloud(vm.status, vm.uid):
        return None
    return accrued(price, moment(vm.status.get("billedSince")), seconds if isinstance(seconds, int) else 0, now)


@dataclass(frozen=True, slots=True)
class _Scope:
    """Of what the tree is made: these objects; the messages of those printed above it are not repeated."""

    concerned: set[Key]
    printed: set[Key]
    wide: bool


def as_lines(
    world: World,
    now: datetime,
    only: tuple[Key, ...] = (),
    events: Mapping[Key, Iterable[Event]] | None = None,
    *,
    wide: bool = False,
    below: bool = True,
) -> Iterator[Line]:
    """The page: a summary, root causes, the tree; of ``only`` these objects, with what they hang on and wait for.

    ``below``: and with what hangs on them, as who names a VPC wants to see its VMs.
    """
    namespaces = sorted({key.namespace for key in (only or world.things)})
    found, children = concerning(causes(world), only), world.children()
    chosen = _with_users(world, only) if below else set(only or world.things)
    concerned = _concerned(world, chosen)
    for place, namespace in enumerate(namespaces):
        if place:
            yield Line("")
        yield from _summary(namespace, [item for item in world.things.values() if item.key.namespace == namespace], chosen, now)
        here = [cause for cause in found if cause.key.namespace == namespace]
        yield from _causes(here)
        yield Line("")
        yield Line(_title(only), style="bold")
        tops = [key for key in children.get(None, ()) if key.namespace == namespace and key in concerned]
        scope = _Scope(concerned, {cause.key for cause in here}, wide)
        for top in tops:
            yield from _branch(world, top, ("", ""), scope)
    yield Line(NARROW, style="dim", tells_of_spare=True)
    for key, recorded in (events or {}).items():
        yield from _events(key, tuple(recorded))
    if unseen := [cause.key.namespace for cause in found if cause.thing is not None and is_unread(cause.thing)]:
        yield Line("")
        yield Line(NEXT.format(unseen[0]))


def as_document(
    world: World, now: datetime, only: tuple[Key, ...] = (), events: Mapping[Key, Iterable[Event]] | None = None
) -> dict[str, Any]:
    """The same for programs; the shape is documented in docs/reference/plugin-output.md."""
    chosen = [item for item in world.things.values() if not only or item.key in only]
    spent = cost(chosen, now)
    return {
        "objects": [_object(world, item, now) | _recorded(item.key, events or {}) for item in chosen],
        "causes": [
            {
                **_identity(cause.key),
                "exists": cause.thing is not None,
                "standing": cause.standing.value,
                "reason": None if cause.thing is None else reason(cause.thing),
                "message": _words(cause),
                "waiting": [_identity(key) for key in cause.waiting],
            }
            for cause in concerning(causes(world), only)
        ],
        "pricePerHour": shown(spent.per_hour),
        "accruedCost": shown(spent.so_far),
        "vmsWithoutPrice": spent.unpriced,
        "vmsPoweredOff": spent.off,
        "vmsFailed": spent.failed,
    }


def _with_users(world: World, only: tuple[Key, ...]) -> set[Key]:
    """These objects and all that stands below them; all for none."""
    chosen, children, todo = set[Key](), world.children(), list(only or world.things)
    while todo:
        here = todo.pop()
        chosen.add(here)
        todo += children.get(here, ())
    return chosen


def _concerned(world: World, chosen: set[Key]) -> set[Key]:
    """These objects, what they wait for, and what stands above each of them."""
    found = chosen.union(*(world.roots(key) for key in chosen))
    for key in tuple(found):
        above = world.parent(world.things[key]) if key in world.things else None
        while above is not None:
            found.add(above)
            above = world.parent(world.things[above])
    return found


def concerning(found: Iterable[Cause], only: tuple[Key, ...]) -> tuple[Cause, ...]:
    """Those causes that one of these objects is, or waits for; all of them for no objects."""
    return tuple(cause for cause in found if not only or {cause.key, *cause.waiting}.intersection(only))


def _summary(namespace: str, there: list[Thing], chosen: set[Key], now: datetime) -> Iterator[Line]:
    """How many objects there are, how they stand, and what they cost; of these only, where not all are asked for."""
    things = [item for item in there if item.key in chosen]
    count = plural(len(there), "object") if len(things) == len(there) else f"{len(things)} of {plural(len(there), 'object')}"
    counts = {kind: sum(standing(item) is kind for item in things) for kind in Standing}
    paused = sum(item.paused for item in things)
    words = [f"{count} {kind.value.lower()}" for kind, count in counts.items() if count]
    said = ", ".join([*words, *([f"{paused} of them paused"] if paused else [])])
    yield Line(f"Namespace {namespace}: {count}{': ' if said else ''}{said}", style="bold")
    spent = cost(things, now)
    if not any(item.key.kind == VM for item in things):
        return
    notes = [f"{plural(spent.unpriced, 'VM')} of unknown price not counted"] if spent.unpriced else []
    notes += [f"{plural(spent.off, 'VM')} powered off, whose disks are billed"] if spent.off else []
    if spent.failed:
        notes.append(f"{plural(spent.failed, 'failed VM')} of ${shown(spent.failed_per_hour)} may be billed, not counted")
    left_out = f" ({'; '.join(notes)})" if notes else ""
    yield Line(f"${shown(spent.per_hour)} an hour{left_out}", growing=f", ${shown(spent.so_far)} so far")


def _title(only: tuple[Key, ...]) -> str:
    """What the tree shows: of objects that were asked for, also those that they depend on, and the other way round."""
    if not only:
        return "Objects"
    return f"{only[0]} and related objects" if len(only) == 1 else f"{len(only)} objects asked for, and related ones"


def _causes(found: Iterable[Cause]) -> Iterator[Line]:
    """First what a person must see to, then what goes on by itself."""
    wrong: list[Cause] = []
    going_on: list[Cause] = []
    for cause in found:
        (wrong if cause.is_wrong or cause.standing is Standing.UNKNOWN else going_on).append(cause)
    for title, here in (("What is wrong", wrong), ("In progress", going_on)):
        if here:
            yield Line("")
            yield Line(title, style="bold")
        for same in _merged(here):
            yield from _cause(same)


def _merged(found: Iterable[Cause]) -> Iterable[list[Cause]]:
    """Causes that say the same and that nothing waits for, as one; in the order of the first of each."""
    groups: dict[tuple[object, ...], list[Cause]] = {}
    for cause in found:
        alone = () if not cause.waiting else (cause.key,)
        groups.setdefault((cause.standing, _reason(cause), _words(cause), *alone), []).append(cause)
    return groups.values()


def _reason(cause: Cause) -> str:
    """Of the spec as it is now."""
    return "" if cause.thing is None or is_unread(cause.thing) else reason(cause.thing)


def _cause(same: list[Cause]) -> Iterator[Line]:
    cause = same[0]
    names = ", ".join(str(one.key) for one in same)
    words = [names, "missing" if cause.thing is None else cause.standing.value, _reason(cause)]
    yield Line("  ".join(word for word in words if word), "  ", "    ", STYLES[cause.standing])
    yield Line(_words(cause), "    ", "    ")
    blocked = {one.key for one in cause.blocked}
    waiting = tuple(key for key in cause.waiting if key not in blocked)
    if waiting:
        names = ", ".join(str(key) for key in waiting[:NAMED_WAITERS])
        more = f" and {len(waiting) - NAMED_WAITERS} more" if len(waiting) > NAMED_WAITERS else ""
        verb = "waits" if len(waiting) == 1 else "wait"
        yield Line(f"{len(waiting)} {verb} for it: {names}{more}", "    ", "    ")
    for one in cause.blocked:
        users = f"{cause.key} and {plural(one.others, 'other object')} are" if one.others else f"{cause.key} is"
        yield Line(f"{one.key} is deleted when {users} gone.", "    ", "    ")
    if cause.is_in_use and cause.key.kind != ACCOUNT:
        yield Line(f"To keep it in the cloud, and delete the object now: {cause.key.command('retain')}", "    ", "    ")


def _words(cause: Cause) -> str:
    if cause.thing is None:
        return f"{absence(cause)} {absence_way_out(cause)}"
    return message(cause.thing)


def _branch(world: World, key: Key, leads: tuple[str, str], scope: _Scope) -> Iterator[Line]:
    """An object and what stands below it. ``leads``: what stands before its own line, and before those below it."""
    item, (own, below) = world.things[key], leads
    how = standing(item)
    why = reason(item) if not is_unread(item) else ""
    paused = item.paused and why != Reason.PAUSED  # which says so already
    words = [str(key), how.value, why, "Paused" if paused else "", *_details(item, wide=scope.wide)]
    children = [child for child in world.children().get(key, ()) if child in scope.concerned]
    inner = below + ("│  " if children else "   ")
    yield Line("  ".join(word for word in words if word), own, inner, STYLES[how], "" if scope.wide else _configuration(item))
    waits = world.waits_for(item)
    if waits:
        yield Line(f"waits for {', '.join(str(other) for other in waits)}", inner, inner)
    is_told = key in scope.printed or (why in SAYS_WHAT_IS_MISSING and _are_missing(world, waits, scope))
    if (how is not Standing.READY or why in READY_AND_CALLS) and not is_told:
        yield Line(message(item), inner, inner, "" if how is not Standing.READY else "yellow")
    if paused:
        yield Line(pause_message(item), inner, inner)
    unpublished = item.condition(ConditionType.PUBLICATION_FAILED)
    if unpublished is not None:
        yield Line(f"{unpublished.type} {unpublished.reason}: {unpublished.message}", inner, inner, "yellow")
    for place, child in enumerate(children, 1):
        last = place == len(children)
        yield from _branch(world, child, (below + ("└─ " if last else "├─ "), below + ("   " if last else "│  ")), scope)


def _are_missing(world: World, waits: tuple[Key, ...], scope: _Scope) -> bool:
    """Whether these are all missing, and named so above the tree."""
    return bool(waits) and all(other in scope.printed and other not in world.things for other in waits)


def _details(item: Thing, *, wide: bool) -> list[str]:
    """The cloud's word for the state of a VM that is Ready says nothing new, and is left out unless all is wanted."""
    price = dollars(item.text("pricePerHour")) if may_be_billed(item.status, item.uid) else None
    known = wide or standing(item) is not Standing.READY
    return [
        *(_detail(item, name) for name in DETAILS[item.key.kind] if known or name != "state"),
        f"${shown(price)}/h" if price is not None else "",
        *(f"{name}={item.text(name)}" for name in WIDE_DETAILS[item.key.kind] if wide and item.text(name)),
        _configuration(item) if wide else "",
    ]


def _detail(item: Thing, name: str) -> str:
    """A field of the status; with its name where the value alone says nothing to a reader."""
    text = item.text(name)
    return f"{name} {text}" if text and name in NAMELESS else text


def _configuration(item: Thing) -> str:
    """The configuration that was ordered, perhaps one of the alternatives; before an order that of the spec."""
    order = item.status.get("order")
    ordered = order.get("configuration") if isinstance(order, dict) else None
    found = ordered or item.spec.get("configuration")
    return clean(found) if item.key.kind == VM and isinstance(found, str) else ""


def _events(key: Key, events: tuple[Event, ...]) -> Iterator[Line]:
    yield Line("")
    yield Line(f"Events of {key}" + ("" if events else ": none recorded lately"), style="bold")
    for event in events:
        at = rfc3339(event.at) if event.at is not None else "-"
        times = f" ({event.count} times)" if event.count > 1 else ""
        yield Line(f"{event.reason}{times}: {event.note}", f"  {at}  ", "    ", "yellow" if event.type == "Warning" else "")


def _object(world: World, item: Thing, now: datetime) -> dict[str, Any]:
    parent, so_far = world.parent(item), _so_far(item, now) if item.key.kind == VM else None
    return {
        **_identity(item.key),
        "standing": standing(item).value,
        "reason": reason(item),
        "message": message(item),
        "generation": item.generation,
        "observedGeneration": item.observed,
        "deletingSince": None if item.deleting is None else rfc3339(item.deleting),
        "paused": item.paused,
        "parent": None if parent is None else _identity(parent),
        "waitsFor": [{**_identity(key), "exists": key in world.things} for key in world.waits_for(item)],
        "rootCauses": [_identity(key) for key in world.roots(item.key)] if standing(item) is not Standing.READY else [],
        "pricePerHour": item.text("pricePerHour") or None,
        "billed": may_be_billed(item.status, item.uid) if item.key.kind == VM else None,
        "billedSince": item.text("billedSince") or None,
        "accruedCost": None if so_far is None else shown(so_far),
        "ip": item.text("ip") or None,
        "state": item.text("state") or None,
    }


def _recorded(key: Key, events: Mapping[Key, Iterable[Event]]) -> dict[str, Any]:
    if key not in events:
        return {}
    return {
        "events": [
            {
                "at": None if event.at is None else rfc3339(event.at),
                "type": event.type,
                "reason": event.reason,
                "note": event.note,
                "count": event.count,
            }
            for event in events[key]
        ]
    }


def _identity(key: Key) -> dict[str, str]:
    return {"kind": key.kind, "namespace": key.namespace, "name": key.name}
