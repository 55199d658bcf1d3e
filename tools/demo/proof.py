"""What the simulated cloud and the apiserver themselves say about the demo, and whether it is as promised.

It must not ask the operator: the accused is no witness.
"""

from __future__ import annotations

import json
import urllib.request
from collections import Counter
from typing import TYPE_CHECKING, Any

from demo.errors import DemoError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

_READS = frozenset({"get", "list", "watch"})
_QUESTIONS = "authorization.k8s.io"  # what one may do is asked by create, and changes nothing
# What stands in the cloud for a kind: its noun, and the calls that make it and end it.
_MADE = {
    "GpuVpc": ("VPC", "CreateVpc", "DestroyVpc"),
    "GpuVM": ("VM", "CreateServer", "DestroyServer"),
    "GpuSnapshot": ("snapshot", "CreateSnapshot", "DeleteSnapshot"),
}


def ask(cloud: str, path: str) -> Any:
    """Call the simulator's control API, which knows the true world, whatever the cloud's own API would say.

    Raises:
        DemoError: it does not answer.
    """
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback needs no proxy
    try:
        with opener.open(f"{cloud}/_sim/{path}", timeout=10) as answer:
            return json.loads(answer.read())
    except OSError as error:
        raise DemoError(f"The simulated cloud does not tell its {path}: {error}") from error


def living(world: Mapping[str, Any]) -> list[str]:
    """Name everything in the world that somebody made; every tenant has its default VPCs from the start."""
    vms = [vm["order"]["name"] for vm in world["vms"]]
    vpcs = [vpc["name"] for vpc in world["vpcs"] if not vpc["is_default"]]
    return sorted(vms + vpcs + [snapshot["name"] for snapshot in world["snapshots"]])


def orders(kinds: Iterable[str]) -> Counter[str]:
    """Count the objects that stand for something in the cloud, by kind."""
    return Counter(kind for kind in kinds if kind in _MADE)


def calls(ledger: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Count the requests that the cloud received, by operation."""
    return Counter(str(entry["operation"]) for entry in ledger)


def judge(left: Sequence[str], received: Mapping[str, int], made: Mapping[str, int]) -> None:
    """Check the promise: everything was ordered once, ended once, and nothing is left.

    Raises:
        DemoError: it was broken; the text says how.
    """
    if left:
        raise DemoError(f"The cloud is not empty: {', '.join(left)} would still be there.")
    for kind, (noun, *operations) in _MADE.items():
        for operation in operations:
            count = received.get(operation, 0)
            if count != made.get(kind, 0):
                raise DemoError(f"The cloud received {count} {operation} for {_counted(made.get(kind, 0), noun)}.")


def verdict(made: Mapping[str, int]) -> str:
    """Say that the promise was kept."""
    things = [_counted(made[kind], noun) for kind, (noun, *_) in _MADE.items() if made.get(kind)]
    listed = " and ".join(filter(None, (", ".join(things[:-1]), things[-1])))
    return f"The cloud is empty. {listed} were made, each once, and destroyed, each once."


def summary(received: Mapping[str, int], changing: Iterable[str], written: Mapping[str, int] | None) -> list[str]:
    """Say what it cost: calls to the cloud by operation, and writes to the apiserver where its audit log is ours."""
    changing = set(changing)
    lines = [
        f"Calls that changed the cloud: {_listed({name: n for name, n in received.items() if name in changing})}.",
        f"Calls that only looked: {_listed({name: n for name, n in received.items() if name not in changing})}.",
    ]
    if written is not None:
        lines.append(f"The operator's writes to the apiserver: {_listed(written)}.")
    return lines


def writes(audit_log: Path, user: str) -> Counter[str]:
    """Count what a user wrote to the apiserver, by resource."""
    found: Counter[str] = Counter()
    for line in audit_log.read_text().splitlines():
        entry = json.loads(line)
        target = entry.get("objectRef", {})
        is_write = entry["verb"] not in _READS and target.get("apiGroup") != _QUESTIONS
        if entry["user"]["username"] == user and is_write:
            found["/".join(filter(None, (target.get("resource"), target.get("subresource"))))] += 1
    return found


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {name}" for name, n in sorted(counts.items())) or "none"
