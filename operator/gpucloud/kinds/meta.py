"""What every kind shares and no model is needed for: names under our domain, types of conditions, reasons.

The reasons are part of the public contract: people write alerts on them. One enum holds them all.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum

GROUP = "gpucloud.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"
FINALIZER = f"{GROUP}/finalizer"
SECRET_FINALIZER = f"{GROUP}/credentials-in-use"  # on a Secret that a GpuCloudAccount reads, while that is in use
FIELD_MANAGER = "gpucloud-operator"
VERSION_MARK = "app.kubernetes.io/version"  # a label of the operator's pods; an annotation of its Lease
PART_OF = ("app.kubernetes.io/part-of", "gpucloud-operator")  # the label by which what belongs to an operator is found
SERVER_SIDE_APPLY = "kubectl apply --server-side"
APPLY_CRDS = f"{SERVER_SIDE_APPLY} -f crds/"  # in a checkout of the operator's version

FINAL_SNAPSHOT_OF = f"{GROUP}/final-snapshot-of"  # on a GpuSnapshot that the operator makes: the UID of its GpuVM


class Annotation(StrEnum):
    """Annotations that people set on our objects; the operator never writes them."""

    PAUSED = f"{GROUP}/paused"
    RESTART_REQUESTED_AT = f"{GROUP}/restart-requested-at"
    RECONCILE_REQUESTED_AT = f"{GROUP}/reconcile-requested-at"
    REBOOT_REQUESTED_AT = f"{GROUP}/reboot-requested-at"  # on a GpuHost
    REPROVISION_REQUESTED_AT = f"{GROUP}/reprovision-requested-at"  # on a GpuHost
    BUY_ANYWAY = f"{GROUP}/buy-anyway"
    ACCEPT_ABSENCE = f"{GROUP}/accept-absence"
    TRACEPARENT = f"{GROUP}/traceparent"  # W3C trace context: the trace of an edit continues it, with --tracing
    BRAKE_RELEASED_AT = f"{GROUP}/brake-released-at"  # on a GpuVM, or on its Namespace for all in it


def rfc3339(moment: datetime) -> str:
    """The form of all times in our objects: UTC, whole seconds (cut, not rounded), ``2026-01-02T03:04:05Z``."""
    with suppress(OverflowError):  # within a day of the calendar's end, which people can write into a status
        moment = moment.astimezone(UTC)
    return moment.replace(microsecond=0, tzinfo=None).isoformat() + "Z"  # strftime writes the year 999 with three digits


class ConditionType(StrEnum):
    """``Ready`` always stands; the others only while they are True; Reconciling and Stalled never together.

    Succeeded is a snapshot's: it has been taken. Restricted is an account's: the cloud forbids its credential some operations.
    PublicationFailed is a VM's: its spec.connection could not be published, or not be withdrawn.
    """

    READY = "Ready"
    RECONCILING = "Reconciling"
    STALLED = "Stalled"
    PAUSED = "Paused"
    SUCCEEDED = "Succeeded"
    RESTRICTED = "Restricted"
    PUBLICATION_FAILED = "PublicationFailed"


class Reason(StrEnum):
    """Every reason that a condition or event may carry. Stable: adding is fine, renaming is a breaking change.

    What each means, and what to do, stands in ``explained``.
    """

    # waiting for the operator
    PENDING = "Pending"
    PAUSED = "Paused"
    OBSERVE_ONLY = "ObserveOnly"
    # progress
    CREATING = "Creating"
    PROVISIONING = "Provisioning"
    STARTING = "Starting"
    STOPPING = "Stopping"
    RESTARTING = "Restarting"
    REBOOTING = "Rebooting"
    REPROVISIONING = "Reprovisioning"
    DELETING = "Deleting"
    TAKING_FINAL_SNAPSHOT = "TakingFinalSnapshot"
    DRIFTED = "Drifted"
    RECREATING = "Recreating"
    REPLACING = "Replacing"
    UNKNOWN_STATE = "UnknownState"
    # settled as asked
    RUNNING = "Running"
    POWERED_OFF = "PoweredOff"
    AVAILABLE = "Available"
    COMPLETED = "Completed"
    CONNECTED = "Connected"
    SECRET_DELETING = "SecretDeleting"  # noqa: S105 - a word, no secret
    # waiting
    WAITING_FOR_CAPACITY = "WaitingForCapacity"
    SSH_KEYS_NOT_FOUND = "SSHKeysNotFound"
    NAMESPACE_TERMINATING = "NamespaceTerminating"
    RATE_LIMITED = "RateLimited"
    RECREATION_LIMITED = "RecreationLimited"
    DEPENDENCY_NOT_READY = "DependencyNotReady"
    ACCOUNT_NOT_READY = "AccountNotReady"
    # cannot see
    API_UNAVAILABLE = "ApiUnavailable"
    IMPLAUSIBLE_LISTING = "ImplausibleListing"
    # a person must act
    INVALID_SPEC = "InvalidSpec"
    INVALID_SSH_KEYS = "InvalidSSHKeys"
    REJECTED = "Rejected"
    CREDENTIALS_REFUSED = "CredentialsRefused"
    PERMISSION_DENIED = "PermissionDenied"
    CONFLICT = "Conflict"
    POSSIBLE_DUPLICATE = "PossibleDuplicate"
    AMBIGUOUS = "Ambiguous"
    CREATE_FAILED = "CreateFailed"
    VM_FAILED = "VMFailed"
    ADMIN_WAIT = "AdminWait"
    VM_LOST = "VMLost"
    API_ERROR = "ApiError"
    ORDER_OVERDUE = "OrderOverdue"
    PROGRESS_DEADLINE_EXCEEDED = "ProgressDeadlineExceeded"
    DELETION_BLOCKED = "DeletionBlocked"
    DELETION_HELD = "DeletionHeld"
    LIMIT_REACHED = "LimitReached"
    NO_ACCOUNT = "NoAccount"
    INVALID_REFERENCE = "InvalidReference"
    TENANT_MISMATCH = "TenantMismatch"
    ENDPOINT_MISMATCH = "EndpointMismatch"
    SOURCE_NOT_FOUND = "SourceNotFound"
    NOT_FOUND = "NotFound"
    NO_ADDRESS = "NoAddress"
    MISMATCH = "Mismatch"
    VPC_LOST = "VPCLost"
    SNAPSHOT_LOST = "SnapshotLost"
    HOST_OFF = "HostOff"
    HOST_FAILED = "HostFailed"
    HOST_LOST = "HostLost"
    SECRET_NOT_FOUND = "SecretNotFound"  # noqa: S105 - a word, no secret
    INVALID_SECRET = "InvalidSecret"  # noqa: S105 - a word, no secret
    UNKNOWN_ENDPOINT = "UnknownEndpoint"
    # events only
    CREATED = "Created"
    FINAL_SNAPSHOT_REQUESTED = "FinalSnapshotRequested"
    FINAL_SNAPSHOT_FAILED = "FinalSnapshotFailed"
    STARTED = "Started"
    STOPPED = "Stopped"
    DESTROYED = "Destroyed"
    REBOOT_REQUESTED = "RebootRequested"
    REPROVISION_REQUESTED = "ReprovisionRequested"
    ORDER_FAILED = "OrderFailed"
    START_FAILED = "StartFailed"
    STOP_FAILED = "StopFailed"
    DESTROY_FAILED = "DestroyFailed"
    REBOOT_FAILED = "RebootFailed"
    REPROVISION_FAILED = "ReprovisionFailed"
    RESUMED = "Resumed"
    RETAINED = "Retained"
    GONE = "Gone"
    PUBLISHED = "Published"
    WITHDRAWN = "Withdrawn"
    PUBLISH_FAILED = "PublishFailed"
    WITHDRAW_FAILED = "WithdrawFailed"
    ADOPTED = "Adopted"
    CREDENTIAL_CHANGED = "CredentialChanged"
    ORPHAN = "Orphan"
    ORPHAN_COLLECTED = "OrphanCollected"
    ORPHAN_COLLECTION_FAILED = "OrphanCollectionFailed"
    ORPHAN_COLLECTION_REFUSED = "OrphanCollectionRefused"
    SECRET_HELD = "SecretHeld"  # noqa: S105 - a word, no secret
    SECRET_FREED = "SecretFreed"  # noqa: S105 - a word, no secret
    OFFERS_NOT_WRITTEN = "OffersNotWritten"
    STATUS_UNDONE = "StatusUndone"
    SECRET_FAILED = "SecretFailed"  # noqa: S105 - a word, no secret
