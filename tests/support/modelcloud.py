"""A cloud as a value: what each call does to its things, how it can fail, and when it is carried out. No I/O, own time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from gpucloud.cloud.errors import ErrorKind
from gpucloud.reconcile.facts import CREATES, Verb

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
class Thing:
    """One VM, VPC or snapshot; ``states`` are (from when, word), the last word None once it is gone."""

    name: str
    foreign: bool
    states: list[tuple[float, str | None]]
    id: str = ""
    maker: str = ""  # UID of the object by whose order it was made

    def word(self, at: float) -> str | None:
        return next((word for since, word in reversed(self.states) if since <= at), None)


@dataclass
class Cloud:
    """Things by name; ``twice``: what a second create of a living name does; ``illegal``: what a call out of turn does."""

    birth: ClassVar[tuple[tuple[float, str], ...]]  # (seconds after the order, word)
    death: ClassVar[tuple[tuple[float, str | None], ...]]  # the same after the destroying call

    twice: str
    illegal: str
    things: list[Thing] = field(default_factory=list)
    late: list[tuple[float, str, str]] = field(default_factory=list)  # orders that will be carried out then, and whose
    touched_foreign: list[str] = field(default_factory=list)
    sent: list[tuple[float, Verb]] = field(default_factory=list)
    caller: str = ""  # UID of the object for which the call under way is

    def living(self, at: float, foreign: bool = False) -> list[Thing]:
        return [thing for thing in self.things if thing.foreign is foreign and thing.word(at) is not None]

    def settle(self, at: float) -> None:
        """Carry out what is due."""
        due = [item for item in self.late if item[0] <= at]
        self.late = [item for item in self.late if item[0] > at]
        for when, name, self.caller in due:
            if not self._named(name, when) or self.twice == "twin":
                self.bear(name, when)

    def _named(self, name: str, at: float) -> list[Thing]:
        return [thing for thing in self.things if thing.name == name and thing.word(at) is not None]

    def _meant(self, target: tuple[str, str | None], at: float) -> list[Thing]:
        """What a call is about; ``target`` is its name and, where it has one, its id."""
        return self._named(target[0], at)

    def bear(self, name: str, at: float, foreign: bool = False) -> None:
        states = [(at + after, word) for after, word in self.birth]
        self.things.append(Thing(name, foreign, states, f"id-{len(self.things)}", "" if foreign else self.caller))

    def call(self, verb: Verb, target: tuple[str, str | None], at: float, fault: str, delay: float) -> None:
        """Carry out a call, or not, as the fault says. Raises Refused for what the client would report as a failure."""
        self.sent.append((at, verb))
        if any(thing.maker != self.caller for thing in self._meant(target, at)) and verb not in CREATES:
            self.touched_foreign.append(verb)
        if fault == "late" and verb in CREATES:
            self.late.append((at + delay, target[0], self.caller))
        elif fault in CARRIED_OUT:
            self._carry_out(verb, target, at)
        if fault in REFUSALS:
            raise Refused(*REFUSALS[fault])

    def _carry_out(self, verb: Verb, target: tuple[str, str | None], at: float) -> None:
        if verb in CREATES:
            if self._named(target[0], at) and self.twice != "twin":
                raise Refused(ErrorKind.CONFLICT) if self.twice == "refuse" else Refused(ErrorKind.SERVER, ambiguous=True)
            self.bear(target[0], at)
            return
        found = self._meant(target, at)
        if not found:
            raise Refused(ErrorKind.NOT_FOUND)
        self.act(verb, found[0], at)

    def act(self, verb: Verb, thing: Thing, at: float) -> None:  # noqa: ARG002 - a kind has more verbs
        """Any call but a create, on a thing that is there."""
        self.destroy(thing, at)

    def destroy(self, thing: Thing, at: float) -> None:
        if thing.states[-1][1] is not None:
            standing = [item for item in thing.states if item[0] <= at]
            thing.states = [*standing, *((at + after, word) for after, word in self.death)]


class VmCloud(Cloud):
    """VMs: they boot, and can be switched."""

    birth = ((0.0, "PENDING"), (BOOT_SECONDS, "ONLINE"))
    death = ((0.0, "PENDING"), (DESTROY_SECONDS, None))

    def act(self, verb: Verb, thing: Thing, at: float) -> None:
        if verb is Verb.DESTROY:
            self.destroy(thing, at)
            return
        legal, way, end = {Verb.START: ("OFFLINE", "PENDING", "ONLINE"), Verb.STOP: ("ONLINE", "PENDING", "OFFLINE")}[verb]
        if thing.word(at) == legal:
            thing.states += [(at, way), (at + SWITCH_SECONDS, end)]
        elif self.illegal != "tolerated":
            raise Refused(ErrorKind.INVALID) if self.illegal == "400" else Refused(ErrorKind.SERVER, ambiguous=True)


@dataclass
class VpcCloud(Cloud):
    """VPCs: made and gone at once, destroyed by id, and only when nothing is in them."""

    birth = ((0.0, "THERE"),)
    death = ((0.0, None),)
    inside: list[float] = field(default_factory=list)  # since when each that is in it is there

    def _meant(self, target: tuple[str, str | None], at: float) -> list[Thing]:
        return [thing for thing in self.things if thing.id == target[1] and thing.word(at) is not None]

    def act(self, verb: Verb, thing: Thing, at: float) -> None:  # noqa: ARG002 - there is but one
        if self.inside:
            raise Refused(ErrorKind.INVALID)
        self.destroy(thing, at)


@dataclass
class SnapshotCloud(Cloud):
    """Snapshots: taken of a VM that is there, usable after a while."""

    birth = ((0.0, "TAKING"), (BOOT_SECONDS, "READY"))
    death = ((0.0, "TAKING"), (DESTROY_SECONDS, None))
    source: bool = True

    def bear(self, name: str, at: float, foreign: bool = False) -> None:
        if self.source or foreign:
            super().bear(name, at, foreign)

    def _carry_out(self, verb: Verb, target: tuple[str, str | None], at: float) -> None:
        if verb in CREATES and not self.source:
            raise Refused(ErrorKind.NOT_FOUND)
        super()._carry_out(verb, target, at)
