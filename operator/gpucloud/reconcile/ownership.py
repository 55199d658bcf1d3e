"""Whose record a status holds: an order's id ends with the fingerprint of the object's UID and of the name that was ordered.

A backup tool restores a status onto a new object, which has another UID. What was ordered for the old object is not the new
one's, so such a record is shown and never used. The id is no secret: whoever may write a status can forge one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.reconcile import naming

if TYPE_CHECKING:
    from gpucloud.kinds.common import Order


def record_id(nonce: str, uid: str, name: str) -> str:
    """The id of a new record of an order of this name for the object of this UID."""
    return f"{nonce}-{naming.fingerprint(f'{uid}/{name}')}"


def own_record(order: Order | None, uid: str) -> Order | None:
    """The recorded order if it was recorded for the object of this UID: its id says so, or the name that was ordered."""
    return order if order is None or is_recorded_for(uid, order.name, order.id) else None


def is_recorded_for(uid: str, name: str, record: str) -> bool:
    """Whether an order of this name, recorded under the id ``record``, is of the object of this UID. One without a name is."""
    return not name or naming.proves(name, uid) or naming.proves(record, f"{uid}/{name}")
