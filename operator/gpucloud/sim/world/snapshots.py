"""Snapshots: taken, ready after a while, deleted with a delay. It must not know machines; ``world.World`` does."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpucloud.sim.world.refusals import Reason, Refused, not_found
from gpucloud.sim.world.rules import digits_of
from gpucloud.sim.world.table import Table

if TYPE_CHECKING:
    from gpucloud.sim.world.rules import Rules

Name = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot of the machine ``source``; ``ready_at`` and ``created`` are seconds since 1970."""

    cluster: str
    namespace: str
    name: str
    source: str
    image: str
    root_disk: int
    tenant: str
    username: str
    created: float = 0.0
    ready_at: float = 0.0
    leaving: bool = False

    @property
    def key(self) -> Name:
        """Unique in (cluster, namespace)."""
        return (self.cluster, self.namespace, self.name)


class Snapshots:
    """All snapshots. Methods take ``now`` in seconds since 1970 and raise ``Refused``."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._numbers = itertools.count(1)
        self.table: Table[Snapshot] = Table()

    def listed(self, tenant: str, cluster: str = "", as_of: float | None = None) -> list[Snapshot]:
        """Return a tenant's snapshots, in one cluster or in all, now or as they were."""
        return [row for row in self.table.rows(as_of) if row.tenant == tenant and (not cluster or row.cluster == cluster)]

    def require(self, key: Name, tenant: str, reason: Reason = Reason.MISSING_OTHER) -> Snapshot:
        """Return the snapshot or raise Refused."""
        found = self.table.get(key)
        if found is None or found.tenant != tenant:
            raise not_found(key[2], reason)
        return found

    def create(self, wanted: Snapshot, now: float) -> tuple[Snapshot, bool]:
        """Take a snapshot; the flag is False when an existing one is answered (knob duplicate_snapshot)."""
        knobs = self._rules.knobs
        name = wanted.name or f"snapshot-{digits_of(now, next(self._numbers))}"
        row = replace(wanted, name=name, created=now, ready_at=now + knobs.snapshot_seconds)
        existing = self.table.get(row.key)
        if existing is not None and knobs.duplicate_snapshot == "existing":
            return existing, False
        if existing is not None:
            raise Refused(Reason.DUPLICATE_SNAPSHOT, f'A snapshot named "{row.name}" already exists.', "name")
        return self.table.put(row.key, row, now), True

    def delete(self, row: Snapshot, now: float) -> bool:
        """Delete a snapshot; False if that was already under way."""
        if row.leaving:
            return False
        self.table.put(row.key, replace(row, leaving=True), now)
        self._rules.timeline.at(now + self._rules.knobs.snapshot_delete_seconds, lambda at: self.table.remove(row.key, at))
        return True

    def delete_of(self, cluster: str, namespace: str, source: str, now: float) -> None:
        """Delete every snapshot of one machine (service-api: DestroyServer DeleteSnapshots)."""
        for row in list(self.table.rows()):
            if (row.cluster, row.namespace, row.source) == (cluster, namespace, source):
                self.delete(row, now)
