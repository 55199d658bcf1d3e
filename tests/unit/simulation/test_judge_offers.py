"""GpuOffers are true: none is written that the cloud never offered, none without a change, and in the end all are there."""

import json

import pytest

from simulation.offer_acts import UNWANTED

HERE = "/apis/gpucloud.dev/v1alpha1/namespaces/team"
CONNECTED = {
    "type": "Ready",
    "status": "True",
    "reason": "Connected",
    "message": "x",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}


@pytest.fixture
def it(courts):
    """A court whose operator publishes offers, with an account that is Ready."""
    court = courts(offer_seconds=20.0)
    account = account_of(court)
    court.writes(account, conditions=[CONNECTED], tenant="acme")
    return court


def account_of(court):
    (account,) = [one for one in court.world.actors.owner.all("GpuCloudAccount") if one["metadata"]["namespace"] == "team"]
    return account | {"kind": "GpuCloudAccount"}


def offers(court, configuration="A100_40GB_PCIe_1x", cluster="Msc1", pool="on-demand", **fields):
    """The operator creates an offer of the account."""
    meta = account_of(court)["metadata"]
    owner = {"apiVersion": "gpucloud.dev/v1alpha1", "kind": "GpuCloudAccount", "name": meta["name"], "uid": meta["uid"]}
    name = f"{configuration}-{cluster}-{pool}".lower().replace("_", "-")
    body = {
        "apiVersion": "gpucloud.dev/v1alpha1",
        "kind": "GpuOffer",
        "metadata": {"name": name, "namespace": "team", "ownerReferences": [owner]},
        "account": "default",
        "configuration": configuration,
        "cluster": cluster,
        "resourcePool": pool,
        "available": True,
        **fields,
    }
    return court.hands.call("POST", f"{HERE}/gpuoffers", body)


def all_offers(court, **fields):
    catalogue = court.world.cloud.world.catalogue
    for name, configuration in catalogue.configurations.items():
        for cluster in configuration.clusters:
            for pool in catalogue.pools_of("acme"):
                offers(court, name, cluster, pool, **fields)


def unmet(court):
    return [words.partition(":")[0] for words in court.judge.offering.unmet()]


def test_what_the_cloud_offers_is_published(it):
    assert set(unmet(it)) == {"a GpuOffer of team is missing"}
    all_offers(it)
    assert (unmet(it), it.oracles) == ([], [])


def test_an_offer_that_is_no_longer_true(it):
    all_offers(it, available=False)
    assert set(unmet(it)) == {"a GpuOffer of team is missing", "a GpuOffer of team should not be there"}


def test_what_the_cloud_has_withdrawn_goes(it):
    all_offers(it)
    it.judge.offering.withdrawn[UNWANTED] = it.world.cloud.world.catalogue.configurations.pop(UNWANTED)
    assert set(unmet(it)) == {"a GpuOffer of team should not be there"}
    assert it.oracles == []


def test_an_account_that_is_not_ready_publishes_nothing(it):
    it.writes(account_of(it), conditions=[CONNECTED | {"status": "False"}])
    assert unmet(it) == []


def test_an_offer_goes_with_its_account(it):
    all_offers(it)
    it.world.actors.owner.delete(account_of(it))
    assert {words.partition(" ")[2].partition(" ")[2] for words in it.judge.offering.unmet()} == {"has outlived its account"}
    it.world.tidy()
    assert unmet(it) == []


@pytest.mark.parametrize(
    ("configuration", "cluster", "pool"),
    [("B200", "Msc1", "on-demand"), (UNWANTED, "Msc1", "on-demand"), ("A100_40GB_PCIe_1x", "Msc1", "spot")],
)
def test_what_the_cloud_never_offered(it, configuration, cluster, pool):
    offers(it, configuration, cluster, pool)
    assert it.oracles == ["offers"]


@pytest.mark.parametrize(
    ("available", "version", "found"),
    [(True, None, ["offers"]), (False, None, []), (True, "1", [])],
    ids=["says the same", "says another thing", "somebody has written it since"],
)
def test_an_offer_is_written_only_when_it_changes(it, available, version, found):
    there = offers(it)
    meta = there["metadata"]
    body = {**there, "available": available, "metadata": {**meta, "resourceVersion": version or meta["resourceVersion"]}}
    it.judge.writes(it.operator, "PATCH", f"{HERE}/gpuoffers/{meta['name']}", json.dumps(body))
    assert it.oracles == found
