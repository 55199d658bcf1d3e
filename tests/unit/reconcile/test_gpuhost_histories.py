"""Random histories of one GpuHost: people request, take back, pause; calls fail; processes die; statuses are lost.

The engine's loop is written here once more in its smallest form: what differs in status is written, then one call is sent.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import timedelta
from random import Random

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.gpuhost import GpuHostStatus, HostOutcome
from gpucloud.kinds.meta import Annotation, ConditionType, Reason, rfc3339
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import Asked, Attempt, CallHistory, Now, Refusal, Verb
from gpucloud.reconcile.gpuhost import decide
from gpucloud.reconcile.gpuhost.facts import announcement
from support.builders import START, an_object
from support.hostfacts import a_host, host_facts

HISTORIES, STEPS = 400, 80
REQUESTS = {
    Verb.REBOOT_HOST: Annotation.REBOOT_REQUESTED_AT,
    Verb.REPROVISION_HOST: Annotation.REPROVISION_REQUESTED_AT,
}
# What comes of a call, and whether the cloud may have carried it out.
ANSWERS = (
    (None, True),
    (None, True),
    (Refusal(ErrorKind.INVALID, "wrong state", ambiguous=False), False),
    (Refusal(ErrorKind.SERVER, "failed", ambiguous=True), True),
    (Refusal(ErrorKind.UNAVAILABLE, "out of service", ambiguous=True), False),
    (Refusal(ErrorKind.OUTCOME_UNKNOWN, "no answer", ambiguous=True), True),
    (Refusal(ErrorKind.NOT_SENT, "no connection", ambiguous=False), False),
    (Refusal(ErrorKind.THROTTLED, "too many", ambiguous=False), False),
)
NOT_COUNTED = {ErrorKind.NOT_SENT, ErrorKind.THROTTLED}


@dataclass
class Process:
    """What a process remembers, and a new one does not."""

    first_seen: float
    announced: tuple | None = None
    attempts: dict = field(default_factory=dict)


class World:
    """One object, its host, and the process that looks after them."""

    def __init__(self, seed):
        self.r, self.mono = Random(seed), 1000.0
        self.status, self.annotations = GpuHostStatus(), {}
        self.process, self.sent, self.values = Process(self.mono), Counter(), []
        self.busy_until, self.seed = 0.0, seed

    @property
    def wall(self):
        return START + timedelta(seconds=self.mono)

    def facts(self):
        host = a_host(as_of=self.mono, poweredOn=self.mono >= self.busy_until)
        history = CallHistory(first_seen=self.process.first_seen, attempts=dict(self.process.attempts))
        return replace(
            host_facts(meta=an_object(has_finalizer=False, annotations=dict(self.annotations), created_at=START)),
            now=Now(self.wall, self.mono),
            status=self.status,
            found=host,
            history=history,
            announced=self.process.announced,
        )

    def reconcile(self, *, faults=True):
        """One reconcile; return whether it wrote or sent anything."""
        f = self.facts()
        plan = decide(f)
        if plan.status is not None and plan.status != self.status:
            if plan.records_order:
                self.process.announced = announcement(plan.status.operation)
            fate = self.r.random() if faults else 1.0
            if fate > 0.15:  # else the write is refused
                self.status = GpuHostStatus.model_validate_json(plan.status.model_dump_json(by_alias=True))
            if fate < 0.25:
                self.die()  # after the write, or instead of it
            return True
        if plan.action is not None:
            self.send(f, plan, faults=faults)
            return True
        return False

    def send(self, f, plan, *, faults):
        (value,) = plan.targets
        assert self.annotations.get(REQUESTS[plan.action]) == value, "nobody requests it now"
        assert Annotation.PAUSED not in self.annotations, "paused"
        assert (f.status.operation.outcome, f.status.operation.id) == (HostOutcome.ANNOUNCED, value), "not announced"
        refusal, carried_out = self.r.choice(ANSWERS) if faults else ANSWERS[0]
        if refusal is None or refusal.kind not in NOT_COUNTED:
            self.sent[plan.action, value] += 1
            assert self.sent[plan.action, value] == 1, f"sent twice for {value}"
        if carried_out and self.r.random() < 0.7:
            self.busy_until = self.mono + self.r.choice((1, 20, 100))
        if faults and self.r.random() < 0.15:
            self.die()  # before it could note the answer
            return
        attempts = self.process.attempts
        failures = 0 if refusal is None else 1 + getattr(attempts.get(plan.action), "failures", 0)
        attempts[plan.action] = Attempt(plan.action, self.mono, Asked(1), refusal, failures, 0, plan.targets)

    def die(self):
        self.mono += self.r.choice((0.1, 5, 700))
        self.process = Process(self.mono)

    def person(self):
        """Request something now; or set what a backup, Argo CD or a slip of the pen would; or take it back; or pause."""
        name = self.r.choice(list(REQUESTS.values()))
        value = rfc3339(self.wall)
        strange = ["now", rfc3339(self.wall + timedelta(minutes=5)), rfc3339(self.wall - timedelta(minutes=11)), ""]
        what = self.r.random()
        if what < 0.15:
            self.annotations.pop(name, None)
        elif what < 0.45:
            self.annotations[name] = self.r.choice([*strange, *self.values, *self.values])
        elif what < 0.5:
            self.annotations[Annotation.PAUSED] = "true"
        elif what < 0.6:
            self.annotations.pop(Annotation.PAUSED, None)
        elif what < 0.65:
            self.annotations = dict.fromkeys(REQUESTS.values(), value)
        else:
            self.annotations[name] = value
        self.values = [*self.values, value][-3:]

    def step(self):
        what = self.r.random()
        if what < 0.2:
            self.person()
        elif what < 0.22:
            self.die()
        elif what < 0.225:
            self.status = GpuHostStatus()  # lost whole, as by a restore without status
        elif what < 0.35:
            self.mono += self.r.choice((0.2, 2, 2, 31, 31, 400))
        else:
            self.reconcile()

    def settle(self):
        """Without faults all ends: nothing is announced, and nothing changes any more."""
        self.annotations.pop(Annotation.PAUSED, None)
        for _ in range(60):
            self.mono += 40
            if not self.reconcile(faults=False) and self.mono > self.busy_until:
                break
        else:
            pytest.fail(f"it never rests: {self.status}")


def test_in_no_history_is_a_request_sent_twice_or_sent_by_nobodys_wish():
    verbs, ends = Counter(), Counter()
    for seed in range(HISTORIES):
        world = World(seed)
        for _ in range(STEPS):
            world.step()
        world.settle()
        operation = world.status.operation
        assert operation is None or operation.outcome not in {HostOutcome.ANNOUNCED, HostOutcome.ACCEPTED}, seed
        assert find(world.status.conditions, ConditionType.READY).reason in {Reason.RUNNING, Reason.REJECTED, Reason.API_ERROR}
        verbs.update(verb for verb, _ in world.sent)
        ends[operation and operation.outcome] += 1
    assert min(verbs[verb] for verb in REQUESTS) > HISTORIES / 4, "hardly any request was sent"
    assert min(ends[outcome] for outcome in ("Done", "Refused", "Unclear")) > HISTORIES / 50, "an end was hardly ever met"
