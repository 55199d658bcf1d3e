"""Facts for decisions: frozen, and gathered before the decision begins.

Two clocks: ``wall`` (UTC) is only ever written into status; every duration is measured in ``mono`` seconds, which no
clock jump can bend.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from gpucloud.cloud.errors import ErrorKind

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Now:
    """One reading of both clocks."""

    wall: datetime
    mono: float


@dataclass(frozen=True, slots=True)
class Presence:
    """In which listings through one credential a record was present. Each time (mono) is when a listing began.

    A listing that lacks too many records at once is implausible: it counts for ``lacked_since``, and not for ``times_lacked``.
    A failed listing neither shows nor lacks the record, so after it ``shown_since`` begins anew. Neither of the two ends an
    absence: the record is *away* when two plausible listings lacked it, and none between them showed it.
    """

    shown_since: float | None = None  # the first listing that shows it since one lacked it, or failed
    lacked_since: float | None = None  # the first listing that lacks it since one showed it; None: the last one shows it
    times_lacked: int = 0  # how many plausible listings since then lack it
    lacked_until: float | None = None  # the listing that showed it again after the last absence; None: none ended yet
    away_until: float | None = None  # the same after the last absence in which it was away
    confirmed: float | None = None  # of the last absence, as in ``Absent``; it stays when the record is shown again


@dataclass(frozen=True, slots=True)
class Present(Generic[R]):
    """The last complete listing shows the record. ``duplicate_records``: more than one record has this identity."""

    record: R
    as_of: float
    duplicate_records: bool = False
    presence: Presence = field(default_factory=Presence)


@dataclass(frozen=True, slots=True)
class Absent:
    """A complete, plausible listing that began at ``as_of`` lacks the record; absent since ``since``, begin of the first such.

    ``confirmed``: begin of the listing before that one, if it lacked the record too: one listing may be partial.
    """

    as_of: float
    since: float
    confirmed: float | None = None


class ListingPace(NamedTuple):
    """Seconds that the last two listings took: the shorter of both, and the longer."""

    shorter: float = 0.0
    longer: float = 0.0


class UnknownReason(StrEnum):
    """Why an observation is unknown."""

    NOT_LISTED = "not looked yet"
    UNREACHABLE = "the cloud does not answer as it should"
    REFUSED = "the credential is refused"
    FORBIDDEN = "the credential lacks the permission to list"
    REJECTED = "the cloud refuses to list its cluster"
    IMPLAUSIBLE = "many resources vanished at once"
    NO_ACCOUNT = "no account serves this object"
    ACCOUNT = "its account cannot be used"
    UNPLACED = "its cluster and VPC are not known yet"
    MOVED = "the spec names another place than the order"
    ENDPOINT = "its account is at another endpoint than the order"
    STATUS_LOST = "its status was lost, and the operator's own account may list it late"
    TENANT = "the credential is another tenant's, or has shown none yet"


@dataclass(frozen=True, slots=True)
class Unknown:
    """Unknown since ``since`` (mono): no listing yet, or listings failed or are not believed."""

    since: float
    cause: UnknownReason
    detail: str = ""


Observation = Present[R] | Absent | Unknown


class Verb(StrEnum):
    """A call that changes the cloud, by the operation's name, or changes Kubernetes objects; one of them only reads."""

    CREATE = "CreateServer"
    START = "StartServer"
    STOP = "StopServer"
    DESTROY = "DestroyServer"
    CREATE_SNAPSHOT = "CreateSnapshot"
    DELETE_SNAPSHOT = "DeleteSnapshot"
    CREATE_VPC = "CreateVpc"
    DESTROY_VPC = "DestroyVpc"
    REBOOT_HOST = "RebootHost"
    REPROVISION_HOST = "ReprovisionHost"
    HOLD_SECRET = "HoldSecret"  # noqa: S105 - the two that change a Secret of ours, not the cloud
    FREE_SECRET = "FreeSecret"  # noqa: S105
    REQUEST_SNAPSHOT = "CreateGpuSnapshot"  # the final snapshot, as an object of the VM's namespace
    PUBLISH = "PublishConnection"  # these two change objects of the VM's namespace
    WITHDRAW = "WithdrawConnection"
    READ_BOOT_LOG = "ReadBootLog"  # changes nothing


