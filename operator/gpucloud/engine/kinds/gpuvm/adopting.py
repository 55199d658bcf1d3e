"""Facts of a GpuVM that adopts: the configuration of the VM that is listed, and where else VMs of its name are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.engine.cache.claims import Claim
from gpucloud.kinds.common import Adoption
from gpucloud.reconcile.facts import Absent, Present

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.cloud.models import VmRecord
    from gpucloud.engine.cloud.accounts import ResolvedAccount
    from gpucloud.kinds.gpuvm import GpuVMSpec
    from gpucloud.reconcile.facts import Observation
    from gpucloud.reconcile.naming import Identity


def configuration_in_use(found: Observation[VmRecord], account: ResolvedAccount) -> str | None:
    """Return the name of the listed VM's configuration; None for a number that the catalogue does not know."""
    named = found.record.configuration if isinstance(found, Present) else None
    known = None if named is None or account.session is None else account.session.catalogue.name_of(named)
    return known or (None if named is None or named.isdecimal() else named)


def elsewhere(
    spec: GpuVMSpec, account: ResolvedAccount, common: dict[str, Any], has_owner: Callable[[Claim], bool]
) -> tuple[Identity, ...]:
    """Return where else VMs of the name that the spec would adopt are listed, for which no object stands."""
    adopts = spec.adoption is not Adoption.NEVER and common["may_adopt"] and isinstance(common["found"], Absent)
    if not adopts or account.session is None:
        return ()
    url, here = account.session.url, common["identity"]
    others = (there for there in account.session.vms.locations_of(here.name) if there.vpc and there != here)
    return tuple(there for there in others if not has_owner(Claim(url, there)))
