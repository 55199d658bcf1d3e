"""What a decision may look at: frozen facts, gathered before deciding begins.

Two clocks: ``wall`` (UTC) is only ever written into status; every duration is measured in ``mono`` seconds, which no
clock jump can bend.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, TypeVar

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
class Present(Generic[R]):
    """The last complete look shows it. ``duplicate_records``: more than one record under one identity, not to be told apart.

    ``returned`` is when the listing began in which it came back, after others had lacked it. ``doubtful``: it was only one that
    did, or they were not believed, so that it may never have been away. ``shown_since`` is when the first began of the listings
    in a row, through this credential, that show it; None: nobody has kept count.
    """

    record: R
    as_of: float
    duplicate_records: bool = False
    returned: float | None = None
    doubtful: bool = False
    shown_since: float | None = None


@dataclass(frozen=True, slots=True)
class Absent:
    """A complete, plausible listing that began at ``as_of`` does not show it; the first such in a row began at ``since``.

    ``confirmed`` is when the listing before that one began, if it did not show it either: one listing may be partial.
    """

    as_of: float
    since: float
    confirmed: float | None = None


class UnknownReason(StrEnum):
    """Why nothing can be said."""

    NOT_LOOKED = "not looked yet"
    UNREACHABLE = "the cloud does not answer as it should"
    REFUSED = "the credential is refused"
    FORBIDDEN = "the credential lacks the permission to list"
    REJECTED = "the cloud refuses to list where it would be"
    IMPLAUSIBLE = "too much vanished at once to be believed"
    NO_ACCOUNT = "there is no account for it"
    ACCOUNT = "its account cannot be used"
    UNPLACED = "where it belongs is not known yet"
    MOVED = "the spec names another place than the one where it was ordered"
    TENANT = "the credential is another tenant's, or has not shown whose it is"


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing can be said since ``since``: no look yet, or the looks failed, or are not to be believed."""

    since: float
    cause: UnknownReason
    detail: str = ""


Observation = Present[R] | Absent | Unknown


class Verb(StrEnum):
    """What changes something outside our own objects: in the cloud, by the operation's name, or in a Secret."""

    CREATE = "CreateServer"
    START = "StartServer"
    STOP = "StopServer"
    DESTROY = "DestroyServer"
    CREATE_SNAPSHOT = "CreateSnapshot"
    DELETE_SNAPSHOT = "DeleteSnapshot"
    CREATE_VPC = "CreateVpc"
    DESTROY_VPC = "DestroyVpc"
    HOLD_SECRET = "HoldSecret"  # noqa: S105 - the two that change a Secret of ours, not the cloud
    FREE_SECRET = "FreeSecret"  # noqa: S105


CREATES = frozenset({Verb.CREATE, Verb.CREATE_SNAPSHOT, Verb.CREATE_VPC})


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a call did not do what it should; ``ambiguous`` when it may have been carried out all the same."""

    kind: ErrorKind
    message: str
    ambiguous: bool
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person last asked for: a new generation of the spec, or a reconcile request, lifts what held a call back."""

    generation: int
    reconcile_request: str | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """The last call of one verb: when its answer (or the lack of one) was known, and how often in a row it failed."""

    verb: Verb
    at: float
    asked: Asked
    refusal: Refusal | None = None
    failures: int = 0


@dataclass(frozen=True, slots=True)
class CallHistory:
    """What this process remembers of an object beside its order. A crash loses it, so safety never depends on it alone."""

    first_seen: float
    seen_new: bool = False  # this process has seen it without our finalizer, before which nothing is ever sent
    freed: bool = False  # this process has decided to let the object go, and may have taken its finalizer off
    attempts: Mapping[Verb, Attempt] = field(default_factory=dict)


class KeyTrouble(StrEnum):
    """What can be wrong with keys that are read from Secrets and ConfigMaps."""

    MISSING = "missing"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class SSHKeys:
    """The public keys to install, or what keeps them from being known."""

    lines: tuple[str, ...] = ()
    trouble: KeyTrouble | None = None
    detail: str = ""


class Readiness(StrEnum):
    """How it stands with another object that this one needs."""

    READY = "ready"
    MISSING = "missing"  # no such object in this namespace
    PENDING = "pending"  # it is there and not ready
    LEAVING = "leaving"  # it is being deleted
    ELSEWHERE = "elsewhere"  # it lives in another cluster or tenant, and can never be used here


@dataclass(frozen=True, slots=True)
class Dependency:
    """One object that is needed before anything is created. ``name`` for people: ``GpuVpc 'net'``."""

    name: str
    readiness: Readiness
    detail: str = ""
    account: bool = False  # it is the account, which has a reason of its own


@dataclass(frozen=True, slots=True)
class AccountFacts:
    """Whose credential is used: the name to record in status, and the tenants whose records it has shown, nearly always one.

    ``clusters`` are those that the cloud has listed to it; empty while it has listed none.
    """

    name: str
    tenants: frozenset[str] = frozenset()
    clusters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ObjectFacts:
    """Of the custom resource itself, whatever its kind."""

    namespace: str
    name: str
    uid: str
    generation: int
    deleting: bool
    has_finalizer: bool  # our finalizer is visible
    annotations: Mapping[str, str]
    deleted_at: datetime | None = None  # when deletion was asked for, by the apiserver's clock


@dataclass(frozen=True, slots=True)
class Limits:
    """The settings that decisions depend on, in seconds."""

    grace: float = 30.0
    blind_after: float = 180.0
    pending_interval: float = 2.0
    observe_only: bool = False
