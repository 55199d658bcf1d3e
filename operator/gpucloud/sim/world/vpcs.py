"""Virtual private clouds: names by tenant, one default a cluster. Who lives in one is known by ``world.World``."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpucloud.sim.world.refusals import Reason, Refused, not_found
from gpucloud.sim.world.table import Table

if TYPE_CHECKING:
    from gpucloud.sim.world.rules import Rules


@dataclass(frozen=True, slots=True)
class Vpc:
    """A VPC; ``id`` is unique within the cluster, ``created`` is seconds since 1970."""

    id: str
    name: str
    cluster: str
    tenant: str
    ip_range: str
    created: float
    blocks_inside: bool = False
    is_default: bool = False


class Vpcs:
    """All VPCs. Methods take ``now`` in seconds since 1970 and raise ``Refused``."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._numbers = itertools.count(101)
        self.table: Table[Vpc] = Table()

    def listed(self, tenant: str, cluster: str = "", as_of: float | None = None) -> list[Vpc]:
        """Return a tenant's VPCs, in one cluster or in all, now or as they were."""
        return [row for row in self.table.rows(as_of) if row.tenant == tenant and (not cluster or row.cluster == cluster)]

    def require(self, cluster: str, vpc_id: str, tenant: str) -> Vpc:
        """Return the VPC by its id or raise Refused."""
        found = self.table.get((cluster, vpc_id))
        if found is None or found.tenant != tenant:
            raise not_found(vpc_id, Reason.MISSING_OTHER)
        return found

    def require_named(self, cluster: str, name: str, tenant: str) -> Vpc:
        """Return the VPC by its name, as VMs refer to it, or raise Refused."""
        found = next((row for row in self.listed(tenant, cluster) if row.name == name), None)
        if found is None:
            raise Refused(Reason.UNKNOWN_REFERENCE, f'VPC "{name}" is unknown in "{cluster}".', "vpc")
        return found

    def create(self, wanted: Vpc, now: float) -> Vpc:
        """Create a VPC under the rules of service-api, CreateVpc; its id, range and time are given here."""
        _check_name(wanted)
        for row in self.listed(wanted.tenant, wanted.cluster):
            if row.name == wanted.name:
                raise Refused(Reason.DUPLICATE_VPC, f'A VPC named "{row.name}" already exists.', "name")
            if row.is_default and wanted.is_default:
                raise Refused(Reason.DUPLICATE_VPC, f'"{row.name}" is the default VPC already.', "isDefault")
        number = next(self._numbers)
        row = Vpc(
            id=wanted.name if self._rules.knobs.vpc_ids == "name" else f"vpc-{number}",
            name=wanted.name,
            cluster=wanted.cluster,
            tenant=wanted.tenant,
            ip_range=f"10.{number % 256}.0.0/16",
            created=now,
            blocks_inside=wanted.blocks_inside,
            is_default=wanted.is_default,
        )
        return self.table.put((row.cluster, row.id), row, now)

    def destroy(self, row: Vpc, now: float) -> None:
        """Remove a VPC; the default one is refused."""
        if row.is_default:
            raise Refused(Reason.IN_USE, f'"{row.name}" is the default VPC of "{row.cluster}".')
        self.table.remove((row.cluster, row.id), now)


def _check_name(wanted: Vpc) -> None:
    if wanted.is_default:
        if wanted.name != wanted.tenant:
            raise Refused(Reason.INVALID, f'The default VPC must be named "{wanted.tenant}".', "name")
    elif not wanted.name.startswith(f"{wanted.tenant}-") or wanted.name == f"{wanted.tenant}-":
        raise Refused(Reason.INVALID, f'The name must start with "{wanted.tenant}-".', "name")
