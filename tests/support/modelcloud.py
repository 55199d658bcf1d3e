"""A cloud of VMs as a value: what each call does to them, how it can fail, and when it is carried out. No I/O, own time."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpucloud.cloud.errors import ErrorKind
from gpucloud.reconcile.facts import Verb

BOOT_SECONDS, SWITCH_SECONDS, DESTROY_SECONDS = 8.0, 3.0, 4.0
REFUSALS = {  # how a call can end without an answer that it worked: (kind, may have been carried out)
    "forbidden": (ErrorKind.FORBIDDEN, False),
    "unauthorized": (ErrorKind.UNAUTHORIZED, False),
    "throttled": (ErrorKind.THROTTLED, False),
    "invalid": (ErrorKind.INVALID, False),
    "not sent": (ErrorKind.NOT_SENT, False),
    "no room": (ErrorKind.UNAVAILABLE, True),
    "server": (ErrorKind.SERVER, True),
    "lost before": (ErrorKind.OUTCOME_UNKNOWN, True),
    "lost after": (ErrorKind.OUTCOME_UNKNOWN, True),
    "late": (ErrorKind.OUTCOME_UNKNOWN, True),
}
CALL_FAULTS = ("ok", "vanishes", *REFUSALS)
CARRIED_OUT = {"ok", "lost after"}


class Refused(Exception):  # noqa: N818 - the cloud's answer, not a fault of the test
    def __init__(self, kind, ambiguous=False):
        self.kind, self.ambiguous = kind, ambiguous


@dataclass
class Vm:
    """One machine; ``states`` are (from when, word), the last word None once it is gone."""

    name: str
    foreign: bool
    states: list[tuple[float, str | None]]

    def word(self, at: float) -> str | None:
        return next((word for since, word in reversed(self.states) if since <= at), None)


@dataclass
class Cloud:
    """VMs by name; ``twice``: what a second create of a living name does; ``illegal``: what a power call out of turn does."""

    twice: str
    illegal: str
    vms: list[Vm] = field(default_factory=list)
    late: list[tuple[float, str]] = field(default_factory=list)  # orders that will be carried out then
    touched_foreign: list[str] = field(default_factory=list)
    sent: list[tuple[float, Verb]] = field(default_factory=list)

    def living(self, at: float, foreign: bool = False) -> list[Vm]:
        return [vm for vm in self.vms if vm.foreign is foreign and vm.word(at) is not None]

    def settle(self, at: float) -> None:
        """Carry out what is due."""
        due = [item for item in self.late if item[0] <= at]
        self.late = [item for item in self.late if item[0] > at]
        for when, name in due:
            if not self._named(name, when) or self.twice == "twin":
                self._bear(name, when)

    def _named(self, name: str, at: float) -> list[Vm]:
        return [vm for vm in self.vms if vm.name == name and vm.word(at) is not None]

    def _bear(self, name: str, at: float) -> None:
        self.vms.append(Vm(name, False, [(at, "PENDING"), (at + BOOT_SECONDS, "ONLINE")]))

    def call(self, verb: Verb, name: str, at: float, fault: str, delay: float) -> None:
        """Carry out a call, or not, as the fault says. Raises Refused for what the client would report as a failure."""
        self.sent.append((at, verb))
        if any(vm.foreign for vm in self._named(name, at)) and verb is not Verb.CREATE:
            self.touched_foreign.append(verb)
        if fault == "late" and verb is Verb.CREATE:
            self.late.append((at + delay, name))
        elif fault in CARRIED_OUT:
            self._carry_out(verb, name, at)
        if fault in REFUSALS:
            raise Refused(*REFUSALS[fault])

    def _carry_out(self, verb: Verb, name: str, at: float) -> None:
        found = self._named(name, at)
        if verb is Verb.CREATE:
            if found and self.twice != "twin":
                raise Refused(ErrorKind.CONFLICT) if self.twice == "refuse" else Refused(ErrorKind.SERVER, ambiguous=True)
            self._bear(name, at)
        elif not found:
            raise Refused(ErrorKind.NOT_FOUND)
        elif verb is Verb.DESTROY:
            self.destroy(found[0], at)
        else:
            self._switch(found[0], verb, at)

    def _switch(self, vm: Vm, verb: Verb, at: float) -> None:
        legal, way, end = {Verb.START: ("OFFLINE", "PENDING", "ONLINE"), Verb.STOP: ("ONLINE", "PENDING", "OFFLINE")}[verb]
        if vm.word(at) == legal:
            vm.states += [(at, way), (at + SWITCH_SECONDS, end)]
        elif self.illegal != "tolerated":
            raise Refused(ErrorKind.INVALID) if self.illegal == "400" else Refused(ErrorKind.SERVER, ambiguous=True)

    def destroy(self, vm: Vm, at: float) -> None:
        if vm.states[-1][1] is not None:
            vm.states = [*[item for item in vm.states if item[0] <= at], (at, "PENDING"), (at + DESTROY_SECONDS, None)]
