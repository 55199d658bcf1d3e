"""When to try again: by kind of refusal, never fast, never in step."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import AccountFacts, Asked, Attempt, Refusal, Verb
from gpucloud.reconcile.retry import FAILURES_BEFORE_STALLED, advice, again_at, policy

KINDS = st.sampled_from(ErrorKind)
OWN = AccountFacts(OWN_ACCOUNT)


def failed(kind, failures=1, retry_after=None, at=1000.0):
    return Attempt(Verb.CREATE, at, Asked(1), Refusal(kind, "words", ambiguous=True, retry_after=retry_after), failures)


@pytest.mark.parametrize(
    ("kind", "reason", "stalled", "delays"),
    [
        (ErrorKind.UNAUTHORIZED, Reason.CREDENTIALS_REFUSED, True, [60, 120, 240, 300]),
        (ErrorKind.LOGIN, Reason.CREDENTIALS_REFUSED, True, [60, 120, 240, 300]),
        (ErrorKind.FORBIDDEN, Reason.PERMISSION_DENIED, True, [300, 300]),
        (ErrorKind.NOT_FOUND, Reason.NOT_FOUND, True, [60, 120]),
        (ErrorKind.REDIRECTED, Reason.API_ERROR, True, [300]),
        (ErrorKind.THROTTLED, Reason.RATE_LIMITED, False, [5, 10, 20, 40, 80, 160, 300, 300]),
        (ErrorKind.UNAVAILABLE, Reason.WAITING_FOR_CAPACITY, False, [15, 30, 60, 120, 240, 300]),
        (ErrorKind.NOT_SENT, Reason.API_UNAVAILABLE, False, [2, 4, 8, 16, 32, 64, 128, 256, 300]),
        (ErrorKind.SERVER, Reason.API_ERROR, False, [5, 10, 20, 40]),
        (ErrorKind.OUTCOME_UNKNOWN, Reason.API_ERROR, False, [5, 10, 20, 40]),
        (ErrorKind.CONFLICT, Reason.API_ERROR, False, [5, 10, 20, 40]),
    ],
)
def test_the_table(kind, reason, stalled, delays):
    for failures, delay in enumerate(delays, 1):
        attempt = failed(kind, failures)
        assert (policy(attempt).reason, policy(attempt).stalled) == (reason, stalled)
        assert again_at(attempt, 0.0) == 1000.0 + delay


def test_what_is_refused_as_wrong_is_not_repeated():
    assert again_at(failed(ErrorKind.INVALID), 0.5) is None
    assert policy(failed(ErrorKind.INVALID)).stalled


@pytest.mark.parametrize("kind", [ErrorKind.SERVER, ErrorKind.OUTCOME_UNKNOWN, ErrorKind.CONFLICT, ErrorKind.MALFORMED])
def test_an_unclear_fault_that_stays_calls_a_person(kind):
    """500 is how the service tells business errors too."""
    assert not policy(failed(kind, FAILURES_BEFORE_STALLED - 1)).stalled
    assert policy(failed(kind, FAILURES_BEFORE_STALLED)).stalled
    assert again_at(failed(kind, FAILURES_BEFORE_STALLED), 0.0) == 1300.0


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (ErrorKind.SERVER, "Do as the cloud says"),
        (ErrorKind.CONFLICT, "Do as the cloud says"),
        (ErrorKind.OUTCOME_UNKNOWN, "Check the cloud, network and any proxy"),
        (ErrorKind.MALFORMED, "Check the cloud, network and any proxy"),
        (ErrorKind.TOO_LARGE, "Check the cloud, network and any proxy"),
    ],
)
def test_the_cloud_is_quoted_only_where_it_has_said_something(kind, says):
    """A connection that broke, or an answer that cannot be read, is described in the operator's words."""
    assert says in advice(failed(kind, FAILURES_BEFORE_STALLED), OWN, "team")


@pytest.mark.parametrize("kind", [ErrorKind.UNAVAILABLE, ErrorKind.THROTTLED, ErrorKind.NOT_SENT])
def test_scarcity_and_outages_never_call_a_person(kind):
    assert not policy(failed(kind, 10_000)).stalled


@given(KINDS, st.integers(1, 10_000), st.floats(0, 1), st.one_of(st.none(), st.floats(0, 300)))
def test_every_refusal_has_a_policy_and_a_bounded_delay(kind, failures, spread, retry_after):
    attempt = failed(kind, failures, retry_after)
    assert advice(attempt, OWN, "team").endswith(".")
    again = again_at(attempt, spread)
    if again is not None:
        assert 2.0 <= again - attempt.at <= 375.0
        assert again >= attempt.at + (retry_after or 0.0)


@given(KINDS, st.integers(1, 100))
def test_delays_never_shrink_while_it_goes_on_failing(kind, failures):
    sooner, later = again_at(failed(kind, failures), 0.3), again_at(failed(kind, failures + 1), 0.3)
    assert (sooner is None) == (later is None)
    assert sooner is None or sooner <= later


def test_two_objects_that_failed_together_do_not_come_back_together():
    assert again_at(failed(ErrorKind.UNAVAILABLE), 0.0) != again_at(failed(ErrorKind.UNAVAILABLE), 0.5)


def test_what_did_not_fail_has_no_policy():
    worked = Attempt(Verb.CREATE, 1.0, Asked(1))
    with pytest.raises(ValueError, match="did not fail"):
        policy(worked)
