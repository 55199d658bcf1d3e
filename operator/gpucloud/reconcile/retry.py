"""When to try again: one table from the kind of a refusal to its reason, its delay, and whether a person must act.

Sources: service-api (Errors), the field notes ("business errors often arrive as 500, so 500 is no proof of a passing
fault"), and the catalogue of failure classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import credential
from gpucloud.reconcile.facts import CREATES

if TYPE_CHECKING:
    from gpucloud.reconcile.facts import AccountFacts, Attempt, Refusal, Verb

FAILURES_BEFORE_STALLED = 5  # failures in a row of an unclear kind before a person must act
LONGEST_DELAY = 300.0  # seconds
CORRECT = "Delete this object{does} and create it again, corrected"


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Meaning of a kind of refusal. ``base`` seconds double with each failure; None: no retry for this generation.

    ``advice`` is a sentence without its end, in which ``{does}`` is what a deletion does. It is empty for a refused credential:
    only its account tells what to replace.
    ``retried`` says what the operator does by itself, where it repeats the call; ``often`` how often it failed, after "failed".
    """

    reason: Reason
    base: float | None
    stalled: bool
    advice: str = ""
    retried: str = ""
    often: str = ""


_POLICIES: dict[ErrorKind, RetryPolicy] = {
    ErrorKind.INVALID: RetryPolicy(Reason.REJECTED, None, True, CORRECT),
    ErrorKind.NOT_FOUND: RetryPolicy(
        Reason.NOT_FOUND,
        60,
        True,
        "Create what is missing, or delete this object{does} and create it again, corrected",
        "the operator tries again every few minutes",
    ),
    ErrorKind.REDIRECTED: RetryPolicy(
        Reason.API_ERROR,
        LONGEST_DELAY,
        True,
        "Redirects are never followed. Ask the administrator to correct the endpoint's URL",
    ),
    ErrorKind.UNAUTHORIZED: RetryPolicy(Reason.CREDENTIALS_REFUSED, 60, True),
    ErrorKind.LOGIN: RetryPolicy(Reason.CREDENTIALS_REFUSED, 60, True),
    ErrorKind.FORBIDDEN: RetryPolicy(
        Reason.PERMISSION_DENIED, 300, True, "Grant the credential this permission", "the operator tries again every 5 minutes"
    ),
    ErrorKind.THROTTLED: RetryPolicy(
        Reason.RATE_LIMITED, 5, False, "The cloud asks for fewer requests", "the operator tries again"
    ),
    ErrorKind.UNAVAILABLE: RetryPolicy(
        Reason.WAITING_FOR_CAPACITY, 15, False, "The cloud has no capacity or is down", "the operator keeps trying"
    ),
    ErrorKind.NOT_SENT: RetryPolicy(
        Reason.API_UNAVAILABLE, 2, False, "The cloud cannot be reached", "the operator tries again"
    ),
}
_REPEATEDLY_FAILED = RetryPolicy(
    Reason.API_ERROR,
    LONGEST_DELAY,
    True,
    "Do as the cloud says, or ask its support",
    "the operator tries again",
    f" {FAILURES_BEFORE_STALLED} times or more",
)
# The words are the operator's own: no answer came, or none that could be read.
_REPEATEDLY_UNANSWERED = replace(_REPEATEDLY_FAILED, advice="Check the cloud, network and any proxy")
_ANSWERED = frozenset({ErrorKind.SERVER, ErrorKind.CONFLICT})  # unclear kinds whose message holds the cloud's own words
_UNCLEAR = RetryPolicy(
    Reason.API_ERROR, 5, False, "The operator checks whether the call was carried out, and tries again if not"
)


def policy(attempt: Attempt) -> RetryPolicy:
    """Return the meaning of the attempt's last refusal. Unclear kinds need a person after several failures in a row."""
    if attempt.refusal is None:
        raise ValueError("the attempt did not fail")
    found = _POLICIES.get(attempt.refusal.kind, _UNCLEAR)
    if found.base is None and attempt.verb not in CREATES:
        # A power call out of turn, or a destroy that the cloud does not like just now: what is asked for still stands.
        return replace(found, base=LONGEST_DELAY, advice="The operator tries again every 5 minutes")
    if found.reason is Reason.NOT_FOUND and attempt.verb not in CREATES:  # what was made is neither created nor corrected
        return replace(found, advice="Check in the cloud that what the call names is there")
    if found is _UNCLEAR and attempt.failures >= FAILURES_BEFORE_STALLED:
        return _REPEATEDLY_FAILED if attempt.refusal.kind in _ANSWERED else _REPEATEDLY_UNANSWERED
    return found


def advice(
    attempt: Attempt, account: AccountFacts, namespace: str, *, repeated: bool = True, brief: bool = False, does: str = ""
) -> str:
    """Return what to do about the attempt's last refusal, as sentences. ``account`` is the one whose credential was used.

    ``repeated``: the operator sends the call again by itself. ``brief``: not how soon another credential takes effect.
    ``does``: what a deletion of the object does to what may be in the cloud, in brackets after a space.
    """
    found = policy(attempt)
    if not found.advice:
        return credential.renew(account, namespace, brief=brief)
    words = found.advice.format(does=does)
    return f"{words}; {found.retried}." if repeated and found.retried else f"{words}."


def is_final(verb: Verb, refusal: Refusal | None) -> bool:
    """Whether a refusal is final for this generation of the spec."""
    found = None if refusal is None else _POLICIES.get(refusal.kind)
    return found is not None and found.base is None and verb in CREATES


def again_at(attempt: Attempt, spread: float) -> float | None:
    """The mono time before which the call must not be sent again; None: not for this generation of the spec.

    ``spread`` (0 to 1, fixed for an object) lengthens the delay by up to a quarter, so that objects which failed together
    do not come back together.
    """
    base = policy(attempt).base
    if base is None or attempt.refusal is None:
        return None
    delay = min(base * 2.0 ** min(max(attempt.failures - 1, 0), 16), max(LONGEST_DELAY, base))
    return attempt.at + max(delay * (1 + spread / 4), attempt.refusal.retry_after or 0.0)
