"""Facts of a GpuCloudAccount with defaults, so that a test says only what it is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from gpucloud.kinds.gpucloudaccount import (
    CredentialKind,
    GpuCloudAccountSpec,
    GpuCloudAccountStatus,
    RequestBudget,
    SecretVersion,
)
from gpucloud.kinds.meta import Annotation, ConditionType, Reason
from gpucloud.kinds.model import Condition
from gpucloud.reconcile.facts import Asked, Attempt, CallHistory, Limits, Now, Refusal, Unknown, UnknownReason, Verb
from gpucloud.reconcile.gpucloudaccount import AccountStateFacts, Contact, SecretFacts
from support.builders import NOW, START, an_object
from support.rows import Row

ACCOUNT, SECRET, OLD_SECRET = "default", "cloud-credential", "cloud-credential-of-last-year"
V1, V2 = (SecretVersion(uid="secret-uid", resource_version=number) for number in ("1", "2"))
WALL = START + timedelta(seconds=NOW)
ANSWERED = Contact(last=WALL - timedelta(seconds=1))
SINCE_LONG = CallHistory(first_seen=NOW - 600)
BUDGET = RequestBudget(requests_per_second="10", burst=20)
DELETING = {"name": ACCOUNT, "deleting": True, "generation": 2}  # a deletion is a new generation


def an_account(**changes):
    return an_object(**{"name": ACCOUNT, **changes})


def an_account_spec(**changes):
    return GpuCloudAccountSpec.model_validate({"secretRef": {"name": SECRET}} | changes)


def a_secret(**changes):
    return replace(SecretFacts(V1, CredentialKind.API_KEY), **changes)


def a_flawed_secret(**changes):
    return a_secret(**{"kind": None, "flaw": "it holds both kinds of credential", **changes})


def in_trouble(cause, last=None):
    return Contact(last, Unknown(NOW - 1, cause, "the cloud's own words"))


def tried_secret(verb, *, ago=1.0, kind=None, failures=1, asked=None, history=SINCE_LONG):
    """What is remembered after one call, by default for the first generation."""
    refusal = None if kind is None else Refusal(kind, "the apiserver's own words", ambiguous=False)
    attempt = Attempt(verb, NOW - ago, asked or Asked(1), refusal, failures if refusal else 0, targets=(SECRET, OLD_SECRET))
    return replace(history, attempts={**history.attempts, verb: attempt})


def an_account_status(reason="Connected", ready="True", generation=1, **fields):
    """A status as it stands after some life."""
    condition = Condition(
        type=ConditionType.READY,
        status=ready,
        reason=reason,
        message="Made up.",
        observed_generation=generation,
        last_transition_time=START,
    )
    known = {"endpoint": "eu", "credential_kind": CredentialKind.API_KEY, "request_budget": BUDGET}
    return GpuCloudAccountStatus(observed_generation=generation, conditions=(condition,), **(known | fields))


def account_facts(**changes):
    """A guarded account whose API key the cloud has just accepted; nothing uses it, and its Secret is not held yet.

    Its users have something in the cloud, unless ``holders`` says who has.
    """
    base = AccountStateFacts(
        now=Now(WALL, NOW),
        meta=an_account(),
        spec=an_account_spec(),
        status=GpuCloudAccountStatus(),
        history=SINCE_LONG,
        endpoint="eu",
        endpoints=("eu", "us"),
        secret=a_secret(),
        contact=ANSWERED,
        budget=BUDGET,
    )
    return replace(base, **{"users_with_resources": changes.get("users", ()), **changes})


HOLD, FREE = Verb.HOLD_SECRET, Verb.FREE_SECRET
VM, SNAPSHOT = "GpuVM 'train'", "GpuSnapshot 'nightly'"
GOING = an_account(**DELETING)
PAUSED = {Annotation.PAUSED: "true"}
WATCHING = Limits(observe_only=True)
HELD = a_secret(has_finalizer=True)
ROTATED = an_account_status(held_secrets=(OLD_SECRET,))  # by name: the spec names another Secret now
DOOMED = Asked(2)  # what is asked of an account in DELETING
REFUSED, UNREACHABLE = in_trouble(UnknownReason.REFUSED), in_trouble(UnknownReason.UNREACHABLE, ANSWERED.last)
FORBIDDEN = "Required permissions are not granted."


def a_row(why, given=None, *verdict, target=SECRET, **more):
    """A row of the table, whose action is about the Secret that the spec names unless ``target`` says otherwise."""
    row = Row(why, given or {}, *verdict, targets=(target,) if more.get("action") else (), **more)
    return replace(row, pending=None if row.reason is None else row.progress == "Reconciling")


def connected(why, given=None, **more):
    return a_row(why, given, Reason.CONNECTED, "True", None, **more)


def going(why, given, **more):
    """A row of an account whose Secret is being deleted: Ready, since its objects are still served."""
    return a_row(why, given, Reason.SECRET_DELETING, "True", None, **more)


def stalled(why, given, reason, **more):
    return a_row(why, given, reason, progress="Stalled", **more)


def stored(status):
    """As it comes back from the apiserver."""
    return GpuCloudAccountStatus.model_validate(status.model_dump(mode="json", by_alias=True, exclude_none=True))
