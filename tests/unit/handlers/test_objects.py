"""The handler hands events on, and asks for our finalizer where it is missing."""

import kopf
import pytest

from gpucloud.handlers import gpuvm
from gpucloud.handlers.gpuvm import add_finalizer, needs_finalizer
from gpucloud.kinds.meta import FINALIZER
from support.fakes import a_body

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


class Engine:
    def __init__(self):
        self.seen = []

    def observe(self, kind, event, body):
        self.seen.append((kind, event, body["metadata"]["name"]))


class Patch:
    def __init__(self):
        self.fns = []


async def handled(event, meta=None, *, guard=True):
    registry, engine, patch = kopf.OperatorRegistry(), Engine(), Patch()
    gpuvm.register(registry, engine, guard=guard)
    (handler,) = registry._watching.get_all_handlers()
    await handler.fn(event={"type": event, "object": a_body(meta=meta or {})}, patch=patch)
    return engine.seen, patch.fns


@pytest.mark.parametrize("event", [None, "ADDED", "MODIFIED", "DELETED"])
async def test_every_event_reaches_the_engine(event):
    seen, fns = await handled(event)
    assert seen == [("GpuVM", event, "train")]
    assert fns == []


@pytest.mark.parametrize(
    ("event", "guard", "asks"),
    [(None, True, True), ("ADDED", True, True), ("MODIFIED", True, True), ("DELETED", True, False), ("ADDED", False, False)],
)
async def test_when_the_finalizer_is_asked_for(event, guard, asks):
    _, fns = await handled(event, {"finalizers": []}, guard=guard)
    assert fns == ([add_finalizer] if asks else [])


def test_no_handler_makes_kopf_want_its_own_finalizer():
    registry = kopf.OperatorRegistry()
    gpuvm.register(registry, Engine(), guard=True)
    assert len(registry._watching.get_all_handlers()) == 1
    for others in (registry._changing, registry._spawning, registry._indexing):
        assert list(others.get_all_handlers()) == []
