"""How a session learns whose its credential is."""

import asyncio
from itertools import pairwise

import httpx
import pytest

from gpucloud.engine.cloud.account_session import EVIDENCE_SECONDS
from gpucloud.reconcile.facts import Present
from gpucloud.reconcile.naming import Identity
from support.sessionrig import EVIDENCE, snapshot, vm, vpc

pytestmark = pytest.mark.looptime


@pytest.mark.parametrize(
    ("holds", "records"),
    [
        ("vms", {"GetServers": [vm()]}),
        ("vpcs", {"GetVpcs": [vpc()]}),
        ("snapshots", {"GetSnapshots": [snapshot()]}),
    ],
)
async def test_any_listing_tells_whose_the_credential_is(rig, holds, records):
    it = rig(**records)
    it.session.inventories[holds].watch("u", Identity("Msc1", "acme", "x"))
    await asyncio.sleep(1)
    assert it.learned.tenant == "acme"
    assert it.tenants == [{"acme"}]
    assert it.changes >= 1


async def test_a_listing_of_vms_shows_their_vpcs(rig):
    it = rig(GetServers=[vm()])
    it.session.vms.watch("u", Identity("Msc1", "acme", "x"))
    await asyncio.sleep(1)
    assert it.learned.vpcs.of("msc1") == ("acme",)


async def test_the_listing_of_vpcs_that_tells_the_tenant_shows_them(rig):
    it = rig(GetVpcs=[vpc()])
    it.session.learn_tenant()
    await asyncio.sleep(1)
    assert it.learned.vpcs.of("Msc1") == ("acme",)


async def test_records_without_a_tenant_tell_nothing(rig):
    it = rig(GetServers=[vm(tenant=None), vm("y", tenant="")])
    it.session.vms.watch("u", Identity("Msc1", "acme", "x"))
    await asyncio.sleep(1)
    assert (it.learned.tenants, it.learned.tenant, it.tenants) == (frozenset(), None, [])
    assert isinstance(it.session.vms.observe(Identity("Msc1", "acme", "x")), Present)


async def test_a_credential_that_shows_several_tenants_is_of_none_alone(rig):
    it = rig(GetServers=[vm(), vm("y", tenant="other")])
    it.session.vms.watch("u", Identity("Msc1", "acme", "x"))
    await asyncio.sleep(1)
    assert (it.learned.tenants, it.learned.tenant) == ({"acme", "other"}, None)


async def test_the_same_tenant_again_is_no_news(rig):
    it = rig(GetServers=[vm()])
    it.session.vms.watch("u", Identity("Msc1", "acme", "x"))
    await asyncio.sleep(1)
    changes = it.changes
    await asyncio.sleep(300)
    assert (it.tenants, it.changes) == ([{"acme"}], changes)


@pytest.mark.parametrize(
    ("records", "asked"),
    [
        ({"GetVpcs": [vpc()], "GetServers": [vm()]}, EVIDENCE[:1]),
        ({"GetServers": [vm()]}, EVIDENCE[:2]),
        ({"GetSnapshots": [snapshot()]}, EVIDENCE),
        ({}, EVIDENCE),
    ],
)
async def test_evidence_is_sought_the_cheapest_first_until_it_is_found(rig, records, asked):
    it = rig(**records)
    it.session.learn_tenant()
    assert it.session.proving
    await asyncio.sleep(1)
    assert not it.session.proving
    assert [operation for _, operation, _ in it.cloud.calls] == asked
    assert all(not where for _, _, where in it.cloud.calls), "everywhere, in no particular cluster"
    assert it.learned.tenants == (frozenset({"acme"}) if records else frozenset())
    assert it.listener.proving, "those who waited are told, found or not"
    assert not it.listener.proving[-1], (
        "while the tenant is being proven an object waits; told too early, it would wait for ever"
    )


async def test_a_refusal_of_one_listing_is_no_end_of_the_search(rig):
    it = rig(GetSnapshots=[snapshot()])
    it.cloud.refuse("GetVpcs", 403)
    it.cloud.refuse("GetServers", httpx.ReadTimeout("slow"))
    it.session.learn_tenant()
    await asyncio.sleep(1)
    assert it.learned.tenant == "acme"


async def test_many_who_ask_share_one_search(rig):
    it = rig()
    for _ in range(100):
        it.session.learn_tenant()
        await asyncio.sleep(0.5)
    assert len(it.cloud.calls) == len(EVIDENCE)


async def test_what_was_sought_in_vain_is_sought_again_each_minute_by_itself(rig):
    """The cloud was down when the operator began: nobody asks again, since every object only waits to be woken."""
    it = rig(GetVpcs=[vpc()])
    for operation in EVIDENCE:
        it.cloud.refuse(operation, httpx.ConnectError("down"))
    it.session.learn_tenant()
    await asyncio.sleep(3 * EVIDENCE_SECONDS + 1)
    times = [at for at, (_, operation, _) in zip(it.cloud.times, it.cloud.calls, strict=True) if operation == "GetVpcs"]
    assert all(later - sooner >= EVIDENCE_SECONDS for sooner, later in pairwise(times))
    assert len(times) in {3, 4}
    it.cloud.heal()
    it.tenants.clear()
    await asyncio.sleep(EVIDENCE_SECONDS + 1)
    assert it.learned.tenant == "acme"
    assert it.tenants[-1] == {"acme"}
    asked = len(it.cloud.calls)
    await asyncio.sleep(10 * EVIDENCE_SECONDS)
    assert len(it.cloud.calls) == asked, "known is known"


@pytest.mark.parametrize("how", ["believed", "listed"])
async def test_what_is_known_is_not_sought(rig, how):
    it = rig(GetServers=[vm()])
    if how == "believed":
        it.session.assume_tenant("acme")
    else:
        it.session.vms.watch("u", Identity("Msc1", "acme", "x"))
        await asyncio.sleep(1)
    asked = len(it.cloud.calls)
    it.session.learn_tenant()
    await asyncio.sleep(1)
    assert len(it.cloud.calls) == asked
    assert not it.session.proving
