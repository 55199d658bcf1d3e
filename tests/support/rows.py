"""One situation and what must be decided in it: the form of the tables of decisions, and the judge of a row."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpuhost import HostOutcome
from gpucloud.kinds.meta import Annotation, ConditionType, Reason
from gpucloud.reconcile.facts import AccountFacts, Asked, Attempt, CallHistory, NamedSecret, Refusal, Verb
from support.builders import NOW, START, an_object

if TYPE_CHECKING:
    from collections.abc import Callable

YOUNG = CallHistory(first_seen=NOW - 15)
OLD = CallHistory(first_seen=NOW - 60)
LONG_KNOWN = CallHistory(first_seen=NOW - 301)  # long enough ago to have waited for what another process may have ordered
WORDS = "the cloud's own words"


def tried(
    verb,
    *,
    ago=1.0,
    kind=None,
    ambiguous=False,
    failures=1,
    retry_after=None,
    generation=1,
    history=OLD,
    targets=(),
    words=WORDS,
):
    """A memory in which this call was made."""
    refusal = None if kind is None else Refusal(kind, words, ambiguous, retry_after)
    failed = failures if refusal else 0
    attempt = Attempt(verb, NOW - ago, Asked(generation), refusal, failed, int(refusal is None), targets)
    return replace(history, attempts={**history.attempts, verb: attempt})


def noted(deleting=False, generation=1, **annotations):
    """An object with annotations, by the names of our enum."""
    values = {Annotation[name]: value for name, value in annotations.items()}
    return an_object(deleting=deleting, generation=generation, annotations=values)


@dataclass
class Row:
    """``says`` is looked for in the message; what may be None is not judged then."""

    why: str
    given: dict = field(default_factory=dict)
    reason: Reason | None = None
    ready: str = "False"
    progress: str | None = "Reconciling"
    action: Verb | None = None
    released: Reason | None = None
    looks: bool | None = None  # whether a younger listing is asked for
    asks_from: float | None = None  # when that listing must have begun
    says: str | tuple[str, ...] = ()
    status: dict = field(default_factory=dict)
    records: bool | None = None
    beside: tuple[str, ...] = ()  # further conditions that stand
    targets: tuple[str, ...] = ()
    wakes: float | None = None  # at most this many seconds from now
    pending: bool | None = None


@dataclass(frozen=True)
class Kind:
    """A kind that orders something in the cloud, and what the rows that all kinds share start from."""

    name: str
    name_field: str
    noun: str  # what the cloud has for it, as messages say it
    cloud_name: str
    decide: Callable
    facts: Callable
    create: Verb
    destroy: Verb
    lost: Reason
    found: Callable  # our record in the cloud
    creating: object  # statuses
    settled: object
    going: object
    rejected: object
    mine: object  # what this process knows of an order: recorded a second ago, destroyed
    told: object
    ready: dict  # what a row expects of one that is as asked
    deleting: dict
    leaving: dict  # deleted, and there
    retains: object
    another: dict  # what somebody else made bears our name
    another_ordered: dict  # ... and we had ordered
    another_says: tuple[str, ...]
    marks_names: bool = True
    user: str = "GpuVM 'other'"  # what may need it while it is being deleted


LAB = AccountFacts("lab", secret=NamedSecret("lab-key"))
LAB_LOGIN = AccountFacts("lab", secret=NamedSecret("lab-key", holds_login=True))
NEW_KEY = (
    "kubectl create secret generic lab-key --namespace=team --from-file=apikey=FILE --dry-run=client -o yaml | "
    "kubectl apply --server-side --force-conflicts -f -"
)
NEW_LOGIN = NEW_KEY.replace("--from-file=apikey=FILE", "--from-literal=username=NAME --from-file=password=FILE")


def judge(row, plan):
    """Assert that the plan is what the row says."""
    assert plan.action == row.action, row.why
    assert plan.targets == row.targets, row.why
    assert (plan.release.reason if plan.release else None) == row.released, row.why
    if row.looks is not None:
        assert plan.refresh_after is not None, row.why
        assert (plan.refresh_after <= NOW) == row.looks, row.why
    if row.asks_from is not None:
        assert plan.refresh_after == row.asks_from, row.why
    if row.records is not None:
        assert plan.records_order == row.records, row.why
    if row.wakes is not None:
        assert NOW < plan.requeue_at <= NOW + row.wakes, row.why
    if row.reason is None:
        assert plan.status is None, row.why
        says(row, plan.release.note if plan.release else "")
        return
    conditions = {item.type: item for item in plan.status.conditions}
    ready = conditions[ConditionType.READY]
    assert (ready.reason, ready.status) == (row.reason, row.ready), row.why
    tracked = set(conditions) - {ConditionType.READY, ConditionType.PAUSED}
    assert tracked == {*([row.progress] if row.progress else []), *row.beside}, row.why
    if row.pending is not None:
        assert plan.pending == row.pending, row.why
    says(row, ready.message)
    for name, value in row.status.items():
        got = getattr(plan.status, name)
        if name == "order" and isinstance(value, OrderState):
            got = got.state if got is not None else None
        if isinstance(value, HostOutcome):
            got = got.outcome if got is not None else None
        assert got == value, row.why


def says(row, text):
    """Assert that a message tells what it must."""
    for words in (row.says,) if isinstance(row.says, str) else row.says:
        assert words in text, row.why


def ends_as_a_sentence(plan):
    """Whether each message that this plan itself brings ends as one, or in a command to copy."""
    fresh = [item for item in (plan.status.conditions if plan.status else ()) if item.last_transition_time != START]
    return all(_ends(item.message) and ".." not in item.message for item in fresh)


def _ends(message):
    return message.rstrip(")").endswith(".") or message.rpartition(": ")[2].startswith("kubectl ")


def _cluster_in_hand(status):
    placement = getattr(status, "placement", None)
    return None if placement is None else placement.cluster


def converges(given, decide, facts):
    """Assert that deciding again on what was just written soon changes nothing: no hot loop, no circle of writes."""
    first = decide(facts(**given))
    if first.status is None or first.records_order:
        return
    second = decide(facts(**{**given, "status": first.status}))
    if second.status is None:
        return
    verdicts = [[(item.type, item.status) for item in plan.status.conditions] for plan in (first, second)]
    assert verdicts[0] == verdicts[1]
    if second.records_order:
        assert _cluster_in_hand(first.status) != _cluster_in_hand(given.get("status")), "only its cluster is named before"
        return
    third = decide(facts(**{**given, "status": second.status}))
    assert third.status == second.status
    assert (third.action, third.targets) == (second.action, second.targets)
