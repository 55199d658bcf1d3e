"""What must hold after every run. ``violations`` returns plain sentences, each with the invariant that it breaks.

I1 one live thing a name; I3 nothing destroyed or powered that is not ours; I4 quiet at the end; I5 status against the
ledger; I6 no secret anywhere; I7 the request budget; I8 no exception, alive; orders and ends in their order (``order``). And:
the end is as wanted, and what was created and destroyed for each object is what a run without faults creates and destroys.
"""

from __future__ import annotations

import json
import time
import urllib.request
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chaos.rig.kubeclient import PLURALS
from chaos.rig.ledger import CREATES, DESTROYS, POWERS, UNKNOWN, Books, Summary
from chaos.rig.order import disorder
from chaos.rig.strangers import things
from chaos.rig.truth import contradictions
from support.canaries import shown_of
from support.kstatus import condition, ready
from support.waiting import eventually

if TYPE_CHECKING:
    from chaos.rig.trial import Trial

QUIET_POLLS = 10
# In seconds. Calls are counted where they arrive: those that wait for a new connection, or on a busy machine, come with
# those that left the bucket after them. To the call the bucket is tried in tests/unit/cloud.
WINDOW, UNDER_WAY = 3.0, 0.5
SYNCED_WITHIN = 60.0  # seconds
NOT_IN_LOGS = ("Traceback", "reconcile failed", "never retrieved", "failed unexpectedly", "Unclosed", "Unhandled")


@dataclass(frozen=True)
class Expected:
    """How a run is to end.

    ``summary``: of the run without faults, None when there is none to compare with. ``standing``: the objects that are
    left, ``kind/name`` to ``status/reason`` of Ready; their things in the cloud are left, too. ``cloud``: False when the
    cloud's world is the test's to judge. ``dies``: the operator may have ended by itself. ``logs``: what may be logged.
    """

    summary: Summary | None = None
    standing: dict[str, str] | None = None
    cloud: bool = True
    dies: bool = False
    logs: tuple[str, ...] = ()


def violations(trial: Trial, expected: Expected | None = None) -> list[str]:
    """Everything that is wrong at the end of a run; empty when nothing is."""
    expected = expected or Expected()
    trial.settle()
    late = [] if expected.dies else _served(trial)
    loud = _quiet(trial)
    trial.settle()  # what came so late that it was taken for the end may have met a rule that kills
    late += [] if expected.dies else _served(trial)
    books = Books.of(trial)
    return [
        *late,
        *_end(trial, expected, books),
        *_summary(books, expected),
        *(f"I1: more than one lived at once: {name}" for name in books.crowds()),
        *_foreign(books),
        *disorder(trial, books),
        *loud,
        *contradictions(trial, books),
        *_leaks(trial, books),
        *budget(trial),
        *_health(trial, expected),
    ]


def _served(trial: Trial) -> list[str]:
    """Wait until the present operator knows all objects: one that has just been started has said nothing yet."""
    end = time.monotonic() + SYNCED_WITHIN
    while time.monotonic() < end and trial.operator.process.exit_code is None:
        if any(record.get("event") == "synced" for record in trial.operator.logs()):
            return []
        time.sleep(0.1)
    return ["I8: the operator does not serve"]


def _quiet(trial: Trial) -> list[str]:
    """I4: wait for ten polls (or as long as ten would take, when nothing needs any) and see what they changed."""
    polls = trial.cloud.count("GetServers")
    changes = len(_mutating(trial))
    pause = float(str(trial.flags["poll_steady_seconds"])) if trial.here.list("gpuvms") else 0.2
    end = time.monotonic() + QUIET_POLLS * pause
    while time.monotonic() < end and trial.cloud.count("GetServers") < polls + QUIET_POLLS:
        time.sleep(0.1)
    return [f"I4: sent after the end: {call}" for call in _mutating(trial)[changes:]]


def _mutating(trial: Trial) -> list[str]:
    return [str(call) for call in trial.cloud.calls if call.writes]


def _end(trial: Trial, expected: Expected, books: Books) -> list[str]:
    standing = expected.standing or {}
    objects = {f"{item['kind']}/{item['metadata']['name']}": item for item in trial.here.list(",".join(PLURALS))}
    found = [f"{who} is still there: {condition(item, 'Ready')}" for who, item in objects.items() if who not in standing]
    for who, wanted in standing.items():
        is_so = ready(objects[who]) if who in objects else "gone"
        if is_so != wanted:
            found.append(f"{who} is {is_so}, not {wanted}")
    return found + (_world(trial, standing, books) if expected.cloud else [])


