"""The table of each kind: how it is decided, its rows, and every reason that it can give."""

from __future__ import annotations

from collections import ChainMap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpucloud.reconcile.gpucloudaccount import decide
from gpucloud.reconcile.gpuhost import decide as decide_host
from support.accounts import account_facts
from support.decisions import (
    gpucloudaccount,
    gpucloudaccount_secret,
    gpuhost,
    gpuhost_answers,
    gpuhost_requests,
    gpusnapshot,
    gpuvm_adoption,
    gpuvm_cloud_named,
    gpuvm_clusters,
    gpuvm_connection,
    gpuvm_deletion,
    gpuvm_duplicates,
    gpuvm_final_snapshot,
    gpuvm_life,
    gpuvm_loss,
    gpuvm_named,
    gpuvm_needs,
    gpuvm_offers,
    gpuvm_order,
    gpuvm_placement,
    gpuvm_price,
    gpuvm_replacement,
    gpuvm_replacement_elsewhere,
    gpuvm_replacement_equal,
    gpuvm_replacement_saved,
    gpuvm_starting,
    gpuvpc,
    gpuvpc_deletion,
    kinds,
    shared,
)
from support.hostfacts import host_facts

if TYPE_CHECKING:
    from collections.abc import Callable

# By the steps of the three chains and the table of refusals.
SAID_BY_ALL = {
    *("Creating", "Deleting", "DeletionBlocked", "Gone", "Retained", "Paused", "ObserveOnly", "NamespaceTerminating"),
    *(
        "DependencyNotReady",
        "NoAccount",
        "AccountNotReady",
        "TenantMismatch",
        "EndpointMismatch",
        "CredentialsRefused",
        "PermissionDenied",
    ),
    *("ImplausibleListing", "ApiUnavailable", "ApiError", "Rejected", "RateLimited", "WaitingForCapacity", "Conflict"),
    *("Ambiguous", "NotFound", "ProgressDeadlineExceeded", "InvalidSpec", "OrderOverdue"),
}


@dataclass(frozen=True)
class Table:
    """The decisions of one kind."""

    decide: Callable
    facts: Callable
    rows: dict
    reasons: set


def ordering(kind, *modules, reasons):
    """The table of a kind that orders something in the cloud: the shared rows, and its own."""
    return Table(
        kind.decide, kind.facts, joined(shared.rows(kind), *(module.ROWS for module in modules)), SAID_BY_ALL | reasons
    )


def joined(*tables):
    """One table of several, none of whose rows hides another's."""
    rows = dict(ChainMap(*tables))
    assert len(rows) == sum(map(len, tables)), "two rows bear the same name"
    return rows


TABLES = {
    "GpuVM": ordering(
        kinds.GPUVM,
        *(
            gpuvm_duplicates,
            gpuvm_order,
            gpuvm_clusters,
            gpuvm_cloud_named,
            gpuvm_connection,
            gpuvm_placement,
            gpuvm_price,
            gpuvm_offers,
            gpuvm_starting,
            gpuvm_life,
            gpuvm_named,
            gpuvm_needs,
            gpuvm_deletion,
            gpuvm_final_snapshot,
            gpuvm_loss,
            gpuvm_replacement,
            gpuvm_replacement_elsewhere,
            gpuvm_replacement_equal,
            gpuvm_replacement_saved,
            gpuvm_adoption,
        ),
        reasons={
            *("Running", "PoweredOff", "Starting", "Stopping", "Restarting", "Drifted", "Provisioning", "UnknownState"),
            *("SSHKeysNotFound", "InvalidSSHKeys", "PossibleDuplicate", "InvalidReference", "CreateFailed", "VMFailed"),
            *(
                "AdminWait",
                "VMLost",
                "Mismatch",
                "LimitReached",
                "DeletionHeld",
                "TakingFinalSnapshot",
                "Recreating",
                "Replacing",
                "RecreationLimited",
            ),
        },
    ),
    "GpuVpc": ordering(kinds.GPUVPC, gpuvpc, gpuvpc_deletion, reasons={"Available", "Adopted", "Mismatch", "VPCLost"}),
    "GpuSnapshot": ordering(
        kinds.GPUSNAPSHOT, gpusnapshot, reasons={"Completed", "SourceNotFound", "InvalidReference", "SnapshotLost", "Mismatch"}
    ),
    "GpuHost": Table(
        decide_host,
        host_facts,
        joined(gpuhost.ROWS, gpuhost_requests.ROWS, gpuhost_answers.ROWS),
        reasons={
            *(
                "Running",
                "Provisioning",
                "HostOff",
                "HostFailed",
                "UnknownState",
                "NotFound",
                "HostLost",
                "Conflict",
                "InvalidReference",
                "Ambiguous",
            ),
            *("Paused", "ObserveOnly", "Rebooting", "Reprovisioning", "Rejected", "ApiError", "RateLimited", "ApiUnavailable"),
            *("SecretNotFound", "InvalidSecret", "NoAccount", "AccountNotReady", "TenantMismatch", "EndpointMismatch"),
            *("CredentialsRefused", "PermissionDenied", "InvalidSpec", "ImplausibleListing", "ProgressDeadlineExceeded"),
        },
    ),
    "GpuCloudAccount": Table(
        decide,
        account_facts,
        joined(gpucloudaccount.ROWS, gpucloudaccount_secret.ROWS),
        reasons={
            *(
                "Connected",
                "Pending",
                "ApiUnavailable",
                "CredentialsRefused",
                "InvalidSecret",
                "SecretNotFound",
                "SecretDeleting",
                "TenantMismatch",
                "EndpointMismatch",
            ),
            *("UnknownEndpoint", "Paused", "Deleting", "DeletionBlocked", "Gone"),
        },
    ),
}
