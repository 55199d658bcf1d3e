"""What every kind shares: names under our domain, the base model, conditions and reasons.

The reasons are part of the public contract: people write alerts on them. One enum holds them all.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, PlainSerializer
from pydantic.alias_generators import to_camel

if TYPE_CHECKING:
    from collections.abc import Mapping

GROUP = "gpucloud.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"
FINALIZER = f"{GROUP}/finalizer"
SECRET_FINALIZER = f"{GROUP}/credentials-in-use"  # on a Secret that a GpuCloudAccount reads, while that is in use
FIELD_MANAGER = "gpucloud-operator"
PART_OF = ("app.kubernetes.io/part-of", "gpucloud-operator")  # the label by which what belongs to an operator is found


class Annotation(StrEnum):
    """Annotations that people set on our objects; the operator never writes them."""

    PAUSED = f"{GROUP}/paused"
    RESTART_REQUESTED_AT = f"{GROUP}/restart-requested-at"
    RECONCILE_REQUESTED_AT = f"{GROUP}/reconcile-requested-at"
    BUY_ANYWAY = f"{GROUP}/buy-anyway"
    ACCEPT_ABSENCE = f"{GROUP}/accept-absence"
    BRAKE_RELEASED_AT = f"{GROUP}/brake-released-at"  # on a GpuVM, or on its Namespace for all in it


MAX_MESSAGE = 32768  # metav1.Condition

# Kubernetes' character classes (metav1.Condition).
_CONDITION_TYPE = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
)
_CONDITION_REASON = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"


def rfc3339(moment: datetime) -> str:
    """The form of all times in our objects: UTC, whole seconds (cut, not rounded), ``2026-01-02T03:04:05Z``."""
    with suppress(OverflowError):  # within a day of the calendar's end, which people can write into a status
        moment = moment.astimezone(UTC)
    return moment.replace(microsecond=0, tzinfo=None).isoformat() + "Z"  # strftime writes the year 999 with three digits


# A moment with a zone. In JSON it has whole seconds, as Kubernetes' own times have.
Time = Annotated[AwareDatetime, PlainSerializer(rfc3339, return_type=str, when_used="json")]


class Model(BaseModel):
    """Base of spec and status: frozen, camelCase on the wire, unknown fields ignored."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True, extra="ignore")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with these fields changed.

        Raises:
            TypeError: no field has this name; pydantic's own method would drop the value without a word.
        """
        unknown = set(update or ()) - type(self).model_fields.keys()
        if unknown:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(sorted(unknown))}")
        return super().model_copy(update=update, deep=deep)


class ConditionType(StrEnum):
    """``Ready`` always stands; the others only while they are True; Reconciling and Stalled never together.

    Succeeded is a snapshot's: it has been taken. Restricted is an account's: the cloud forbids its credential some operations.
    """

    READY = "Ready"
    RECONCILING = "Reconciling"
    STALLED = "Stalled"
    PAUSED = "Paused"
    SUCCEEDED = "Succeeded"
    RESTRICTED = "Restricted"


class Reason(StrEnum):
    """Every reason that a condition or event may carry. Stable: adding is fine, renaming is a breaking change."""

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
    DELETING = "Deleting"
    DRIFTED = "Drifted"
    UNKNOWN_STATE = "UnknownState"
    # settled as asked
    RUNNING = "Running"
    POWERED_OFF = "PoweredOff"
    AVAILABLE = "Available"
    COMPLETED = "Completed"
    CONNECTED = "Connected"
    # waiting
    WAITING_FOR_CAPACITY = "WaitingForCapacity"
    SSH_KEYS_NOT_FOUND = "SSHKeysNotFound"
    NAMESPACE_TERMINATING = "NamespaceTerminating"
    RATE_LIMITED = "RateLimited"
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
    MISMATCH = "Mismatch"
    VPC_LOST = "VPCLost"
    SNAPSHOT_LOST = "SnapshotLost"
    SECRET_NOT_FOUND = "SecretNotFound"  # noqa: S105 - a word, no secret
    INVALID_SECRET = "InvalidSecret"  # noqa: S105 - a word, no secret
    UNKNOWN_ENDPOINT = "UnknownEndpoint"
    # events only
    CREATED = "Created"
    STARTED = "Started"
    STOPPED = "Stopped"
    DESTROYED = "Destroyed"
    ORDER_FAILED = "OrderFailed"
    START_FAILED = "StartFailed"
    STOP_FAILED = "StopFailed"
    DESTROY_FAILED = "DestroyFailed"
    RESUMED = "Resumed"
    RETAINED = "Retained"
    GONE = "Gone"
    ADOPTED = "Adopted"
    CREDENTIAL_CHANGED = "CredentialChanged"
    ORPHAN = "Orphan"
    ORPHAN_COLLECTED = "OrphanCollected"
    ORPHAN_COLLECTION_FAILED = "OrphanCollectionFailed"
    ORPHAN_COLLECTION_REFUSED = "OrphanCollectionRefused"
    SECRET_HELD = "SecretHeld"  # noqa: S105 - a word, no secret
    SECRET_FREED = "SecretFreed"  # noqa: S105 - a word, no secret
    SECRET_FAILED = "SecretFailed"  # noqa: S105 - a word, no secret


class Condition(Model):
    """One answer to one question, in the form that kubectl wait, kstatus, Flux and Helm read."""

    type: Annotated[
        str,
        Field(
            max_length=316, pattern=_CONDITION_TYPE, description="Ready, Reconciling, Stalled, Paused, Succeeded or Restricted."
        ),
    ]
    status: Annotated[Literal["True", "False", "Unknown"], Field(description="True, False or Unknown.")]
    observed_generation: Annotated[
        int | None, Field(ge=0, description="The generation of the spec that this condition was computed from.")
    ] = None
    last_transition_time: Annotated[Time, Field(description="When the status of this condition last flipped.")]
    reason: Annotated[
        str,
        Field(
            min_length=1,
            max_length=1024,
            pattern=_CONDITION_REASON,
            description="A stable CamelCase word for machines.",
        ),
    ]
    message: Annotated[
        str, Field(max_length=MAX_MESSAGE, description="A sentence for people: what happened and what to do next.")
    ]
