"""The links of the simulated world: what may strike a request, and what may not."""

import pytest

from gpucloud.sim.messages import Request
from simulation.links import CloudLink, is_heard
from simulation.process import Process
from simulation.world import World


@pytest.fixture
def link():
    world = World(3, {})
    yield CloudLink(world, Process("operator-0.1"))
    world._bury()


def listing(cluster="Msc1"):
    return Request("GET", "/api/v1/servers/virtual/GetServers", (("Cluster", cluster),), ())


@pytest.mark.parametrize(
    ("faults", "struck", "why"),
    [
        (["list-empty", "list-partial"], ["list-empty", ""], "two that lie in a row would prove something"),
        (["list-empty", "list-foreign", "cloud-503", "list-empty"], ["list-empty", "list-foreign", "cloud-503", ""], "71057"),
        (["list-empty", "", "", "list-stale"], ["list-empty", "", "", "list-stale"], "true ones came in between"),
        (["list-empty", "", "list-stale"], ["list-empty", "", ""], "the true one may have been the orphan scan's"),
        (["list-foreign", "list-more"], ["list-foreign", "list-more"], "what cannot be believed proves nothing"),
    ],
)
def test_a_listing_lies_at_most_once_in_a_row(link, faults, struck, why):
    """Seed 71057: another account's failing listing between two empty ones made them one after the other."""
    assert [link._lies_once("GetServers", listing(), fault) for fault in faults] == struck, why


def test_each_cluster_and_each_account_has_listings_of_its_own(link):
    link._lies_once("GetServers", listing(), "list-empty")
    assert link._lies_once("GetServers", listing("Hou1"), "list-empty") == "list-empty"
    other = CloudLink(link.world, link.process)
    assert other._lies_once("GetServers", listing(), "") == ""
    assert other._lies_once("GetServers", listing(), "") == ""
    assert link._lies_once("GetServers", listing(), "list-empty") == ""


@pytest.mark.parametrize(
    ("fault", "status", "heard"),
    [("", 200, True), ("", 404, True), ("", 429, False), ("", 401, False), ("cloud-500", 500, False)],
)
def test_a_query_that_the_cloud_refuses_counts_as_one(fault, status, heard):
    """Seeds 92001027, 92031909: what the cloud's request budget refuses is sent again, and so it is with a new login."""
    assert is_heard(fault, status) is heard
