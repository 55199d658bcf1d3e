"""What the cloud offers, as tests have it changed, and the GpuOffers that then stand."""

from __future__ import annotations

import json

from support.waiting import eventually

PLACES = {(config, place) for config in ("A100_40GB_PCIe_1x", "A100_40GB_PCIe_2x") for place in ("Msc1", "Hou1")}
PLACES |= {("H100_80GB_SXM_8x", "Hou1")}
POOLS = ("on-demand", "reserved-acme")
OFFERED = {(*place, pool) for place in PLACES for pool in POOLS}  # what the simulated cloud offers when nobody changes it


def offers(here, account="default"):
    """The GpuOffers of an account, by configuration, cluster and pool."""
    items = json.loads(here.ok("get", "gpuoffers", f"--field-selector=account={account}", "--output=json"))["items"]
    return {(item["configuration"], item["cluster"], item["resourcePool"]): item for item in items}


def published(here, *accounts):
    """Wait until each account has all its GpuOffers: from then on nothing is written of them."""
    for account in accounts or ("default",):
        eventually(lambda account=account: offers(here, account).keys() == OFFERED, 60, f"the offers of {account}")


def availability(*items):
    """The body of an answer of GetAvailability."""
    return json.dumps({"items": list(items)})


def place(configuration="A100_40GB_PCIe_1x", pool="on-demand", **more):
    """One place in Msc1, as the cloud reports it."""
    return {"configuration": configuration, "cluster": "Msc1", "rpool": pool, "price": 2.05, "available": True} | more


def answers(sim, body, cluster="Msc1"):
    """Have the cloud answer so from here on."""
    sim.clear_faults()
    fault = {"kind": "status", "status": 200, "operation": "GetAvailability", "body": body}
    sim.fault(**fault, parameters={"cluster": cluster})


def let_an_offer_change_and_end(here, sim):
    """One offer of Msc1 gets another price, the others end: the operator patches and deletes GpuOffers."""
    changed, kept = ("A100_40GB_PCIe_1x", "Msc1", "on-demand"), "A100_40GB_PCIe_2x"
    eventually(lambda: {changed, (kept, *changed[1:])} <= offers(here).keys(), 60, "the offers of Msc1")
    answers(sim, availability(place(price=1.5)))
    eventually(lambda: offers(here)[changed]["pricePerHour"] == "1.50", 60, "the new price")
    eventually(lambda: {key for key in offers(here) if key[1] == "Msc1"} == {changed}, 60, "the others of Msc1 to go")
    sim.clear_faults()
