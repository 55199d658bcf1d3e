"""The handlers hand events on, and let kopf write nothing."""

import kopf
import pytest

from gpucloud.handlers import accounts, objects
from support.fakes import a_resource

KINDS = {
    "GpuVM": "gpuvms",
    "GpuVpc": "gpuvpcs",
    "GpuSnapshot": "gpusnapshots",
    "GpuHost": "gpuhosts",
    "GpuCloudAccount": "gpucloudaccounts",
}


class Engine:
    def __init__(self):
        self.seen, self.checked = [], []

    def on_event(self, kind, event, body):
        self.seen.append((kind, event, body["metadata"]["name"]))

    def check_account(self, namespace, name):
        self.checked.append((namespace, name))


def handlers(registry):
    return {handler.id: handler for handler in registry._watching.get_all_handlers()}


async def handled(kind, event):
    registry, engine = kopf.OperatorRegistry(), Engine()
    objects.register(registry, engine)
    handler = handlers(registry)[kind.lower()]
    await handler.fn(event={"type": event, "object": a_resource(kind)})
    return engine.seen


def test_every_kind_is_watched_by_its_own_handler():
    registry = kopf.OperatorRegistry()
    objects.register(registry, Engine())
    watched = {handler.id: handler.selector.any_name for handler in handlers(registry).values()}
    assert watched == {kind.lower(): plural for kind, plural in KINDS.items()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("event", [None, "ADDED", "MODIFIED", "DELETED"])
async def test_every_event_reaches_the_engine_under_its_own_kind(kind, event):
    assert await handled(kind, event) == [(kind, event, "train")]


def test_no_handler_makes_kopf_want_its_own_finalizer():
    registry = kopf.OperatorRegistry()
    objects.register(registry, Engine())
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
