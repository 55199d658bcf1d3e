"""Whether an observation with one credential counts for an object that belongs to a tenant.

With another tenant's valid key all resources of ours look gone. So if an object's tenant is known, Present and Absent count
only with a credential that has shown records of that tenant. docs/adr/0004 has the reasons.

Where an order made nothing for certain, its tenant is not recorded any more: a wrong key that was put right leaves no trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from gpucloud.kinds.common import OWN_ACCOUNT, OrderState
from gpucloud.reconcile import credential
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.accepted_absence import AcceptedAbsence
from gpucloud.reconcile.facts import Absent, Present, Unknown, UnknownReason
from gpucloud.reconcile.text import MAX_TEXT, followed

if TYPE_CHECKING:
    from typing import Protocol

    from gpucloud.kinds.common import Order
    from gpucloud.reconcile.facts import AccountFacts, Observation
    from gpucloud.reconcile.order import TrackedOrder

    class Tenanted(Protocol):
        """A record with the name of its tenant."""

        @property
        def tenancy_name(self) -> str | None:
            """Name of the record's tenant."""


R = TypeVar("R", bound="Tenanted")
NOTHING_ACCEPTED = AcceptedAbsence()
STANDING = frozenset({OrderState.ACCEPTED, OrderState.SEEN, OrderState.DESTROYING})


def tenant_of(record: Tenanted) -> str | None:
    """Return the tenant that a record names, as a status can hold it."""
    return record.tenancy_name[:MAX_TEXT] if record.tenancy_name else None


def bound_tenant(tracked: TrackedOrder, recorded: str | None) -> str | None:
    """Return the tenant that a status records; None if nothing can have been made there, so that any tenant's key will do."""
    return None if orders.never_made(tracked) else recorded


def ordered_elsewhere(
    tracked: TrackedOrder, tenant: str | None, account: AccountFacts, *, other_credential: bool | None, status_lost: bool
) -> str | None:
    """Return the tenant in which an order may have made something that this account's credential cannot show; else None.

    ``tenant`` is the account's, as its status records it. ``other_credential``: whether this process sent the order with
    another credential, None if it sent none; then an earlier process may have sent it while the account was of that tenant
    (seed 92312754). Empty where the other credential had shown no tenant. ``status_lost``: no record tells of an order,
    and this process does not know that there was none (92333898).
    """
    if not (status_lost or orders.may_have_made(tracked)):
        return None
    if other_credential is not None:
        return "" if other_credential else None
    return None if tenant in account.tenants else tenant


def may_change(before: Order | None, after: Order | None, tenant: str | None) -> bool:
    """Whether a status may name another ``tenant`` than before: with a new order, or none with an order that was refused.

    No new order follows one whose resource stands: such a status was edited.
    """
    if before is None or after is None or not after.id or before.state in STANDING:
        return False
    return after.id != before.id or (after.state is OrderState.REFUSED and tenant is None)


def check_tenant(
    found: Observation[R],
    tenancy: str | None,
    account: AccountFacts,
    since: float,
    *,
    accepted: AcceptedAbsence = NOTHING_ACCEPTED,
    way_out: str = "",
) -> Observation[R]:
    """Return the observation, or Unknown if the credential is of another tenant or its tenant is unknown.

    ``tenancy`` is the tenant recorded for the object, ``since`` when the credential came into use (mono). ``accepted`` ends
    the doubt about a credential that has shown nothing; nothing ends that about one that is another tenant's. ``way_out`` is
    the command that would.
    """
    if tenancy is None or isinstance(found, Unknown):
        return found
    if isinstance(found, Present) and tenant_of(found.record) in {None, tenancy}:
        return found
    words = ""
    if account.tenants and tenancy not in account.tenants:
        words = _other_tenants(tenancy, account)
    elif isinstance(found, Present):
        words = _other_record(found.record, tenancy, account)
    elif not account.tenants and not accepted.covers(since):
        words = _nothing_shown(tenancy, account, accepted, way_out or "accept its absence")
    return Unknown(since, UnknownReason.TENANT, words) if words else found


def check_elsewhere(
    found: Observation[R],
    elsewhere: str,
    account: AccountFacts,
    since: float,
    accepted: AcceptedAbsence,
    way_out: str,
) -> Observation[R]:
    """Return the observation, or Unknown if it lacks what may have been ordered with another credential.

    ``elsewhere`` is that one's tenant; empty if nobody knows it. ``since`` is when the present one came into use (mono).
    ``accepted`` ends the doubt, and ``way_out`` is the command for it.
    """
    if not isinstance(found, Absent) or accepted.covers(since):
        return found
    sent = (
        f"may have been sent with a key of tenant {elsewhere!r}"
        if elsewhere
        else "was sent with another key, of a tenant not known"
    )
    early = f" {accepted.too_early}" if accepted.too_early else ""
    words = (
        f"The order {sent}, whose resources the present {credential.described(account.name)} may not show.{early} Put that "
        f"key back. If the resource is really gone: {way_out}"
    )
    return Unknown(since, UnknownReason.TENANT, words)


def _other_tenants(tenancy: str, account: AccountFacts) -> str:
    """Say that the credential is of other tenants."""
    whose = " and ".join(repr(name) for name in sorted(account.tenants))
    held = "The operator's own credential is" if account.name == OWN_ACCOUNT else f"Account {account.name!r} has a key"
    return f"{held} of tenant {whose}; this object is of tenant {tenancy!r}. {credential.restore(account.name, tenancy)}."


def _other_record(record: Tenanted, tenancy: str, account: AccountFacts) -> str:
    """Say that what is listed is another tenant's."""
    return (
        f"The record in the cloud belongs to tenant {record.tenancy_name!r}, this object to {tenancy!r}: nothing is done to "
        f"it. {credential.restore(account.name, tenancy)}."
    )


def _nothing_shown(tenancy: str, account: AccountFacts, accepted: AcceptedAbsence, way_out: str) -> str:
    """Say that the credential has shown no tenant yet."""
    early = f" {accepted.too_early}" if accepted.too_early else ""
    words = (
        f"The {credential.described(account.name)} has shown nothing of this object's tenant {tenancy!r}, so its listings "
        f"prove nothing.{early} If the resource is gone: {way_out}"
    )
    return followed(words, "Until then nothing is created or destroyed.")
