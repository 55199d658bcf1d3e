"""Observes one object in its account's inventory, and applies the tenant check and accepted absences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gpucloud.engine.runtime.clock import reading
from gpucloud.reconcile.accepted_absence import accepted_absence, command
from gpucloud.reconcile.facts import Unknown, UnknownReason
from gpucloud.reconcile.tenancy import check_elsewhere, check_tenant

if TYPE_CHECKING:
    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.accounts import ResolvedAccount
    from gpucloud.engine.cloud.inventory import Inventory
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.reconcile.facts import Observation
    from gpucloud.reconcile.naming import Identity
    from gpucloud.reconcile.time_annotations import Said


class Sought(NamedTuple):
    """What is looked for: the identity of an object's resource, and its tenant, None while nobody knows it.

    ``accepted``: what the annotation says by which a person accepts that it is gone. ``elsewhere`` is the tenant in which it
    may have been ordered with another credential: empty if nobody knows that one's tenant, None if it was not.
    """

    identity: Identity
    accepted: Said
    tenant: str | None = None
    elsewhere: str | None = None


def observe(
    session: AccountSession,
    kind: tuple[str, str],
    stored: CachedObject[Any, Any],
    account: ResolvedAccount,
    sought: Sought,
    clock: Clock,
) -> Observation[Any]:
    """Return the observation of an object. ``kind`` is its kind and the name of the inventory with its records."""
    (name, inventory_name), (here, said, tenancy, elsewhere), meta, now = kind, sought, stored.meta, reading(clock)
    way_out = command(name, meta.namespace, meta.name)
    accepted = accepted_absence(said, now).of_credential(account.since)
    inventory: Inventory[Any] = session.inventories[inventory_name]
    found = inventory.observe(here, accepted.until)
    if isinstance(found, Unknown) and found.cause is UnknownReason.REJECTED:
        session.learn_clusters()  # the message lists the known clusters
    believable = check_tenant(found, tenancy, account.facts, account.since)
    if isinstance(believable, Unknown) and believable.cause is UnknownReason.TENANT:
        session.learn_tenant()
        if session.proving:
            return Unknown(now.mono, UnknownReason.UNREACHABLE, "the tenant of the credential is being looked up")
        believable = check_tenant(found, tenancy, account.facts, account.since, accepted=accepted, way_out=way_out)
    if elsewhere is not None:
        believable = check_elsewhere(believable, elsewhere, account.facts, account.since, accepted, way_out)
    return accepted.explained(believable)
