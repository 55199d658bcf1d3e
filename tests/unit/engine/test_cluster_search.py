"""The list of clusters: asked for once for all objects that look for a name in each of them."""

import asyncio

import pytest

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.engine.cloud.cluster_search import ClusterSearch
from gpucloud.engine.cloud.inventory import LONGEST_BACKOFF_SECONDS
from gpucloud.engine.runtime.supervisor import Supervisor
from gpucloud.reconcile.facts import Unknown, UnknownReason
from gpucloud.reconcile.naming import Identity
from support.fakes import LoopClock

pytestmark = pytest.mark.looptime
FAILED = CloudError(ErrorKind.FORBIDDEN, "no")
VM = Identity("Msc1", "acme", "train")


class Client:
    """Names the clusters, or fails, in turn; remembers when it was asked."""

    def __init__(self):
        self.answers, self.asked = [("Hou1", "Msc1")], []

    async def get_all_clusters(self):
        self.asked.append(asyncio.get_running_loop().time())
        await asyncio.sleep(0.5)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


class Listings:
    """What each cluster shows of the name that is looked for, and who looks where."""

    def __init__(self):
        self.shown, self.seekers, self.shared = {"Hou1": (), "Msc1": (VM,)}, {}, {}

    def spelling(self, cluster):
        return self.shared.get(cluster, cluster)

    def seek(self, uid, clusters):
        self.seekers[uid] = clusters

    def list_until_known(self, uid, cluster, _name, _not_before):
        assert cluster in self.seekers[uid]

    def locations_since(self, cluster, _name, _not_before):
        return self.shown[cluster]


class Searching:
    def __init__(self):
        self.client, self.listings, self.woken = Client(), Listings(), []
        self.search = ClusterSearch(self.client, self.listings, LoopClock(), Supervisor(), self.woken.append)

    def look(self, uid, not_before=None):
        began = asyncio.get_running_loop().time() if not_before is None else not_before
        self.search.search(uid, "train", began)
        return self.search.locations_of("train", began)


@pytest.fixture
async def searching():
    it = Searching()
    yield it
    await it.search.aclose()


async def test_one_list_of_clusters_serves_all_who_were_there_before(searching):
    for uid in "abc":
        assert searching.look(uid)[1].cause is UnknownReason.NOT_LISTED
    await asyncio.sleep(0.1)
    searching.look("late")
    await asyncio.sleep(0.5)
    assert (len(searching.client.asked), searching.woken) == (2, ["a", "b", "c"])
    await asyncio.sleep(1)
    assert (len(searching.client.asked), searching.woken) == (2, ["a", "b", "c", "late"])
    assert [searching.look(uid, 0.05) for uid in "abc"] == [((VM,), None)] * 3
    assert searching.listings.seekers["a"] == {"Hou1", "Msc1"}


async def test_the_question_where_a_name_is_asks_for_nothing(searching):
    assert searching.search.locations_of("train", 0.0)[1].cause is UnknownReason.NOT_LISTED
    await asyncio.sleep(5)
    assert (searching.client.asked, searching.listings.seekers, searching.woken) == ([], {}, [])


async def test_a_failure_is_told_to_all_once_and_asked_again_ever_more_rarely(searching):
    searching.client.answers = [FAILED]
    for uid in "ab":
        searching.look(uid)
    await asyncio.sleep(600)
    assert (len(searching.client.asked) <= 5 + 600 / LONGEST_BACKOFF_SECONDS, searching.woken) == (True, ["a", "b"])
    assert searching.look("new")[1].cause is UnknownReason.FORBIDDEN
    searching.client.answers = [("Hou1", "Msc1")]
    await asyncio.sleep(LONGEST_BACKOFF_SECONDS + 1)
    assert searching.woken[2:] == ["a", "b", "new"]
    assert searching.look("a", 0) == ((VM,), None)


async def test_an_empty_list_of_clusters_is_no_proof_that_there_are_none(searching):
    """It was taken for one: a second VM was bought, since no cluster was left in which the first could be."""
    searching.client.answers = [()]
    searching.look("a")
    await asyncio.sleep(1)
    assert searching.look("a", 0) == ((), Unknown(0.0, UnknownReason.UNREACHABLE))
    searching.client.answers = [("Hou1", "Msc1")]
    await asyncio.sleep(5)
    assert searching.look("a", 0) == ((VM,), None)


async def test_nobody_asks_for_objects_that_look_no_more(searching):
    searching.client.answers = [FAILED]
    searching.look("a")
    await asyncio.sleep(1)
    searching.search.end_search("a")
    await asyncio.sleep(600)
    assert (len(searching.client.asked), searching.listings.seekers) == (1, {"a": frozenset()})


@pytest.mark.parametrize(
    ("others", "named"),
    [
        ({"Hou1": UnknownReason.NOT_LISTED}, UnknownReason.NOT_LISTED),
        ({"Hou1": UnknownReason.NOT_LISTED, "Nyc1": UnknownReason.UNREACHABLE}, UnknownReason.UNREACHABLE),
    ],
)
async def test_what_one_cluster_shows_is_known_while_another_is_not(searching, others, named):
    """A failure says more than a listing that is on its way."""
    searching.client.answers = [("Msc1", *others)]
    searching.listings.shown |= {cluster: Unknown(3.0, cause, "the cloud's words") for cluster, cause in others.items()}
    searching.look("a")
    await asyncio.sleep(1)
    found, unknown = searching.look("a", 0)
    assert (found, unknown) == ((VM,), Unknown(3.0, named, max(others)))


@pytest.mark.parametrize(
    ("also", "looked", "found", "why"),
    [
        ((), {"Hou1", "msc1"}, VM, "it is named as the cloud spells it, for calls and records"),
        (("msc1",), {"Hou1", "msc1"}, VM._replace(cluster="msc1"), "the spec names it so, too: one VM, found once"),
        (("hou1",), {"Hou1", "hou1", "msc1"}, VM, "what a spec names is looked into as it stands, and may be refused"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_cluster_is_looked_into_as_it_is_listed_already(searching, also, looked, found, why):
    """Seeds 92316958 and 92330149: Msc1 was listed beside the msc1 of the specs, as often."""
    searching.listings.shared = {"Msc1": "msc1"}
    searching.listings.shown = {"Hou1": (), "hou1": (), "msc1": (VM._replace(cluster="msc1"),)}
    searching.look("a")
    await asyncio.sleep(1)
    searching.search.search("a", "train", 0.0, frozenset(also))
    places = searching.search.locations_of("train", 0.0, frozenset(also))
    assert (places, searching.listings.seekers["a"]) == (((found,), None), looked), why


async def test_a_cluster_that_cannot_be_listed_is_named_as_the_cloud_spells_it(searching):
    searching.listings.shared = {"Msc1": "msc1"}
    searching.listings.shown = {"Hou1": (), "msc1": Unknown(3.0, UnknownReason.UNREACHABLE)}
    searching.look("a")
    await asyncio.sleep(1)
    assert searching.look("a", 0) == ((), Unknown(3.0, UnknownReason.UNREACHABLE, "Msc1"))
