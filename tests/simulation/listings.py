"""What listings have shown to each process: the judge asks here whether anybody could know that a thing is there."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from gpucloud.sim.messages import Ending
from gpucloud.sim.services.vms import private_ip
from gpucloud.sim.world.snapshots import Snapshot
from gpucloud.sim.world.vms import Vm
from gpucloud.sim.world.vpcs import Vpc
from simulation.cloud import name_of
from simulation.links import LIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpucloud.sim.messages import Request, Response
    from simulation.cloud import Row

SLOW_SECONDS = 5.0  # by which the answer to one listing may be later than that to another that began with it
SLOW_SHARE = 0.5  # of a grace, where graces are so short: one listing alone is no time in which all lacked it
IMPLAUSIBLE, IMPLAUSIBLE_SHARE = 3, 0.3  # of what was expected: so many records at least, and more than this share
OPERATIONS = {Vm: "GetServers", Snapshot: "GetSnapshots", Vpc: "GetVpcs"}
PARTIAL_TO_SEE = {
    "list-more": ("GetServers", "GetSnapshots", "GetVpcs"),
    "list-foreign": ("GetServers", "GetVpcs"),
}  # so it proves no absence


class Shown(NamedTuple):
    """A complete listing: when it was handed out, the names in it, and name, VPC and private address of each VM."""

    at: float
    names: frozenset[str]
    vms: frozenset[tuple[str, ...]] = frozenset()
    untrue: bool = False  # nothing in it shows that it is


class Hidden(NamedTuple):
    """A run of listings that lack what is there: the first and the last of them; ``over``: another has shown it since."""

    since: float
    until: float
    over: bool


class Listings:
    """Every listing that looked complete, by process, credential, operation and cluster."""

    def __init__(self) -> None:
        self._shown: dict[tuple[str, str, str, str], list[Shown]] = defaultdict(list)

    def answered(self, at: float, whose: tuple[str, str], operation: str, asked: tuple[Request, Response], fault: str) -> None:
        """The cloud answers a process, and with which credential it asked."""
        request, response = asked
        if operation not in OPERATIONS.values() or operation in PARTIAL_TO_SEE.get(fault, ()):
            return
        items, named = _items(response), "name" if operation == "GetVpcs" else "id"
        if items is not None:
            names = frozenset(str(item.get(named)) for item in items)
            vms = frozenset(tuple(str(item.get(field)) for field in ("id", "namespace", "privateIp")) for item in items)
            cluster = next((value for name, value in request.query if name.lower() == "cluster"), "")
            self._shown[(*whose, operation, cluster.casefold())].append(Shown(at, names, vms, fault in LIES))

    def hidden(self, row: Row, since: float, grace: float, ours: frozenset[str]) -> list[Hidden]:
        """When every plausible listing that a process had of a cluster lacked this thing for a grace, after one had shown it.

        ``ours``: the names of what objects have there. A listing that lacks much of it at once is not believed.
        """
        what = (OPERATIONS[type(row)], _cluster(row))
        had = [[one for one in shown if one.at > since] for key, shown in self._shown.items() if key[2:] == what]
        first = min((one.at for shown in had for one in shown if name_of(row) in one.names), default=math.inf)
        after = ([one for one in shown if one.at >= first] for shown in had)
        least = grace - min(SLOW_SECONDS, SLOW_SHARE * grace)
        return [run for shown in after for run in _runs_without(name_of(row), shown, ours) if run.until - run.since >= least]

    def has_shown(self, row: Row, since: float, credential: str) -> bool:
        """Whether a listing by a credential has shown this thing since it was made; an empty credential: by any."""
        return any(name_of(row) in one.names for one in self._by(row, credential) if one.at > since)

    def untruly_shown(self, operation: str, clusters: set[str], records: Callable[[str], bool]) -> float:
        """When an untrue listing of one of these clusters (casefolded), or of all, last showed a name that ``records`` knows.

        Minus infinity if none did.
        """
        had = (shown for key, shown in self._shown.items() if key[2] == operation and key[3] in clusters | {""})
        untrue = (one for shown in had for one in shown if one.untrue)
        return max((one.at for one in untrue if any(map(records, one.names))), default=-math.inf)

    def shown_from(self, row: Row, since: float) -> tuple[bool, float]:
        """Whether the first listing since a time that shows the name of a VM shows an older one, and when one shows this one.

        Infinite if none does. Nothing else of its name is there beside it, so only a listing that lags shows another.
        """
        if not isinstance(row, Vm):
            return False, math.inf
        this, later = (*_named(row), private_ip(row)), [one for one in self._by(row, "") if one.at > since]
        named = [one for one in later if any(vm[:2] == this[:2] for vm in one.vms)]
        first = {vm[2] for vm in named[0].vms if vm[:2] == this[:2]} if named else set()
        return bool(first - {"None", ""}) and this[2] not in first, next((one.at for one in named if this in one.vms), math.inf)

    def lacked_lately(self, row: Row, reader: str, since: float) -> bool:
        """Whether a listing that this process had since a time lacked this thing."""
        what = (OPERATIONS[type(row)], _cluster(row))
        had = (shown for key, shown in self._shown.items() if (key[0], key[2:]) == (reader, what))
        return any(one.at >= since and name_of(row) not in one.names for shown in had for one in shown)

    def lacked_since(self, row: Row, credential: str) -> float:
        """Since when every listing by a credential has lacked this thing; infinite if the last one showed it."""
        since = math.inf
        for one in self._by(row, credential):
            since = math.inf if name_of(row) in one.names else min(since, one.at)
        return since

    def _by(self, row: Row, credential: str) -> list[Shown]:
        """The listings of a row's kind and cluster by a credential, in their order; an empty one: by any."""
        what = (OPERATIONS[type(row)], _cluster(row))
        had = (shown for key, shown in self._shown.items() if key[2:] == what and credential in {"", key[1]})
        return sorted((one for shown in had for one in shown), key=lambda one: one.at)


def _runs_without(name: str, shown: list[Shown], ours: frozenset[str]) -> Iterator[Hidden]:
    """Each run of plausible listings in a row that lack the name."""
    had: frozenset[str] = frozenset()  # of ours, in the last listing that showed the name
    began, ended = None, 0.0
    for one in shown:
        if name in one.names:
            if began is not None:
                yield Hidden(began, ended, over=True)
            had, began = one.names & ours, None
        elif not _is_implausible(len(had - one.names), len(had)):
            began, ended = one.at if began is None else began, one.at
    if began is not None:
        yield Hidden(began, ended, over=False)


def _is_implausible(lacking: int, expected: int) -> bool:
    """Whether so much is missing at once that nobody believes it (invariant 4 of the design)."""
    return lacking >= IMPLAUSIBLE and lacking > IMPLAUSIBLE_SHARE * expected


def _items(response: Response) -> list[dict[str, Any]] | None:
    """The records in a listing; None of an answer that is no listing."""
    if response.status != 200 or response.ending is not Ending.COMPLETE:
        return None
    try:
        document = json.loads(response.body)
        inner: Any = document.get("result") if isinstance(document.get("result"), dict) else document
        return [dict(item.items()) for item in inner["items"]]
    except (ValueError, AttributeError, KeyError, TypeError):
        return None


def _named(row: Vm) -> tuple[str, str]:
    return row.order.name, row.order.vpc


def _cluster(row: Any) -> str:
    place = row.order if isinstance(row, Vm) else row
    return str(place.cluster).casefold()
