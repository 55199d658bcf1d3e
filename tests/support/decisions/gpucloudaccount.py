"""Rows of a GpuCloudAccount: its life, its Secret, its tenant."""

from __future__ import annotations

from gpucloud.kinds.gpucloudaccount import CredentialKind
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile.facts import CallHistory, UnknownReason
from gpucloud.reconcile.gpucloudaccount import Contact
from gpucloud.reconcile.gpucloudaccount.secret import may_not_read
from support.accounts import (
    ANSWERED,
    HELD,
    PAUSED,
    REFUSED,
    SECRET,
    SNAPSHOT,
    UNREACHABLE,
    V1,
    V2,
    VM,
    WATCHING,
    a_flawed_secret,
    a_row,
    a_secret,
    an_account,
    an_account_spec,
    an_account_status,
    connected,
    in_trouble,
    stalled,
)
from support.builders import NOW

LIFE = {
    "without our finalizer nothing happens": a_row(
        "a Secret held by an account that is gone is held for ever", {"meta": an_account(has_finalizer=False)}
    ),
    "what the cloud forbids stands beside Ready": connected(
        "objects may need it",
        {"secret": HELD, "forbidden": {"DestroyVpc": "No."}},
        beside=("Restricted",),
    ),
    "observe-only speaks without our finalizer": connected(
        "it puts none on",
        {"meta": an_account(has_finalizer=False), "limits": WATCHING},
        says=("--observe-only", "protect Secret"),
    ),
    'the value "false" does not pause': connected(
        "a template may render it", {"meta": an_account(annotations={Annotation.PAUSED: "false"}), "secret": HELD}
    ),
    "paused keeps the last verdict and touches nothing": connected(
        "a person's hand is on it", {"meta": an_account(annotations=PAUSED), "status": an_account_status(), "contact": REFUSED}
    ),
    "paused before a new generation was seen is Unknown": a_row(
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
    "objects that were ordered at another endpoint": stalled(
        "they cannot be seen from here, and would look gone",
        {"secret": HELD, "users_elsewhere": {VM: "prod"}},
        Reason.ENDPOINT_MISMATCH,
        ready="Unknown",
        says=(VM, "Ask the administrator to make 'prod' the first --endpoint again."),
    ),
    "objects that were ordered at another endpoint than the one that spec names": stalled(
        "the account waits for its last user, so what must go first is named",
        {
            "secret": HELD,
            "spec": an_account_spec(endpoint="eu"),
            "users_elsewhere": {VM: "prod"},
            "users_to_keep": ("gpuvm/train", "gpuvm/here"),
        },
        Reason.ENDPOINT_MISMATCH,
        ready="Unknown",
        says=(
            VM,
            "create it again with spec.endpoint: 'prod'. To retain: kubectl gpucloud retain gpuvm/train --namespace=team",
        ),
    ),
    "a credential that works": connected(
        "the whole point",
        {"secret": HELD, "tenant": "acme"},
        says=("API key", repr(SECRET), "'eu'", "'acme'"),
        status={"endpoint": "eu", "tenant": "acme", "credential_kind": CredentialKind.API_KEY, "proven_secret": V1},
        wakes=30,
    ),
    "a login that works": connected(
        "the other kind",
        {"secret": a_secret(has_finalizer=True, kind=CredentialKind.LOGIN)},
        says=("login", "tenant is not known yet"),
    ),
    "restricted is not unready": connected(
        "the key works, and may not do everything", {"secret": HELD, "contact": in_trouble(UnknownReason.FORBIDDEN)}
    ),
    "not tried yet": a_row(
        "neither good nor bad is known",
        {"secret": HELD, "contact": Contact()},
        Reason.PENDING,
        "Unknown",
        says=("first answer to the credential",),
    ),
    "refused": stalled(
        "a person must put another key in",
        {"secret": HELD, "contact": REFUSED},
        Reason.CREDENTIALS_REFUSED,
        says=("the cloud's own words", repr(SECRET)),
    ),
    "unreachable": a_row(
        "the account says at once what 10,000 objects say later",
        {"secret": HELD, "contact": UNREACHABLE},
        Reason.API_UNAVAILABLE,
        "Unknown",
        says=("the cloud's own words", "'eu'"),
    ),
    "a cause that no contact should have": a_row(
        "total", {"secret": HELD, "contact": in_trouble(UnknownReason.IMPLAUSIBLE)}, Reason.API_UNAVAILABLE, "Unknown"
    ),
}

SECRETS = {
    "missing": a_row(
        "applied in any order",
        {"secret": None, "history": CallHistory(first_seen=NOW)},
        Reason.SECRET_NOT_FOUND,
        says=(repr(SECRET), "'team'", "spec.secretRef"),
        wakes=1,
    ),
    "missing for long": a_row("seldom, and never later than this", {"secret": None}, Reason.SECRET_NOT_FOUND, wakes=5),
    "missing while its credential is in use": a_row(
        "with the finalizer switched off a Secret may go first: which one is needed again?",
        {"secret": None, "remembered": True, "users": (SNAPSHOT, VM), "hold_secrets": False, "contact": ANSWERED},
        Reason.SECRET_NOT_FOUND,
        says=(repr(SECRET), "stays in use", "Until the operator restarts"),
    ),
    "missing, so no longer held": a_row(
        "what is gone is not held",
        {"secret": None, "status": an_account_status(held_secrets=(SECRET,))},
        Reason.SECRET_NOT_FOUND,
    ),
    "not to be read": a_row(
        "rights are missing, not the Secret",
        {
            "secret": None,
            "secret_trouble": may_not_read(SECRET, "team"),
            "status": an_account_status(held_secrets=(SECRET,)),
        },
        Reason.SECRET_NOT_FOUND,
        says=("grant its ServiceAccount the verb get on secrets in namespace 'team'",),
        status={"held_secrets": (SECRET,)},
        wakes=5,
    ),
    "invalid": stalled(
        "nothing of it is repeated, the flaw is",
        {"secret": a_flawed_secret()},
        Reason.INVALID_SECRET,
        says=(repr(SECRET), "it holds both kinds of credential."),
        wakes=5,
    ),
    "a flaw counts, whatever the kind": stalled(
        "total",
        {"secret": a_secret(flaw="its key 'apikey' holds no text")},
        Reason.INVALID_SECRET,
        says=("its key 'apikey' holds no text",),
    ),
    "neither kind nor flaw": stalled(
        "total",
        {"secret": a_secret(kind=None)},
        Reason.INVALID_SECRET,
        says=("no usable credential",),
    ),
    "the endpoint comes before the Secret": stalled(
        "cure first things first",
        {"endpoint": None, "spec": an_account_spec(endpoint="mars"), "secret": None},
        Reason.UNKNOWN_ENDPOINT,
        says=("--endpoint",),
    ),
}

TENANTS = {
    "another tenant's key": stalled(
        "with it everything of ours looks gone",
        {
            "secret": HELD,
            "tenant": "other",
            "status": an_account_status(tenant="acme", proven_secret=V2),
            "users_of_tenant": (VM,),
        },
        Reason.TENANT_MISMATCH,
        says=(
            "is for tenant 'other'",
            "1 object of this account is of tenant 'acme'. Nothing is created or destroyed.",
            "into Secret",
        ),
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
        {"secret": HELD, "status": an_account_status(tenant="acme", proven_secret=V2), "users_of_tenant": (VM,)},
        status={"tenant": "acme", "proven_secret": V2},
    ),
    "proof is not taken from a credential in trouble": stalled(
        "only what the cloud takes can prove",
        {"secret": HELD, "contact": in_trouble(UnknownReason.REFUSED, ANSWERED.last), "tenant": "acme"},
        Reason.CREDENTIALS_REFUSED,
        status={"tenant": "acme", "proven_secret": None},
        says=(
            "Update the Secret in place (do not delete it)",
            (
                f"kubectl create secret generic {SECRET} --namespace=team --from-file=apikey=FILE --dry-run=client -o yaml | "
                "kubectl apply --server-side --force-conflicts -f -"
            ),
        ),
    ),
    "proof is not taken from a Secret that holds another": stalled(
        "the credential in use was read before",
        {"secret": a_flawed_secret(), "remembered": True, "tenant": "acme", "contact": ANSWERED},
        Reason.INVALID_SECRET,
        status={"tenant": "acme", "proven_secret": None},
        says=("stays in use",),
    ),
}

ROWS = {
    f"{name}: {sentence}": row
    for name, rows in {"life": LIFE, "secret": SECRETS, "tenant": TENANTS}.items()
    for sentence, row in rows.items()
}
