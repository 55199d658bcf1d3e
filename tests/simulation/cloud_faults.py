"""The faults of the simulated cloud in the simulator's own terms."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gpucloud.sim.faults import Fault, FaultKind

if TYPE_CHECKING:
    from gpucloud.sim.messages import Request
    from simulation.world import World

STRANGE_WORDS = ("\U0001f4a5 HIBERNATING", "wait\u0007ing\u2028", '"srv" not found', "it exists already; not found")


def possible(world: World, operation: str, request: Request, fault: str) -> str:
    """Return the fault; none if the cloud would pretend to create what exists: names are unique."""
    if fault != "write-ghost" or not operation.startswith("Create"):
        return fault
    return "" if world.cloud.called(str(json.loads(request.body).get("name"))) else fault


def fault_of(world: World, operation: str, fault: str, request: Request, lag: float) -> Fault | None:
    """The simulator's own fault for one of ours; ``lag``: how many seconds listings are behind anyway."""
    choose = world.choices.choose
    word = choose(f"words {fault}", STRANGE_WORDS) if fault in {"cloud-500", "write-500", "word"} else ""
    if fault in {"cloud-500", "write-500"} and choose(f"echo {fault}", (False, True), (5, 1)):
        word = f"cannot serve {dict(request.headers)}"  # some services quote what they were sent, key and all
    old = world.grace * choose("stale by", (0.8, 3.0)) if fault == "list-stale" else 0.0
    made: dict[str, dict[str, Any]] = {
        "cloud-429": {"kind": FaultKind.STATUS, "status": 429, "retry_after": _pause(world, fault)},
        "cloud-403": {"kind": FaultKind.STATUS, "status": 403, "message": "You lack the permission Servers.Delete."},
        "cloud-500": {"kind": FaultKind.STATUS, "status": 500, "message": word},
        "cloud-503": {"kind": FaultKind.STATUS, "status": 503, "message": "Try again later."},
        "cloud-lost": {"kind": FaultKind.RESET},
        "cloud-garbage": {"kind": FaultKind.GARBAGE},
        "cloud-html": {"kind": FaultKind.HTML},
        "cloud-truncated": {"kind": FaultKind.TRUNCATED},
        "list-partial": {"kind": FaultKind.PARTIAL},
        "list-empty": {"kind": FaultKind.EMPTY},
        "list-twice": {"kind": FaultKind.DUPLICATE},
        "list-stale": {"kind": FaultKind.STALE, "seconds": round(old, 1)},
        "word": {"kind": FaultKind.STATUS_WORD, "word": word},
        "write-unsaid": {"kind": FaultKind.LOST_ANSWER},
        "write-500": {"kind": FaultKind.STATUS_AFTER_COMMIT, "status": 502, "message": word},
        "write-not-found": {
            "kind": FaultKind.STATUS_AFTER_COMMIT,
            "status": 500,
            "message": 'The VPC "acme" was not found',
        },
        "write-late": {"kind": FaultKind.LATE_COMMIT, "status": 500, "seconds": round(world.grace * 0.7, 1)},
        "write-ghost": {"kind": FaultKind.GHOST},
        "write-garbage": {"kind": FaultKind.GARBAGE},
    }
    lags = lag and operation in {"GetServers", "GetSnapshots", "GetVpcs"}
    if lags and (fault.startswith("list-") or fault == "word" or fault not in made):
        return Fault(kind=FaultKind.STALE, seconds=lag)  # beside a younger one it would show time going back
    return Fault(**made[fault]) if fault in made else None


def _pause(world: World, fault: str) -> str:
    """What Retry-After says."""
    if fault != "cloud-429":
        return ""
    return world.choices.choose("retry after", ("3", "", "0", "20", "soon"), (6, 1, 1, 1, 1))
