"""Control of the cloud as a whole: reset, knobs, faults, ledger, clock, and what the world truly is."""

from __future__ import annotations

from dataclasses import asdict
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from gpucloud.sim.clock import ManualClock
from gpucloud.sim.control.action import Action, Args
from gpucloud.sim.faults import Fault
from gpucloud.sim.knobs import SPEEDS, Knobs
from gpucloud.sim.routes import ROUTES
from gpucloud.sim.world.refusals import Reason, Refused

if TYPE_CHECKING:
    from gpucloud.sim.state import State


class Nothing(Args):
    """No parameters."""


class Reset(Args):
    """A new seed, or the old one again."""

    seed: int | None = None


class Partial(Args, extra="allow"):
    """Any subset of the knobs, by name; ``Knobs`` checks them."""


class LedgerFilter(Args):
    """Entries after number ``since``, of one operation, of one credential, changing or not."""

    since: int = Field(0, ge=0)
    operation: str = ""
    credential: str = ""
    mutating: bool | None = None


class Named(Args):
    """One thing by its id."""

    id: str


class Advance(Args):
    """Seconds by which a manual clock moves on."""

    seconds: float = Field(ge=0, le=1e9)


class HistoryOf(Args):
    """Whose changes."""

    kind: Literal["vms", "snapshots", "vpcs", "hosts"] = "vms"


def _reset(state: State, args: Reset) -> Any:
    state.reset(args.seed)
    return {"now": state.now()}


def _knobs(state: State, _: Nothing) -> Any:
    return state.knobs.model_dump(mode="json")


def _set_knobs(state: State, args: Partial) -> Any:
    if unknown := sorted(set(args.model_extra or {}) - Knobs.model_fields.keys()):
        raise Refused(Reason.INVALID, f"Unknown knob: {', '.join(unknown)}. GET /_sim/knobs lists all knobs and their values.")
    rules = state.world.rules
    rules.knobs = Knobs.model_validate({**rules.knobs.model_dump(), **(args.model_extra or {})})
    return rules.knobs.model_dump(mode="json")


def _set_speeds(state: State, args: Partial) -> Any:
    others = sorted(set(args.model_extra or {}) - SPEEDS)
    if others:
        words = (
            f"Not a speed: {', '.join(others)}. Speeds: {', '.join(sorted(SPEEDS))}. POST /_sim/knobs turns the other knobs."
        )
        raise Refused(Reason.INVALID, words)
    return _set_knobs(state, args)


def _faults(state: State, _: Nothing) -> Any:
    return {"faults": state.faults.listed()}


def _add_fault(state: State, fault: Fault) -> Any:
    if not any(fnmatchcase(route.operation, fault.operation) for route in ROUTES):
        raise Refused(Reason.UNKNOWN_REFERENCE, f'No operation is named "{fault.operation}".')
    return state.faults.add(fault).model_dump(mode="json")


def _remove_fault(state: State, args: Named) -> Any:
    if not state.faults.remove(args.id):
        raise Refused(Reason.MISSING_OTHER, f'"{args.id}" not found')
    return {"id": args.id}


def _operations(_: State) -> str:
    return f"Operations: {', '.join(sorted(route.operation for route in ROUTES))}."


def _faults_in_force(_: State) -> str:
    return "GET /_sim/faults lists the faults in force."


def _clear_faults(state: State, _: Nothing) -> Any:
    state.faults.clear()
    return {"faults": []}


def _ledger(state: State, args: LedgerFilter) -> Any:
    _ = state.world  # late commits that are due belong in the ledger
    entries = state.ledger.entries(
        since=args.since, operation=args.operation, credential=args.credential, mutating=args.mutating
    )
    return {"last": state.ledger.last, "entries": entries}


def _clock(state: State, _: Nothing) -> Any:
    return {"now": state.now(), "manual": isinstance(state.clock, ManualClock)}


def _advance(state: State, args: Advance) -> Any:
    if not isinstance(state.clock, ManualClock):
        raise Refused(Reason.INVALID, "This clock runs by itself; start the simulator with a manual clock.")
    state.clock.advance(args.seconds)
    return _clock(state, Nothing())


def _world(state: State, _: Nothing) -> Any:
    world = state.world
    return {
        "now": state.now(),
        "vms": [asdict(row) for row in world.vms.table.rows()],
        "snapshots": [asdict(row) for row in world.snapshots.table.rows()],
        "vpcs": [asdict(row) for row in world.vpcs.table.rows()],
        "hosts": [asdict(row) for row in world.hosts.table.rows()],
    }


def _history(state: State, args: HistoryOf) -> Any:
    world = state.world
    tables: dict[str, Any] = {
        "vms": world.vms.table,
        "snapshots": world.snapshots.table,
        "vpcs": world.vpcs.table,
        "hosts": world.hosts.table,
    }
    return {
        "changes": [
            {
                "at": change.at,
                "before": None if change.before is None else asdict(change.before),
                "after": None if change.after is None else asdict(change.after),
            }
            for change in tables[args.kind].changes
        ]
    }


ACTIONS = (
    Action("POST", "reset", "reset", "remove everything and start again", Reset, _reset),
    Action("GET", "knobs", "readKnobs", "read the knobs", Nothing, _knobs),
    Action("POST", "knobs", "setKnobs", "turn some knobs", Partial, _set_knobs),
    Action("POST", "speeds", "setSpeeds", "turn knobs that end in _seconds", Partial, _set_speeds),
    Action("GET", "faults", "listFaults", "list the faults in force", Nothing, _faults),
    Action("POST", "faults", "addFault", "add a fault", Fault, _add_fault, _operations),
    Action("DELETE", "faults", "removeAllFaults", "remove all faults", Nothing, _clear_faults),
    Action("DELETE", "faults/{id}", "removeFault", "remove one fault", Named, _remove_fault, _faults_in_force),
    Action("GET", "ledger", "readLedger", "read the ledger", LedgerFilter, _ledger),
    Action("GET", "clock", "readClock", "read the clock", Nothing, _clock),
    Action("POST", "clock/advance", "advanceClock", "move a manual clock", Advance, _advance),
    Action("GET", "world", "readWorld", "read the true records, whatever listings show", Nothing, _world),
    Action("GET", "history", "readHistory", "read every change of one kind of record", HistoryOf, _history),
)
