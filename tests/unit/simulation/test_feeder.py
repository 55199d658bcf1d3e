"""The feeder against the real handlers: the same lines of a watch give the same calls of the engine, and no patch."""

import asyncio
import json

import kopf
import pytest

from gpucloud.engine.kube.transport import KubeAnswer
from gpucloud.handlers import objects
from gpucloud.kinds.definitions import DEFINITIONS
from gpucloud.kinds.meta import API_VERSION, FINALIZER
from simulation.feeder import Feeder

CALM = {"metadata": {"resourceVersion": "9"}, "items": []}


class Heard:
    """An engine that notes what it is told."""

    def __init__(self):
        self.seen = {}

    def on_event(self, kind, event, body):
        """By object: each object's events are handled in order, those of different objects side by side."""
        self.seen.setdefault(body["metadata"]["uid"], []).append((kind, event, json.dumps(body, sort_keys=True)))

    def check_account(self, namespace, name):
        """Nobody asks in this time."""

    def is_leader(self):
        return True


def body(kind, uid, version, *, has_finalizer=True, deleting=False):
    meta = {"name": uid, "namespace": "team", "uid": uid, "resourceVersion": str(version)}
    meta |= {"finalizers": ["other.example/x", FINALIZER] if has_finalizer else ["other.example/x"]}
    meta |= {"deletionTimestamp": "2026-01-01T00:00:00Z"} if deleting else {}
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": meta, "spec": {"cluster": "Msc1"}}


def life(kind):
    """Listed, changed, unguarded, on its way out, gone; and one that comes later."""
    return [
        {"type": None, "object": body(kind, "a", 5)},
        {"type": "MODIFIED", "object": body(kind, "a", 6, has_finalizer=False)},
        {"type": "ADDED", "object": body(kind, "b", 7, has_finalizer=False)},
        {"type": "MODIFIED", "object": body(kind, "b", 8)},
        {"type": "MODIFIED", "object": body(kind, "a", 9, has_finalizer=False, deleting=True)},
        {"type": "DELETED", "object": body(kind, "a", 10, has_finalizer=False, deleting=True)},
    ]


async def by_handlers(definition, events):
    registry, engine = kopf.OperatorRegistry(), Heard()
    objects.register(registry, engine)
    handlers = {handler.id: handler for handler in registry._watching.get_all_handlers()}
    for event in events:
        await handlers[definition.kind.lower()].fn(event=event)
    return engine.seen


class Link:
    """An apiserver of one kind, whose list holds what comes without a type."""

    def __init__(self, plural, events):
        self._plural = plural
        self._listed = [event["object"] for event in events if event["type"] is None]

    async def request(self, method, path, **_):
        assert method == "GET", "what stands in for kopf writes nothing"
        mine = path.split("?")[0].endswith(self._plural)
        return KubeAnswer(200, {}, json.dumps({**CALM, "items": self._listed if mine else []}))


class Streams:
    """A world whose streams bring these events, and nothing more."""

    def __init__(self, plural, events):
        self._plural = plural
        self.events = [event for event in events if event["type"] is not None]
        self.weather = self.choices = self.arranged = self
        self.api = self

    def on_commit(self, _plural, _callback):
        return lambda: None

    def kube_is_down(self):
        return False

    def watch(self, path, *, resource_version):
        assert resource_version == "9"
        return Brought(self.events if path.endswith(self._plural) else [])

    def strikes(self, _kinds, _domain):
        return ""

    def told(self, _plural):
        return "", 0.0

    def latency(self, _domain):
        return 0.0

    @property
    def loop(self):
        return asyncio.get_running_loop()

    def carry(self, _what, seconds, callback, *args):
        self.loop.call_later(seconds, callback, *args)


class Brought:
    ended = False

    def __init__(self, events):
        self._events = events

    def poll(self):
        found, self._events = self._events, []
        return found


async def by_feeder(definition, events):
    engine, link = Heard(), Link(definition.plural, events)
    feeder = Feeder(Streams(definition.plural, events), engine, link, acting=True)
    tasks = feeder.start()
    await asyncio.sleep(1)
    await feeder.stop(tasks)
    return engine.seen


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda item: item.kind)
@pytest.mark.looptime
async def test_the_same_lines_give_the_same_calls(definition):
    events = life(definition.kind)
    assert await by_feeder(definition, events) == await by_handlers(definition, events)


@pytest.mark.looptime
async def test_what_the_handlers_are_not_told_the_feeder_does_not_tell():
    """The comparison can fail."""
    events = life("GpuVM")
    assert await by_feeder(DEFINITIONS[0], events) != await by_handlers(DEFINITIONS[0], events[1:])
