"""Which of several GpuVMs owns a VM; VMs of our name that nobody owns."""

import pytest

from gpucloud.engine.cloud.accounts import Account
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.reconcile.facts import Absent, ResourceOwner
from gpucloud.reconcile.naming import external_name
from support.builders import TAG
from support.gpuvmrig import NOW, SHARED, bought, named, ours

FIRST, SECOND = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


async def owners(rig):
    return {uid: (await rig.facts(uid)).owner for uid in ("u1", "u2")}


@pytest.mark.parametrize(
    ("younger", "owner", "owned", "why"),
    [
        ({}, ResourceOwner("GpuVM", "team", "old"), None, "the older one owns"),
        (
            {"status": bought("shared")},
            None,
            ResourceOwner("GpuVM", "team", "young"),
            "the one with the recorded order owns before the older",
        ),
        (
            {"status": bought("elsewhere")},
            None,
            None,
            "an order for another name claims that, and not what the spec names by now",
        ),
        ({"spec": named() | {"vpc": "acme-train"}}, None, None, "one name in two VPCs is no conflict"),
    ],
)
async def test_which_of_two_claimants_owns(rig, younger, owner, owned, why):
    rig.put("u1", "young", **{"spec": named(), "meta": {"creationTimestamp": SECOND}} | younger)
    rig.put("u2", "old", spec=named(), meta={"creationTimestamp": FIRST})
    assert await owners(rig) == {"u1": owner, "u2": owned}, why


async def test_two_spellings_of_a_cluster_are_one_claim(rig):
    """Or the second would order, or destroy, what is the first's."""
    rig.put("u1", "young", spec=named() | {"cluster": "msc1"}, meta={"creationTimestamp": SECOND})
    rig.put("u2", "old", spec=named(), meta={"creationTimestamp": FIRST})
    assert await owners(rig) == {"u1": ResourceOwner("GpuVM", "team", "old"), "u2": None}
    rig.drop("u2", "old")
    assert (await rig.facts("u1")).owner is None


async def test_the_same_second_is_decided_all_the_same(rig):
    rig.put("u1", "a", spec=named())
    rig.put("u2", "b", spec=named())
    found = await owners(rig)
    assert sorted(owner is None for owner in found.values()) == [False, True]


async def test_when_the_owner_goes_the_other_is_woken_and_owns(rig):
    rig.put("u1", "a", spec=named(), meta={"creationTimestamp": FIRST})
    rig.put("u2", "b", spec=named(), meta={"creationTimestamp": SECOND})
    rig.reconcilers.quiet()
    rig.drop("u1", "a")
    assert rig.reconcilers.woken == ["u2"]
    assert (await rig.facts("u2")).owner is None


async def test_a_vm_of_our_tag_and_name_that_nobody_claims_is_a_lookalike(rig):
    rig.put()
    stray = external_name("train", "an-older-uid", TAG)
    place = ("Msc1", "acme")
    rig.inventory.listed = [
        (place, stray),
        (place, external_name("train", "x", "tagbb")),  # another installation's
        (place, external_name("train-2", "x", TAG)),  # another object's
        (place, f"train-{TAG}-x"),  # no fingerprint
        (("Msc1", "acme-train"), external_name("train", "y", TAG)),  # another VPC's
    ]
    assert (await rig.facts()).lookalikes == (stray,)


async def test_a_claimed_vm_is_no_lookalike(rig):
    rig.put("u1")
    rig.put("u2", meta={"namespace": "others"})
    rig.inventory.listed = [(("Msc1", "acme"), external_name("train", "u2", TAG))]
    assert (await rig.facts("u1")).lookalikes == ()


async def test_a_search_goes_on_with_the_credential_that_the_account_has_now(rig, a_session):
    """Else all clusters would be listed with the old one for ever."""
    rig.put("u1")
    rig.put("u2", status=bought("train"))
    old, new = rig.reconcilers.session, a_session()
    for session in (old, new):
        rig.reconcilers.accounts.own = Account(OWN_ACCOUNT, rig.reconcilers.attached(session))
        await rig.facts("u1")
        await rig.facts("u2")
        assert session.cluster_searches["vms"].searching == {"u1"}, "what is recorded is not looked for"
    assert old.cluster_searches["vms"].searching == set()


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"cluster": "Hou1"}, id="the spec names another cluster (seeds 6000276 and 70001330)"),
        pytest.param({"vpc": "acme-train"}, id="the spec names another VPC"),
        pytest.param(named(), id="the spec chooses a name"),
    ],
)
@pytest.mark.parametrize("recorded", [True, False])
async def test_a_vm_of_another_object_that_stands_is_no_lookalike(rig, spec, recorded):
    """Under a definition without rules a spec may be edited after the order; a status may be lost, too."""
    rig.put("u1")
    rig.put("u2", spec=spec, status=bought(ours(uid="u2").name) if recorded else {}, meta={"namespace": "others"})
    rig.inventory.listed = [(("Msc1", "acme"), ours(uid="u2").name)]
    assert (await rig.facts("u1")).lookalikes == ()


async def test_a_vm_is_a_lookalike_as_soon_as_its_object_is_gone(rig):
    rig.put("u1")
    rig.put("u2", spec={"cluster": "Hou1"}, status=bought(ours(uid="u2").name), meta={"namespace": "others"})
    rig.inventory.listed = [(("Msc1", "acme"), ours(uid="u2").name)]
    rig.drop("u2", "train")
    assert (await rig.facts("u1")).lookalikes == (ours(uid="u2").name,)


async def test_no_lookalikes_for_a_recorded_order(rig):
    rig.put(status=bought(ours().name))
    rig.inventory.listed = [(("Msc1", "acme"), external_name("train", "older", TAG))]
    assert (await rig.facts()).lookalikes == ()


async def test_a_vm_that_was_bought_before_its_object_chose_a_name_is_a_lookalike(rig):
    """Somebody emptied the status after the order, and then set vmName: a second VM would be bought (seed 976158)."""
    rig.put(spec=named())
    rig.inventory.seen[SHARED] = Absent(NOW, NOW, NOW)
    rig.inventory.listed = [(("Msc1", "acme"), ours().name)]
    assert (await rig.facts()).lookalikes == (ours().name,)
