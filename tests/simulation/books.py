"""What the judge keeps of a history: each object's life, each order, what was sent when. No product code."""

from __future__ import annotations

import math
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simulation.indexes import Texts

if TYPE_CHECKING:
    from collections.abc import Iterator

FINALIZER = "gpucloud.dev/finalizer"
KINDS = {"gpuvms": "GpuVM", "gpuvpcs": "GpuVpc", "gpusnapshots": "GpuSnapshot"}
TABLES = {"GpuVM": "vms", "GpuVpc": "vpcs", "GpuSnapshot": "snapshots"}
OPERATOR = "operator"
UNSENT = {"Intended", "Unclear"}  # an order may be unsent: another process recorded it
THERE = {"Seen", "Destroying"}  # what was ordered is there
RESTART, ACCEPT, PAUSED, RECONCILE = "restart-requested-at", "accept-absence", "paused", "reconcile-requested-at"


@dataclass(slots=True)
class Intent:
    """A record of an order, from when it was made until a status no longer says that the order may be unsent."""

    order_id: str
    name: str
    cluster: str
    recorded_at: str  # by the clock of the process that made it
    committed: float
    until: float = math.inf


@dataclass(slots=True)
class Life:
    """One object, from its creation on. ``now`` is None when it is gone."""

    uid: str
    kind: str
    now: dict[str, Any] | None
    last: dict[str, Any]
    number: int = 0  # of the objects in this history
    by_hand: bool = False  # no operator made it
    asked_to_go: bool = False
    went_at: float = math.inf  # when its deletion was asked for, or it was gone without
    released: bool = False  # by the operator
    let_go_at: float = 0.0
    retained: bool = False  # and what it stood for was to stay
    forced: bool = False  # somebody else took the finalizer away, or the object vanished with a restored backup
    tampered_at: float = -math.inf  # when somebody else last wrote its record: what was ordered before may be known to nobody
    wiped: bool = False  # what somebody else last wrote records no order, while our finalizer stood
    accepted_at: float = -math.inf  # when somebody last said that it is gone, if the key has not been changed since
    restored_at: float = -math.inf  # when somebody last put back an older record of what was done
    disturbed_at: float = 0.0  # when somebody else last changed it, or its thing in the cloud
    kept_since: float | None = None  # since when the spec says that what it stands for stays, or that nothing be done to it
    asked_at: float = 0.0  # when its owner last changed the spec, or asked for a restart
    restart_open: bool = False  # a restart was asked for, and is not recorded as done
    touched: bool = False  # a stranger destroyed or powered what was made for it
    writes: deque[float] = field(default_factory=deque)
    sends: deque[float] = field(default_factory=deque)
    intents: list[Intent] = field(default_factory=list)
    recorded: set[str] = field(default_factory=set)  # what the operator's statuses have ever recorded
    forgotten: set[str] = field(default_factory=set)  # of that, what somebody else took away, and no operator has put back
    held_at: dict[tuple[str, str], float] = field(
        default_factory=dict
    )  # when its status last said of a name in a cluster: there
    adopted_at: float = math.inf  # when a status of the operator first said that its VPC was there before
    lie_since: float | None = None
    mutations: int = 0  # writes and changing calls of operators
    failed: bool = False  # the last changing call for it had no answer, or a refusal
    _read: tuple[Any, set[str]] | None = None  # what was read of the status last

    @property
    def name(self) -> str:
        """Kind, namespace and name."""
        meta = self.last["metadata"]
        return f"{self.kind} {meta['namespace']}/{meta['name']}"

    @property
    def namespace(self) -> str:
        """Where it lives."""
        return str(self.last["metadata"]["namespace"])

    @property
    def spec(self) -> dict[str, Any]:
        """As it was last."""
        return self.last.get("spec") or {}

    @property
    def status(self) -> dict[str, Any]:
        """As it was last."""
        return self.last.get("status") or {}

    def records_place(self, vpc: str, cluster: str, tenant: str) -> bool:
        """Whether its record, if there is one, is of an order in this VPC, cluster and tenant; an empty one is any."""
        order = self.status.get("order") or {}
        recorded = (order.get("vpc"), order.get("cluster"), self.status.get("tenancy"))
        return all(not one or not other or one == other for one, other in zip(recorded, (vpc, cluster, tenant), strict=True))

    def names_cluster(self, cluster: str) -> bool:
        """Whether its spec or its record names this cluster; a snapshot's spec may name none."""
        named = self.clusters()
        return not named or cluster.casefold() in named

    def clusters(self) -> set[str]:
        """The clusters that its spec and its record name, casefolded."""
        recorded = str((self.status.get("order") or {}).get("cluster") or "")
        named = {str(self.spec.get("cluster") or ""), recorded, *clusters_named(self.spec)} - {""}
        return {one.casefold() for one in named}

    def records_configuration(self, configuration: str) -> bool:
        """Whether its record is of an order for this configuration; one that names none is of any, as another kind's is."""
        return (self.status.get("order") or {}).get("configuration") in {None, configuration}

    @property
    def chosen(self) -> bool:
        """Whether its thing bears a name that says nothing of whose it is."""
        return self.kind == "GpuVpc" or bool(self.spec.get("vmName") or self.spec.get("snapshotName"))

    def chooses(self, name: str) -> bool:
        """Whether its spec says this name: a mark that the name bears by chance then says nothing either."""
        return name in {self.spec.get("vmName"), self.spec.get("snapshotName")}

    @property
    def wanted_name(self) -> str:
        """The name in the cloud that its spec chooses; empty when it chooses none."""
        field = {"GpuVM": "vmName", "GpuSnapshot": "snapshotName"}.get(self.kind, "name")
        return str(self.spec.get(field) or "")

    def may_adopt(self, kind: str, name: str) -> bool:
        """Whether its spec allows it to take over what exists under this name."""
        return self.kind == kind and self.spec.get("adoption", "Never") != "Never" and self.wanted_name == name

    @property
    def deleting(self) -> bool:
        """Whether it is on its way out."""
        return self.now is not None and "deletionTimestamp" in self.now["metadata"]

    @property
    def has_finalizer(self) -> bool:
        """Whether our finalizer is visible."""
        return self.now is not None and FINALIZER in self.now["metadata"].get("finalizers", ())

    def condition(self, kind: str) -> dict[str, Any]:
        """One condition, or an empty one."""
        return next((item for item in self.status.get("conditions") or () if item.get("type") == kind), {})

    @property
    def ready(self) -> str:
        """Status and reason of Ready."""
        found = self.condition("Ready")
        return f"{found.get('status', '-')}/{found.get('reason', '-')}"

    @property
    def stalled(self) -> bool:
        """Whether it calls a person."""
        return bool(self.condition("Stalled").get("status") == "True")

    @property
    def says_missing(self) -> bool:
        """Whether its status says that listings lack what it had."""
        order = self.status.get("order") or {}
        return order.get("state") in {"Lost", "Gone"} or order.get("missingSince") is not None

    def keeps(self) -> bool:
        """Whether its deletion leaves the thing, as the spec says."""
        policy = (self.spec.get("deletion") or {}).get("policy")
        return policy == "Retain" or (policy is None and bool(self.status.get("adopted")))

    def mentions(self, name: str) -> bool:
        """Whether the status records this name, or did until somebody else took it away; conditions are words, not records."""
        return name in self.records() or name in self.forgotten

    def forgets(self, now: float) -> None:
        """Somebody else has put another status in the place of the operator's."""
        self.tampered_at = now
        self.wiped = self.has_finalizer and not self.status.get("order")
        self.forgotten |= self.recorded - self.records()

    def told_at(self, name: str, cluster: str) -> float:
        """When the operator last recorded that what bears this name in this cluster is there."""
        return self.held_at.get((name, cluster.casefold()), -math.inf)

    def has_told_anew(self, name: str, cluster: str) -> bool:
        """Whether the operator has recorded it after somebody else last wrote the record. Its namesake elsewhere is another."""
        return self.told_at(name, cluster) > self.tampered_at

    def is_outlived_by(self, made: float, slack: float) -> bool:
        """Whether it was gone before this time, for longer than whoever acted for it took to hear that."""
        return self.now is None and made - max(self.let_go_at, self.went_at) > slack

    def goes_back(self, now: float) -> None:
        """Somebody has put back an older record: a restart that it does not say to be done is done again.

        An order that it does not know to be sent may be unsent again.
        """
        self.restored_at = now
        order = self.status.get("order") or {}
        for intent in self.intents:
            if order.get("state") in UNSENT and intent.order_id == order.get("id"):
                intent.until = math.inf
        wish = annotated(self.last, RESTART)
        self.restart_open |= bool(wish) and wish != self.status.get("lastHandledRestartAt")

    def has_recorded(self, sent: float, known: float) -> bool:
        """Whether a status has said what became of an order that was sent, and answered, at these times."""
        return any(one.committed <= sent and known <= one.until < math.inf for one in self.intents)

    def recorded_places(self) -> Iterator[tuple[str, str]]:
        """All texts that the status records, each with the clusters in which its order may have made something."""
        order = self.status.get("order") or {}
        clusters = {str(order.get(field) or "").casefold() for field in ("cluster", "cloudCluster")}
        return ((text, cluster) for text in self.records() for cluster in clusters)

    def records(self) -> set[str]:
        """All texts that the status records. What is committed never changes, so it is read once."""
        if self._read is None or self._read[0] is not self.last:
            found = set(_leaves({name: value for name, value in self.status.items() if name != "conditions"}))
            self._read = (self.last, found)
        return self._read[1]


