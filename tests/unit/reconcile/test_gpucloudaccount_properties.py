"""What holds for any facts of a GpuCloudAccount."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.gpucloudaccount import GpuCloudAccountStatus
from gpucloud.kinds.meta import Annotation, ConditionType, Reason
from gpucloud.reconcile.facts import Asked, CallHistory, Limits, UnknownReason
from gpucloud.reconcile.gpucloudaccount import Contact, decide
from support.accounts import (
    DOOMED,
    FORBIDDEN,
    FREE,
    GOING,
    HELD,
    HOLD,
    OLD_SECRET,
    PAUSED,
    ROTATED,
    SECRET,
    V1,
    V2,
    VM,
    WALL,
    WATCHING,
    a_flawed_secret,
    a_secret,
    account_facts,
    an_account,
    an_account_status,
    in_trouble,
    stored,
    tried_secret,
)
from support.builders import NOW

names = st.sampled_from([None, SECRET, OLD_SECRET])
tenants = st.sampled_from([None, "acme", "other"])
versions = st.sampled_from([V1, V2])
moments = st.sampled_from([None, WALL - timedelta(seconds=700.25), WALL - timedelta(seconds=0.75)])
ended = st.tuples(
    st.sampled_from([0.0, 4.0, 5.0, 20.0, 301.0]),
    st.sampled_from([None, ErrorKind.SERVER]),
    st.sampled_from([1, 3, 9, 10_000]),
    st.sampled_from([Asked(1), DOOMED, Asked(2, "now")]),
)


@st.composite
def memories(draw):
    history = CallHistory(first_seen=NOW - draw(st.sampled_from([0.0, 3.0, 900.0])))
    for verb in (HOLD, FREE):
        call = draw(st.none() | ended)
        if call is not None:
            ago, kind, failures, asked = call
            history = tried_secret(verb, ago=ago, kind=kind, failures=failures, asked=asked, history=history)
    return history


@st.composite
def metas(draw):
    annotations = draw(
        st.sampled_from(
            [
                {},
                {},
                {},
                PAUSED,
                {Annotation.RECONCILE_REQUESTED_AT: "now"},
                {Annotation.PAUSED: "false"},
                {Annotation.PAUSED: "yes"},
            ]
        )
    )
    return an_account(
        has_finalizer=draw(st.sampled_from([True, True, True, False])),
        deleting=draw(st.booleans()),
        generation=draw(st.sampled_from([1, 2])),
        annotations=annotations,
    )


statuses = st.just(GpuCloudAccountStatus()) | st.builds(
    an_account_status,
    st.sampled_from(["Connected", "Pending", "DeletionBlocked", "Paused"]),
    st.sampled_from(["True", "False", "Unknown"]),
    st.sampled_from([1, 2]),
    held_secrets=st.sampled_from([(), (OLD_SECRET,), (SECRET,), (OLD_SECRET, SECRET)]),
    tenant=tenants,
    proven_secret=st.none() | versions,
    last_contact_at=st.sampled_from([None, WALL - timedelta(hours=1), WALL]),
    token_expires_at=st.sampled_from([None, WALL]),
    clusters=st.sampled_from([(), ("Hou1",)]),
)
secrets = st.none() | st.one_of(
    st.builds(a_secret, version=versions, has_finalizer=st.booleans(), deleting=st.booleans()),
    st.builds(a_flawed_secret, version=versions, has_finalizer=st.booleans(), deleting=st.booleans()),
)
contacts = st.builds(
    Contact, moments, st.none() | st.builds(lambda cause: in_trouble(cause).trouble, st.sampled_from(UnknownReason))
)
any_facts = st.builds(
    account_facts,
    meta=metas(),
    status=statuses,
    history=memories(),
    endpoint=st.sampled_from(["eu", "eu", "us", None]),
    secret=secrets,
    secret_trouble=st.sampled_from(["", "", "Grant it."]),
    remembered=st.booleans(),
    contact=contacts,
    clusters=st.sampled_from([(), ("Msc1", "Hou1")]),
    tenant=tenants,
    forbidden=st.sampled_from([{}, {"CreateVpc": FORBIDDEN}]),
    allowed=st.sampled_from([frozenset(), frozenset({"GetServers", "CreateVpc"})]),
    token_expires_at=st.sampled_from([None, WALL + timedelta(seconds=30.5), WALL + timedelta(hours=1)]),
    users=st.sampled_from([(), (), (VM,), tuple(f"GpuVM '{n}'" for n in range(9))]),
    users_with_resources=st.sampled_from([(), (VM,)]),
    users_of_tenant=st.sampled_from([(), (VM,)]),
    shared=st.booleans(),
    held_shared=st.sampled_from([frozenset(), frozenset({OLD_SECRET})]),
    held_elsewhere=st.sampled_from([frozenset(), frozenset({OLD_SECRET})]),
    hold_secrets=st.sampled_from([True, True, False]),
    limits=st.sampled_from([Limits(), Limits(), WATCHING]),
)


@settings(max_examples=500, deadline=None)
@given(any_facts)
def test_the_status_that_is_wanted_is_a_fixed_point(f):
    """Deciding again on what was just written changes nothing: no hot loop, no flapping, no second write."""
    plan = decide(f)
    if plan.status is None:
        return
    standing = stored(plan.status)
    again = decide(replace(f, status=standing))
    assert again.status == standing
    assert (again.action, again.targets) == (plan.action, plan.targets)
    assert again.requeue_at is None or again.requeue_at > NOW


@settings(max_examples=500, deadline=None)
@given(any_facts)
def test_conditions_keep_their_contract(f):
    plan = decide(f)
    if plan.status is None:
        return
    standing = [item.type for item in plan.status.conditions]
    assert standing.count(ConditionType.READY) == 1
    assert len(set(standing)) == len(standing)
    assert not {ConditionType.RECONCILING, ConditionType.STALLED} <= set(standing)
    assert plan.status.observed_generation == f.meta.generation


@settings(max_examples=500, deadline=None)
@given(any_facts)
def test_only_what_may_be_done_is_done(f):
    plan = decide(f)
    passive = f.meta.annotations.get(Annotation.PAUSED, "false") != "false" or f.limits.observe_only or not f.meta.has_finalizer
    assert plan.action in {None, HOLD, FREE}
    assert not (passive and (plan.action or plan.release))
    assert not (plan.action and plan.release)
    assert plan.action is None or plan.targets[0] in plan.status.held_secrets  # the record comes first
    assert plan.release is None or (f.meta.deleting and not f.users)
    if plan.action is HOLD:
        assert f.hold_secrets
        assert not f.meta.deleting
        assert not f.secret.deleting
        assert f.secret.kind is not None
        assert plan.targets == (SECRET,)
    if plan.action is FREE and f.users_with_resources:
        successor = plan.targets == (OLD_SECRET,) and f.secret is not None and f.secret.kind is not None
        assert successor or not f.hold_secrets or (f.meta.deleting and not f.users)
    if plan.action is FREE and f.meta.deleting and f.users:
        assert f.secret.deleting
        assert not f.users_with_resources
    if plan.action is FREE and plan.targets == (SECRET,):
        assert not f.shared or not f.hold_secrets
    if plan.action is FREE and plan.targets == (OLD_SECRET,):
        assert not f.held_shared or not f.hold_secrets


@settings(max_examples=500, deadline=None)
@given(any_facts)
def test_no_call_is_repeated_within_five_seconds(f):
    plan = decide(f)
    if plan.action is not None:
        last = f.attempt(plan.action)
        assert last is None or last.asked != f.asked or last.at <= NOW - 5 or plan.targets[0] not in last.targets


@settings(max_examples=500, deadline=None)
@given(any_facts)
def test_what_may_bear_our_finalizer_is_never_forgotten(f):
    """A Secret that keeps our finalizer when its account is gone can never be deleted."""
    plan = decide(f)
    seen = f.secret is not None and f.secret.has_finalizer
    if plan.release is not None:
        assert not seen or f.shared
    freed = f.attempt(FREE)
    if (
        OLD_SECRET not in f.status.held_secrets
        or f.held_elsewhere
        or (f.held_shared and f.meta.deleting)
        or (freed is not None and freed.refusal is None and freed.asked == f.asked)
    ):
        return
    assert plan.release is None
    assert plan.status is None or OLD_SECRET in plan.status.held_secrets


def test_a_deletion_ends_whatever_was_held():
    """Older Secret, Secret, account: each step of a run, with the world answering."""
    f = account_facts(meta=GOING, secret=HELD, status=ROTATED)
    calls = []
    for now in range(0, 60, 5):
        f = replace(f, now=replace(f.now, mono=NOW + now))
        plan = decide(f)
        if plan.release is not None:
            break
        f = replace(f, status=stored(plan.status))
        plan = decide(f)
        if plan.action is not None:
            calls.append(plan.targets[0])
            f = replace(f, history=tried_secret(plan.action, ago=-now, asked=DOOMED))
            f = replace(f, secret=a_secret()) if plan.targets == (SECRET,) else f
    assert calls == [OLD_SECRET, SECRET]
    assert plan.release.reason == Reason.GONE
