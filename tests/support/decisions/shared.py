"""What is decided alike for a GpuVM, a GpuVpc and a GpuSnapshot: a row in the words of each kind."""

from __future__ import annotations

from dataclasses import replace

from gpucloud.cloud.errors import ErrorKind
from gpucloud.engine.cloud.accounts import Accounts, no_account
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpuvm import GpuVMStatus
from gpucloud.kinds.meta import Reason, rfc3339
from gpucloud.reconcile.accepted_absence import accepted_absence
from gpucloud.reconcile.facts import (
    Absent,
    AccountFacts,
    CallHistory,
    Limits,
    NamedSecret,
    Now,
    ResourceOwner,
    Unknown,
    UnknownReason,
)
from gpucloud.reconcile.time_annotations import Said
from support.builders import NOW, START, a_spec, an_object, an_order
from support.decisions.shared_accounts import accounts
from support.decisions.shared_deletion import AWAY, NOT_ORDERED, OTHER_TENANT, deletion, fingerprint, held
from support.decisions.shared_orders import orders
from support.rows import LAB, LAB_LOGIN, NEW_KEY, NEW_LOGIN, Kind, Row, noted, tried


def _unresolved(order=None, **spec):
    """The words for an object of a namespace without any account."""
    return Accounts((), lambda: NOW).resolve(an_object(), a_spec(**spec), GpuVMStatus(order=order)).unknown.detail


NO_ACCOUNT, WAITS_FOR_ACCOUNT = _unresolved(), _unresolved(accountRef={"name": "lab"})
ACCOUNT_GONE = _unresolved(an_order("train"), accountRef={"name": "lab"})
ELSEWHERE = (  # as engine/cloud/accounts.py has it
    "Nothing is done: this object was ordered at endpoint 'prod', and the operator's own account is at 'eu' now. Ask the "
    "administrator to make 'prod' the first --endpoint again."
)


def rows(k: Kind):
    """The rows that this kind shares with the others."""
    alike = _safety(k) | _sight(k) | _ownership(k) | orders(k) | accounts(k) | deletion(k) | held(k)
    return alike | fingerprint(k) if k.marks_names else alike


def _safety(k):
    return {
        "without our finalizer nothing is ordered": Row(
            "ordered before the finalizer, deleted at once: leaked", {"meta": an_object(has_finalizer=False)}
        ),
        "without our finalizer nothing happens to what is there": Row(
            "it would leak", {"meta": an_object(has_finalizer=False), "found": k.found()}
        ),
        "paused keeps the last verdict": Row(
            "a person's hand is on it", {"meta": noted(PAUSED="true"), "status": k.settled}, **k.ready
        ),
        "paused before anything was said is Unknown": Row(
            "nobody has looked", {"meta": noted(PAUSED="true")}, Reason.PAUSED, "Unknown", None, says="paused"
        ),
        "paused holds deletion": Row(
            "pause means hands off, deletion included",
            k.leaving | {"meta": noted(deleting=True, PAUSED="true")},
            Reason.DELETION_BLOCKED,
            progress="Stalled",
            says=("gpucloud.dev/paused", "To continue, remove it: kubectl gpucloud resume g", "/train --namespace=team"),
        ),
        'the value "false" does not pause': Row(
            "a template may render it", {"meta": noted(PAUSED="false"), "status": k.settled, "found": k.found()}, **k.ready
        ),
        "a value that cannot be read pauses": Row(
            'put over "true" it must not begin to act',
            k.leaving | {"meta": noted(PAUSED="yes", deleting=True)},
            Reason.DELETION_BLOCKED,
            progress="Stalled",
            says=("'yes', neither 'true' nor 'false'", "remove it: kubectl gpucloud resume "),
        ),
        "paused before a new generation was seen is Unknown": Row(
            "an old Ready=True beside a new generation would lie",
            {"meta": noted(PAUSED="true", generation=2), "status": k.settled, "found": k.found()},
            Reason.PAUSED,
            "Unknown",
            None,
        ),
        "nothing is ordered in a dying namespace": Row(
            "it would be destroyed at once", {"namespace_terminating": True}, Reason.NAMESPACE_TERMINATING, says="'team'"
        ),
        "before the first list nothing is ordered": Row(
            "another object may claim the name", {"synced": False, "status": k.creating, "known": k.mine}
        ),
        "observe-only says what it would do": Row(
            "disaster recovery", {"limits": Limits(observe_only=True)}, Reason.OBSERVE_ONLY, "Unknown", says=k.create.value
        ),
    }


