"""When a VM's address is published, and when it is withdrawn: before any call that ends the VM's service."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.connection import PublishedConnection
from gpucloud.kinds.gpuvm import GpuVMStatus
from gpucloud.kinds.meta import ConditionType
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import Absent, Asked, Attempt, CallHistory, Limits, Refusal, Unknown, UnknownReason, Verb
from gpucloud.reconcile.gpuvm import decide
from gpucloud.reconcile.gpuvm.connection import WITHDRAW_SECONDS, still_published
from support.builders import NOW, START, a_spec, facts, present
from support.gpuvmfacts import DELETING, OFF, RUNNING
from support.rows import noted

SERVICE = {"name": "train", "ports": [{"name": "metrics", "port": 9400}]}
BOTH = {"configMapName": "train-connection", "service": SERVICE}
ADDRESSES = {"ip": "192.0.2.7", "private_ip": "10.0.0.7"}
RECORD = PublishedConnection(
    config_map="train-connection", service="train", host="192.0.2.7", private_address="10.0.0.7", address="10.0.0.7"
)
OURS = ("endpointslices/train", "services/train", "configmaps/train-connection")
ON = present(**ADDRESSES)
FORBIDDEN = Refusal(ErrorKind.FORBIDDEN, "may not", ambiguous=False)


def spec(connection=BOTH, **more):
    return a_spec(**({} if connection is None else {"connection": connection}), **more)


def status(record=RECORD, base=RUNNING):
    return base.model_copy(update={"connection": record})


def since(seconds):
    return RECORD.model_copy(update={"withdrawing_since": START + timedelta(seconds=NOW - seconds)})


def did(*attempts):
    return CallHistory(first_seen=NOW - 600, attempts={one.verb: one for one in attempts})


def an_attempt(verb, targets, ago=1.0, refusal=None, failures=0, generation=1):
    return Attempt(verb, NOW - ago, Asked(generation), refusal, failures or int(refusal is not None), 1, targets)


def published(ago=1.0, record=RECORD, **more):
    return an_attempt(Verb.PUBLISH, tuple(f"{name}={value}" for name, value in record if value is not None), ago, **more)


def withdrew(ago=1.0, targets=OURS, **more):
    return an_attempt(Verb.WITHDRAW, targets, ago, **more)


STOPPED = spec(powerState="Stopped")
RUNS = {"spec": spec(), "found": ON}
STOPS = {"spec": STOPPED, "found": ON}
DELETED = {"spec": spec(), "found": ON, "meta": DELETING}

# the facts, the action, its targets, what status records, and why
TABLE = [
    ({"spec": spec(None), "status": RUNNING, "found": ON}, None, (), None, "nothing is asked for"),
    (RUNS | {"status": RUNNING}, Verb.PUBLISH, None, RECORD, "it runs, and the record comes first"),
    (RUNS | {"status": status()}, Verb.PUBLISH, None, RECORD, "a new process does not know what stands"),
    (RUNS | {"status": status(), "history": did(published())}, None, (), RECORD, "it stands"),
    (RUNS | {"status": status(), "history": did(published(61))}, Verb.PUBLISH, None, RECORD, "a look whether it still stands"),
    (RUNS | {"status": status(), "history": did(published(generation=0))}, Verb.PUBLISH, None, RECORD, "the spec was edited"),
    (RUNS | {"status": status(), "history": did(withdrew())}, Verb.PUBLISH, None, RECORD, "it was withdrawn since"),
    (RUNS | {"status": status(since(9)), "history": did(withdrew())}, Verb.PUBLISH, None, RECORD, "Ready again meanwhile"),
    (RUNS | {"status": status(), "found": present(ip="192.0.2.8", private_ip="10.0.0.8"), "history": did(published())},
     Verb.PUBLISH, None,
     RECORD.model_copy(update={"host": "192.0.2.8", "private_address": "10.0.0.8", "address": "10.0.0.8"}), "it moved"),
    (RUNS | {"status": status(), "history": did(published(1, refusal=FORBIDDEN))}, None, (), RECORD, "a failure waits 2 s"),
    (RUNS | {"status": status(), "history": did(published(2, refusal=FORBIDDEN))}, Verb.PUBLISH, None, RECORD, "then again"),
    (RUNS | {"status": status(), "history": did(published(59, refusal=FORBIDDEN, failures=9))}, None, (), RECORD, "ever later"),
    (RUNS | {"status": status(), "history": did(published(60, refusal=FORBIDDEN, failures=99))}, Verb.PUBLISH, None, RECORD,
     "at the latest after a minute"),
    (RUNS | {"status": RUNNING, "found": present()}, None, (), None, "the cloud names no address yet"),
    (RUNS | {"status": RUNNING, "found": present(private_ip="169.254.1.1")}, None, (), None, "no Service may lead there"),
    (STOPS | {"status": status()}, Verb.WITHDRAW, OURS, since(0), "before StopServer"),
    (STOPS | {"status": status(since(9))}, Verb.WITHDRAW, OURS, since(9), "a restart between withdrawal and stop: once more"),
    (STOPS | {"status": status(since(9)), "history": did(withdrew())}, Verb.STOP, (), None, "withdrawn: now StopServer"),
    (STOPS | {"status": status(since(-3600))}, Verb.WITHDRAW, OURS, since(0), "another clock was ahead: no longer wait"),
    (STOPS | {"status": RUNNING}, Verb.STOP, (), None, "nothing was published: no right is needed, and nothing waits"),
    (STOPS | {"spec": spec(None, powerState="Stopped"), "status": status()}, Verb.WITHDRAW, OURS, since(0), "both at once"),
    (STOPS | {"status": status(), "history": did(withdrew(targets=OURS[2:]))}, Verb.WITHDRAW, OURS, since(0), "not all of it"),
    (STOPS | {"status": RUNNING, "history": did(published())}, Verb.WITHDRAW, OURS,
     PublishedConnection(config_map="train-connection", service="train", withdrawing_since=since(0).withdrawing_since),
     "somebody removed the record; this process knows better"),
    (DELETED | {"status": status()}, Verb.WITHDRAW, OURS, since(0), "before DestroyServer"),
    (DELETED | {"status": status(since(9)), "history": did(withdrew())}, Verb.DESTROY, (), None, "now DestroyServer"),
    (RUNS | {"status": status(), "meta": noted(RESTART_REQUESTED_AT="now")}, Verb.WITHDRAW, OURS, since(0), "before a restart"),
    (RUNS | {"status": status(), "found": present("FAILED", **ADDRESSES)}, Verb.WITHDRAW, OURS, since(0), "it has failed"),
    (RUNS | {"status": status(), "found": present("STARTING", **ADDRESSES)}, Verb.WITHDRAW, OURS, since(0), "it does not run"),
    (RUNS | {"status": status(), "spec": spec({"configMapName": "train-connection"})}, Verb.WITHDRAW, OURS[:2], since(0),
     "the Service is asked for no more"),
    (RUNS | {"status": status(), "spec": spec({"service": SERVICE | {"name": "other"}})}, Verb.WITHDRAW, OURS, since(0),
     "another name: the old one goes first"),
    (RUNS | {"status": status(), "spec": spec(None)}, Verb.WITHDRAW, OURS, since(0), "nothing is asked for any more"),
    (RUNS | {"status": status(), "meta": noted(PAUSED="true")}, None, (), RECORD, "paused: nothing is touched"),
    (STOPS | {"status": status(), "meta": noted(PAUSED="true")}, None, (), RECORD, "paused: no stop, so no withdrawal"),
    (STOPS | {"status": status(), "limits": Limits(observe_only=True)}, None, (), RECORD, "only observed"),
    (RUNS | {"status": RUNNING, "limits": Limits(observe_only=True)}, None, (), None, "only observed: not published"),
    (RUNS | {"status": status(), "found": Unknown(NOW - 900, UnknownReason.UNREACHABLE)}, None, (), RECORD,
     "blind: no sign that the VM is down"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "action", "targets", "record", "why"), TABLE, ids=[row[-1] for row in TABLE])
def test_what_is_published_follows_the_vm(changes, action, targets, record, why):
    plan = decide(facts(**changes))
    assert plan.action == action, why
    assert targets is None or plan.targets == targets, why
    assert (changes["status"] if plan.status is None else plan.status).connection == record, why


def failing(seconds, ago=1.0):
    """A withdrawal that began these seconds ago and fails."""
    return {"status": status(since(seconds)), "history": did(withdrew(ago, refusal=FORBIDDEN, failures=9))}


@pytest.mark.parametrize(("facts_of", "verb"), [(STOPS, Verb.STOP), (DELETED, Verb.DESTROY)])
def test_a_withdrawal_that_fails_holds_a_call_for_a_bounded_time(facts_of, verb):
    held = facts(**facts_of | failing(WITHDRAW_SECONDS - 1))
    plan = decide(held)
    assert plan.action is None
    assert plan.requeue_at == NOW + 1
    assert find(plan.status.conditions, ConditionType.PUBLICATION_FAILED).message == "may not"

    late = facts(**facts_of | failing(WITHDRAW_SECONDS))
    plan = decide(late)
    assert plan.action is verb
    assert plan.status.connection == since(WITHDRAW_SECONDS), "what is still published stays on record"
    assert find(plan.status.conditions, ConditionType.PUBLICATION_FAILED) is not None
    assert still_published(late, plan) == f" These were still published: {', '.join(OURS)}."


def test_the_time_counts_over_a_restart_but_a_new_process_tries_once():
    assert decide(facts(**STOPS | {"status": status(since(3600))})).action is Verb.WITHDRAW


def test_the_withdrawal_goes_on_after_the_stop():
    off = {"spec": STOPPED, "found": present("OFFLINE", **ADDRESSES)}
    waits = failing(3600)
    waits["status"] = status(since(3600), OFF)
    plan = decide(facts(**off | waits))
    assert (plan.action, plan.status.connection) == (None, since(3600))
    assert NOW < plan.requeue_at <= NOW + 60
    again = failing(3600, ago=60) | {"status": status(since(3600), OFF)}
    assert decide(facts(**off | again)).action is Verb.WITHDRAW


def test_a_held_call_is_not_recorded_as_sent():
    held = decide(facts(**STOPS | {"status": status()}))
    assert held.status.operation is None
    going = decide(facts(**DELETED | {"status": status()}))
    assert going.status.order == RUNNING.order
    assert going.status.order.state is OrderState.SEEN


def test_the_end_of_an_object_waits_no_longer_than_its_calls_and_names_what_is_left():
    retained = {"spec": spec(deletion={"policy": "Retain"}), "found": ON, "meta": DELETING}
    first = decide(facts(**retained | {"status": status()}))
    assert (first.action, first.release) == (Verb.WITHDRAW, None)
    last = decide(facts(**retained | failing(WITHDRAW_SECONDS)))
    assert last.action is None
    assert "is retained" in last.release.note
    assert "Not withdrawn: endpointslices/train, services/train, configmaps/train-connection." in last.release.note


@pytest.mark.parametrize("found", [ON, Absent(NOW, NOW - 40, NOW - 2)], ids=["retained", "gone"])
def test_a_release_is_not_held_for_good_where_somebody_removes_ready(found):
    """The time of the withdrawal is recorded in a status without Ready, too: the wait is counted from it."""
    ends = {"spec": spec(deletion={"policy": "Retain"}), "found": found, "meta": DELETING}
    begun = decide(facts(**ends | {"status": status().model_copy(update={"conditions": ()})}))
    assert (begun.action, begun.release) == (Verb.WITHDRAW, None)
    assert begun.status.connection == since(0)

    fails = {name: value for name, value in failing(WITHDRAW_SECONDS).items() if name != "status"}
    removed_again = status(since(WITHDRAW_SECONDS)).model_copy(update={"conditions": ()})
    ended = decide(facts(**ends | fails | {"status": removed_again}))
    assert ended.action is None
    assert "Not withdrawn: endpointslices/train, services/train, configmaps/train-connection." in ended.release.note


def test_a_release_that_waits_says_so_of_the_generation_that_is_deleted():
    """Seed 23 of the simulation: the status of before was written again, which is of an older generation."""
    deleted = replace(DELETING, generation=2)
    plan = decide(facts(spec=spec(deletion={"policy": "Retain"}), found=ON, meta=deleted, status=status()))
    assert (plan.status.observed_generation, plan.status.connection) == (2, since(0))
    ready = find(plan.status.conditions, ConditionType.READY)
    assert (ready.status, ready.reason) == ("False", "Deleting")


def test_a_lost_status_is_taken_for_one_that_published():
    """First what the spec names is recorded, then it is withdrawn, and only then the VM is stopped."""
    lost = decide(facts(**STOPS | {"status": GpuVMStatus()}))
    assert (lost.action, lost.targets) == (Verb.WITHDRAW, OURS)
    second = decide(facts(**STOPS | {"status": lost.status}))
    assert (second.action, second.targets) == (Verb.WITHDRAW, OURS)
    assert decide(facts(**STOPS | {"status": second.status, "history": did(withdrew())})).action is Verb.STOP


def test_what_led_to_a_vm_that_is_in_conflict_since_the_status_was_lost_is_withdrawn():
    """Seed 92323678: a Service went on leading to a VM of the chosen name, which may be another's by then."""
    mine = {"spec": spec(vmName="train"), "found": present(id="train", **ADDRESSES), "history": did()}
    lost = decide(facts(**mine | {"status": GpuVMStatus()}))
    assert find(lost.status.conditions, ConditionType.READY).reason == "Conflict"
    assert (lost.action, lost.targets) == (Verb.WITHDRAW, OURS)
    rest = decide(facts(**mine | {"status": lost.status, "history": did(withdrew())}))
    assert (rest.action, rest.status.connection) == (None, None)


