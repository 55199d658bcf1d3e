"""Rows of a GpuCloudAccount: what holds its Secret, and the end of the account."""

from __future__ import annotations

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile.gpucloudaccount.secret import may_not_read
from support.accounts import (
    DELETING,
    DOOMED,
    FREE,
    GOING,
    HELD,
    HOLD,
    OLD_SECRET,
    PAUSED,
    REFUSED,
    ROTATED,
    SECRET,
    SNAPSHOT,
    UNREACHABLE,
    VM,
    WATCHING,
    a_flawed_secret,
    a_row,
    a_secret,
    an_account,
    an_account_status,
    connected,
    going,
    stalled,
    tried_secret,
)
from support.decisions.gpucloudaccount_replaced import REPLACED

ANOTHER = (
    "Create another one and use it: kubectl create secret generic cloud-credential-2 --namespace=team --from-file=apikey=FILE "
    "&& kubectl patch gpucloudaccount default --namespace=team --type=merge "
    """--patch '{"spec":{"secretRef":{"name":"cloud-credential-2"}}}'"""
)
HOLDING = {
    "hold": connected("before anybody can delete it", action=HOLD, status={"held_secrets": (SECRET,)}),
    "held already": connected("no call twice", {"secret": HELD}, status={"held_secrets": (SECRET,)}),
    "hold whatever the cloud says": stalled(
        "an outage is no reason to lose the Secret",
        {"contact": REFUSED},
        Reason.CREDENTIALS_REFUSED,
        action=HOLD,
        says=("Update the Secret in place (do not delete it)",),
    ),
    "hold nothing that is of no use": stalled(
        "it would block its correction",
        {"secret": a_flawed_secret()},
        Reason.INVALID_SECRET,
        says=("Correct the Secret",),
    ),
    "hold nothing that is being deleted": going("the apiserver forbids it", {"secret": a_secret(deleting=True)}),
    "hold nothing when switched off": connected("the administrator's choice", {"hold_secrets": False}),
    "hold nothing when only watching": connected(
        "it does nothing, and says what it would do",
        {"limits": WATCHING},
        says=("would protect Secret 'cloud-credential' now",),
    ),
    "hold nothing while paused": connected(
        "a person's hand is on it", {"meta": an_account(annotations=PAUSED), "status": an_account_status()}
    ),
    "switched off, free": connected(
        "what was held must not stay so for ever",
        {"secret": HELD, "hold_secrets": False, "users": (VM,)},
        action=FREE,
        status={"held_secrets": (SECRET,)},
    ),
    "freed, and status says so": connected(
        "the record ends when the finalizer is seen to be off",
        {"hold_secrets": False, "status": an_account_status(held_secrets=(SECRET,))},
        status={"held_secrets": ()},
    ),
    "a Secret being deleted, and the cloud refuses what it holds: another one": stalled(
        "status told to update it in place, and its deletion was said nowhere",
        {"contact": REFUSED, "secret": a_secret(has_finalizer=True, deleting=True), "users": (VM,)},
        Reason.CREDENTIALS_REFUSED,
        says=("Secret 'cloud-credential' is being deleted: nothing new is created with it.", ANOTHER),
        status={"held_secrets": (SECRET,)},
    ),
    "a Secret being deleted, whose content is changed to none that can be used: another one": stalled(
        "to correct it would not end its deletion",
        {"secret": a_flawed_secret(has_finalizer=True, deleting=True), "users": (VM,)},
        Reason.INVALID_SECRET,
        says=("is being deleted: nothing new is created with it.", ANOTHER),
        status={"held_secrets": (SECRET,)},
    ),
    "a Secret being deleted, while the cloud does not answer: another one": a_row(
        "its deletion hangs as long, and an outage says nothing of it",
        {"contact": UNREACHABLE, "secret": a_secret(has_finalizer=True, deleting=True), "users": (VM,)},
        Reason.API_UNAVAILABLE,
        "Unknown",
        says=("is being deleted: nothing new is created with it.", ANOTHER),
    ),
    "a Secret being deleted, in use: kept": going(
        "its users need it to their end",
        {"secret": a_secret(has_finalizer=True, deleting=True), "users": (VM,)},
        status={"held_secrets": (SECRET,)},
    ),
    "a Secret being deleted, unused: freed": going(
        "nobody needs it", {"secret": a_secret(has_finalizer=True, deleting=True)}, action=FREE
    ),
    "a Secret being deleted, whose users only wait: freed": going(
        "the finalizer stands for what may exist: a wrong key that bought nothing must be deletable",
        {"secret": a_secret(has_finalizer=True, deleting=True), "users": (SNAPSHOT, VM), "users_with_resources": ()},
        action=FREE,
        says=(
            f"Secret {SECRET!r} is being deleted, which cannot be undone, and nothing new is created with it. Create another",
        ),
    ),
    "a Secret being deleted, one user has a VM and one waits: kept": going(
        "the VM needs it to its end",
        {"secret": a_secret(has_finalizer=True, deleting=True), "users": (SNAPSHOT, VM), "users_with_resources": (VM,)},
        says=(f"created with it. It stays for {VM}. Create another Secret, and name it in spec.secretRef.",),
        wakes=5,
    ),
    "a Secret being deleted that another account uses: kept": going(
        "it is not ours to free",
        {"secret": a_secret(has_finalizer=True, deleting=True), "shared": True},
        says="It stays for another account.",
    ),
    "a hold that failed waits": connected(
        "no hot loop", {"history": tried_secret(HOLD, kind=ErrorKind.SERVER)}, wakes=4, status={"held_secrets": (SECRET,)}
    ),
    "a hold that failed comes again": connected(
        "it is still wanted", {"history": tried_secret(HOLD, ago=5, kind=ErrorKind.SERVER)}, action=HOLD
    ),
    "a hold that failed often waits longer": connected(
        "no hot loop", {"history": tried_secret(HOLD, ago=290, kind=ErrorKind.SERVER, failures=40)}, wakes=10
    ),
    "a hold that failed longest ago comes again": connected(
        "not never", {"history": tried_secret(HOLD, ago=300, kind=ErrorKind.SERVER, failures=40)}, action=HOLD
    ),
    "a hold that had no effect waits too": connected(
        "somebody may take it off each time", {"history": tried_secret(HOLD)}, wakes=4
    ),
    "a person's request lifts the wait": connected(
        "a person asks anew",
        {
            "meta": an_account(annotations={Annotation.RECONCILE_REQUESTED_AT: "now"}),
            "history": tried_secret(HOLD, kind=ErrorKind.SERVER),
        },
        action=HOLD,
    ),
}