class Books:
    """All objects' lives, by UID."""

    def __init__(self) -> None:
        self.lives: dict[str, Life] = {}
        self.texts = Texts()
        self.reported: Counter[str] = Counter()  # notes of Events that tell of an orphan

    def take(self, plural: str, before: Any, after: Any, user: str, now: float = 0.0) -> Life | None:
        """A change of one object; None when it is none of ours."""
        kind = KINDS.get(plural)
        if kind is None:
            return None
        item = after or before
        uid = item["metadata"]["uid"]
        life = self.lives.get(uid)
        if life is None:
            life = self.lives[uid] = Life(uid, kind, after, item, len(self.lives), user != OPERATOR)
        had = before is not None and FINALIZER in before["metadata"].get("finalizers", ())
        has = after is not None and FINALIZER in after["metadata"].get("finalizers", ())
        if had and not has:
            self._let_go(life, user)
            life.let_go_at = now
        elif after is None and not life.released:
            life.forced = life.forced or user != OPERATOR
        life.now = after
        if after is not None:
            life.last = after
            self._note_wishes(life, before, after, user, now)
            kept = life.keeps() or annotated(after, PAUSED) == "true"
            life.kept_since = None if not kept else now if life.kept_since is None else life.kept_since
        self.texts.take(life)
        if user == OPERATOR and after is not None:
            life.recorded |= life.records()
            life.forgotten -= life.records()
            life.adopted_at = min(life.adopted_at, now if life.status.get("adopted") else math.inf)
            if (life.status.get("order") or {}).get("state") in THERE:
                life.held_at |= dict.fromkeys(life.recorded_places(), now)
            self._note_intent(life, now)
        if "deletionTimestamp" in item["metadata"] or after is None:
            life.asked_to_go, life.went_at = True, min(life.went_at, now)
        if user != OPERATOR and before is not None and after is not None and _told(before) != _told(after):
            life.forgets(now)
        return life

    @staticmethod
    def _note_wishes(life: Life, before: Any, after: Any, user: str, now: float) -> None:
        """What its owner asks for, and which restarts are recorded as done."""
        accepted = annotated(after, ACCEPT)
        if accepted is not None and (before is None or accepted != annotated(before, ACCEPT)):
            life.accepted_at = now
        was, wish = (None if item is None else (item.get("spec"), annotated(item, RESTART)) for item in (before, after))
        if wish != was:
            life.asked_at = now
            life.restart_open = bool(wish and wish[1]) and (life.restart_open or was is None or was[1] != wish[1])
        done = (after.get("status") or {}).get("lastHandledRestartAt")
        if user == OPERATOR and done == annotated(after, RESTART):
            life.restart_open = False
        if user != OPERATOR and before is not None:
            old, new = ((item.get("status") or {}) for item in (before, after))
            changed = any(old.get(field) != new.get(field) for field in ("order", "lastHandledRestartAt", "operation"))
            if changed and new.get("order"):
                life.goes_back(now)

    @staticmethod
    def _note_intent(life: Life, now: float) -> None:
        """Whether the status records an order of which it does not know that it was sent."""
        order = life.status.get("order") or {}
        last = life.intents[-1] if life.intents else None
        stands = order.get("state") in UNSENT
        if last is not None and not (stands and order.get("id") == last.order_id):
            last.until = min(last.until, now)
        if stands and (last is None or order.get("id") != last.order_id):
            life.intents.append(Intent(*(order.get(field, "") for field in ("id", "name", "cluster", "recordedAt")), now))

    def _let_go(self, life: Life, user: str) -> None:
        if user == OPERATOR:
            life.released, life.retained = True, life.keeps()
        else:
            life.forced = True

    def standing(self) -> Iterator[Life]:
        """Objects that exist."""
        return (life for life in self.lives.values() if life.now is not None)

    def recording(self, kind: str, name: str) -> list[Life]:
        """Objects of a kind whose status records this name."""
        return [life for life in self.texts.mentioning(name) if life.kind == kind and life.now is not None]


def annotated(item: dict[str, Any], name: str) -> str | None:
    """One of our annotations of an object."""
    found: str | None = (item["metadata"].get("annotations") or {}).get(f"gpucloud.dev/{name}")
    return found


def _told(item: dict[str, Any]) -> tuple[Any, ...]:
    """What a status tells of its order and of whose that is, so that whoever edits it lets the operator forget."""
    status = item.get("status") or {}
    return tuple(status.get(name) for name in ("order", "tenancy", "adopted"))


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    elif isinstance(value, str):
        yield value


def clusters_named(spec: dict[str, Any]) -> set[str]:
    """The clusters of the alternatives in a GpuVM's spec, where they name any."""
    others = (spec.get("placement") or {}).get("alternatives") or ()
    return {str(one["cluster"]) for one in others if one.get("cluster")}
