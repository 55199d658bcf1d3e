"""Which inventories an object watches, and which objects an inventory has."""

import pytest

from gpucloud.engine.cloud.watches import Watches
from gpucloud.reconcile.naming import Identity


class Inventory:
    def __init__(self):
        self.watched = {}

    def watch(self, uid, here):
        self.watched[uid] = here

    def unwatch(self, uid):
        del self.watched[uid]


class Session:
    def __init__(self):
        self.inventories = {"vms": Inventory(), "vpcs": Inventory()}


def here(name, cluster="Msc1"):
    return Identity(cluster, "acme", name)


@pytest.fixture
def it():
    return Watches()


def test_the_users_of_a_session_watch_any_of_its_inventories_once(it):
    session, other = Session(), Session()
    it.put("a", {(session, "vms"): here("a"), (session, "vpcs"): here("v")})
    it.put("b", {(other, "vms"): here("b")})
    assert it.watchers_of(session) == ["a"]
    assert it.watchers_of(other) == ["b"]


def test_what_is_watched_within_a_cluster(it):
    session = Session()
    it.put("a", {(session, "vms"): here("a")})
    it.put("b", {(session, "vms"): here("b", "Hou1")})
    it.put("c", {(session, "vpcs"): here("c")})
    assert list(it.within(session, "vms", "Msc1")) == [("a", here("a"))]


@pytest.mark.parametrize("moved", [True, False])
def test_an_object_that_moves_or_goes_leaves_the_session(it, moved):
    session, other = Session(), Session()
    it.put("a", {(session, "vms"): here("a")})
    it.put("a", {(other, "vms"): here("a")} if moved else {})
    assert it.watchers_of(session) == []
    assert list(it.within(session, "vms", "Msc1")) == []
    assert it.watchers_of(other) == (["a"] if moved else [])
    assert session.inventories["vms"].watched == {}


def test_another_name_in_the_same_place_is_watched_instead(it):
    session = Session()
    it.put("a", {(session, "vms"): here("a")})
    it.put("a", {(session, "vms"): here("z")})
    assert list(it.within(session, "vms", "Msc1")) == [("a", here("z"))]
