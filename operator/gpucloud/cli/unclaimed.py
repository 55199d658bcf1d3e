"""Something in the cloud that no object stands for, as ``gpucloud orphans`` and the plugin show it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gpucloud.cli.terminal.page import Line
from gpucloud.cli.terminal.text import clean
from gpucloud.cloud.models import HostRecord, SnapshotRecord, VmRecord, VpcRecord
from gpucloud.kinds.names import HOST, SNAPSHOT, VM, VPC

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CloudRecord = VmRecord | SnapshotRecord | VpcRecord | HostRecord


@dataclass(frozen=True, slots=True)
class Leftover:
    """The cloud's words are safe for a terminal. ``account``: which one shows it, where several were asked."""

    kind: str
    cluster: str
    vpc: str
    name: str
    state: str
    price_per_hour: str | None = None
    made_for: str | None = None
    changed_at: datetime | None = None
    account: str | None = None

    def document(self) -> dict[str, Any]:
        """For programs."""
        found = {
            "kind": self.kind,
            "cluster": self.cluster,
            "vpc": self.vpc or None,
            "name": self.name,
            "state": self.state or None,
            "changedAt": None if self.changed_at is None else self.changed_at.isoformat(),
            "pricePerHour": self.price_per_hour,
            "madeFor": self.made_for,
        }
        return found if self.account is None else {"account": self.account} | found

    def lines(self) -> Iterator[Line]:
        """Two lines, since a row with all that is known is wider than most terminals."""
        price = f"${self.price_per_hour}/h" if self.price_per_hour else ""
        yield Line("  ".join(word for word in (f"{self.kind}/{self.name}", self.state, price) if word), hang="  ", style="bold")
        said = (
            f"cluster {self.cluster}",
            self.vpc and f"VPC {self.vpc}",
            self.made_for and f"made for {self.made_for}",
            self.changed_at and f"{'created' if self.kind == SNAPSHOT else 'changed'} {_short(self.changed_at)}",
            self.account and f"account {self.account}",
        )
        yield Line(", ".join(part for part in said if part), "  ", "  ")


def leftover(
    cluster: str, record: CloudRecord, price: str | None = None, made_for: str | None = None, account: str | None = None
) -> Leftover:
    """Of a record; one that is missing a field says nothing there."""
    where = clean(cluster)
    if isinstance(record, VpcRecord):
        return Leftover(VPC, where, "", clean(record.name or ""), "", made_for=made_for, account=account)
    if isinstance(record, HostRecord):
        return Leftover(HOST, where, "", clean(record.id or ""), clean(record.provisioning_state or ""), account=account)
    vpc, name = clean(record.namespace or ""), clean(record.id or "")
    if isinstance(record, SnapshotRecord):
        state = {None: "", True: "ready", False: "not ready"}[record.ready_to_use]
        return Leftover(SNAPSHOT, where, vpc, name, state, price, made_for, record.creation_date, account)
    return Leftover(VM, where, vpc, name, clean(record.status or ""), price, made_for, record.last_updated, account)


def lines(found: Iterable[Leftover]) -> Iterator[Line]:
    """For people."""
    for item in found:
        yield from item.lines()


def _short(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