def _sight(k):
    return {
        "never looked: look": Row("no verdict without sight", {"found": Unknown(NOW, UnknownReason.NOT_LISTED)}, looks=True),
        "a short outage leaves the verdict": Row(
            "one outage must not turn 10,000 objects red", {"status": k.settled, "found": AWAY}
        ),
        "a long outage says so": Row(
            "Ready must not stay True for ever",
            {"status": k.settled, "found": Unknown(NOW - 181, UnknownReason.UNREACHABLE, "HTTP 502")},
            Reason.API_UNAVAILABLE,
            "Unknown",
            says=(k.noun, "HTTP 502", "Its last known state is shown"),
        ),
        "a refused credential stalls a new object at once": Row(
            "a person must act",
            {"found": Unknown(NOW, UnknownReason.REFUSED, "401")},
            Reason.CREDENTIALS_REFUSED,
            progress="Stalled",
            says=(
                'refuses the operator\'s own credential ("401").',
                "Ask the administrator to replace the operator's own credential",
            ),
        ),
        "a refused credential of an account is updated in its Secret": Row(
            "a Secret that is deleted leaves its objects without any",
            {"found": Unknown(NOW, UnknownReason.REFUSED, "401"), "account": AccountFacts("lab")},
            Reason.CREDENTIALS_REFUSED,
            progress="Stalled",
            says=("account 'lab' (\"401\").", "Update the Secret of account 'lab' in place (do not delete it)"),
        ),
        "a refused credential of an account whose Secret is known: the command": Row(
            "else a person looks up how a Secret is changed without deleting it",
            {"found": Unknown(NOW, UnknownReason.REFUSED, "401"), "account": LAB},
            Reason.CREDENTIALS_REFUSED,
            progress="Stalled",
            says=("account 'lab' (\"401\").", "Secret 'lab-key' in place (do not delete it)", NEW_KEY),
        ),
        "a refused credential of an account whose Secret is being deleted: another one": Row(
            "an update would serve nothing new",
            {
                "found": Unknown(NOW, UnknownReason.REFUSED, "401"),
                "account": replace(LAB, secret=NamedSecret("lab-key", deleting=True)),
            },
            Reason.CREDENTIALS_REFUSED,
            progress="Stalled",
            says=(
                "Secret 'lab-key' is being deleted: nothing new is created with it. Create another one and use it: "
                "kubectl create secret generic lab-key-2 --namespace=team --from-file=apikey=FILE && "
                "kubectl patch gpucloudaccount lab --namespace=team --type=merge "
                """--patch '{"spec":{"secretRef":{"name":"lab-key-2"}}}'"""
            ),
        ),
        "a refused login of an account: the command of a login": Row(
            "a key beside a login is no credential that can be used",
            {
                "found": Unknown(NOW, UnknownReason.REFUSED, "401"),
                "account": LAB_LOGIN,
            },
            Reason.CREDENTIALS_REFUSED,
            progress="Stalled",
            says=NEW_LOGIN,
        ),
        "a missing permission stalls a new object at once": Row(
            "a person must act: VPCs belong to a tenant's administrators",
            {"found": Unknown(NOW, UnknownReason.FORBIDDEN)},
            Reason.PERMISSION_DENIED,
            progress="Stalled",
            says=(f"The operator's own credential lacks the permission to list {k.noun}s", "Ask the administrator to grant"),
        ),
        "a missing permission of an account is granted to its credential": Row(
            "the owner of the account can do that",
            {"found": Unknown(NOW, UnknownReason.FORBIDDEN), "account": AccountFacts("lab")},
            Reason.PERMISSION_DENIED,
            progress="Stalled",
            says=f"The credential of account 'lab' lacks the permission to list {k.noun}s. Grant it in the cloud.",
        ),
        "an implausible listing is not believed": Row(
            "half the fleet cannot have vanished",
            {"status": k.settled, "found": Unknown(NOW - 200, UnknownReason.IMPLAUSIBLE)},
            Reason.IMPLAUSIBLE_LISTING,
            "Unknown",
            says="accept-absence",
        ),
        "a new object in a doubted listing: those that it lacks may be gone": Row(
            "there never was one of its own, whose absence a person could accept",
            {"found": Unknown(NOW - 7, UnknownReason.IMPLAUSIBLE)},
            Reason.IMPLAUSIBLE_LISTING,
            "Unknown",
            says=(f"lacks many {k.noun}s. ", "If they are really gone: kubectl annotate"),
        ),
        "a new object says quickly that the cloud is away": Row(
            "its owner is watching",
            {"found": Unknown(NOW - 7, UnknownReason.UNREACHABLE, "no route")},
            Reason.API_UNAVAILABLE,
            "Unknown",
            says=f'This {k.noun} cannot be looked up in the cloud ("no route"). Nothing is created or destroyed meanwhile',
        ),
        "a person who answered the doubt in vain is told at once": Row(
            "the annotation is no time",
            {
                "meta": noted(ACCEPT_ABSENCE="true"),
                "status": k.settled,
                "found": accepted_absence(Said("true", Now(START, NOW)), Now(START, NOW)).explained(
                    Unknown(NOW, UnknownReason.IMPLAUSIBLE)
                ),
            },
            Reason.IMPLAUSIBLE_LISTING,
            "Unknown",
            says=("is 'true', not a time such as", f"kubectl annotate {k.name.lower()}"),
        ),
        "a doubt that began after the answer to an earlier one": Row(
            "a person accepted what was gone then, and not what is gone now",
            {
                "meta": noted(ACCEPT_ABSENCE=rfc3339(START)),
                "status": k.settled,
                "found": accepted_absence(Said(rfc3339(START), Now(START, NOW)), Now(START, NOW)).explained(
                    Unknown(NOW, UnknownReason.IMPLAUSIBLE)
                ),
            },
            Reason.IMPLAUSIBLE_LISTING,
            "Unknown",
            says=("but this began later.", f"kubectl annotate {k.name.lower()}"),
        ),
        "no account stalls at once, in the account's words": Row(
            "a person must create one",
            {"found": Unknown(NOW, UnknownReason.NO_ACCOUNT, NO_ACCOUNT)},
            Reason.NO_ACCOUNT,
            progress="Stalled",
            says="Create it (kubectl gpucloud explain NoAccount), or recreate this object with spec.accountRef",
        ),
        "no account any more leaves unknown what was seen": Row(
            "the last look may be true still",
            {
                "status": k.settled,
                "found": Unknown(
                    NOW - 181, UnknownReason.NO_ACCOUNT, no_account("team", recorded=True, ordered=True, missing=True)
                ),
            },
            Reason.NO_ACCOUNT,
            "Unknown",
            "Stalled",
            says="This object uses the operator's own account, which is missing. Ask the administrator to set GPUCLOUD_API_KEY",
        ),
        "an account that is not ready is waited for, without a deadline": Row(
            "it says itself what is wrong",
            {"found": Unknown(NOW, UnknownReason.ACCOUNT, WAITS_FOR_ACCOUNT)},
            Reason.ACCOUNT_NOT_READY,
            says="'lab'",
            status={"progress_deadline_at": None},
        ),
        "an account that fails later leaves the verdict for a while": Row(
            "a key is being changed",
            {"status": k.settled, "found": Unknown(NOW - 170, UnknownReason.ACCOUNT, ACCOUNT_GONE)},
        ),
        "an account that stays away turns the verdict Unknown": Row(
            "Ready must not stay True for ever",
            {"status": k.settled, "found": Unknown(NOW - 181, UnknownReason.ACCOUNT, ACCOUNT_GONE)},
            Reason.ACCOUNT_NOT_READY,
            "Unknown",
            says="there is none. Create GpuCloudAccount 'lab' (kubectl gpucloud explain AccountNotReady). The accounts",
        ),
        "an account at another endpoint stalls at once": Row(
            "what was ordered here cannot be seen from there",
            {"status": k.settled, "found": Unknown(NOW, UnknownReason.ENDPOINT, ELSEWHERE)},
            Reason.ENDPOINT_MISMATCH,
            "Unknown",
            "Stalled",
            says="make 'prod' the first --endpoint again",
        ),
        "another tenant's credential stalls": Row(
            "all of ours looks gone with it",
            {"status": k.settled, "found": replace(OTHER_TENANT, since=NOW - 181)},
            Reason.TENANT_MISMATCH,
            "Unknown",
            "Stalled",
            says="Put a key of tenant",
        ),
        "one that vanished is looked for again first": Row(
            "a listing may have been partial",
            {"status": k.settled, "found": Absent(NOW, NOW - 2, NOW - 2)},
            k.lost,
            "Unknown",
            looks=False,
        ),
        "one that stays away is lost, and not ordered again": Row(
            "a person decides: it may hold other data by now",
            {"status": k.settled, "found": Absent(NOW, NOW - 31, NOW - 2)},
            k.lost,
            progress="Stalled",
            says="delete this object and apply it again",
            records=False,
        ),
    }


