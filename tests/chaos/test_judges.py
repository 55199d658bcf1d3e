"""What judges the runs can itself fail: which runs count, and what a status may say. Without a control plane."""

from __future__ import annotations

import json
import shlex
from types import SimpleNamespace

import pytest

from chaos.rig.calls import CLOUD, KUBE, Call, Kind, Phase, Seen
from chaos.rig.campaign import Campaign, Choice, NotReachedError, Run
from chaos.rig.ledger import Books
from chaos.rig.oracles import budget
from chaos.rig.order import disorder
from chaos.rig.points import Point, points
from chaos.rig.reference import Reference
from chaos.rig.truth import contradictions
from gpucloud.kinds.meta import FINALIZER
from gpucloud.reconcile.naming import fingerprint

UID = "11111111-2222-3333-4444-555555555555"
TEST = "tests/chaos/test_x.py::test_y[a b]"


def choice(*, whole=False, only=""):
    return Choice(whole=whole, seed=7, only=only, at_once=2)


def carried_out(runs, *, sample=1, **chosen):
    """What the campaign said: "" when it was content; and what it counted."""
    told = []
    campaign = Campaign(choice(**chosen), TEST, lambda _, text: told.append(json.loads(text)))
    try:
        campaign.carry_out("X1", runs, sample=sample)
    except AssertionError as error:
        return str(error), told
    return "", told


def unreached():
    raise NotReachedError


def named(makes):
    return [Run(name, make) for name, make in makes.items()]


def fine():
    return []


def test_a_replay_that_matches_no_run_names_some_that_there_are():
    said, told = carried_out(named({f"run {number}": fine for number in range(9)}), only="no such run")
    assert "'no such run'" in said
    assert "run 0" in said
    assert "run 8" not in said
    assert not told


@pytest.mark.parametrize("whole", [True, False])
def test_nothing_to_run_is_not_green(whole):
    assert carried_out([], whole=whole)[0]


@pytest.mark.parametrize("sample", [1, 2, 3])
def test_for_what_a_sample_did_not_come_to_others_are_drawn(sample):
    runs = named({f"run {number}": unreached for number in range(4)} | {f"reached {number}": fine for number in range(3)})
    for seed in range(5):
        told = []
        campaign = Campaign(
            Choice(whole=False, seed=seed, only="", at_once=1), TEST, lambda _, text, told=told: told.append(text)
        )
        campaign.carry_out("X1", runs, sample=sample)
        assert json.loads(told[0])["runs"] == sample


UNREACHED = {
    "the one run of a test": ({"one": unreached}, {}),
    "all of a sample, and all that is drawn after it": (dict.fromkeys("abcdefghijkl", unreached), {}),
    "the one that is run again": ({"a": unreached, "b": fine}, {"only": "a"}),
    "too many of the whole": ({"a": unreached, "b": unreached, "c": fine}, {"whole": True}),
    "all of the whole": ({"a": unreached}, {"whole": True}),
    "one of two, and there are no others": ({"a": unreached, "b": fine}, {"sample": 2}),
    "two of three": ({"a": unreached, "b": unreached, "c": fine}, {"sample": 3}),
}


@pytest.mark.parametrize(("makes", "chosen"), UNREACHED.values(), ids=UNREACHED)
def test_what_was_not_tried_is_not_green(makes, chosen):
    assert "not reached" in carried_out(named(makes), **chosen)[0]


def test_a_few_points_of_the_whole_may_not_come():
    assert carried_out(named({"a": unreached, "b": fine, "c": fine}), whole=True)[0] == ""


def test_what_a_further_run_violates_is_told():
    said, _ = carried_out(named({"a": unreached, "b": lambda: ["I1: two"]}), sample=1)
    assert "I1: two" in said


def test_of_two_runs_of_one_name_none_hides_the_other():
    said, _ = carried_out([Run("twin", lambda: ["I1: two"]), Run("twin", fine)], whole=True)
    assert "I1: two" in said


@pytest.mark.parametrize("whole", [True, False])
def test_the_command_that_makes_a_run_again_is_one_that_a_shell_takes(whole):
    name = "a stranger's VM, $HOME `x`"
    said, _ = carried_out([Run(name, lambda: ["I1: two"])], whole=whole)
    words = shlex.split(said.partition("to replay: ")[2])
    assert f"CHAOS_ONLY={name}" in words
    assert words[-1] == TEST
    assert ("CHAOS=whole" in words) is whole


def reading(count):
    kind = Kind("GetServers", "GET")
    return [Call("cloud", number, number, kind, "GET", "/", "") for number in range(1, count + 1)]


def test_a_point_of_something_read_again_and_again_has_one_name_however_often_it_is_read():
    made = [{str(point) for point in points(Reference(reading(count), [], {}))} for count in (7, 8, 40)]
    assert made[0] == made[1] == made[2]
    assert "cloud GetServers#middle answered" in made[0]
    assert str(Point("cloud", "CreateServer", 2, Phase.RECEIVED)) == "cloud CreateServer#2 received"


# --- I5

