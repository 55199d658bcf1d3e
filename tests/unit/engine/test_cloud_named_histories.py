"""Histories of a VM that the cloud named itself, or placed elsewhere than it was ordered."""

from __future__ import annotations

import asyncio

import pytest

pytestmark = pytest.mark.looptime
OF_ITS_OWN = {"id": "srv-1", "private_ip": "172.16.0.1", "ip": "198.51.100.1"}


async def runs(it, odd):
    it.cloud.odd = odd
    await it.apply()
    await it.until(lambda: it.ready == "True/Running")
    await asyncio.sleep(60)
    it.cloud.odd = {}


async def test_what_a_listing_lacks_when_its_object_is_deleted_is_destroyed_by_the_clouds_own_name(it):
    """The name that was ordered is nobody's: a call for that would say nothing."""
    await runs(it, OF_ITS_OWN)
    hidden = dict(it.cloud.vms)
    it.cloud.vms.clear()
    await asyncio.sleep(5)
    it.delete()
    await it.until(lambda: it.gone, 600)
    assert list(hidden) == ["srv-1"]
    assert {call["Id"] for _, _, call in it.cloud.asked("DestroyServer")} == {"srv-1"}


async def test_what_was_proven_missing_under_the_clouds_own_name_is_let_go_with_a_warning(it):
    """What appears under it later may be another's, and is not destroyed: its owner must hear of it."""
    await runs(it, OF_ITS_OWN)
    it.cloud.vms.clear()
    await it.until(lambda: it.ready == "False/VMLost", 600)
    it.delete()
    await it.until(lambda: it.gone, 600)
    event = [event for event in it.kube.events if event["reason"] == "Gone"][-1]
    assert (event["type"], it.cloud.asked("DestroyServer")) == ("Warning", [])
    assert "'srv-1'" in event["note"]


async def test_what_is_shown_again_where_it_was_ordered_is_watched_there(it):
    """Its place was kept in the record, so Ready stood for good when it was gone."""
    await runs(it, {"namespace": "acme-2"})
    ((name, _),) = it.cloud.vms.items()
    it.cloud.vms.clear()
    await it.until(lambda: it.ready == "False/VMLost", 600)
    it.cloud.add(name)
    await it.until(lambda: it.ready == "True/Running", 600)
    it.cloud.vms.clear()
    await it.until(lambda: it.ready != "True/Running", 120)