CREATES = frozenset({Verb.CREATE, Verb.CREATE_SNAPSHOT, Verb.CREATE_VPC})
DESTROYS = frozenset({Verb.DESTROY, Verb.DELETE_SNAPSHOT, Verb.DESTROY_VPC})


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a call failed; ``ambiguous``: it may have been carried out all the same."""

    kind: ErrorKind
    message: str
    ambiguous: bool
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A person's last request: a new generation of the spec or a reconcile request ends the wait after a failed call."""

    generation: int
    reconcile_request: str | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """The last call of one verb: when its outcome was known, and how often in a row it failed.

    ``unrefused``: how often this verb was sent for these targets and not refused; ``targets``: snapshots or the request, if it
    names some; ``answer``: what a call that only reads has shown; ``recalled``: another process announced it, and nobody knows
    whether it left, and what was answered: as many calls count as not refused as were announced.
    """

    verb: Verb
    at: float
    asked: Asked
    refusal: Refusal | None = None
    failures: int = 0
    unrefused: int = 0
    targets: tuple[str, ...] = ()
    answer: str = ""
    recalled: bool = False


@dataclass(frozen=True, slots=True)
class CallHistory:
    """This process's call history of an object. A restart loses it, so safety never depends on it alone."""

    first_seen: float
    seen_new: bool = False  # this process has seen it without our finalizer, so before any call
    deletion_seen: float | None = None  # when this process first saw that the object is being deleted
    finalizer_released: bool = False  # this process has decided to remove the finalizer, and may have done so
    attempts: Mapping[Verb, Attempt] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResourceOwner:
    """The object that owns a cloud resource, as the other objects that claim the resource see it.

    ``keeps``: its deletion leaves the resource in the cloud.
    """

    kind: str
    namespace: str
    name: str
    keeps: bool = False

    def named_in(self, namespace: str) -> str:
        """Return its kind and name for a message. A reader in another namespace may not see its name."""
        return f"{self.kind} {self.name!r}" if self.namespace == namespace else f"a {self.kind} in another namespace"


class KeyTrouble(StrEnum):
    """What can be wrong with keys from Secrets and ConfigMaps."""

    MISSING = "missing"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class SSHKeys:
    """The public keys to install, or why they are unknown.

    ``detail`` may end in a command, behind which a sentence must follow.
    """

    lines: tuple[str, ...] = ()
    trouble: KeyTrouble | None = None
    detail: str = ""
    may_be_misnamed: bool = False  # there is no such source or key, so spec.sshKeysFrom may name the wrong one


class Readiness(StrEnum):
    """Readiness of a needed object."""

    READY = "ready"
    MISSING = "missing"  # no such object in this namespace
    PENDING = "pending"  # it exists and is not ready
    DELETING = "deleting"  # it is being deleted
    NAMELESS = "nameless"  # it was taken, and nothing tells its name in the cloud
    UNUSABLE = "unusable"  # it is of another cluster or tenant, and can never be used


@dataclass(frozen=True, slots=True)
class Dependency:
    """An object that must be ready before a creation.

    ``name``, ``field`` and ``near`` are for messages: ``GpuVpc 'net'``, the immutable field of the spec that names it, and the
    names that may be meant where there is no such object.
    """

    name: str
    readiness: Readiness
    detail: str = ""
    account: bool = False  # it is the account, which has a reason of its own
    held: bool = False  # its deletion waits for the object that refers to it, even if that has ordered nothing
    field: str = ""
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedSecret:
    """The Secret that an account names, for commands in messages."""

    name: str
    holds_login: bool = False  # else an API key, or nothing that can be used
    deleting: bool = False


@dataclass(frozen=True, slots=True)
class AccountFacts:
    """Whose credential is used: the name to record in status, and the tenants whose records it has shown, nearly always one.

    ``clusters`` are those that the cloud has listed to it; empty while it has listed none. ``endpoint`` is the name of the one
    that the credential is used at. ``secret`` is None for the operator's own account.
    """

    name: str
    tenants: frozenset[str] = frozenset()
    clusters: tuple[str, ...] = ()
    endpoint: str | None = None
    secret: NamedSecret | None = None


@dataclass(frozen=True, slots=True)
class ObjectFacts:
    """Metadata of the custom resource, of any kind."""

    namespace: str
    name: str
    uid: str
    generation: int
    deleting: bool
    has_finalizer: bool  # our finalizer is visible
    annotations: Mapping[str, str]
    deleted_at: datetime | None = None  # when deletion was requested, by the apiserver's clock
    created_at: datetime | None = None  # by the same clock

    @property
    def may_be_edited(self) -> bool:
        """Whether the spec may have been edited since its creation; the deletion of the object raises the generation, too."""
        return self.generation > 1 + self.deleting


@dataclass(frozen=True, slots=True)
class Limits:
    """Settings for decisions, in seconds."""

    grace: float = 30.0
    blind_after: float = 180.0
    pending_interval: float = 2.0
    observe_only: bool = False
    boot_log_after: float = 600.0  # how long a VM may boot before its boot log is read; 0: it is never read
