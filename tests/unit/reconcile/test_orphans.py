"""Who is an orphan, what is proof that one was abandoned, and what keeps it from being collected."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import DeletionPolicy
from gpucloud.kinds.gpuvm import Deletion, GpuVMStatus
from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile.facts import Absent, AccountFacts, Asked, Attempt, CallHistory, Limits, Refusal, ResourceOwner, Verb
from gpucloud.reconcile.naming import Identity, external_name, fingerprint, read_mark
from gpucloud.reconcile.orphans import (
    FRESH_SECONDS,
    RESEND_SECONDS,
    KeepReason,
    OrphanCounts,
    Rules,
    abandonment_of,
    keep_reason,
    orphans,
)
from support.builders import NOW, TAG, UID, a_spec, an_object, an_order, facts, our_name, present
from support.orphanfacts import GONE_AT, RULES, a_case, a_thing, a_witness, an_owner, owners

OTHER = "99999999-2222-3333-4444-555555555555"
HERE = a_thing().where


# --- names


@pytest.mark.parametrize(
    ("name", "ours", "why"),
    [
        (external_name("train", UID, TAG), True, "as we give it"),
        (external_name("a-very-long-name-with-a-tail-that-is-cut-off-somewhere", UID, TAG), True, "shortened"),
        (external_name("team.train", UID, TAG), True, "with a dot made a dash"),
        (external_name("train", UID, "other"), False, "another installation's"),
        (external_name(f"train-{TAG}", UID, "other"), False, "our tag stands in the wrong place"),
        (f"train-{TAG}-", False, "no fingerprint"),
        (f"train-{TAG}-mzx7ntfkl1", False, "1 is no letter of a fingerprint"),
        (f"train-{TAG}-mzx7ntfklmm", False, "too long for one"),
        (f"-{TAG}-mzx7ntfklm", False, "no base"),
        (f"train-{TAG}-mzx7ntfklm\n", False, "a line break is no part of a name"),
        ("train", False, "a person's"),
    ],
)
def test_a_mark_is_read_from_our_own_names_only(name, ours, why):
    assert (read_mark(name, TAG) is not None) is ours, why


@given(st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?", fullmatch=True), st.uuids().map(str))
def test_every_name_that_we_give_is_read_again(name, uid):
    mark = read_mark(external_name(name, uid, TAG), TAG)
    assert mark is not None
    assert mark.fingerprint == fingerprint(uid)
    assert external_name(name, uid, TAG) == mark.base + mark.fingerprint


# --- who is an orphan


@pytest.mark.parametrize(
    ("owner", "orphan", "why"),
    [
        (None, True, "no object at all"),
        (an_owner(place=HERE), False, "its own object stands for it"),
        (an_owner(place=HERE._replace(vpc="")), False, "in whichever VPC it is"),
        (an_owner(place=None), False, "where its object belongs is not known yet"),
        (an_owner(place=HERE._replace(vpc="elsewhere")), True, "its object stands for another of its name, in another VPC"),
        (
            an_owner(place=HERE._replace(name="web"), recorded=HERE),
            False,
            "its spec chooses a name now, and the record has this",
        ),
        (an_owner(place=HERE._replace(cluster="Msc2")), True, "its object stands for another of its name, in another cluster"),
        (an_owner(place=HERE._replace(cluster="Msc2"), recorded=HERE), False, "its spec names another cluster now"),
        (an_owner(place=HERE._replace(cluster="Msc2"), anywhere=True), False, "its object is being deleted, and looks for it"),
        (an_owner("other", OTHER, place=None, anywhere=True), True, "another one is being deleted"),
        (an_owner(place=HERE._replace(cluster=HERE.cluster.upper())), False, "its object spells the cluster otherwise"),
        (an_owner(place=HERE._replace(vpc="elsewhere"), recorded=HERE), False, "its spec names another VPC now"),
        (an_owner(place=HERE._replace(name="web"), recorded=None), True, "nothing records that it was ordered for its object"),
        (an_owner(uid=OTHER, place=None), True, "a namesake with another UID is another object"),
        (an_owner(kind="GpuSnapshot", place=None), True, "the mark is of a GpuVM's UID; kinds do not mix"),
        (an_owner("other", OTHER, place=HERE), False, "an object has chosen this very name"),
        (an_owner("other", OTHER, place=HERE._replace(cluster="Msc2")), True, "chosen in another cluster"),
        (an_owner("other", OTHER, place=HERE._replace(cluster=HERE.cluster.upper())), False, "chosen in another spelling"),
        (an_owner("other", OTHER, place=HERE._replace(vpc="elsewhere")), True, "chosen in another VPC"),
    ],
)
def test_an_orphan_is_what_no_object_stands_for(owner, orphan, why):
    known = owners() if owner is None else owners(owner)
    assert bool(orphans([a_thing()], known)) is orphan, why


@pytest.mark.parametrize(("uid", "orphan"), [(UID, False), (OTHER, True)], ids=["it stands", "it is gone"])
def test_a_final_snapshot_that_was_taken_in_the_cloud_itself_is_the_gpuvms(uid, orphan):
    """It bears the mark of the GpuVM, for which no GpuSnapshot could be made."""
    taken = a_thing("final-abcde-train", kind="GpuSnapshot")
    assert bool(orphans([taken], owners(an_owner(uid=uid, place=HERE)))) is orphan


def test_a_record_that_names_no_vpc_may_be_its_objects():
    assert not orphans([a_thing(vpc="")], owners(an_owner(place=HERE)))


@pytest.mark.parametrize(
    ("owner", "wants", "why"),
    [
        (an_owner("other", OTHER), False, "another base name"),
        (an_owner("train", OTHER), True, "the same name again: PossibleDuplicate"),
        (an_owner("train", OTHER, namespace="else"), False, "another namespace"),
        (
            an_owner("copy", OTHER, "GpuSnapshot", refers=frozenset({("GpuVM", "train")})),
            True,
            "a snapshot of it is to be taken",
        ),
        (an_owner("copy", OTHER, "GpuSnapshot", refers=frozenset({("GpuVM", "else")})), False, "a snapshot of another"),
        (an_owner("copy", OTHER, "GpuSnapshot", namespace="x", uses=frozenset({HERE.name})), True, "named as the cloud does"),
    ],
)
def test_an_object_may_be_looking_for_it(owner, wants, why):
    assert owners(owner).want(a_thing(), "team") is wants, why


def test_objects_that_were_not_seen_whole_are_counted():
    assert owners(an_owner(name="", namespace="")).unread
    assert not owners(an_owner()).unread


# --- who was abandoned


def on_tombstone(**changes):
    """The last view of a GpuVM that went with its finalizer on, while its VM was there."""
    fitting = {
        "meta": an_object(deleting=True),
        "status": GpuVMStatus(order=an_order(our_name()), vm_id=our_name(), tenancy="acme"),
        "found": present(),
    }
    return facts(**fitting | changes)


def ordered(refusal=None):
    return CallHistory(first_seen=0.0, attempts={Verb.CREATE: Attempt(Verb.CREATE, NOW - 1, Asked(1), refusal)})


THEIRS = ResourceOwner("GpuVM", "team", "another")
NOTHING_THERE = Absent(NOW, NOW)
LOST = Refusal(ErrorKind.OUTCOME_UNKNOWN, "no answer", ambiguous=True)
REFUSED = Refusal(ErrorKind.INVALID, "no", ambiguous=False)


@pytest.mark.parametrize(
    ("changes", "proof", "why"),
    [
        ({}, True, "it is there, was to go with its object, and we did not let that go"),
        ({"found": NOTHING_THERE, "history": ordered()}, True, "ordered, and not listed yet"),
        ({"found": NOTHING_THERE, "history": ordered(LOST)}, True, "perhaps ordered"),
        ({"found": NOTHING_THERE, "history": ordered(REFUSED)}, False, "never made"),
        ({"found": NOTHING_THERE}, False, "not there, and not ordered by this process"),
        ({"meta": an_object(deleting=False)}, False, "nobody asked for its deletion"),
        ({"meta": an_object(deleting=True, has_finalizer=False)}, False, "it went in order"),
        ({"history": CallHistory(first_seen=0.0, finalizer_released=True)}, False, "we let it go"),
        ({"spec": a_spec(deletion=Deletion(policy=DeletionPolicy.RETAIN))}, False, "its owner wants to keep the VM"),
        ({"meta": an_object(deleting=True, annotations={Annotation.PAUSED: "true"})}, False, "its owner held everything back"),
        ({"limits": Limits(observe_only=True)}, False, "nothing is destroyed in this mode"),
        ({"spec": a_spec(vmName="chosen"), "identity": Identity("Msc1", "acme", "chosen")}, False, "the name proves nothing"),
        ({"identity": Identity("Msc1", "acme", external_name("train", UID, "other"))}, False, "a name with an earlier tag"),
        ({"found": present(duplicate_records=True)}, False, "two that cannot be told apart"),
        ({"owner": THEIRS}, False, "it is another object's"),
        ({"owner": THEIRS, "found": NOTHING_THERE, "history": ordered()}, False, "another's, whatever was ordered"),
    ],
)
def test_a_witness(changes, proof, why):
    seen = abandonment_of(on_tombstone(**changes), TAG)
    assert (seen is not None) is proof, why
    if seen is not None:
        assert (seen.kind, seen.namespace, seen.name, seen.uid, seen.at) == ("GpuVM", "team", "train", UID, NOW)
        assert (seen.where.name, seen.tenancy) == (our_name(), "acme")


# --- what may be collected

AGAINST = {
    "off": ({"rules": Rules()}, KeepReason.OFF),
    "nobody saw it": ({"abandonment": None}, KeepReason.UNWITNESSED),
    "seen of another name": ({"abandonment": a_witness(where=HERE._replace(name="else"))}, KeepReason.UNWITNESSED),
    "seen of another UID": ({"abandonment": a_witness(uid=OTHER)}, KeepReason.UNWITNESSED),
    "seen in another cluster": ({"abandonment": a_witness(where=HERE._replace(cluster="Msc2"))}, KeepReason.UNWITNESSED),
    "seen of another kind": ({"abandonment": a_witness(kind="GpuSnapshot")}, KeepReason.UNWITNESSED),
    "not all could be seen": ({"clear": False}, KeepReason.UNCLEAR),
    "an old list of objects": ({"listed": NOW - FRESH_SECONDS - 1, "seen": (0.0, 1.0)}, KeepReason.STALE),
    "objects listed before the cloud": ({"listed": NOW - 11}, KeepReason.STALE),
    "not listed": ({"seen": ()}, KeepReason.STALE),
    "twins": ({"marked": a_thing(duplicate_records=True)}, KeepReason.UNPLACED),
    "in no VPC": ({"marked": a_thing(vpc="")}, KeepReason.UNPLACED),
    "another tenant's record": ({"marked": a_thing(tenant="globex")}, KeepReason.TENANT),
    "another tenant's credential": (
        {"marked": a_thing(tenant="globex"), "account": AccountFacts("a", frozenset({"globex"}))},
        KeepReason.TENANT,
    ),
    "wanted": ({"wanted": True}, KeepReason.WANTED),
    "young": ({"rules": Rules(collect=True, age=NOW - GONE_AT + 1)}, KeepReason.YOUNG),
    "seen once": ({"seen": (NOW - 10,)}, KeepReason.SEEN_ONCE),
    "the same listing twice": ({"seen": (NOW - 10, NOW - 10)}, KeepReason.SEEN_ONCE),
    "seen only once since": ({"seen": (GONE_AT, NOW - 10)}, KeepReason.SEEN_ONCE),
    "sent already": ({"sent": NOW - RESEND_SECONDS + 1}, KeepReason.SENT),
    "three of few": ({"orphans": 3, "ours": 20}, KeepReason.MANY),
    "over a tenth of many": ({"orphans": 11, "ours": 109}, KeepReason.MANY),
}


@pytest.mark.parametrize(("changes", "why"), AGAINST.values(), ids=AGAINST)
def test_each_doubt_alone_keeps_it(changes, why):
    assert keep_reason(a_case(**changes)) is why


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, "nothing speaks against it"),
        ({"orphans": 2, "ours": 2}, "two are few, of however many"),
        ({"orphans": 10, "ours": 100}, "a tenth"),
        ({"sent": NOW - RESEND_SECONDS}, "it was asked for long ago"),
        ({"abandonment": a_witness(tenancy=None)}, "no tenant was recorded"),
        ({"abandonment": a_witness(where=HERE._replace(vpc=""))}, "its VPC was not known then"),
        ({"rules": Rules(collect=True, age=0.0)}, "an age of nothing"),
    ],
)
def test_without_doubt_it_goes(changes, why):
    assert keep_reason(a_case(**changes)) is None, why


def near(moment):
    return st.sampled_from([moment - 5000.0, moment - 100.0, moment - 1.0, moment, moment + 1.0])


CASES = st.builds(
    a_case,
    rules=st.sampled_from([RULES, Rules(), Rules(collect=True, age=0.0)]),
    marked=st.sampled_from(
        [a_thing(), a_thing(vpc=""), a_thing(duplicate_records=True), a_thing(uid=OTHER), a_thing(tenant="globex")]
    ),
    abandonment=st.one_of(st.none(), st.builds(a_witness, at=near(NOW), uid=st.sampled_from([UID, OTHER]))),
    seen=st.lists(near(NOW - 10), max_size=2).map(sorted).map(tuple),
    listed=near(NOW),
    orphans=st.integers(1, 30),
    ours=st.integers(1, 200),
    clear=st.booleans(),
    wanted=st.booleans(),
    sent=st.one_of(st.none(), near(NOW)),
)


@given(CASES)
def test_nothing_is_collected_unless_everything_speaks_for_it(case):
    """The conditions of docs/adr/0006, written here once more."""
    if keep_reason(case) is not None:
        return
    seen = case.abandonment
    assert case.rules.collect
    assert case.clear
    assert not case.wanted
    assert seen is not None
    assert case.marked.where.name == seen.where.name == external_name(seen.name, seen.uid, TAG)
    assert case.now - seen.at >= case.rules.age
    assert len([at for at in set(case.seen) if at > seen.at]) == 2
    assert case.listed >= max(case.seen)
    assert not case.marked.duplicate_records
    assert case.marked.where.vpc
    assert case.marked.record.tenancy_name == "acme"
    assert case.orphans <= max(2, case.ours / 10)


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_many_is_more_than_two_and_more_than_a_tenth(found, ours):
    assert OrphanCounts(found, ours).many is (found > 2 and 10 * found > ours)


# --- a list of objects that cannot be relied on


@pytest.mark.parametrize("listed", [(), (an_owner(uid=OTHER, name="", namespace=""),)], ids=["empty", "cold"])
def test_an_empty_or_cold_list_of_objects_kills_nothing(listed):
    """The apiserver shows nothing (a lost cluster), or what nobody has read yet: all look orphaned, and all stay."""
    things = [a_thing(f"vm-{number}", f"uid-{number}") for number in range(20)]
    known = owners(*listed)
    lost = orphans(things, known)
    assert len(lost) == 20
    for number, thing in enumerate(lost):
        seen = a_witness(thing, name=f"vm-{number}", uid=f"uid-{number}")
        assert keep_reason(a_case(marked=thing, abandonment=seen, orphans=20, ours=20, clear=not known.unread)) is not None
        assert keep_reason(a_case(marked=thing, abandonment=None, orphans=20, ours=20)) is KeepReason.UNWITNESSED
