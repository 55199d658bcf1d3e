"""Facts for decisions about a GpuHost."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.kinds.gpuhost import GpuHostSpec, GpuHostStatus, HostOperation, HostVerb
from gpucloud.kinds.meta import Annotation, rfc3339
from gpucloud.reconcile.core.facts import FRESH_INTERVALS
from gpucloud.reconcile.core.record import cut
from gpucloud.reconcile.facts import (
    AccountFacts,
    Asked,
    Attempt,
    CallHistory,
    Limits,
    ListingPace,
    Now,
    ObjectFacts,
    Observation,
    Present,
    Refusal,
    Verb,
)
from gpucloud.reconcile.naming import NO_VPC, Identity

if TYPE_CHECKING:
    from datetime import datetime

    from gpucloud.cloud.models import HostRecord
    from gpucloud.kinds.meta import Reason
    from gpucloud.reconcile.facts import ResourceOwner

CALLS = {HostVerb.REBOOT: Verb.REBOOT_HOST, HostVerb.REPROVISION: Verb.REPROVISION_HOST}
NOT_CARRIED_OUT = frozenset({ErrorKind.NOT_SENT, ErrorKind.THROTTLED})  # for certain, and nothing says that it must not be
Announcement = tuple[HostVerb, str, str]  # verb and id of an operation, and its time as status writes it


def identity(spec: GpuHostSpec) -> Identity:
    """Return the identity of the host: its id is unique within the cluster."""
    return Identity(spec.cluster, NO_VPC, spec.host_id)


@dataclass(frozen=True, slots=True)
class CloudInit:
    """The cloud-init of a requested reprovisioning, in base64; or the reason and the words why it cannot be used."""

    encoded: str = field(default="", repr=False)
    trouble: Reason | None = None
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """One GpuHost, the observation of its host, and this process's call history."""

    now: Now
    meta: ObjectFacts
    spec: GpuHostSpec
    status: GpuHostStatus
    found: Observation[HostRecord]
    history: CallHistory
    limits: Limits = field(default_factory=Limits)
    account: AccountFacts = field(default_factory=lambda: AccountFacts(OWN_ACCOUNT))
    isolated: bool = False  # the account is the operator's own, and its namespaces are isolated from each other
    owner: ResourceOwner | None = None  # the other GpuHost that owns the host
    synced: bool = True  # the first list is complete, so claims are complete
    listing_pace: ListingPace = field(default_factory=ListingPace)
    announced: Announcement | None = None  # what this process itself announced last: it alone may send that
    cloud_init: CloudInit | None = None  # None: none is needed

    @property
    def identity(self) -> Identity:
        """The identity of the host."""
        return identity(self.spec)

    @property
    def seen(self) -> bool:
        """Whether a listing has ever shown the host, as status records."""
        return self.status.host_id is not None

    @property
    def may_exist(self) -> bool:
        """As ``seen``: a host is never ordered."""
        return self.seen

    @property
    def deletion_destroys(self) -> bool:
        """Never: a host is only released."""
        return False

    @property
    def fresh_from(self) -> float:
        """The mono time before which a listing began too early to act on it."""
        return self.now.mono - FRESH_INTERVALS * self.limits.pending_interval - self.listing_pace.shorter

    @property
    def spread(self) -> float:
        """A number from 0 to 1 by UID, so that objects do not retry at the same moment."""
        return hashlib.sha256(self.meta.uid.encode()).digest()[0] / 256

    @property
    def asked(self) -> Asked:
        """The last request of a person to look again."""
        return Asked(self.meta.generation, self.meta.annotations.get(Annotation.RECONCILE_REQUESTED_AT) or None)

    def attempt(self, verb: HostVerb, value: str) -> Attempt | None:
        """Return this process's last call for this request; None if it has sent none."""
        attempt = self.history.attempts.get(CALLS[verb])
        return attempt if attempt is not None and attempt.targets == (value,) else None

    def may_be_carried_out(self, verb: HostVerb, value: str) -> bool:
        """Whether this process has sent a call for this request that may have been carried out."""
        attempt = self.attempt(verb, value)
        return attempt is not None and not is_certainly_undone(attempt.refusal)

    def is_own(self, operation: HostOperation) -> bool:
        """Whether this process itself announced the operation, so that it knows what it has sent."""
        return self.announced == announcement(operation)

    def mono_of(self, moment: datetime) -> float:
        """Return the mono time of a time in status."""
        return self.now.mono - (self.now.wall - moment).total_seconds()

    def observed(self) -> dict[str, Any]:
        """The status fields of the host's record; empty if there is none, or nobody knows that it is this object's."""
        if not isinstance(self.found, Present) or self.found.duplicate_records or self.owner is not None:
            return {}
        record = self.found.record
        texts = {
            "host_id": record.id,
            "cluster": record.cluster or self.spec.cluster,
            "node_type": record.node_type,
            "image": without_secrets(record.image),
            "private_ip": record.private_ip,
            "public_ip": record.public_ip,
            "provisioned_hostname": record.provisioned_hostname,
            "operational_status": record.operational_status,
            "provisioning_state": record.provisioning_state,
            "tenancy": self.status.tenancy or record.tenancy_name,
        }
        return {
            "account": self.account.name,
            "endpoint": self.status.endpoint or self.account.endpoint,
            **cut(texts),
            "powered_on": record.powered_on,
        }


def announcement(operation: HostOperation) -> Announcement:
    """Return what tells one announcement from another, also from one of the same request by another process."""
    return operation.verb, operation.id, rfc3339(operation.at)


def is_certainly_undone(refusal: Refusal | None) -> bool:
    """Whether a call with this outcome was not carried out for certain, and may be sent again."""
    return refusal is not None and refusal.kind in NOT_CARRIED_OUT and not refusal.ambiguous


def without_secrets(image: str | None) -> str | None:
    """Return an image's name; of a URL without user, query and fragment, which may hold a password or a token."""
    if image is None or "://" not in image:
        return image
    scheme, _, rest = image.partition("://")
    address = rest.partition("?")[0].partition("#")[0]
    host, slash, path = address.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"
