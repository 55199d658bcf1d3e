"""Prices in dollars per hour: which VMs may be billed, and conversion of prices from and to text."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

NOTHING = Decimal(0)
SECONDS_PER_HOUR = 3600
ABSURD_PRICE = Decimal(10**9)  # not a price, and more digits than a status can hold
# The cloud bills a VM in PENDING_READINESS and ONLINE; of one that is OFFLINE the root disk only (field notes).
FAILED = frozenset({"CREATE_FAILED", "FAILED", "ADMIN_WAIT"})  # whether these are billed is not documented
NOT_BILLED = frozenset({"NA", "PLANNED", "PENDING", "PENDING_RESOURCES", "OFFLINE"}) | FAILED
OFF = "OFFLINE"
ORDERS_WITHOUT_VM = frozenset({"NotOrdered", "Intended", "Refused", "Lost", "Gone"})  # states of the order record


def in_cloud(status: object, uid: str) -> bool:
    """Whether the VM of this GpuVM's status was seen in the cloud, and is not known to be gone from there since.

    ``status`` is the model, or the document that the apiserver shows; ``uid`` the object's. A record that a backup restored
    from an object of another UID counts for no price, as for no quota: that VM is not this object's.
    """
    if _field(status, "vm_id", "vmId") is None:
        return False
    from gpucloud.reconcile.ownership import is_recorded_for  # noqa: PLC0415 - it loads hashlib, which costs the plugin 5 ms

    order = _field(status, "order", "order")
    state, name, record = (str(_field(order, field, field) or "") for field in ("state", "name", "id"))
    return state not in ORDERS_WITHOUT_VM and is_recorded_for(uid, name, record)


def may_be_billed(status: object, uid: str) -> bool:
    """Whether the VM of this status may cost its price now. An undocumented state counts as billed."""
    return in_cloud(status, uid) and is_billed_state(_field(status, "state", "state"))


def is_off(status: object, uid: str) -> bool:
    """Whether the VM of this status is powered off, so that only its disk is billed."""
    return in_cloud(status, uid) and _word(_field(status, "state", "state")) == OFF


def is_failed(status: object, uid: str) -> bool:
    """Whether the VM of this status has failed: it is not counted as billed, and may be billed all the same."""
    return in_cloud(status, uid) and _word(_field(status, "state", "state")) in FAILED


def is_billed_state(state: object) -> bool:
    """Whether a VM in this state, as the cloud writes it, may cost its price."""
    return _word(state) not in NOT_BILLED


def _field(of: object, attribute: str, key: str) -> object:
    return of.get(key) if isinstance(of, Mapping) else getattr(of, attribute, None)


def _word(state: object) -> str:
    return str(state or "").strip().upper()


def dollars(text: str | None) -> Decimal | None:
    """Return a price from a status or the catalogue; None if it is unknown or not a price."""
    try:
        price = Decimal(text or "")
    except InvalidOperation:
        return None
    return price if price.is_finite() and 0 <= price < ABSURD_PRICE else None


def accrued(price: Decimal, since: datetime | None, seconds: int, now: datetime) -> Decimal:
    """Return what a VM has cost so far, in dollars: ``seconds`` of earlier periods, and the one that began at ``since``."""
    running = 0 if since is None else max(0, int((now - since).total_seconds()))
    return price * (max(0, seconds) + running) / SECONDS_PER_HOUR


def shown(price: Decimal) -> str:
    """Return a price for messages, without rounding errors of floats."""
    return f"{price:.2f}"


def unknown(count: int) -> str:
    """Return what a sum leaves out, as a part of a sentence; empty if it leaves out nothing."""
    if not count:
        return ""
    return f" ({count} of unknown price)"