def test_a_new_vm_of_a_connection_withdraws_nothing():
    plan = decide(facts(spec=spec()))
    assert plan.action is not Verb.WITHDRAW
    assert plan.status.connection is None


ADDRESS = [
    ({"service": SERVICE}, {"private_ip": "10.0.0.7"}, None),
    ({"service": SERVICE}, {"ip": "192.0.2.7"}, "no private IP address"),
    ({"service": SERVICE | {"address": "Public"}}, {"private_ip": "10.0.0.7"}, "no public IP address"),
    ({"configMapName": "a"}, {}, None),
    (BOTH, {"private_ip": "127.0.0.1"}, "no private IP address"),
]


@pytest.mark.parametrize(("connection", "addresses", "words"), ADDRESS)
def test_an_address_that_is_missing_is_said(connection, addresses, words):
    plan = decide(facts(spec=spec(connection), status=RUNNING, found=present(**addresses)))
    said = find(plan.status.conditions, ConditionType.PUBLICATION_FAILED)
    assert (said is None) is (words is None)
    assert words is None or (words in said.message and said.reason == "NoAddress")
    assert find(plan.status.conditions, ConditionType.READY).status == "True", "the VM itself is well"


def test_a_taken_name_is_said_beside_a_ready_vm():
    taken = Refusal(ErrorKind.CONFLICT, "Service 'train' exists and does not belong to this GpuVM", ambiguous=False)
    plan = decide(facts(**RUNS | {"status": status(), "history": did(published(refusal=taken))}))
    said = find(plan.status.conditions, ConditionType.PUBLICATION_FAILED)
    assert (said.reason, said.message) == ("Conflict", taken.message)
    assert find(plan.status.conditions, ConditionType.READY).status == "True"
