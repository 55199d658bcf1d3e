"""What the cloud's own books say of a trial: what was made, destroyed and powered, for which object, and when it lived."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpucloud.reconcile.naming import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaos.rig.trial import Trial

CREATES = {"CreateServer": "GpuVM", "CreateSnapshot": "GpuSnapshot", "CreateVpc": "GpuVpc"}
DESTROYS = {"DestroyServer": "GpuVM", "DeleteSnapshot": "GpuSnapshot", "DestroyVpc": "GpuVpc"}
POWERS = frozenset({"StartServer", "StopServer", "RebootHost", "ReprovisionHost"})
UNKNOWN = "nobody's"

Summary = Counter[tuple[str, str]]  # (object, "created" or "destroyed") to how often the cloud did it


@dataclass(frozen=True)
class Books:
    """Ledger and history, read once, with whose each thing is."""

    entries: list[dict[str, Any]]
    vms: list[dict[str, Any]]
    snapshots: list[dict[str, Any]]
    vpcs: list[dict[str, Any]]
    uids: dict[str, str]  # of our objects, to kind/name
    vpc_names: dict[str, str]  # full name of a VPC to the object that asked for it
    names_by_vpc_id: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, trial: Trial) -> Books:
        """Read them. What the bystander did is left out, and what was before the trial's own part began."""
        control = trial.sim.control
        entries = [
            entry for entry in control(f"ledger?since={trial.since}")["entries"] if entry["credential"] != trial.bystander["id"]
        ]
        tables = {kind: control(f"history?kind={kind}")["changes"] for kind in ("vms", "snapshots", "vpcs")}
        ids = {row["id"]: row["name"] for change in tables["vpcs"] for row in (change["before"], change["after"]) if row}
        return cls(entries, **tables, uids=dict(trial.uids), vpc_names=dict(trial.vpc_names), names_by_vpc_id=ids)

    def committed(self) -> Iterator[dict[str, Any]]:
        """The operator's calls that changed the cloud."""
        return (entry for entry in self.entries if entry["mutating"] and entry["committed"] is not None)

    def called(self, entry: dict[str, Any]) -> str:
        """The name of the thing that a committed call was about."""
        told = str((entry["subject"] or {}).get("id", ""))
        return self.names_by_vpc_id.get(told, "") if entry["operation"] in {"CreateVpc", "DestroyVpc"} else told

    def owner(self, entry: dict[str, Any]) -> str:
        """The object that the thing of a committed call is for, told by nothing but its name."""
        name = self.called(entry)
        return self.vpc_names.get(name, UNKNOWN) if entry["operation"] in {"CreateVpc", "DestroyVpc"} else self.named(name)

    def named(self, name: str) -> str:
        """The object whose fingerprint a name bears."""
        return next((who for uid, who in self.uids.items() if name.endswith(f"-{fingerprint(uid)}")), UNKNOWN)

    def summary(self) -> Summary:
        """How often something was created and destroyed for each object."""
        found: Summary = Counter()
        for entry in self.committed():
            if entry["operation"] in CREATES:
                found[self.owner(entry), "created"] += 1
            elif entry["operation"] in DESTROYS:
                found[self.owner(entry), "destroyed"] += 1
        return found

    def crowds(self) -> list[str]:
        """Names of which, at some instant, more than one thing lived: of ours anywhere, of others' in one place."""
        found = []
        for kind, changes in (("VM", self.vms), ("snapshot", self.snapshots), ("VPC", self.vpcs)):
            alive: defaultdict[str, set[str]] = defaultdict(set)
            for change in changes:
                for row, lives in ((change["before"], False), (change["after"], True)):
                    if row:
                        name, which = f"{kind} {self._place(row)}{name_of(row)}", str(row.get("uid", row["created"]))
                        (alive[name].add if lives else alive[name].discard)(which)
                        if len(alive[name]) > 1:
                            found.append(name)
        return sorted(set(found))

    def _place(self, row: dict[str, Any]) -> str:
        """Where a thing is that bears no mark of ours; a name of ours stands for one thing, wherever that is."""
        name, there = name_of(row), row.get("order", row)
        if self.named(name) != UNKNOWN or name in self.vpc_names:
            return ""
        return "/".join(str(there[part]) for part in ("cluster", "vpc", "namespace") if part in there) + "/"


def name_of(row: dict[str, Any]) -> str:
    """What a VM, a snapshot or a VPC is called, by its row in the cloud's tables."""
    return str(row["order"]["name"] if "order" in row else row["name"])
