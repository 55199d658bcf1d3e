"""Bare metal hosts: allocated from the start; they can be rebooted and reprovisioned, never created or destroyed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpucloud.sim.world.refusals import Reason, Refused, not_found
from gpucloud.sim.world.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gpucloud.sim.world.rules import Rules

DEPROVISIONING_SHARE = 0.3  # of the time of a reprovisioning; the rest is provisioning


@dataclass(frozen=True, slots=True)
class Host:
    """A host at one moment. ``epoch`` rises with every order, which voids what was planned before."""

    id: str
    cluster: str
    tenant: str
    node_type: str
    image: str
    private_ip: str
    public_ip: str
    hostname: str
    operational: str = "OK"
    powered_on: bool = True
    provisioning: str = "provisioned"
    epoch: int = 0


class Hosts:
    """All hosts. Methods take ``now`` in seconds since 1970 and raise ``Refused``."""

    def __init__(self, rules: Rules, hosts: Iterable[Host], now: float) -> None:
        self._rules = rules
        self.table: Table[Host] = Table()
        for host in hosts:
            self.table.put((host.cluster, host.id), host, now)

    def listed(self, tenant: str, cluster: str = "", as_of: float | None = None) -> list[Host]:
        """Return a tenant's hosts, in one cluster or in all, now or as they were."""
        return [row for row in self.table.rows(as_of) if row.tenant == tenant and (not cluster or row.cluster == cluster)]

    def require(self, cluster: str, host_id: str, tenant: str) -> Host:
        """Return the host or raise Refused."""
        found = self.table.get((cluster, host_id))
        if found is None or found.tenant != tenant:
            raise not_found(host_id, Reason.MISSING_OTHER)
        return found

    def reboot(self, host: Host, now: float) -> Host:
        """Power a provisioned, powered host off and on; refused with the host-state reason otherwise."""
        if host.provisioning != "provisioned" or not host.powered_on:
            raise _wrong_state(host)
        off = self._put(replace(host, powered_on=False, epoch=host.epoch + 1), now)
        seconds = self._rules.knobs.host_reboot_seconds
        self._later(off, now + seconds, lambda row, at: self._put(replace(row, powered_on=True), at))
        return off

    def reprovision(self, host: Host, image: str, now: float) -> Host:
        """Wipe a host and install an image (its present one when none is named)."""
        if host.provisioning not in {"provisioned", "available"} or not host.powered_on:
            raise _wrong_state(host)
        image = image or host.image
        leaving = self._put(replace(host, provisioning="deprovisioning", epoch=host.epoch + 1), now)
        seconds = self._rules.knobs.host_provision_seconds
        self._later(
            leaving,
            now + seconds * DEPROVISIONING_SHARE,
            lambda row, at: self._put(replace(row, provisioning="provisioning", image=image), at),
        )
        self._later(leaving, now + seconds, lambda row, at: self._put(replace(row, provisioning="provisioned"), at))
        return leaving

    def force(self, host: Host, operational: str, provisioning: str, powered_on: bool, now: float) -> Host:
        """Put a host into any state, where it stays until the next order."""
        return self._put(
            replace(
                host,
                operational=operational or host.operational,
                provisioning=provisioning or host.provisioning,
                powered_on=powered_on,
                epoch=host.epoch + 1,
            ),
            now,
        )

    def _put(self, host: Host, now: float) -> Host:
        return self.table.put((host.cluster, host.id), host, now)

    def _later(self, host: Host, due: float, step: Callable[[Host, float], Host]) -> None:
        def happen(at: float) -> None:
            current = self.table.get((host.cluster, host.id))
            if current is not None and current.epoch == host.epoch:
                step(current, at)

        self._rules.timeline.at(due, happen)


def _wrong_state(host: Host) -> Refused:
    power = "on" if host.powered_on else "off"
    return Refused(Reason.HOST_STATE, f'Host "{host.id}" is {host.provisioning} and powered {power}.')