VM, SNAPSHOT, VPC = f"train-{fingerprint(UID)}", f"before-{fingerprint(UID)}", "acme-lab"
WHO = {"gpuvms": ("GpuVM", "train"), "gpusnapshots": ("GpuSnapshot", "before"), "gpuvpcs": ("GpuVpc", "lab")}


def vm(*states):
    rows = [None if state is None else {"order": {"name": VM}, "status": state} for _, state in states]
    return changes([at for at, _ in states], rows)


def vpc(*states):
    return changes([at for at, _ in states], [{"name": VPC} if there else None for _, there in states])


def snapshot(*rows):
    made = [row and {"name": SNAPSHOT, "leaving": False, **row} for _, row in rows]
    return changes([at for at, _ in rows], made)


def changes(times, rows):
    return [{"at": at, "before": old, "after": new} for at, old, new in zip(times, [None, *rows], rows, strict=False)]


# What is said (kind, when, Ready), what is so, and whether that is a lie. Looked at after 100 s; a lie may last 6 s.
SAYINGS = {
    "runs": ("gpuvms", [(10, "True/Running")], vm((5, "ONLINE")), False),
    "runs, seen off in time": (
        "gpuvms",
        [(10, "True/Running"), (55, "False/Drifted")],
        vm((5, "ONLINE"), (50, "OFFLINE")),
        False,
    ),
    "runs, is off": ("gpuvms", [(10, "True/Running")], vm((5, "ONLINE"), (50, "OFFLINE")), True),
    "runs, is this and that, each for a while": (
        "gpuvms",
        [(10, "True/Running"), (58, "False/Drifted")],
        vm((5, "ONLINE"), (50, "OFFLINE"), (54, "PENDING")),
        True,
    ),
    "runs, said twice, is off": (
        "gpuvms",
        [(10, "True/Running"), (54, "True/Running"), (58, "False/Drifted")],
        vm((5, "ONLINE"), (50, "OFFLINE")),
        True,
    ),
    "off": ("gpuvms", [(10, "True/PoweredOff")], vm((5, "OFFLINE")), False),
    "off, runs": ("gpuvms", [(10, "True/PoweredOff")], vm((5, "OFFLINE"), (50, "ONLINE")), True),
    "off, has gone": ("gpuvms", [(10, "True/PoweredOff")], vm((5, "OFFLINE"), (50, None)), True),
    "available": ("gpuvpcs", [(10, "True/Available")], vpc((5, True)), False),
    "available, has gone": ("gpuvpcs", [(10, "True/Available")], vpc((5, True), (50, False)), True),
    "available, never was": ("gpuvpcs", [(10, "True/Available")], [], True),
    "adopted, has gone": ("gpuvpcs", [(10, "True/Adopted")], vpc((5, True), (50, False)), True),
    "completed": ("gpusnapshots", [(10, "True/Completed")], snapshot((5, {"ready_at": 9})), False),
    "completed, is being taken": ("gpusnapshots", [(10, "True/Completed")], snapshot((5, {"ready_at": 30})), True),
    "completed, has gone": ("gpusnapshots", [(10, "True/Completed")], snapshot((5, {"ready_at": 9}), (50, None)), True),
    "completed, went before it was": (
        "gpusnapshots",
        [(35, "True/Completed")],
        snapshot((5, {"ready_at": 30}), (20, None)),
        True,
    ),
    "nothing": ("gpuvms", [(10, "False/Creating")], [], False),
}


@pytest.mark.parametrize(("plural", "said", "is_so", "lie"), SAYINGS.values(), ids=SAYINGS)
def test_what_a_status_says_for_long_is_so(plural, said, is_so, lie):
    kind, name = WHO[plural]
    tables = {"GpuVM": "vms", "GpuSnapshot": "snapshots", "GpuVpc": "vpcs"}
    books = Books([], **{table: is_so if one == kind else [] for one, table in tables.items()}, uids={}, vpc_names={})
    books.uids[UID], books.vpc_names[VPC] = f"{kind}/{name}", "GpuVpc/lab"
    found = contradictions(trial_that_saw(plural, name, said), books)
    assert len(found) == lie, found
    assert all(f"I5: the status of {kind}/{name} said {said[0][1].partition('/')[2]} for" in line for line in found)


def trial_that_saw(plural, name, said):
    seen = []
    for at, word in said:
        status, _, reason = word.partition("/")
        body = {"status": {"conditions": [{"type": "Ready", "status": status, "reason": reason}]}}
        resource = f"{plural}/status"
        kind = Kind(f"update {resource}", "update", resource, "here", name, writes=True)
        call = Call(KUBE, len(seen) + 1, 1, kind, "PATCH", "/", "", json.dumps(body).encode())
        seen.append(Seen(call, received=1.0, at=at, answered=1.0, status=200))
    return SimpleNamespace(
        flags={"poll_steady_seconds": 1},
        blind_seconds=0.0,
        skew=0.0,
        now=lambda: 100.0,
        kube=SimpleNamespace(seen=seen),
        here=SimpleNamespace(list=lambda _: []),
    )


# --- the order of things

SAVED, REFUSED = 200, 409