KEPT = (
    "To keep what exists, first: kubectl gpucloud retain gpuvm/train --namespace=team; With a new account, "
    "kubectl gpucloud adopt takes each over."
)
DELETION = {
    "after its finalizer nothing is ours to do": a_row("gone is gone", {"meta": an_account(**DELETING, has_finalizer=False)}),
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
        status={"held_secrets": (SECRET,)},
    ),
    "used: held": a_row(
        "a credential not before its last user",
        {"meta": GOING, "secret": HELD, "users": (SNAPSHOT, VM), "users_to_delete": ("gpuvm/train",)},
        Reason.DELETION_BLOCKED,
        says=(
            f"Still used by {SNAPSHOT}, {VM}. It is deleted after its last user.",
            "kubectl delete gpuvm/train --namespace=team",
        ),
        status={"held_secrets": (SECRET,), "users": 2},
    ),
    "used by what is at another endpoint: what ends the wait is said": a_row(
        "all are being deleted, and this one can never be from here",
        {"meta": GOING, "secret": HELD, "users": (VM,), "users_elsewhere": {VM: "prod"}},
        Reason.DELETION_BLOCKED,
        says=f"{VM} was ordered at endpoint 'prod': leave it there with spec.deletion.policy: Retain.",
    ),
    "used by many: the first are named, and a command lists all": a_row(
        "a command that deletes five of seven ends no wait",
        {
            "meta": GOING,
            "users": tuple(f"GpuVM 'vm-{n}'" for n in range(7)),
            "users_to_delete": tuple(f"gpuvm/vm-{n}" for n in range(7)),
        },
        Reason.DELETION_BLOCKED,
        says=(
            "GpuVM 'vm-4' and 2 more",
            "Retain what is to stay (kubectl gpucloud retain KIND/NAME), then delete them all. To list them: ",
            "kubectl get gpucloud --namespace=team -o custom-columns=KIND:.kind,NAME:.metadata.name,ACCOUNT:.status.account",
        ),
    ),
    "used, and without its Secret: two commands, and the words between them begin behind a semicolon": a_row(
        "both stood on one line that could not be pasted",
        {"meta": GOING, "users": (VM,), "users_to_delete": ("gpuvm/train",), "secret": None},
        Reason.DELETION_BLOCKED,
        says=(
            "Delete it: kubectl delete gpuvm/train --namespace=team; Waiting for Secret",
            "Create it: kubectl create secret generic",
        ),
    ),
    "used by a VM that nobody has deleted: how to keep it comes before how to delete it": a_row(
        "a VM that goes on working ends with the account, which is gone only after it",
        {"meta": GOING, "users": (VM,), "users_to_delete": ("gpuvm/train",), "users_to_keep": ("gpuvm/train",)},
        Reason.DELETION_BLOCKED,
        says=f"{KEPT} Delete it: kubectl delete gpuvm/train --namespace=team",
    ),
    "used by a VM that is being deleted, too: how to keep it": a_row(
        "its object still obeys",
        {"meta": GOING, "users": (VM,), "users_to_keep": ("gpuvm/train",)},
        Reason.DELETION_BLOCKED,
        says=f"A deletion cannot be taken back. {KEPT}",
    ),
    "used by as many as are named: the command deletes all": a_row(
        "nothing is left to look for",
        {
            "meta": GOING,
            "users": tuple(f"GpuVM 'vm-{n}'" for n in range(5)),
            "users_to_delete": tuple(f"gpuvm/vm-{n}" for n in range(5)),
            "users_to_keep": tuple(f"gpuvm/vm-{n}" for n in range(5)),
        },
        Reason.DELETION_BLOCKED,
        says="kubectl delete gpuvm/vm-0 gpuvm/vm-1 gpuvm/vm-2 gpuvm/vm-3 gpuvm/vm-4 --namespace=team",
    ),
    "used by what only waits, its Secret deleted first: the Secret is freed": a_row(
        "else both hang on objects that need neither",
        {"meta": GOING, "secret": a_secret(has_finalizer=True, deleting=True), "users": (VM,), "users_with_resources": ()},
        Reason.DELETION_BLOCKED,
        action=FREE,
        says=(f"Still used by {VM}", "A deletion cannot be taken back."),
    ),
    "used by what only waits, its Secret not deleted: kept with the account": a_row(
        "without the account its users would take the operator's own",
        {"meta": GOING, "secret": HELD, "users": (VM,), "users_with_resources": ()},
        Reason.DELETION_BLOCKED,
    ),
    "used by what only waits, under observe-only: nothing is freed": stalled(
        "it does nothing",
        {
            "meta": GOING,
            "secret": a_secret(has_finalizer=True, deleting=True),
            "users": (VM,),
            "users_with_resources": (),
            "limits": WATCHING,
        },
        Reason.DELETION_BLOCKED,
        says=("--observe-only",),
    ),
    "used by a VM, its Secret deleted first: kept": a_row(
        "the VM needs it to its end",
        {"meta": GOING, "secret": a_secret(has_finalizer=True, deleting=True), "users": (VM,)},
        Reason.DELETION_BLOCKED,
        says="It is deleted after its last user, and so is Secret 'cloud-credential'.",
    ),
    "used, and the Secret is gone: say which is needed": a_row(
        "after a restart its users cannot be destroyed without it",
        {"meta": GOING, "secret": None, "users": (VM,)},
        Reason.DELETION_BLOCKED,
        says=(VM, repr(SECRET)),
        wakes=5,
    ),
    "unused as far as is known, before everything is: wait": a_row(
        "the VM that needs it may be shown a moment later", {"meta": GOING, "secret": HELD, "synced": False}
    ),
    "unused as far as is known, and not held: wait all the same": a_row(
        "with the account its users lose their credential", {"meta": GOING, "synced": False}
    ),
    "a surplus hold, before everything is known: wait": going(
        "another account may need it", {"secret": a_secret(has_finalizer=True, deleting=True), "synced": False}
    ),
    "unused: free the Secret first": a_row(
        "else it hangs for ever", {"meta": GOING, "secret": HELD}, Reason.DELETING, action=FREE, says=(repr(SECRET),)
    ),
    "unused, an older Secret is held too: that first": a_row(
        "else it hangs for ever",
        {"meta": GOING, "secret": HELD, "status": ROTATED},
        Reason.DELETING,
        action=FREE,
        target=OLD_SECRET,
    ),
    "the older one freed: then the other": a_row(
        "both must go",
        {"meta": GOING, "secret": HELD, "status": ROTATED, "history": tried_secret(FREE, ago=5, asked=DOOMED)},
        Reason.DELETING,
        action=FREE,
    ),
    "unused and shared: the Secret stays held": a_row(
        "another account needs it", {"meta": GOING, "secret": HELD, "shared": True}, released=Reason.GONE
    ),
    "unused and not held": a_row("nothing keeps it", {"meta": GOING}, released=Reason.GONE),
    "unused, the Secret gone": a_row("nothing keeps it", {"meta": GOING, "secret": None}, released=Reason.GONE),
    "unused, the Secret of no use": a_row(
        "nothing keeps it", {"meta": GOING, "secret": a_flawed_secret()}, released=Reason.GONE
    ),
    "held, and not to be read: still to be freed": a_row(
        "not seen is not free",
        {
            "meta": GOING,
            "secret": None,
            "secret_trouble": may_not_read(SECRET, "team"),
            "status": an_account_status(held_secrets=(SECRET,)),
        },
        Reason.DELETING,
        action=FREE,
    ),
    "freed, and not to be read": a_row(
        "the call went well",
        {
            "meta": GOING,
            "secret": None,
            "secret_trouble": may_not_read(SECRET, "team"),
            "status": an_account_status(held_secrets=(SECRET,)),
            "history": tried_secret(FREE, asked=DOOMED),
        },
        released=Reason.GONE,
    ),
    "freeing fails: said, and waited for": a_row(
        "a person must know why it does not go",
        {"meta": GOING, "secret": HELD, "history": tried_secret(FREE, kind=ErrorKind.SERVER, asked=DOOMED)},
        Reason.DELETION_BLOCKED,
        says=("the apiserver's own words", repr(SECRET), "get and patch"),
        wakes=4,
    ),
    "freeing failed long enough ago: again": a_row(
        "it is not given up",
        {"meta": GOING, "secret": HELD, "history": tried_secret(FREE, ago=5, kind=ErrorKind.SERVER, asked=DOOMED)},
        Reason.DELETION_BLOCKED,
        action=FREE,
        says=("the apiserver's own words",),
    ),
    "freeing fails again and again: a person is called": stalled(
        "it will not mend by itself",
        {"meta": GOING, "secret": HELD, "history": tried_secret(FREE, kind=ErrorKind.SERVER, failures=5, asked=DOOMED)},
        Reason.DELETION_BLOCKED,
        says=("get and patch on Secrets",),
    ),
}

ROWS = {
    f"{name}: {sentence}": row
    for name, rows in {"hold": HOLDING, "replaced": REPLACED, "end": DELETION}.items()
    for sentence, row in rows.items()
}
