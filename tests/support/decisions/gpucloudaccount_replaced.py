"""Rows of a GpuCloudAccount whose spec names another Secret than before: what becomes of the older one."""

from __future__ import annotations

from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import UnknownReason
from gpucloud.reconcile.gpucloudaccount import Contact
from support.accounts import (
    ANSWERED,
    FREE,
    HELD,
    HOLD,
    OLD_SECRET,
    REFUSED,
    ROTATED,
    SECRET,
    VM,
    WATCHING,
    a_flawed_secret,
    a_row,
    an_account,
    an_account_status,
    connected,
    in_trouble,
    stalled,
    tried_secret,
)

KEPT = f"The old Secret {OLD_SECRET!r} keeps its finalizer until"
OTHERS = f"The old Secret {OLD_SECRET!r} keeps its finalizer as long as another account needs it"

REPLACED = {
    "rotated by name: hold the new one beside the old one": connected(
        "either may be the one that is needed, and be deleted",
        {"status": ROTATED, "users": (VM,)},
        action=HOLD,
        status={"held_secrets": (OLD_SECRET, SECRET)},
    ),
    "rotated by name: free the old one": connected(
        "nothing needs it any more, users or not",
        {"status": ROTATED, "secret": HELD, "users": (VM,)},
        action=FREE,
        target=OLD_SECRET,
        status={"held_secrets": (OLD_SECRET, SECRET)},
    ),
    "rotated by name, and the cloud refuses the new one: keep the old one": stalled(
        "only the old credential can destroy what it created",
        {"status": ROTATED, "secret": HELD, "users": (VM,), "contact": REFUSED},
        Reason.CREDENTIALS_REFUSED,
        says=("Update the Secret in place", KEPT, f"until {SECRET!r} is accepted."),
        status={"held_secrets": (OLD_SECRET, SECRET)},
    ),
    "rotated by name, and the cloud has not answered the new one: keep the old one": a_row(
        "it may be refused",
        {"status": ROTATED, "secret": HELD, "users": (VM,), "contact": Contact()},
        Reason.PENDING,
        "Unknown",
        says=(KEPT,),
        status={"held_secrets": (OLD_SECRET, SECRET)},
    ),
    "rotated by name, and the new one's tenant is not known yet: keep the old one": connected(
        "another tenant's credential destroys nothing of this one's",
        {"status": an_account_status(held_secrets=(OLD_SECRET,), tenant="acme"), "secret": HELD, "users": (VM,)},
        says=(f"its tenant is not known yet. {KEPT} the tenant of the new credential is known.",),
        status={"held_secrets": (OLD_SECRET, SECRET)},
    ),
    "rotated by name to another tenant: keep the old one": stalled(
        "another tenant's credential destroys nothing of this one's",
        {
            "status": an_account_status(held_secrets=(OLD_SECRET,), tenant="acme"),
            "secret": HELD,
            "users": (VM,),
            "users_of_tenant": (VM,),
            "tenant": "globex",
        },
        Reason.TENANT_MISMATCH,
        says=(f"Put a key of tenant 'acme' into Secret '{SECRET}'.", f"{KEPT} then."),
        status={"held_secrets": (OLD_SECRET, SECRET)},
    ),
    "rotated by name to another tenant, and nothing is of the old one: free the old one": connected(
        "the account is of the new tenant from this status on",
        {
            "status": an_account_status(held_secrets=(OLD_SECRET,), tenant="acme"),
            "secret": HELD,
            "users": (VM,),
            "tenant": "globex",
        },
        action=FREE,
        target=OLD_SECRET,
        status={"held_secrets": (OLD_SECRET, SECRET), "tenant": "globex"},
    ),
    "rotated by name within the tenant, and an operation is forbidden: free the old one": connected(
        "the cloud knows the credential",
        {
            "status": an_account_status(held_secrets=(OLD_SECRET,), tenant="acme"),
            "secret": HELD,
            "users": (VM,),
            "tenant": "acme",
            "contact": in_trouble(UnknownReason.FORBIDDEN, ANSWERED.last),
        },
        action=FREE,
        target=OLD_SECRET,
        status={"held_secrets": (OLD_SECRET, SECRET)},
    ),
    "rotated by name to a refused one, and nothing needs the old one: free it": stalled(
        "a deletion of it must not hang",
        {"status": ROTATED, "secret": HELD, "contact": REFUSED},
        Reason.CREDENTIALS_REFUSED,
        says=("Update the Secret in place",),
        action=FREE,
        target=OLD_SECRET,
    ),
    "rotated by name, and the new one cannot be used: keep the old one": stalled(
        "a way back",
        {"status": ROTATED, "secret": a_flawed_secret()},
        Reason.INVALID_SECRET,
        status={"held_secrets": (OLD_SECRET,)},
        says=("Correct the Secret", KEPT),
    ),
    "rotated by name, and the new one is missing: keep the old one": a_row(
        "a way back",
        {"status": ROTATED, "secret": None},
        Reason.SECRET_NOT_FOUND,
        says=(f"{KEPT} {SECRET!r} is accepted. Create it: kubectl create secret",),
        status={"held_secrets": (OLD_SECRET,)},
    ),
    "rotated by name, held before: the old one first": connected(
        "they are freed one by one",
        {"status": ROTATED, "secret": HELD, "hold_secrets": False},
        action=FREE,
        target=OLD_SECRET,
    ),
    "rotated by name, the old one freed: hold the new one": connected(
        "the hold moves on", {"status": ROTATED, "history": tried_secret(FREE)}, action=HOLD, status={"held_secrets": (SECRET,)}
    ),
    "a call for an earlier spec frees nothing now": connected(
        "it was about another Secret",
        {"status": ROTATED, "secret": HELD, "history": tried_secret(FREE), "meta": an_account(generation=2)},
        action=FREE,
        target=OLD_SECRET,
    ),
    "a call before the last hold frees nothing now": connected(
        "what was held since is not free",
        {"status": ROTATED, "secret": HELD, "history": tried_secret(HOLD, ago=7, history=tried_secret(FREE, ago=8))},
        action=FREE,
        target=OLD_SECRET,
    ),
    "rotated by name, the old one another account's: only forget it": connected(
        "it is not ours to free",
        {"status": ROTATED, "held_shared": frozenset({OLD_SECRET}), "held_elsewhere": frozenset({OLD_SECRET})},
        action=HOLD,
        status={"held_secrets": (SECRET,)},
    ),
    "rotated by name to a refused one, the old one another account's, too: keep it in the record": stalled(
        "else the other account frees what our VM needs",
        {
            "status": ROTATED,
            "secret": HELD,
            "users": (VM,),
            "contact": REFUSED,
            "held_shared": frozenset({OLD_SECRET}),
            "held_elsewhere": frozenset({OLD_SECRET}),
        },
        Reason.CREDENTIALS_REFUSED,
        says=("Update the Secret in place",),
        status={"held_secrets": (OLD_SECRET, SECRET)},
    ),
    "rotated by name, and another account that moved, too, still needs the old one: see to it": connected(
        "of two that both forgot it, none would free it",
        {"status": ROTATED, "secret": HELD, "users": (VM,), "held_shared": frozenset({OLD_SECRET})},
        says=(OTHERS,),
        status={"held_secrets": (OLD_SECRET, SECRET)},
    ),
    "rotated by name under observe-only: only say so": connected(
        "it does nothing",
        {"status": ROTATED, "secret": HELD, "limits": WATCHING},
        says=("would free Secret",),
        status={"held_secrets": (OLD_SECRET, SECRET)},
    ),
}
