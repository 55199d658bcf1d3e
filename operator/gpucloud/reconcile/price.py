"""Dollars an hour: which VMs may be billed, and prices as text that people may have edited, as numbers, and as words."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

NOTHING = Decimal(0)
ABSURD_PRICE = Decimal(10**9)  # no price, and more digits than a status has room for
# The cloud bills a VM in PENDING_READINESS and ONLINE; of one that is OFFLINE the root disk only (field notes).
NOT_BILLED = frozenset({"NA", "PLANNED", "PENDING", "PENDING_RESOURCES", "OFFLINE", "CREATE_FAILED", "FAILED", "ADMIN_WAIT"})
OFF = "OFFLINE"
ORDERS_WITHOUT_VM = frozenset({"NotOrdered", "Intended", "Refused", "Lost", "Gone"})  # states of the order record


def in_cloud(status: object) -> bool:
    """Whether the VM of this GpuVM's status was seen in the cloud, and is not known to be gone from there since.

    ``status`` is the model, or the document that the apiserver shows.
    """
    return _field(status, "vm_id", "vmId") is not None and _order_state(status) not in ORDERS_WITHOUT_VM


def may_be_billed(status: object) -> bool:
    """Whether the VM of this GpuVM's status may cost its price now. A state that nobody documents may be a billed one."""
    return in_cloud(status) and is_billed_state(_field(status, "state", "state"))


def is_off(status: object) -> bool:
    """Whether the VM of this GpuVM's status is powered off, so that its disk alone is billed."""
    return in_cloud(status) and _word(_field(status, "state", "state")) == OFF


def is_billed_state(state: object) -> bool:
    """Whether a VM in this state, as the cloud writes it, may cost its price."""
    return _word(state) not in NOT_BILLED


def _order_state(status: object) -> str:
    """What the order record says, where there is one."""
    return str(_field(_field(status, "order", "order"), "state", "state"))


def _field(of: object, attribute: str, key: str) -> object:
    return of.get(key) if isinstance(of, Mapping) else getattr(of, attribute, None)


def _word(state: object) -> str:
    return str(state or "").strip().upper()


def dollars(text: str | None) -> Decimal | None:
    """A price as a status or the catalogue writes it; None when it is not known, or no price."""
    try:
        price = Decimal(text or "")
    except InvalidOperation:
        return None
    return price if price.is_finite() and 0 <= price < ABSURD_PRICE else None


def shown(price: Decimal) -> str:
    """A price for people, without what a sum of floats would leave behind."""
    return f"{price:.2f}"


def unknown(count: int) -> str:
    """What a sum leaves out, as a part of a sentence; empty when it leaves out nothing."""
    if not count:
        return ""
    return f" (the price of {'one of them' if count == 1 else f'{count} of them'} is not known and counts as 0)"
