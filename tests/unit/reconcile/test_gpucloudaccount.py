"""The decisions about a GpuCloudAccount, one situation a row; each row says why it matters."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.gpucloudaccount import Access, CredentialKind, GpuCloudAccountStatus
from gpucloud.kinds.meta import Annotation, ConditionType, Reason
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import Asked, CallHistory, Limits, UnknownReason, Verb
from gpucloud.reconcile.gpucloudaccount import Contact, decide
from support.accounts import (
    ANSWERED,
    DELETING,
    OLD_SECRET,
    SECRET,
    V1,
    V2,
    WALL,
    a_flawed_secret,
    a_secret,
    account_facts,
    an_account,
    an_account_spec,
    an_account_status,
    in_trouble,
    tried_secret,
)
from support.builders import NOW

HOLD, FREE = Verb.HOLD_SECRET, Verb.FREE_SECRET
VM, SNAPSHOT = "GpuVM 'train'", "GpuSnapshot 'nightly'"
GOING = an_account(**DELETING)
PAUSED = {Annotation.PAUSED: "true"}
WATCHING = Limits(observe_only=True)
HELD = a_secret(held=True)
ROTATED = an_account_status(held_secret=OLD_SECRET)  # by name: the spec names another Secret now
DOOMED = Asked(2)  # what is asked of an account in DELETING
REFUSED, UNREACHABLE = in_trouble(UnknownReason.REFUSED), in_trouble(UnknownReason.UNREACHABLE, ANSWERED.last)
FORBIDDEN = "Required permissions are not granted."


@dataclass
class Row:
    why: str
    given: dict = field(default_factory=dict)
    reason: Reason | None = None
    ready: str = "False"
    progress: str | None = "Reconciling"
    action: Verb | None = None
    target: str = SECRET
    released: bool = False
    says: tuple[str, ...] = ()
    status: dict = field(default_factory=dict)
    wakes: float | None = None  # at most this many seconds from now


def connected(why, given=None, **more):
    return Row(why, given or {}, Reason.CONNECTED, "True", None, **more)


def stalled(why, given, reason, **more):
    return Row(why, given, reason, progress="Stalled", **more)


LIFE = {
    "without our finalizer nothing happens": Row(
        "a Secret held by an account that is gone is held for ever", {"meta": an_account(has_finalizer=False)}
    ),
    "observe-only speaks without our finalizer": connected(
        "it puts none on", {"meta": an_account(has_finalizer=False), "limits": WATCHING}, says=("--observe-only", "HoldSecret")
    ),
    'the value "false" does not pause': connected(
        "a template may render it", {"meta": an_account(annotations={Annotation.PAUSED: "false"}), "secret": HELD}
    ),
    "paused keeps the last verdict and touches nothing": connected(
        "a person's hand is on it", {"meta": an_account(annotations=PAUSED), "status": an_account_status(), "contact": REFUSED}
    ),
    "paused before a new generation was seen is Unknown": Row(
        "an old Ready=True beside a new generation would lie",
        {"meta": an_account(annotations=PAUSED, generation=2), "status": an_account_status()},
        Reason.PAUSED,
        "Unknown",
        None,
    ),
    "an endpoint that nobody declared": stalled(
        "the administrator alone says where credentials are sent",
        {"endpoint": None, "spec": an_account_spec(endpoint="mars"), "secret": HELD},
        Reason.UNKNOWN_ENDPOINT,
        says=("'mars'", "'eu', 'us'", "--endpoint"),
    ),
    "a credential that works": connected(
        "the whole point",
        {"secret": HELD, "tenant": "acme"},
        says=("API key", repr(SECRET), "'eu'", "'acme'"),
        status={"endpoint": "eu", "tenant": "acme", "credential_kind": CredentialKind.API_KEY, "proven_secret": V1},
        wakes=30,
    ),
    "a login that works": connected(
        "the other kind", {"secret": a_secret(held=True, kind=CredentialKind.LOGIN)}, says=("login", "not shown its tenant")
    ),
    "restricted is not unready": connected(
        "the key works, and may not do everything", {"secret": HELD, "contact": in_trouble(UnknownReason.FORBIDDEN)}
    ),
    "not tried yet": Row(
        "neither good nor bad is known",
        {"secret": HELD, "contact": Contact()},
        Reason.PENDING,
        "Unknown",
        says=("not been tried yet",),
    ),
    "refused": stalled(
        "a person must put another key in",
        {"secret": HELD, "contact": REFUSED},
        Reason.CREDENTIALS_REFUSED,
        says=("the cloud's own words", repr(SECRET)),
    ),
    "unreachable": Row(
        "the account says at once what 10,000 objects say later",
        {"secret": HELD, "contact": UNREACHABLE},
        Reason.API_UNAVAILABLE,
        "Unknown",
        says=("the cloud's own words", "'eu'"),
    ),
    "a cause that no contact should have": Row(
        "total", {"secret": HELD, "contact": in_trouble(UnknownReason.IMPLAUSIBLE)}, Reason.API_UNAVAILABLE, "Unknown"
    ),
}

SECRETS = {
    "missing": Row(
        "applied in any order",
        {"secret": None, "memory": CallHistory(first_seen=NOW)},
        Reason.SECRET_NOT_FOUND,
        says=(repr(SECRET), "'team'", "spec.secretRef"),
        wakes=1,
    ),
    "missing for long": Row("seldom, and never later than this", {"secret": None}, Reason.SECRET_NOT_FOUND, wakes=5),
    "missing while its credential is in use": Row(
        "with the finalizer switched off a Secret may go first: which one is needed again?",
        {"secret": None, "remembered": True, "users": (SNAPSHOT, VM), "hold_secrets": False},
        Reason.SECRET_NOT_FOUND,
        says=(repr(SECRET), "stays in use", "After a restart", "2 objects"),
    ),
    "missing, so no longer held": Row(
        "what is gone is not held", {"secret": None, "status": an_account_status(held_secret=SECRET)}, Reason.SECRET_NOT_FOUND
    ),
    "not to be read": Row(
        "rights are missing, not the Secret",
        {"secret": None, "secret_trouble": "Grant it.", "status": an_account_status(held_secret=SECRET)},
        Reason.SECRET_NOT_FOUND,
        says=("Grant it.",),
        status={"held_secret": SECRET},
        wakes=5,
    ),
    "invalid": stalled(
        "nothing of it is repeated, the flaw is",
        {"secret": a_flawed_secret()},
        Reason.INVALID_SECRET,
        says=(repr(SECRET), "it holds both kinds of credential."),
        wakes=5,
    ),
    "a flaw counts, whatever the kind": stalled("total", {"secret": a_secret(flaw="it is odd")}, Reason.INVALID_SECRET),
    "neither kind nor flaw": stalled("total", {"secret": a_secret(kind=None)}, Reason.INVALID_SECRET),
    "the endpoint comes before the Secret": stalled(
        "cure first things first", {"endpoint": None, "secret": None}, Reason.UNKNOWN_ENDPOINT
    ),
}

TENANTS = {
    "another tenant's key": stalled(
        "with it everything of ours looks gone",
        {"secret": HELD, "tenant": "other", "status": an_account_status(tenant="acme", proven_secret=V2), "bound": (VM,)},
        Reason.TENANT_MISMATCH,
        says=("is of tenant 'other'", "belongs to tenant 'acme'", "Nothing is destroyed or re-created", "another account"),
        status={"tenant": "acme", "proven_secret": V2},
    ),
    "another tenant's key that nobody uses": connected(
        "there is nothing to protect",
        {"secret": HELD, "tenant": "other", "status": an_account_status(tenant="acme", proven_secret=V2)},
        status={"tenant": "other", "proven_secret": V1},
    ),
    "another tenant's key, whose objects are that other tenant's": connected(
        "an earlier key was put in by mistake before anything of ours had been seen",
        {"secret": HELD, "tenant": "other", "status": an_account_status(tenant="acme", proven_secret=V2), "users": (VM,)},
        status={"tenant": "other", "proven_secret": V1},
    ),
    "a key that has shown nothing": connected(
        "unknown is not different, and proves nothing",
        {"secret": HELD, "status": an_account_status(tenant="acme", proven_secret=V2), "bound": (VM,)},
        status={"tenant": "acme", "proven_secret": V2},
    ),
    "proof is not taken from a credential in trouble": stalled(
        "only what the cloud takes can prove",
        {"secret": HELD, "contact": in_trouble(UnknownReason.REFUSED, ANSWERED.last), "tenant": "acme"},
        Reason.CREDENTIALS_REFUSED,
        status={"tenant": "acme", "proven_secret": None},
    ),
    "proof is not taken from a Secret that holds another": stalled(
        "the credential in use was read before",
        {"secret": a_flawed_secret(), "remembered": True, "tenant": "acme"},
        Reason.INVALID_SECRET,
        status={"tenant": "acme", "proven_secret": None},
    ),
}

HOLDING = {
    "hold": connected("before anybody can delete it", action=HOLD, status={"held_secret": SECRET}),
    "held already": connected("no call twice", {"secret": HELD}, status={"held_secret": SECRET}),
    "hold whatever the cloud says": stalled(
        "an outage is no reason to lose the Secret", {"contact": REFUSED}, Reason.CREDENTIALS_REFUSED, action=HOLD
    ),
    "hold nothing that is of no use": stalled(
        "it would block its correction", {"secret": a_flawed_secret()}, Reason.INVALID_SECRET
    ),
    "hold nothing that is being deleted": connected("the apiserver forbids it", {"secret": a_secret(deleting=True)}),
    "hold nothing when switched off": connected("the administrator's choice", {"hold_secrets": False}),
    "hold nothing when only watching": connected(
        "it does nothing, and says what it would do", {"limits": WATCHING}, says=("would call HoldSecret",)
    ),
    "hold nothing while paused": connected(
        "a person's hand is on it", {"meta": an_account(annotations=PAUSED), "status": an_account_status()}
    ),
    "switched off, free": connected(
        "what was held must not stay so for ever",
        {"secret": HELD, "hold_secrets": False, "users": (VM,)},
        action=FREE,
        status={"held_secret": SECRET},
    ),
    "freed, and status says so": connected(
        "the record ends when the finalizer is seen to be off",
        {"hold_secrets": False, "status": an_account_status(held_secret=SECRET)},
        status={"held_secret": None},
    ),
    "a Secret being deleted, in use: kept": connected(
        "its users need it to their end",
        {"secret": a_secret(held=True, deleting=True), "users": (VM,)},
        status={"held_secret": SECRET},
    ),
    "a Secret being deleted, unused: freed": connected(
        "nobody needs it", {"secret": a_secret(held=True, deleting=True)}, action=FREE
    ),
    "a Secret being deleted, whose users only wait: freed": connected(
        "the finalizer stands for what may exist: a wrong key that bought nothing must be deletable",
        {"secret": a_secret(held=True, deleting=True), "users": (SNAPSHOT, VM), "holders": ()},
        action=FREE,
        says=("The Secret is being deleted: nothing new is begun with it.",),
    ),
    "a Secret being deleted, one user has a VM and one waits: kept": connected(
        "the VM needs it to its end",
        {"secret": a_secret(held=True, deleting=True), "users": (SNAPSHOT, VM), "holders": (VM,)},
        says=(f"It goes after {VM}.",),
        wakes=5,
    ),
    "a Secret being deleted that another account uses: kept": connected(
        "it is not ours to free", {"secret": a_secret(held=True, deleting=True), "shared": True}
    ),
    "rotated by name: free the old one": connected(
        "nothing needs it any more, users or not",
        {"status": ROTATED, "users": (VM,)},
        action=FREE,
        target=OLD_SECRET,
        status={"held_secret": OLD_SECRET},
    ),
    "rotated by name, and the new one cannot be used: keep the old one": stalled(
        "a way back",
        {"status": ROTATED, "secret": a_flawed_secret()},
        Reason.INVALID_SECRET,
        status={"held_secret": OLD_SECRET},
    ),
    "rotated by name, and the new one is missing: keep the old one": Row(
        "a way back", {"status": ROTATED, "secret": None}, Reason.SECRET_NOT_FOUND, status={"held_secret": OLD_SECRET}
    ),
    "rotated by name, held before: the old one first": connected(
        "the record has room for one name",
        {"status": ROTATED, "secret": HELD, "hold_secrets": False},
        action=FREE,
        target=OLD_SECRET,
    ),
    "rotated by name, the old one freed: hold the new one": connected(
        "the hold moves on", {"status": ROTATED, "memory": tried_secret(FREE)}, action=HOLD, status={"held_secret": SECRET}
    ),
    "a call for an earlier spec frees nothing now": connected(
        "it was about another Secret",
        {"status": ROTATED, "memory": tried_secret(FREE), "meta": an_account(generation=2)},
        action=FREE,
        target=OLD_SECRET,
    ),
    "a call before the last hold frees nothing now": connected(
        "what was held since is not free",
        {"status": ROTATED, "memory": tried_secret(HOLD, ago=7, memory=tried_secret(FREE, ago=8))},
        action=FREE,
        target=OLD_SECRET,
    ),
    "rotated by name, the old one another account's: only forget it": connected(
        "it is not ours to free", {"status": ROTATED, "held_shared": True}, action=HOLD, status={"held_secret": SECRET}
    ),
    "rotated by name under observe-only: only say so": connected(
        "it does nothing",
        {"status": ROTATED, "limits": WATCHING},
        says=("would call FreeSecret",),
        status={"held_secret": OLD_SECRET},
    ),
    "a hold that failed waits": connected(
        "no hot loop", {"memory": tried_secret(HOLD, kind=ErrorKind.SERVER)}, wakes=4, status={"held_secret": SECRET}
    ),
    "a hold that failed comes again": connected(
        "it is still wanted", {"memory": tried_secret(HOLD, ago=5, kind=ErrorKind.SERVER)}, action=HOLD
    ),
    "a hold that failed often waits longer": connected(
        "no hot loop", {"memory": tried_secret(HOLD, ago=290, kind=ErrorKind.SERVER, failures=40)}, wakes=10
    ),
    "a hold that failed longest ago comes again": connected(
        "not never", {"memory": tried_secret(HOLD, ago=300, kind=ErrorKind.SERVER, failures=40)}, action=HOLD
    ),
    "a hold that had no effect waits too": connected(
        "somebody may take it off each time", {"memory": tried_secret(HOLD)}, wakes=4
    ),
    "a person's request lifts the wait": connected(
        "a person asks anew",
        {
            "meta": an_account(annotations={Annotation.RECONCILE_REQUESTED_AT: "now"}),
            "memory": tried_secret(HOLD, kind=ErrorKind.SERVER),
        },
        action=HOLD,
    ),
}

DELETION = {
    "after its finalizer nothing is ours to do": Row("gone is gone", {"meta": an_account(**DELETING, has_finalizer=False)}),
    "paused holds it": stalled(
        "pause means hands off, deletion included",
        {"meta": an_account(**DELETING, annotations=PAUSED), "secret": HELD},
        Reason.DELETION_BLOCKED,
        says=("paused",),
    ),
    "observe-only frees and releases nothing": stalled(
        "it does nothing",
        {"meta": GOING, "secret": HELD, "limits": WATCHING},
        Reason.DELETION_BLOCKED,
        says=("--observe-only",),
        status={"held_secret": SECRET},
    ),
    "used: held": Row(
        "a credential not before its last user",
        {"meta": GOING, "secret": HELD, "users": (SNAPSHOT, VM)},
        Reason.DELETION_BLOCKED,
        says=(f"Still used by {SNAPSHOT}, {VM}. It goes as soon as they are gone.",),
        status={"held_secret": SECRET, "users": 2},
    ),
    "used by many: the first are named": Row(
        "a message is for reading",
        {"meta": GOING, "users": tuple(f"GpuVM '{n}'" for n in range(7))},
        Reason.DELETION_BLOCKED,
        says=("GpuVM '4' and 2 more",),
    ),
    "used by what only waits, its Secret deleted first: the Secret is freed": Row(
        "else both hang on objects that need neither",
        {"meta": GOING, "secret": a_secret(held=True, deleting=True), "users": (VM,), "holders": ()},
        Reason.DELETION_BLOCKED,
        action=FREE,
        says=(f"Still used by {VM}",),
    ),
    "used by what only waits, its Secret not deleted: kept with the account": Row(
        "without the account its users would take the operator's own",
        {"meta": GOING, "secret": HELD, "users": (VM,), "holders": ()},
        Reason.DELETION_BLOCKED,
    ),
    "used by what only waits, under observe-only: nothing is freed": stalled(
        "it does nothing",
        {"meta": GOING, "secret": a_secret(held=True, deleting=True), "users": (VM,), "holders": (), "limits": WATCHING},
        Reason.DELETION_BLOCKED,
    ),
    "used by a VM, its Secret deleted first: kept": Row(
        "the VM needs it to its end",
        {"meta": GOING, "secret": a_secret(held=True, deleting=True), "users": (VM,)},
        Reason.DELETION_BLOCKED,
    ),
    "used, and the Secret is gone: say which is needed": Row(
        "after a restart its users cannot be destroyed without it",
        {"meta": GOING, "secret": None, "users": (VM,)},
        Reason.DELETION_BLOCKED,
        says=(VM, repr(SECRET)),
        wakes=5,
    ),
    "unused as far as is known, before everything is: wait": Row(
        "the VM that needs it may be shown a moment later", {"meta": GOING, "secret": HELD, "synced": False}
    ),
    "unused as far as is known, and not held: wait all the same": Row(
        "with the account its users lose their credential", {"meta": GOING, "synced": False}
    ),
    "a surplus hold, before everything is known: wait": connected(
        "another account may need it", {"secret": a_secret(held=True, deleting=True), "synced": False}
    ),
    "unused: free the Secret first": Row(
        "else it hangs for ever", {"meta": GOING, "secret": HELD}, Reason.DELETING, action=FREE, says=(repr(SECRET),)
    ),
    "unused, an older Secret is held too: that first": Row(
        "else it hangs for ever",
        {"meta": GOING, "secret": HELD, "status": ROTATED},
        Reason.DELETING,
        action=FREE,
        target=OLD_SECRET,
    ),
    "the older one freed: then the other": Row(
        "both must go",
        {"meta": GOING, "secret": HELD, "status": ROTATED, "memory": tried_secret(FREE, ago=5, asked=DOOMED)},
        Reason.DELETING,
        action=FREE,
    ),
    "unused and shared: the Secret stays held": Row(
        "another account needs it", {"meta": GOING, "secret": HELD, "shared": True}, released=True
    ),
    "unused and not held": Row("nothing keeps it", {"meta": GOING}, released=True),
    "unused, the Secret gone": Row("nothing keeps it", {"meta": GOING, "secret": None}, released=True),
    "unused, the Secret of no use": Row("nothing keeps it", {"meta": GOING, "secret": a_flawed_secret()}, released=True),
    "held, and not to be read: still to be freed": Row(
        "not seen is not free",
        {
            "meta": GOING,
            "secret": None,
            "secret_trouble": "Grant it.",
            "status": an_account_status(held_secret=SECRET),
        },
        Reason.DELETING,
        action=FREE,
    ),
    "freed, and not to be read": Row(
        "the call went well",
        {
            "meta": GOING,
            "secret": None,
            "secret_trouble": "Grant it.",
            "status": an_account_status(held_secret=SECRET),
            "memory": tried_secret(FREE, asked=DOOMED),
        },
        released=True,
    ),
    "freeing fails: said, and waited for": Row(
        "a person must know why it does not go",
        {"meta": GOING, "secret": HELD, "memory": tried_secret(FREE, kind=ErrorKind.SERVER, asked=DOOMED)},
        Reason.DELETION_BLOCKED,
        says=("the apiserver's own words", repr(SECRET), "get and patch"),
        wakes=4,
    ),
    "freeing failed long enough ago: again": Row(
        "it is not given up",
        {"meta": GOING, "secret": HELD, "memory": tried_secret(FREE, ago=5, kind=ErrorKind.SERVER, asked=DOOMED)},
        Reason.DELETION_BLOCKED,
        action=FREE,
        says=("the apiserver's own words",),
    ),
    "freeing fails again and again: a person is called": stalled(
        "it will not mend by itself",
        {"meta": GOING, "secret": HELD, "memory": tried_secret(FREE, kind=ErrorKind.SERVER, failures=5, asked=DOOMED)},
        Reason.DELETION_BLOCKED,
    ),
}

ROWS = {
    f"{name}: {sentence}": row
    for name, rows in {"life": LIFE, "secret": SECRETS, "tenant": TENANTS, "hold": HOLDING, "end": DELETION}.items()
    for sentence, row in rows.items()
}


@pytest.mark.parametrize("sentence", ROWS)
def test_decision(sentence):
    row = ROWS[sentence]
    plan = decide(account_facts(**row.given))
    assert plan.action == row.action, row.why
    assert plan.targets == ((row.target,) if row.action else ()), row.why
    assert (plan.release is not None) == row.released, row.why
    if row.wakes is not None:
        assert NOW < plan.wake_at <= NOW + row.wakes, row.why
    if row.reason is None:
        assert plan.status is None, row.why
        return
    conditions = {item.type: item for item in plan.status.conditions}
    ready = conditions[ConditionType.READY]
    assert (ready.reason, ready.status) == (row.reason, row.ready), row.why
    assert set(conditions) - {ConditionType.READY, ConditionType.PAUSED} == ({row.progress} if row.progress else set()), row.why
    assert plan.pending == (row.progress == "Reconciling"), row.why
    assert [words for words in row.says if words not in ready.message] == [], ready.message
    for name, value in row.status.items():
        assert getattr(plan.status, name) == value, f"{name}: {row.why}"


def test_every_message_ends_as_a_sentence():
    for sentence, row in ROWS.items():
        plan = decide(account_facts(**row.given))
        for condition in plan.status.conditions if plan.status else ():
            assert condition.message.endswith("."), sentence
            assert ".." not in condition.message, sentence


def test_paused_stands_beside_ready_and_goes_with_the_annotation():
    given = {"meta": an_account(annotations=PAUSED), "status": an_account_status(), "secret": HELD}
    standing = decide(account_facts(**given)).status
    assert find(standing.conditions, ConditionType.PAUSED).status == "True"
    assert find(decide(account_facts(secret=HELD, status=standing)).status.conditions, ConditionType.PAUSED) is None


def test_what_is_forbidden_stands_beside_ready():
    forbidden = {"DestroyVpc": "No.", "CreateVpc": FORBIDDEN}
    status = decide(account_facts(forbidden=forbidden, allowed=frozenset({"GetServers", "CreateVpc"}))).status
    restricted = find(status.conditions, ConditionType.RESTRICTED)
    assert restricted.message.startswith(
        "The cloud forbids this credential CreateVpc (Required permissions are not granted), DestroyVpc (No). "
    )
    assert "never probed" in restricted.message
    assert [(item.name, item.access, item.message) for item in status.operations] == [
        ("CreateVpc", Access.FORBIDDEN, FORBIDDEN),
        ("DestroyVpc", Access.FORBIDDEN, "No."),
        ("GetServers", Access.ALLOWED, None),
    ]


def test_what_was_seen_is_sorted_and_counted():
    status = decide(account_facts(clusters=("f", "b", "e", "a", "d", "c"), users=(VM, SNAPSHOT))).status
    assert (status.clusters, status.users, status.request_budget.burst) == (("a", "b", "c", "d", "e", "f"), 2, 20)


def test_what_was_seen_before_stands_until_the_cloud_has_answered():
    seen = decide(account_facts(secret=HELD, clusters=("Hou1",), allowed=frozenset({"GetServers"}))).status
    untried = decide(account_facts(status=seen, contact=in_trouble(UnknownReason.UNREACHABLE), secret=HELD)).status
    assert (untried.clusters, untried.operations) == (seen.clusters, seen.operations)
    answered = decide(account_facts(status=seen, secret=HELD)).status
    assert (answered.clusters, answered.operations) == ((), ())


def test_texts_of_any_length_fit_the_schema():
    long = "x" * 5000
    status = decide(
        account_facts(
            tenant=long,
            clusters=tuple(f"{n}{long}" for n in range(300)),
            forbidden={long: long, "CreateVpc": ""},
            allowed=frozenset(f"Get{n}" for n in range(100)),
            contact=replace(REFUSED, trouble=replace(REFUSED.trouble, detail=long * 10)),
        )
    ).status
    assert GpuCloudAccountStatus.model_validate(status.model_dump(mode="json", by_alias=True)) == stored(status)
    assert decide(account_facts(tenant=long, bound=(VM,), status=status)).status.tenant == long[:253]


RESTARTED = {
    "contact": Contact(),
    "secret": HELD,
    "status": an_account_status(tenant="acme", proven_secret=V1, held_secret=SECRET),
    "memory": CallHistory(first_seen=NOW - 1),
    "users": (VM,),
}


class TestRestart:
    """A new process has not asked the cloud yet."""

    def test_leaves_what_this_very_secret_has_shown(self):
        plan = decide(account_facts(**RESTARTED))
        assert (plan.status, plan.action, plan.release) == (None, None, None)
        assert NOW < plan.wake_at <= NOW + 60

    @pytest.mark.parametrize(
        "changed",
        [
            pytest.param({"secret": a_secret(version=V2, held=True)}, id="another version of the Secret proves nothing"),
            pytest.param({"status": an_account_status(tenant="acme")}, id="nothing was proven"),
            pytest.param({"status": an_account_status("ApiUnavailable", "Unknown", proven_secret=V1)}, id="it was not well"),
            pytest.param({"meta": an_account(generation=2)}, id="the verdict speaks of another spec"),
            pytest.param({"endpoint": "us"}, id="it was proven elsewhere"),
            pytest.param({"memory": CallHistory(first_seen=NOW - 60)}, id="not for ever"),
        ],
    )
    def test_says_that_it_is_untried_otherwise(self, changed):
        status = decide(account_facts(**{**RESTARTED, **changed})).status
        assert find(status.conditions, ConditionType.READY).reason == Reason.PENDING

    def test_hides_no_trouble(self):
        status = decide(account_facts(**{**RESTARTED, "contact": REFUSED})).status
        assert find(status.conditions, ConditionType.READY).reason == Reason.CREDENTIALS_REFUSED


class TestIdle:
    """A healthy account costs no write, though its credential is asked about every minute."""

    def settled(self, **given):
        status = stored(decide(account_facts(secret=HELD, **given)).status)
        return stored(decide(account_facts(secret=HELD, status=status, **given)).status)

    def later(self, status, seconds, **given):
        now = WALL + timedelta(seconds=seconds)
        return decide(account_facts(secret=HELD, status=status, contact=Contact(now), **given)).status

    def test_a_contact_each_minute_is_not_written(self):
        status = self.settled()
        assert stored(self.later(status, 595)) == status
        assert self.later(status, 600).last_contact_at == WALL + timedelta(seconds=600)

    def test_a_contact_is_written_with_anything_else(self):
        assert self.later(self.settled(), 60, users=(VM,)).last_contact_at == WALL + timedelta(seconds=60)

    def test_the_end_of_one_token_is_written_once(self):
        end = WALL + timedelta(days=1)
        status = self.settled(token_expires_at=end)
        assert status.token_expires_at == end
        for seconds in (-59, 59):
            assert self.later(status, 60, token_expires_at=end + timedelta(seconds=seconds)).token_expires_at == end
        renewed = end + timedelta(hours=1)
        assert self.later(status, 60, token_expires_at=renewed).token_expires_at == renewed
        assert self.later(status, 60).token_expires_at is None


def stored(status):
    """As it comes back from the apiserver."""
    return GpuCloudAccountStatus.model_validate(status.model_dump(mode="json", by_alias=True, exclude_none=True))


# --- what holds for any facts

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
    memory = CallHistory(first_seen=NOW - draw(st.sampled_from([0.0, 3.0, 900.0])))
    for verb in (HOLD, FREE):
        call = draw(st.none() | ended)
        if call is not None:
            ago, kind, failures, asked = call
            memory = tried_secret(verb, ago=ago, kind=kind, failures=failures, asked=asked, memory=memory)
    return memory


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
    held_secret=names,
    tenant=tenants,
    proven_secret=st.none() | versions,
    last_contact_at=st.sampled_from([None, WALL - timedelta(hours=1), WALL]),
    token_expires_at=st.sampled_from([None, WALL]),
    clusters=st.sampled_from([(), ("Hou1",)]),
)
secrets = st.none() | st.one_of(
    st.builds(a_secret, version=versions, held=st.booleans(), deleting=st.booleans()),
    st.builds(a_flawed_secret, version=versions, held=st.booleans(), deleting=st.booleans()),
)
contacts = st.builds(
    Contact, moments, st.none() | st.builds(lambda cause: in_trouble(cause).trouble, st.sampled_from(UnknownReason))
)
any_facts = st.builds(
    account_facts,
    meta=metas(),
    status=statuses,
    memory=memories(),
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
    holders=st.sampled_from([(), (VM,)]),
    bound=st.sampled_from([(), (VM,)]),
    shared=st.booleans(),
    held_shared=st.booleans(),
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
    assert again.wake_at is None or again.wake_at > NOW


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
    assert plan.action is None or plan.status.held_secret == plan.targets[0]  # the record comes first
    assert plan.release is None or (f.meta.deleting and not f.users)
    if plan.action is HOLD:
        assert f.hold_secrets
        assert not f.meta.deleting
        assert not f.secret.deleting
        assert f.secret.kind is not None
        assert plan.targets == (SECRET,)
    if plan.action is FREE and f.holders:
        successor = plan.targets == (OLD_SECRET,) and f.secret is not None and f.secret.kind is not None
        assert successor or not f.hold_secrets or (f.meta.deleting and not f.users)
    if plan.action is FREE and f.meta.deleting and f.users:
        assert f.secret.deleting
        assert not f.holders
    if plan.action is FREE and plan.targets == (SECRET,):
        assert not f.shared or not f.hold_secrets
    if plan.action is FREE and plan.targets == (OLD_SECRET,):
        assert not f.held_shared


@settings(max_examples=500, deadline=None)
@given(any_facts)
def test_no_call_is_repeated_within_five_seconds(f):
    plan = decide(f)
    if plan.action is not None:
        last = f.attempt(plan.action)
        assert last is None or last.asked != f.asked or last.at <= NOW - 5


@settings(max_examples=500, deadline=None)
@given(any_facts)
def test_what_may_bear_our_finalizer_is_never_forgotten(f):
    """A Secret that keeps our finalizer when its account is gone can never be deleted."""
    plan = decide(f)
    seen = f.secret is not None and f.secret.held
    if plan.release is not None:
        assert not seen or f.shared
    freed = f.attempt(FREE)
    if (
        f.status.held_secret != OLD_SECRET
        or f.held_shared
        or (freed is not None and freed.refusal is None and freed.asked == f.asked)
    ):
        return
    assert plan.release is None
    assert plan.status is None or plan.status.held_secret == OLD_SECRET


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
            f = replace(f, memory=tried_secret(plan.action, ago=-now, asked=DOOMED))
            f = replace(f, secret=a_secret()) if plan.targets == (SECRET,) else f
    assert calls == [OLD_SECRET, SECRET]
    assert plan.release.reason == Reason.GONE
