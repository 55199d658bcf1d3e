"""What is decided alike for a GpuVM, a GpuVpc and a GpuSnapshot about the account, its tenant and its credential."""

from __future__ import annotations

from gpucloud.cloud.errors import ErrorKind
from gpucloud.engine.cloud.accounts import no_account
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Absent, AccountFacts, Unknown, UnknownReason
from gpucloud.reconcile.gpucloudaccount.secret import blocker
from support.accounts import a_secret
from support.builders import NOW
from support.rows import LAB, LAB_LOGIN, LONG_KNOWN, NEW_LOGIN, WORDS, Row, tried

# why no account serves an object with something made, what tells that, and what is said
NONE_SERVES = (
    ("the operator lacks its own", {"recorded": True, "missing": True}, "set GPUCLOUD_API_KEY or the login again. To"),
    ("the operator's own serves others", {"recorded": True, "missing": False}, "add 'team' to --own-account-namespace. To"),
    ("there is none at all", {"recorded": False, "missing": True}, "Create it (kubectl gpucloud explain NoAccount). To"),
    ("none serves it", {"recorded": False, "missing": False}, "Create it (kubectl gpucloud explain NoAccount). To"),
)


def accounts(k):
    return {
        **{
            f"deleted without an account, as {why}: held": Row(
                "no account is no proof",
                k.leaving | {"found": Unknown(NOW, UnknownReason.NO_ACCOUNT, no_account("team", ordered=True, **which))},
                Reason.DELETION_BLOCKED,
                progress="Stalled",
                says=(says, "Retain"),
            )
            for why, which, says in NONE_SERVES
        },
        "nothing is ordered with a credential that has not shown the object's tenant": Row(
            "the key may be another tenant's",
            {
                "status": type(k.settled)(tenancy="acme"),
                "found": Absent(NOW, NOW - 2, NOW - 2),
                "account": AccountFacts("lab"),
            },
            Reason.TENANT_MISMATCH,
            progress="Stalled",
            records=False,
            says="Put a key of that tenant into its Secret",
        ),
        "nothing is ordered with the operator's own credential that has not shown the object's tenant": Row(
            "as above, and the administrator has the key",
            {
                "status": type(k.settled)(tenancy="acme"),
                "found": Absent(NOW, NOW - 2, NOW - 2),
                "account": AccountFacts(OWN_ACCOUNT),
            },
            Reason.TENANT_MISMATCH,
            progress="Stalled",
            records=False,
            says="Ask the administrator for a key of that tenant",
        ),
        "nothing is created with a Secret that is being deleted": Row(
            "nobody could destroy it when the Secret is gone",
            {"needs": (blocker("lab-key", a_secret(deleting=True), ""),), "account": LAB},
            Reason.ACCOUNT_NOT_READY,
            says=("Secret 'lab-key' is being deleted: nothing is created with it. Create another Secret",),
        ),
        "a login that needs a second factor calls a person": Row(
            "nobody is there to type it",
            {"status": k.creating, "history": tried(k.create, kind=ErrorKind.LOGIN), "account": LAB_LOGIN},
            Reason.CREDENTIALS_REFUSED,
            progress="Stalled",
            says=(WORDS, "Update Secret 'lab-key' in place (do not delete it); ", NEW_LOGIN),
        ),
        "an answer that leads elsewhere calls a person": Row(
            "a credential is sent to no other host",
            {"status": k.creating, "history": tried(k.create, kind=ErrorKind.REDIRECTED)},
            Reason.API_ERROR,
            progress="Stalled",
            says="Ask the administrator to correct the endpoint's URL.",
        ),
        "no usable answer again and again calls a person": Row(
            "a proxy in between may answer",
            {
                "status": k.creating,
                "history": tried(k.create, ago=31, kind=ErrorKind.OUTCOME_UNKNOWN, ambiguous=True, failures=5),
            },
            Reason.API_ERROR,
            progress="Stalled",
            says=(f"{k.create} failed 5 times or more: ", "Check the cloud, network and any proxy; the operator tries again."),
        ),
        "a lost status: the operator's own account is asked first": Row(
            "it may have ordered before, and a second order would be a second one to pay for",
            {"found": Unknown(NOW - 10, UnknownReason.STATUS_LOST), "account_undecided": True, "history": LONG_KNOWN},
            Reason.ACCOUNT_NOT_READY,
            "Unknown",
            says=("Looking for the ", "The status was lost", "delete this object with spec.deletion.policy: Retain."),
        ),
    }