def _world(trial: Trial, standing: dict[str, str], books: Books) -> list[str]:
    """The cloud holds the strangers as they were, and one thing for each of our objects that stand."""
    left = things(trial.sim)
    found = [f"{name} of somebody else is not as it was" for name, was in trial.strangers.items() if left.get(name) != was]
    ours: list[str] = []
    for name in left.keys() - trial.strangers.keys():
        whose = _whose(name, books)
        if whose in standing and whose not in ours:
            ours.append(whose)
        else:
            found.append(f"leaked: {name}, of {whose}")
    wanted = {who for who in standing if not who.startswith("GpuCloudAccount/")}
    return found + [f"{who} has nothing in the cloud" for who in sorted(wanted - set(ours))]


def _whose(thing: str, books: Books) -> str:
    kind, _, name = thing.partition(" ")
    return books.vpc_names.get(name, UNKNOWN) if kind == "VPC" else books.named(name)


def _summary(books: Books, expected: Expected) -> list[str]:
    if expected.summary is None:
        return []
    mine = books.summary()
    return [
        f"{who} was {what} {mine[who, what]} times; without faults {expected.summary[who, what]} times"
        for who, what in sorted(mine.keys() | expected.summary.keys())
        if mine[who, what] != expected.summary[who, what]
    ]


def _foreign(books: Books) -> list[str]:
    """I3, and beside it: nothing is made whose name does not say for whom."""
    return [
        f"I3: {entry['operation']} of {entry['subject']}, which is nobody's of ours"
        for entry in books.committed()
        if entry["operation"] in {*CREATES, *DESTROYS, *POWERS} and books.owner(entry) == UNKNOWN
    ]


def _leaks(trial: Trial, books: Books) -> list[str]:
    """I6: a secret of the trial in what others can read; what the cloud itself saw in a URL counts, too."""
    found = [f"I6: {hit}" for hit in trial.canaries.found_in(_places(trial).items())]
    return found + [
        f"I6: a credential stands in the URL of {call['operation']}" for call in books.entries if call["secret_in_url"]
    ]


def _places(trial: Trial) -> dict[str, str]:
    """Everything that others can read."""
    places = {f"the log of operator {number}": text for number, text in enumerate(trial.logs(), 1)}
    for link in (trial.cloud, trial.kube):
        places[f"a URL on the {link.name} link"] = "\n".join(call.target for call in link.calls)
    places["what was written to the apiserver"] = "\n".join(
        call.body.decode(errors="replace") for call in trial.kube.calls if call.writes
    )
    places["an Event"] = json.dumps(trial.here.events())
    places["an object"] = "\n".join(shown_of(item) for item in trial.here.list(",".join(PLURALS)))
    places["the metrics"] = _read(trial, "metrics_port", "/metrics") or ""
    return places


def budget(trial: Trial) -> list[str]:
    """I7: in no window more than the bucket holds and gains in that time; a new operator begins with a full one."""
    buckets = 1 + trial.kills
    allowed = (WINDOW + UNDER_WAY) * float(str(trial.flags["cloud_qps"])) + buckets * float(str(trial.flags["cloud_burst"]))
    window: deque[float] = deque()
    for seen in trial.cloud.seen:
        window.append(seen.received)
        while window[0] < seen.received - WINDOW:
            window.popleft()
        if len(window) > allowed:
            return [f"I7: {len(window)} calls within {WINDOW:g} s, where {allowed:g} are allowed"]
    return []


def _health(trial: Trial, expected: Expected) -> list[str]:
    found = []
    for number, text in enumerate(trial.logs(), 1):
        lines = [line for line in text.splitlines() if any(word in line for word in NOT_IN_LOGS)]
        bad = [line for line in lines if not any(word in line for word in expected.logs)]
        found += [f"I8: operator {number} logged: {line[:600]}" for line in bad[:3]]
    if not expected.dies:
        code = trial.operator.process.exit_code
        if code is not None:
            found.append(f"I8: the operator has ended with exit code {code}")
        elif _read(trial, "health_port", "/healthz") is None:
            found.append("I8: /healthz is not green")
    return found


def _read(trial: Trial, port: str, path: str) -> str | None:
    """What one of the operator's own ports answers, or None."""
    listening: dict[str, Any] = next((one for one in trial.operator.logs() if one.get("event") == "listening"), {})
    if port not in listening:
        return None
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://127.0.0.1:{listening[port]}{path}", timeout=60) as answer:
            return str(answer.read().decode())
    except OSError:
        return None


def assert_holds(trial: Trial, expected: Expected | None = None) -> None:
    """Fail with all that is wrong, for tests that make one run."""
    eventually(lambda: trial.processes, 1, "an operator to have run")
    found = violations(trial, expected)
    assert not found, "\n".join(found)