def _ownership(k):
    return {
        "a second claimant is told": Row(
            f"one {k.noun}, one owner",
            {"owner": ResourceOwner(k.name, "team", "first"), "found": k.found(), "status": k.settled},
            Reason.CONFLICT,
            progress="Stalled",
            says=("'first'", k.cloud_name, "To delete this one (destroys nothing): kubectl delete", f"another {k.name_field}"),
        ),
        "a second claimant that has none yet is told that it goes on by itself": Row(
            "whoever waits for the name need not create the object again",
            {
                "owner": ResourceOwner(k.name, "team", "first"),
                "found": Absent(NOW, NOW - 9),
                "status": k.settled.model_copy(update={"order": NOT_ORDERED}),
            },
            Reason.CONFLICT,
            progress="Stalled",
            says=f"or delete that object with its {k.noun}. To delete this one",
        ),
        "a second claimant is told that the deletion of the owner keeps the resource": Row(
            "it was told that it destroys, and the name was not free afterwards",
            {
                "owner": ResourceOwner(k.name, "team", "first", keeps=True),
                "found": Absent(NOW, NOW - 9),
                "status": k.settled.model_copy(update={"order": NOT_ORDERED}),
            },
            Reason.CONFLICT,
            progress="Stalled",
            says=f"or delete that object and the {k.noun} that it keeps. To delete this one",
        ),
        "a second claimant may not see, nor delete, an owner in another namespace": Row(
            "its name is not shown",
            {
                "owner": ResourceOwner(k.name, "others", "first"),
                "found": Absent(NOW, NOW - 9),
                "status": k.settled.model_copy(update={"order": NOT_ORDERED}),
            },
            Reason.CONFLICT,
            progress="Stalled",
            says=(f"already used by a {k.name} in another namespace.", f", or delete that object with its {k.noun}."),
        ),
        "twins stall and nothing is touched": Row(
            "either could be the wrong one",
            {"found": k.found(duplicate_records=True), "status": k.settled},
            Reason.AMBIGUOUS,
            progress="Stalled",
            says=(k.cloud_name, "Destroy all but one in the cloud"),
        ),
        "a taken name without an order of ours is a conflict": Row(
            "it may hold somebody's work",
            k.another,
            Reason.CONFLICT,
            progress="Stalled",
            says=(k.another_says[0], "spec.adoption: IfExists", "destroy it"),
        ),
        "a taken name of an object that never ordered is a conflict that ends when the name is free": Row(
            "this process saw it new, so what has the name is not its own",
            k.another | {"history": CallHistory(first_seen=NOW - 15, seen_new=True)},
            Reason.CONFLICT,
            progress="Stalled",
            says=(*k.another_says, "spec.adoption: IfExists", "free the name"),
        ),
        "a name that the cloud calls taken is a conflict, and no proof stays": Row(
            "it is not ours, and may be another tenant's, whom we cannot see",
            k.another_ordered | {"history": tried(k.create, kind=ErrorKind.CONFLICT)},
            Reason.CONFLICT,
            progress="Stalled",
            says=k.another_says[0],
            status={"order": OrderState.REFUSED},
        ),
        "what is there though our order was refused is not ours": Row(
            "somebody else made it since; deleting this object would end it",
            k.another_ordered | k.another | {"history": tried(k.create, ago=0.5, kind=ErrorKind.FORBIDDEN)},
            Reason.CONFLICT,
            progress="Stalled",
            says=k.another_says[0],
            status={"order": OrderState.REFUSED},
        ),
    }
