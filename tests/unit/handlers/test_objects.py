"""The handler hands events on, and asks for our finalizer where it is missing."""

import kopf
import pytest

from gpucloud.handlers import accounts, objects
from gpucloud.handlers.objects import add_finalizer, needs_finalizer
from gpucloud.kinds.meta import FINALIZER
from support.fakes import a_body, a_resource

OTHER = "other.example/finalizer"
GOING = "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("meta", "needs"),
    [
        ({"finalizers": []}, True),
        ({"finalizers": [OTHER]}, True),
        ({"finalizers": [FINALIZER]}, False),
        ({"finalizers": [OTHER, FINALIZER]}, False),
        ({"finalizers": [], "deletionTimestamp": GOING}, False),  # the apiserver would refuse it
        ({"finalizers": [OTHER], "deletionTimestamp": GOING}, False),
    ],
)
def test_who_needs_our_finalizer(meta, needs):
    assert needs_finalizer(a_body(meta=meta)) is needs


@pytest.mark.parametrize("before", [None, [], [OTHER], [FINALIZER], [OTHER, FINALIZER]])
def test_ours_is_added_once_and_others_stay(before):
    body = a_body()
    del body["metadata"]["finalizers"]
    if before is not None:
        body["metadata"]["finalizers"] = list(before)
    add_finalizer(body)
    add_finalizer(body)
    after = body["metadata"]["finalizers"]
    assert after.count(FINALIZER) == 1
    assert [item for item in after if item != FINALIZER] == [item for item in before or [] if item != FINALIZER]


KINDS = {
    "GpuVM": "gpuvms",
    "GpuVpc": "gpuvpcs",
    "GpuSnapshot": "gpusnapshots",
    "GpuHost": "gpuhosts",
    "GpuCloudAccount": "gpucloudaccounts",
}
HELD = [kind for kind in KINDS if kind != "GpuHost"]  # nothing is destroyed with a GpuHost, so nothing holds its deletion


class Engine:
    def __init__(self):
        self.seen, self.checked = [], []

    def observe(self, kind, event, body):
        self.seen.append((kind, event, body["metadata"]["name"]))

    def check_account(self, namespace, name):
        self.checked.append((namespace, name))


class Patch:
    def __init__(self):
        self.fns = []


def handlers(registry):
    return {handler.id: handler for handler in registry._watching.get_all_handlers()}


async def handled(kind, event, meta=None, *, guard=True):
    registry, engine, patch = kopf.OperatorRegistry(), Engine(), Patch()
    objects.register(registry, engine, guard=guard)
    handler = handlers(registry)[kind.lower()]
    await handler.fn(event={"type": event, "object": a_resource(kind, meta=meta or {})}, patch=patch)
    return engine.seen, patch.fns


def test_every_kind_is_watched_by_its_own_handler():
    registry = kopf.OperatorRegistry()
    objects.register(registry, Engine(), guard=True)
    watched = {handler.id: handler.selector.any_name for handler in handlers(registry).values()}
    assert watched == {kind.lower(): plural for kind, plural in KINDS.items()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("event", [None, "ADDED", "MODIFIED", "DELETED"])
async def test_every_event_reaches_the_engine_under_its_own_kind(kind, event):
    seen, fns = await handled(kind, event)
    assert seen == [(kind, event, "train")]
    assert fns == []


@pytest.mark.parametrize("kind", HELD)
@pytest.mark.parametrize(
    ("event", "guard", "asks"),
    [(None, True, True), ("ADDED", True, True), ("MODIFIED", True, True), ("DELETED", True, False), ("ADDED", False, False)],
)
async def test_when_the_finalizer_is_asked_for(kind, event, guard, asks):
    _, fns = await handled(kind, event, {"finalizers": []}, guard=guard)
    assert fns == ([add_finalizer] if asks else [])


async def test_a_host_is_given_no_finalizer():
    assert (await handled("GpuHost", "ADDED", {"finalizers": []}))[1] == []


def test_no_handler_makes_kopf_want_its_own_finalizer():
    registry = kopf.OperatorRegistry()
    objects.register(registry, Engine(), guard=True)
    assert len(handlers(registry)) == len(KINDS)
    for others in (registry._changing, registry._spawning, registry._indexing):
        assert list(others.get_all_handlers()) == []


async def test_the_timer_is_of_accounts_only_and_asks_the_engine():
    """It costs kopf's own finalizer, which no VM may bear: while kopf held it, a deletion would not be seen."""
    registry, engine = kopf.OperatorRegistry(), Engine()
    accounts.register(registry, engine)
    (timer,) = registry._spawning.get_all_handlers()
    assert timer.selector.any_name == "gpucloudaccounts"
    assert timer.interval == timer.initial_delay == 60.0
    await timer.fn(namespace="team", name="default", body={}, spec={})
    assert engine.checked == [("team", "default")]
    for others in (registry._changing, registry._watching, registry._indexing):
        assert list(others.get_all_handlers()) == []
