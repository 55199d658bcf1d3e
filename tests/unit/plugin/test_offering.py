"""What the cloud offers, as rows."""

import pytest

from gpucloud.cli.plugin.creation import offer_rows
from gpucloud.cli.plugin.verbs import cloud
from gpucloud.cloud.models import AvailabilityRecord, ConfigurationRecord
from gpucloud.engine.cloud.queries import Offers
from support.pluginworld import a_body


def test_offers_are_sorted_by_price_and_unknown_stays_unknown():
    offers = Offers(
        configurations=(
            ConfigurationRecord(name="dear", price=9, gpus=8),
            ConfigurationRecord(name="cheap", price=1),
            ConfigurationRecord(name="unpriced"),
        ),
        availability=(
            AvailabilityRecord(configuration="dear", cluster="Msc1", rpool="on-demand", available=True, count=3),
            AvailabilityRecord(configuration="cheap", cluster="Hou1", available=False),
        ),
    )
    rows = offer_rows.offered(offers)
    assert [(row["configuration"], row["available"], row["pricePerHour"]) for row in rows] == [
        ("cheap", False, "1.00"),
        ("dear", True, "9.00"),
        ("unpriced", None, None),
    ]
    assert [row["configuration"] for row in offer_rows.offered(offers, available=True)] == ["dear"]


def test_an_offer_says_everything_that_the_cloud_says():
    described = {
        "title": "One A100",
        "description": "An A100",
        "brandFamily": "NVIDIA",
        "textName": "a100",
        "computeNetwork": "IB",
    }
    item = ConfigurationRecord(
        name="a", id=7, user_friendly_name="One A100", description="An A100", brand_family="NVIDIA", text_name="a100",
        compute_network="IB", is_gpu_platform=True,
    )  # fmt: skip
    place = AvailabilityRecord(
        configuration="a", cluster="Msc1", available=True, count=1, maxCount=4, availableNodeNames=["n1"]
    )
    (row,) = offer_rows.offered(Offers(configurations=(item,), availability=(place,)))
    expected = described | {"configurationId": 7, "isGPUPlatform": True, "maxCount": 4, "availableNodes": ["n1"]}
    assert {name: row[name] for name in expected} == expected
    (unplaced,) = offer_rows.offered(Offers(configurations=(item,)))
    assert (unplaced["maxCount"], unplaced["availableNodes"]) == (None, [])


@pytest.fixture
def place(api, monkeypatch):
    """An account whose status names two clusters; a list of those that the cloud was asked for. It answers with a failure."""
    api.add(a_body("GpuCloudAccount", "default", status={"clusters": ["Hou1", "Msc1"]}))
    asked = []

    class Source:
        def offers(self, cluster):
            asked.append(cluster)
            return Offers(
                configurations=(ConfigurationRecord(name="a"),), failures=(f"{cluster} cannot be read: It is closed.",)
            )

    monkeypatch.setattr(cloud, "source_of", lambda *_: Source())
    return asked


def test_a_cluster_is_spelled_as_the_account_names_it(plugin, place):
    """A wrong one showed every configuration with '-' for all that matters."""
    code, out, err = plugin("offers", "--cluster", "Mcs1")
    assert (code, out, place) == (2, "", [])
    assert "--cluster: 'Mcs1' is not offered. Did you mean 'Msc1'?\nUse one of: Hou1, Msc1." in err
    plugin("offers", "--cluster", "msc1")
    assert place == ["Msc1"]


def test_what_could_not_be_read_ends_with_one_full_stop(plugin, place):
    code, _, err = plugin("offers")
    assert (code, place, err) == (1, [""], "kubectl gpucloud:  cannot be read: It is closed.\n")
