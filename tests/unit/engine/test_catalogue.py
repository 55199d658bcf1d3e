"""Prices: read once an hour, after a failure once a minute, and never waited for."""

import asyncio

import pytest

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import ConfigurationRecord, Listing
from gpucloud.engine.cloud.catalogue import REFRESH_SECONDS, RETRY_SECONDS, Catalogue
from support.fakes import LoopClock

pytestmark = pytest.mark.looptime


class Client:
    def __init__(self, *answers):
        self.answers, self.asked = list(answers), 0

    async def get_configurations(self):
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


PRICED = Listing((ConfigurationRecord(name="x", price=2.049), ConfigurationRecord(name="y")))
FAILED = CloudError(ErrorKind.SERVER, "no")


async def asked_for(catalogue, seconds):
    """Ask each second, as busy objects do."""
    for _ in range(int(seconds)):
        catalogue.refresh()
        await asyncio.sleep(1)


async def test_a_price_is_there_after_the_first_read_and_read_again_in_an_hour():
    client = Client(PRICED)
    catalogue = Catalogue(client, LoopClock())
    assert catalogue.price_per_hour("x") is None
    await asyncio.sleep(1)
    assert client.asked == 0, "a question about a price asks the cloud nothing"
    catalogue.refresh()
    await asyncio.sleep(1)
    assert [catalogue.price_per_hour(name) for name in "xyz"] == ["2.05", None, None]
    await asked_for(catalogue, REFRESH_SECONDS - 2)
    assert client.asked == 1
    await asked_for(catalogue, 2)
    assert client.asked == 2
    await catalogue.aclose()


async def test_a_failure_is_made_good_within_a_minute_and_keeps_the_old_prices():
    client = Client(PRICED, FAILED, FAILED, PRICED)
    catalogue = Catalogue(client, LoopClock())
    await asked_for(catalogue, REFRESH_SECONDS + 2)
    assert client.asked == 2
    assert catalogue.price_per_hour("x") == "2.05"
    await asked_for(catalogue, 2 * RETRY_SECONDS + 2)
    assert client.asked == 4
    await catalogue.aclose()


async def test_a_failed_refresh_is_repeated_by_itself_and_says_when_it_succeeds():
    """Seed 9000217: a VM became Ready in an outage of the catalogue, and nothing asked for its price again."""
    client, told = Client(FAILED, FAILED, PRICED), []
    catalogue = Catalogue(client, LoopClock(), learned=lambda: told.append(catalogue.price_per_hour("x")))
    catalogue.refresh()
    await asyncio.sleep(RETRY_SECONDS + 1)
    assert (client.asked, told) == (2, [])
    await asyncio.sleep(RETRY_SECONDS)
    assert (client.asked, told) == (3, ["2.05"])
    await catalogue.aclose()


async def test_each_price_that_becomes_known_is_told_once():
    """Seed 92030301: a VM became Ready while the first refresh waited for the request budget."""
    told = []
    dearer = Listing((ConfigurationRecord(name="x", price=3), ConfigurationRecord(name="y", price=1)))
    catalogue = Catalogue(
        Client(PRICED, PRICED, dearer), LoopClock(), learned=lambda: told.append(catalogue.price_per_hour("y"))
    )
    await catalogue.configurations()
    assert told == [None], "the first"
    await catalogue.configurations()
    assert told == [None], "nothing new"
    await catalogue.configurations()
    assert told == [None, "1.00"], "a price that was missing; one that has changed is no news to who has one"
    await catalogue.aclose()


async def test_an_outage_of_hours_is_asked_about_once_a_minute_however_many_ask():
    client = Client(FAILED)
    catalogue = Catalogue(client, LoopClock())
    await asked_for(catalogue, REFRESH_SECONDS + 10 * RETRY_SECONDS - 1)
    assert client.asked == REFRESH_SECONDS // RETRY_SECONDS + 10
    await catalogue.aclose()
