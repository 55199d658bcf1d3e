"""Every interleaving of one object, one stranger, one crash and one cloud, breadth first, up to a depth.

What is explored is the order in which requests, answers and watch events arrive, who acts when, whether an answer is lost and
when the process is killed; timers ring when nothing is on its way. A state is reached by making its choices again from the
beginning. States are told apart by a hash; those that were visited are not entered again.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from gpucloud.settings import Credentials, Settings
from simulation import single
from simulation.cloud import name_of
from simulation.credentials import KEYS
from simulation.fingerprints import state_of
from simulation.logs import SimulatedLog
from simulation.scenario import ENDPOINT, Scenario
from simulation.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.witness import Violation

NAME = "prod"
QUIET = ("events", "leases", "GetConfigurations", "GetAll", "gpuvpcs", "gpusnapshots", "gpucloudaccounts", "namespaces")
BUDGETS = {"delete": 1, "stranger destroys": 1, "stranger makes": 1, "crash": 1, "lose": 1}
SYNCED_SECONDS = 1.5
IDLE_TIMERS = 40
# Few polls in a grace: each is a step of its own.
SHORT = {"poll_pending_seconds": 2.0, "poll_steady_seconds": 4.0, "create_grace_seconds": 4.0, "blind_after_seconds": 12.0}
STARTS = ("new", "ready")
Path = tuple[str, ...]


class Visit(NamedTuple):
    """A state: how it was reached, its hash, what may happen next, what must never be and was."""

    path: Path
    state: str
    options: tuple[str, ...]
    violations: tuple[Violation, ...]


class SmallWorld(World):
    """A world in which nothing travels by itself."""

    def __init__(self, *, keep: bool = False) -> None:
        settings = Settings(
            endpoint=(f"default={ENDPOINT}",),
            credentials=Credentials(api_key=KEYS["good"]),
            workers=1,
            orphan_scan_seconds=0.0,
            **SHORT,
        )
        self.waiting: list[tuple[str, Callable[..., Any], tuple[Any, ...]]] = []
        self.budgets = Counter(BUDGETS)
        self.free = True  # at the beginning everything travels at once
        super().__init__(0, {}, keep=keep, chosen=Scenario(settings, 1, True, 0.0, 0))

    def carry(self, what: str, _seconds: float, callback: Callable[..., Any], *args: Any) -> None:
        """Keep it until it is chosen; what commutes with everything travels at once."""
        if self.free or any(word in what for word in QUIET):
            self.loop.call_soon(callback, *args, context=self.context)
        else:
            self.waiting.append((what, callback, args))

    def begin(self, start: str) -> None:
        """Up to the moment when an object is applied to an operator that knows of nothing, or when its VM is Ready."""
        self.actors.prepare()
        self.replicas[0].start()
        self.loop.drain()
        while self.loop.time() < SYNCED_SECONDS:
            self.loop.advance()
        self.free = start == "ready"
        spec = {"cluster": "Msc1", "configuration": "A100_40GB_PCIe_1x", "vpc": "acme", "sshKeys": ["ssh-ed25519 AAAA a@b"]}
        self.actors.owner.create("GpuVM", "team", "a", spec | {"vmName": NAME})
        self.loop.drain()
        while self.free:
            self.loop.advance()
            self.free = not any(life.ready == "True/Running" for life in self.judge.books.standing())

    def options(self) -> tuple[str, ...]:
        """What may happen next. Of each stream and each kind of request the first comes first."""
        found = list(dict.fromkeys(what for what, _, _ in self.waiting))
        lost = [f"lose {what}" for what in found if what.startswith("answer cloud") and "Get" not in what]
        found += lost if self.budgets["lose"] else []
        live = [row for table, row, _ in self.cloud.live() if table == "vms" and name_of(row) == NAME and not row.leaving]
        acts = {
            "delete": bool(self.actors.owner.all("GpuVM")) and not any(life.deleting for life in self.judge.books.standing()),
            "stranger destroys": bool(live),
            "stranger makes": not live,
            "crash": self.replicas[0].process.alive,
        }
        found += [act for act, possible in acts.items() if possible and self.budgets[act]]
        return tuple(found) if self.waiting else (*found, "timer")

    def choose(self, option: str) -> None:
        """Let it happen."""
        if option == "timer":
            for _ in range(IDLE_TIMERS):  # those that bring nothing on its way are no step
                self.loop.advance()
                if self.waiting:
                    break
        elif option in BUDGETS:
            self.budgets[option] -= 1
            self._act(option)
        else:
            lost = option.startswith("lose ")
            what = option.removeprefix("lose ")
            index = next(number for number, item in enumerate(self.waiting) if item[0] == what)
            _, callback, args = self.waiting.pop(index)
            self.budgets["lose"] -= lost
            if not lost:
                self.loop.call_soon(callback, *args, context=self.context)
        self.loop.drain()
        if option.startswith("request") and "Get" in option.replace("GET", "Get"):  # reads are answered at once: one step
            answer = option.replace("request", "answer", 1)
            if any(item[0] == answer for item in self.waiting):
                self.choose(answer)

    def _act(self, option: str) -> None:
        if option == "delete":
            self.actors.owner.delete(self.actors.owner.all("GpuVM")[0])
        elif option == "stranger destroys":
            self.tell("stranger", f"destroys {NAME}")
            self.cloud.end_vm(NAME, "acme", "Msc1")
        elif option == "stranger makes":
            self.cloud.make_vm(NAME, "acme", "Msc1", "stranger")
        else:
            process = self.replicas[0].process
            self.kill(process, "by choice")
            # What it had sent may still arrive; its streams and the answers to it are gone.
            self.waiting = [item for item in self.waiting if item[0].startswith("request") and " GET" not in item[0]]

    def visited(self, path: Path) -> Visit:
        """The state after a path."""
        try:
            self.begin(path[0])
            for option in path[1:]:
                self.choose(option)
                if self.judge.violations:
                    break
        except Exception as error:  # noqa: BLE001 - whatever ends a history is a finding
            self.judge.broke(self.loop.current, error)
        failures = tuple(self.judge.violations)
        options = () if failures else self.options()
        state = "" if failures else _hash(self)
        self._bury()
        return Visit(path, state, options, failures)


def _hash(world: SmallWorld) -> str:
    return hashlib.blake2b(repr(state_of(world)).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def visit(path: Path) -> Visit:
    """Make a path again; its first step says where it starts."""
    world = SmallWorld()
    SimulatedLog.world = world
    return world.visited(path)


def explore(depth: int, minutes: float, processes: int, start: str) -> int:
    """Visit layer after layer from a start; answers the exit code."""
    began, seen, broken = time.monotonic(), set(), []
    layer: list[Path] = [(start,)]
    runs = 0
    with multiprocessing.get_context("fork").Pool(processes, single.begin_worker) as pool:
        for level in range(depth + 1):
            following: list[Path] = []
            for found in pool.imap(visit, layer, chunksize=16):
                runs += 1
                if found.violations:
                    broken.append(found)
                elif found.state not in seen:
                    seen.add(found.state)
                    following += [(*found.path, option) for option in found.options]
                if minutes and time.monotonic() - began > 60 * minutes:
                    print(f"stopped in layer {level} after {minutes:g} minutes")
                    following = []
                    break
            spent = (time.monotonic() - began) / 60
            states = "1 state" if len(seen) == 1 else f"{len(seen)} states"
            print(f"depth {level}: {states}, runs: {runs}, violations: {len(broken)}, {spent:.1f} minutes", flush=True)
            layer = following
            if not layer:
                break
    for found in broken[:5]:
        print("\n".join((*found.path, *map(str, found.violations), "")))
    return 1 if broken else 0
