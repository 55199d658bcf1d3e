"""One run: a namespace, a simulated cloud, both links and an operator of its own, told apart from all others by its tag."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, TypeVar

from chaos.rig.calls import CLOUD, KUBE
from chaos.rig.kubeclient import PLURALS, KubeClient
from chaos.rig.link import Link, Wire
from chaos.rig.rules import DROP, Outcome
from support import waiting
from support.canaries import Canaries
from support.operatorproc import OperatorProcess
from support.simcloud import API_KEY

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from chaos.rig.calls import Call
    from chaos.rig.rig import Rig

T = TypeVar("T")
FLAGS = {
    "poll_pending_seconds": 0.2,
    "poll_steady_seconds": 0.5,
    "create_grace_seconds": 2,
    "cloud_qps": 500,
    "cloud_burst": 100,
    "orphan_scan_seconds": 0,  # its calls would come in between
}
PASSWORD = "made-up-p4ssphrase"  # of every user of the simulated cloud
WITHIN = 60.0  # seconds after the last restart, or after what a person last did, in which all must be as wanted
_LOGINS = frozenset({"Authenticate", "RefreshToken"})
_SETTLE = 0.3  # how long an operator may work on an answer that nothing can follow, before it is killed


class Trial:
    """Use it as a context: leaving ends its operators and removes its objects, whatever has happened.

    Attributes:
        here: the administrator's client of the apiserver in the trial's namespace; it does not go through the link.
        sim: the simulated cloud's control; not through the link either.
        cloud, kube: the links that the operator goes through.
        tag: the installation's tag in the names of what the operator makes.
        strangers: what of somebody else is in the cloud and must stay as it is (``strangers.plant``).
        uids: UID to ``kind/name`` of every object that the trial has applied.
        retained: UID to the time at which the apiserver took ``deletion.policy: Retain`` for an object.
        canaries: its secrets: the keys that the simulator makes for it, the tokens of its operators' logins, and others.
        bystander: a key of somebody else in the same tenant; what it does is not the operator's.
        processes: every operator so far; the last is the present one.
    """

    def __init__(self, rig: Rig, *, own_account: bool = True, env: dict[str, str] | None = None, **flags: object) -> None:
        self.rig = rig
        self.namespace = f"chaos-{secrets.token_hex(4)}"
        self.tag = f"t{secrets.token_hex(3)}"
        self.flags: dict[str, object] = {**FLAGS, "namespace": [self.namespace], "install_tag": self.tag, **flags}
        if not own_account:
            self.flags["api_key_file"] = None
        self.env = dict(env or {})
        self.here = KubeClient(rig.cluster, self.namespace)
        self.sim = rig.take_sim()
        self.uids: dict[str, str] = {}
        self.retained: dict[str, float] = {}
        self.canaries = self.sim.canaries = _canaries(rig)
        self.strangers: dict[str, Any] = {}
        self.vpc_names: dict[str, str] = {}
        self.blind_seconds = 0.0  # how long a test keeps the operator from seeing or saying anything
        self.processes: list[OperatorProcess] = []
        self.last_start = time.monotonic()
        self.kills = 0
        self.kept: list[asyncio.Future[Any]] = []
        self._starting = threading.RLock()
        self._closing = False
        self.wire = Wire()
        self.cloud = Link(CLOUD, self.wire, self.sim.url)
        self.cloud.on_answer = self._heard
        self.kube = Link(KUBE, self.wire, rig.cluster.server, rig.ca_file)
        self._kubeconfig = rig.folder / f"{self.namespace}.kubeconfig"
        self._kubeconfig.write_text(json.dumps(_kubeconfig(self.kube.url, rig.token)))
        self.here.create_namespace()
        self.bystander = self.sim.key("ann")
        self.skew = self.sim.behind()
        self.since = self.sim.control("ledger")["last"]

    # --- the operator

    @property
    def operator(self) -> OperatorProcess:
        """The present operator, alive or dead."""
        return self.processes[-1]

    def start(self, **flags: object) -> OperatorProcess:
        """Start an operator with the trial's flags, and these beside."""
        with self._starting:
            if self._closing:
                return self.operator
            wanted = {"api_key_file": self.sim.api_key_file, **self.flags, **flags}
            key_file: Any = wanted.pop("api_key_file")
            where = (self.cloud.url, self._kubeconfig, key_file)
            self.processes.append(self.rig.spawn(lambda: OperatorProcess(*where, env=self.env, **wanted)))
            self.last_start = time.monotonic()
            return self.operator

    def kill(self) -> None:
        """kill -9, and nothing that it sent and no link has forwarded yet ever arrives."""
        self.kills += 1
        self.wire.era += 1
        self.operator.kill9()

    def restart(self, **flags: object) -> OperatorProcess:
        """Kill it, if it lives, and start the next."""
        if self.operator.process.exit_code is None:
            self.kill()
        return self.start(**flags)

    def looks(self) -> int:
        """How many listings of the cloud the operators have been given in full."""
        listings = {"GetServers", "GetVpcs", "GetSnapshots"}
        return sum(seen.call.word in listings and seen.delivered is not None for seen in self.cloud.seen)

    def prolong(self, seconds: float = 0.0) -> None:
        """Waiting counts from now (or from so many seconds later), as if the operator had just started."""
        self.last_start = time.monotonic() + seconds

    def keep(self, work: asyncio.Future[Any] | None = None) -> None:
        """Hold on to something that a ``do`` has set going, or to the ``do`` itself, which calls this."""
        kept = work or asyncio.current_task()
        if kept is not None:
            self.kept.append(kept)

    def settle(self) -> None:
        """Wait until all that is kept has ended: a kill is followed by its restart, say."""
        time.sleep(_SETTLE)  # a rule may be about to act on the very answer that ended the life
        self.wait(lambda: all(work.done() for work in self.kept), "what was set going to end")
        for work in self.kept:
            assert not work.cancelled(), "what was set going was cancelled"
            if work.exception() is not None:
                raise AssertionError(f"what was set going failed: {work.exception()!r}") from work.exception()

    def logs(self) -> list[str]:
        """All that each operator has printed."""
        return ["\n".join(process.process.lines()) for process in self.processes]

    def now(self) -> float:
        """The simulated cloud's time, which its books go by."""
        return time.time() - self.skew

    def crash(self, *, then: Callable[[], object] | None = None) -> Callable[[Call], Awaitable[Outcome]]:
        """A ``do``: kill the operator there and start the next at once (after ``then``, which runs in a thread)."""

        async def do(call: Call) -> Outcome:
            self.keep()
            delivered = any(seen.call is call and seen.delivered is not None for seen in self.link(call).seen)
            if delivered:  # let it make of the answer what it can: whatever it would save waits at the gate
                await self._until_it_waits()
            self.kill()
            if then is not None:
                await asyncio.to_thread(then)
            self.wire.release()
            await asyncio.to_thread(self.start)
            return DROP

        return do

    def _heard(self, call: Call, body: bytes) -> None:
        """What a login brings is a secret from then on."""
        if call.word in _LOGINS:
            self.canaries.plant_tokens(body.decode(errors="replace"))

    def link(self, call: Call) -> Link:
        """The link that a call came by."""
        return self.cloud if call.link == CLOUD else self.kube

    async def _until_it_waits(self) -> None:
        end = time.monotonic() + _SETTLE
        waiting_before = self.wire.waiting
        while self.wire.waiting <= waiting_before and time.monotonic() < end:  # noqa: ASYNC110 - a few looks at most
            await asyncio.sleep(0.01)

    # --- people's acts, and waiting

    def apply(self, *manifests: dict[str, Any]) -> list[dict[str, Any]]:
        """Apply, and remember whose the cloud's things may be."""
        made = self.here.apply(list(manifests))
        for item in made:
            if item["kind"] in PLURALS:
                who = f"{item['kind']}/{item['metadata']['name']}"
                self.uids[item["metadata"]["uid"]] = who
                if item["kind"] == "GpuVpc":
                    self.vpc_names[item["spec"]["name"]] = who
        return made

    def retain(self, kind: str, name: str) -> None:
        """Set ``deletion.policy: Retain``, and remember when."""
        taken = self.here.patch(kind, name, {"spec": {"deletion": {"policy": "Retain"}}})
        self.retained[taken["metadata"]["uid"]] = time.time()

    def wait(self, look: Callable[[], T], what: str = "") -> T:
        """Wait for a checkpoint: up to a minute after the operator's last start, or after the last act of a person before."""
        acted = self.here.acted  # not again below: a look that acts itself would wait for ever
        while True:
            started = self.last_start
            patience = max(1.0, max(started, acted) + WITHIN - time.monotonic())
            try:
                return waiting.eventually(look, patience, what)
            except AssertionError as error:
                if self.last_start == started:
                    code = self.operator.process.exit_code if self.processes else None
                    dead = "" if code is None else f"; the operator has ended with exit code {code}"
                    raise AssertionError(f"{error}{dead}") from None

    def reach(self, kind: str, name: str, wanted: str, *, says: str = "") -> dict[str, Any]:
        """Wait until Ready says ``status/reason``, and return the object."""
        return self.wait(lambda: waiting.reach(self.here, kind, name, wanted, 0, says=says), f"{kind}/{name}: {wanted}")

    def gone(self, kind: str, *names: str) -> None:
        """Wait until these objects are gone."""

        def look() -> bool:
            waiting.gone(self.here, kind, *names, timeout=0)
            return True

        self.wait(look, f"{kind} {', '.join(names)} to go")

    # --- the end

    def close(self) -> None:
        """End all that was started, by its handle; free and delete the objects that are left."""
        self._closing = True
        with self._starting:
            for process in self.processes:
                process.close()
        for link in (self.cloud, self.kube):
            with suppress(Exception):
                link.close()
        self.wire.stop()
        self._kubeconfig.unlink(missing_ok=True)
        try:
            self._free()
        finally:
            self.here.close()
            self.rig.give_back(self.sim)

    def _free(self) -> None:
        for kind in (*PLURALS, "Secret"):
            for item in self.here.list(kind):
                name = item["metadata"]["name"]
                with suppress(AssertionError):
                    self.here.delete(kind, name)
                    self.here.patch(kind, name, {"metadata": {"finalizers": None}})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self.tell()
        self.close()

    def tell(self) -> None:
        """Print what the links saw last and the operators' last words, for whoever must understand a failure."""
        lines = [f"--- {self.namespace}, killed {self.kills} times"]
        for link in (self.cloud, self.kube):
            lines += [f"{link.name}: {seen.call} {seen.call.target} {seen.status} {seen.note}" for seen in link.seen[-25:]]
        for process in self.processes[-2:]:
            lines += [f"--- operator {process.pid}, its last words:", *process.process.lines()[-25:]]
        sys.stderr.write("\n".join(lines) + "\n")


def _canaries(rig: Rig) -> Canaries:
    made = Canaries()
    made.plant("the API key of the simulated cloud", API_KEY)
    made.plant("the password of the simulated cloud's users", PASSWORD)
    made.plant("the operator's token of the apiserver", rig.token)
    return made


def _kubeconfig(server: str, token: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "link", "cluster": {"server": server}}],
        "users": [{"name": "operator", "user": {"token": token}}],
        "contexts": [{"name": "link", "context": {"cluster": "link", "user": "operator"}}],
        "current-context": "link",
    }