def called(link, word, body, *, at, status=200, resource="", verb=""):
    kind = Kind(word, verb, resource, "here", "train", writes=True)
    call = Call(link, 1, 1, kind, "PATCH", "/", "", json.dumps(body).encode())
    return Seen(call, received=at, at=at, forwarded=at, answered=at, status=status)


def saving(at, status=SAVED):
    body = {"status": {"order": {"name": VM}}}
    return called(KUBE, "update gpuvms/status", body, at=at, status=status, resource="gpuvms/status", verb="update")


def letting_go(at, status=SAVED, left=()):
    body = [
        {"op": "test", "path": "/metadata/uid", "value": UID},
        {"op": "replace", "path": "/metadata/finalizers", "value": list(left)},
    ]
    return called(KUBE, "patch gpuvms", body, at=at, status=status, resource="gpuvms", verb="patch")


def ordering(at):
    return called(CLOUD, "CreateServer", {"name": VM}, at=at)


def destroying(at):
    return {"operation": "DestroyServer", "mutating": True, "committed": at, "subject": {"id": VM}}


# What the apiserver saw, what the cloud was asked for, when it was told to destroy, from when to when the VM was there.
ORDERS = {
    "announced, then ordered": ([saving(1)], [ordering(2)], [], (3, None), 0),
    "ordered, then announced": ([saving(2)], [ordering(1)], [], (3, None), 1),
    "ordered though the announcement was refused": ([saving(1, REFUSED)], [ordering(2)], [], (3, None), 1),
    "gone, then let go": ([letting_go(9)], [], [5], (1, 8), 0),
    "let go, then gone": ([letting_go(7)], [], [5], (1, 8), 1),
    "let go, and still there": ([letting_go(7)], [], [5], (1, None), 1),
    "the letting go was refused": ([letting_go(7, REFUSED)], [], [5], (1, 8), 0),
    "somebody else's finalizer went": ([letting_go(7, left=(FINALIZER,))], [], [5], (1, 8), 0),
    "retained, and ended by hand later": ([letting_go(7)], [], [], (1, 8), 0),
    "another of the name came later": ([letting_go(7)], [], [5], (7.5, 8), 0),
}


def telling_to_go(at):
    return called(CLOUD, "DestroyServer", {"Id": VM}, at=at)


# When its destroying calls were sent, when its owner said Retain; let go at 7, gone at 8.
RETAINED = {
    "Retain came when the call had left": ([4], 6, 0),
    "the call left before Retain was heard": ([6.3], 6, 0),
    "the call left after Retain": ([6.5], 6, 1),
    "one call left before Retain, and one after": ([4, 6.5], 6, 1),
    "Retain came when it had been let go": ([4], 7.5, 1),
    "nobody said Retain": ([4], None, 1),
}


@pytest.mark.parametrize(("sent", "said", "wrong"), RETAINED.values(), ids=RETAINED)
def test_retain_excuses_a_call_that_had_left_alone(sent, said, wrong):
    cloud = [telling_to_go(at) for at in sent]
    assert disordered([letting_go(7)], cloud, sent, (1, 8), {} if said is None else {UID: said}) == wrong


@pytest.mark.parametrize(("kube", "cloud", "destroyed", "there", "wrong"), ORDERS.values(), ids=ORDERS)
def test_the_order_of_things_is_judged(kube, cloud, destroyed, there, wrong):
    assert disordered(kube, cloud, destroyed, there, {}) == wrong


def disordered(kube, cloud, destroyed, there, retained):
    born, ended = there
    row = {"uid": 1, "order": {"name": VM, "cluster": "Msc1", "vpc": "acme"}, "status": "ONLINE", "created": born}
    history = changes([born, ended], [row, None])[: 1 if ended is None else 2]
    books = Books([destroying(at) for at in destroyed], history, [], [], {UID: "GpuVM/train"}, {})
    seen = {"kube": SimpleNamespace(seen=kube), "cloud": SimpleNamespace(seen=cloud)}
    return len(disorder(SimpleNamespace(**seen, skew=0.0, retained=retained), books))


def test_two_of_one_mark_are_a_crowd_wherever_they_are():
    rows = [{"uid": n, "order": {"name": VM, "cluster": "Msc1", "vpc": vpc}, "created": n} for n, vpc in enumerate(("a", "b"))]
    both = [{"at": n, "before": None, "after": row} for n, row in enumerate(rows)]
    assert Books([], both, [], [], {UID: "GpuVM/train"}, {}).crowds() == [f"VM {VM}"]
    assert Books([], both, [], [], {}, {}).crowds() == [], "of others a name is theirs once in each VPC"


# --- I7


@pytest.mark.parametrize(("calls", "wrong"), [(100, 0), (240, 1)])
def test_more_calls_than_the_budget_are_noticed(calls, wrong):
    """In three seconds 10 a second, half a second for the way, and one full bucket of 60: 95, twice that over six seconds."""
    seen = [called(CLOUD, "GetServers", {}, at=number * 6 / calls) for number in range(calls)]
    trial = SimpleNamespace(flags={"cloud_qps": 10, "cloud_burst": 60}, kills=0, cloud=SimpleNamespace(seen=seen))
    assert len(budget(trial)) == wrong
