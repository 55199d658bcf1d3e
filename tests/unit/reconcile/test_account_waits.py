"""When an account is looked at again, and when a call about its Secret may be sent again."""

from dataclasses import replace

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile.facts import Asked, CallHistory, Limits, UnknownReason, Verb
from gpucloud.reconcile.gpucloudaccount import Contact, decide
from support.accounts import (
    ANSWERED,
    DELETING,
    SECRET,
    V1,
    a_flawed_secret,
    a_secret,
    account_facts,
    an_account,
    an_account_status,
    in_trouble,
    tried_secret,
)
from support.builders import NOW

HOLD = Verb.HOLD_SECRET
PAUSED = {Annotation.PAUSED: "true"}


def refused(*, ago=0.0, failures=1, retry_after=None, asked=None):
    history = tried_secret(HOLD, ago=ago, kind=ErrorKind.SERVER, failures=failures, asked=asked)
    attempt = history.attempts[HOLD]
    return replace(history, attempts={HOLD: replace(attempt, refusal=replace(attempt.refusal, retry_after=retry_after))})


@pytest.mark.parametrize(
    ("failures", "retry_after", "delay"),
    [
        (1, None, 5.0),
        (2, None, 10.0),
        (3, None, 20.0),
        (4, None, 40.0),
        (7, None, 300.0),  # the longest
        (10_000, None, 300.0),  # and no number too large for a float
        (1, 12.0, 12.0),  # who is asked to wait does
        (3, 12.0, 20.0),  # and never shortens its own wait
        (1, 0.0, 5.0),
    ],
)
def test_a_refused_call_is_sent_again_after_its_delay_and_not_before(failures, retry_after, delay):
    before = decide(account_facts(history=refused(ago=delay - 0.5, failures=failures, retry_after=retry_after)))
    assert before.action is None
    assert before.requeue_at == pytest.approx(NOW + 0.5)
    assert decide(account_facts(history=refused(ago=delay, failures=failures, retry_after=retry_after))).action is HOLD


def test_a_person_who_asks_anew_does_not_wait():
    assert decide(account_facts(history=refused(asked=Asked(0)))).action is HOLD


def test_the_sooner_of_two_reasons_to_look_again_counts():
    """The Secret in use is read every 30 s, though its hold may be tried again only later."""
    plan = decide(account_facts(history=refused(failures=7)))
    assert plan.requeue_at == NOW + 30


@pytest.mark.parametrize(
    ("secret", "known_for", "soonest"),
    [
        (a_secret(has_finalizer=True), 600, 30.0),
        (None, 0, 1.0),
        (None, 3.9, 1.0),
        (None, 12, 3.0),
        (None, 600, 5.0),
        (a_flawed_secret(), 12, 3.0),
        (None, -1, 1.0),  # read between two looks at the clock
    ],
)
def test_a_secret_is_read_again(secret, known_for, soonest):
    plan = decide(account_facts(secret=secret, history=CallHistory(first_seen=NOW - known_for)))
    assert plan.requeue_at == NOW + soonest


@pytest.mark.parametrize("deleting", [False, True])
def test_without_our_finalizer_it_is_soon_seen_with_it_unless_it_goes(deleting):
    assert decide(account_facts(meta=an_account(has_finalizer=False, deleting=deleting))).pending is not deleting


@pytest.mark.parametrize("generation", [1, 2])
def test_paused_it_still_reads_its_secret(generation):
    meta = an_account(annotations=PAUSED, generation=generation)
    plan = decide(account_facts(meta=meta, status=an_account_status(), secret=a_secret(has_finalizer=True)))
    assert plan.requeue_at == NOW + 30
    assert {item.observed_generation for item in plan.status.conditions} == {generation}


def test_a_paused_deletion_forgets_no_secret_that_is_held():
    meta = an_account(annotations=PAUSED, **DELETING)
    plan = decide(account_facts(meta=meta, status=an_account_status(held_secrets=(SECRET,))))
    assert plan.status.held_secrets == (SECRET,)


def test_a_secret_that_is_not_there_is_not_recorded_as_held():
    assert decide(account_facts(secret=None)).status.held_secrets == ()


def test_after_a_restart_an_untried_account_is_soon_tried():
    status = an_account_status(proven_secret=V1)
    plan = decide(
        account_facts(
            contact=Contact(), status=status, history=CallHistory(first_seen=NOW - 50), secret=a_secret(has_finalizer=True)
        )
    )
    assert plan.status is None
    assert (plan.requeue_at, plan.pending) == (NOW + 10, True)


def test_every_condition_speaks_of_the_generation_that_was_looked_at():
    for changes in ({}, {"forbidden": {"GetServers": "no"}}, {"secret": None}, {"limits": Limits(observe_only=True)}):
        plan = decide(account_facts(meta=an_account(generation=7), **changes))
        assert {item.observed_generation for item in plan.status.conditions} == {7}


@pytest.mark.parametrize(("remembered", "kept"), [(True, "ApiKey"), (False, None)])
def test_the_kind_of_a_credential_that_is_still_in_use_stays_shown(remembered, kept):
    plan = decide(account_facts(secret=None, remembered=remembered, status=an_account_status()))
    assert plan.status.credential_kind == (an_account_status().credential_kind if kept else None)


@pytest.mark.parametrize(
    ("users", "says"),
    [
        (("GpuVM 'train'",), ("1 object of this account is of tenant 'acme'",)),
        (("GpuVM 'a'", "GpuVM 'b'"), ("2 objects of this account are of tenant 'acme'",)),
    ],
)
def test_a_mismatch_counts_whom_it_concerns(users, says):
    plan = decide(
        account_facts(tenant="other", users_of_tenant=users, status=an_account_status(tenant="acme"), contact=ANSWERED)
    )
    ready = plan.status.conditions[0]
    assert ready.reason == Reason.TENANT_MISMATCH
    assert all(words in ready.message for words in says)


def lost_secret(contact):
    facts = account_facts(secret=None, remembered=True, users=("GpuVM 'train'",), contact=contact)
    return decide(facts).status.conditions[0].message


def test_a_lost_secret_says_until_when_the_old_credential_serves_and_how_to_create_another():
    message = lost_secret(ANSWERED)
    words = "Until the operator restarts, the old credential stays in use for what exists, and nothing new is created."
    assert words in message
    create = f"kubectl create secret generic {SECRET} --namespace=team --from-file=apikey=FILE"
    assert message.endswith(f"Create it: {create}")


@pytest.mark.parametrize("contact", [Contact(), in_trouble(UnknownReason.REFUSED)], ids=["no answer yet", "refused"])
def test_a_credential_that_was_never_accepted_is_not_told_to_stay_in_use(contact):
    assert "stays in use" not in lost_secret(contact)
