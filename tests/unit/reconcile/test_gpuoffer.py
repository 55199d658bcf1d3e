"""GpuOffers: names that any words of the cloud make, what is offered, and what is written or kept."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpucloud.cloud.models import AvailabilityRecord, ConfigurationRecord
from gpucloud.reconcile.gpuoffer import CloudAnswer, ListedOffer, OfferFacts, Owner, decide, offer_name, offered
from gpucloud.reconcile.gpuoffer.decide import GONE_AFTER, content
from gpucloud.reconcile.gpuoffer.offered import MOST_OFFERS

A100 = ConfigurationRecord(name="A100_1x", brand="NVIDIA A100", gpus=1, vcpus=14, memory=112, storage=1700, price=2.05)
H100 = ConfigurationRecord(name="H100_8x", brand="NVIDIA H100", gpus=8, vcpus=200, memory=940, storage=20000, price=26.4)
CATALOGUE = {"A100_1x": A100, "H100_8x": H100}
OWNER = Owner("team", "default", "u-1")
DNS_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
WORDS = st.text(min_size=1, max_size=300)


def there(configuration="A100_1x", pool="on-demand", **more):
    return AvailabilityRecord(**{"configuration": configuration, "cluster": "Msc1", "rpool": pool, "available": True} | more)


def only(*items, cluster="Msc1", configurations=CATALOGUE):
    return list(offered("default", cluster, configurations, items).values())


# --- names ------------------------------------------------------------------------------------------------------------


@given(account=WORDS, configuration=WORDS, cluster=WORDS, pool=st.none() | WORDS)
def test_every_word_makes_a_name_that_kubernetes_takes(account, configuration, cluster, pool):
    assert DNS_LABEL.fullmatch(offer_name(account, configuration, cluster, pool))


SAME = ("default", "A100_1x", "Msc1", "on-demand")
OTHERS = [
    (("other", "A100_1x", "Msc1", "on-demand"), "two accounts of a namespace have an object each"),
    (("default", "A100-1x", "Msc1", "on-demand"), "another configuration that reads the same"),
    (("default", "a100_1x", "Msc1", "on-demand"), "a configuration by other letters may be another one"),
    (("default", "A100_1x", "Hou1", "on-demand"), "another cluster"),
    (("default", "A100_1x", "Msc1", "reserved"), "another pool"),
    (("default", "A100_1x", "Msc1", None), "no pool is no pool of that name"),
    (("default", "A100_1x-Msc1", "on", "demand"), "the same words, parted elsewhere"),
    (("default", "A" * 300, "Msc1", "on-demand"), "a name that is cut"),
    (("default", "A" * 299 + "B", "Msc1", "on-demand"), "one that is cut the same way"),
    (("default", "\N{ROCKET}", "Msc1", "on-demand"), "an emoji"),
    (("default", "\N{FIRE}", "Msc1", "on-demand"), "another emoji, which leaves nothing to read either"),
    (("default", "\N{FIRE}", "\N{FIRE}", "\N{FIRE}"), "nothing but emoji"),
]


def test_what_differs_has_names_that_differ():
    names = {offer_name(*words) for words, _ in [(SAME, ""), *OTHERS]}
    assert len(names) == len(OTHERS) + 1


def test_a_name_is_readable_and_the_same_each_time_whatever_the_spelling_of_the_cluster():
    assert offer_name(*SAME) == offer_name("default", "A100_1x", "MSC1", "on-demand")
    assert offer_name(*SAME).startswith("a100-1x-msc1-on-demand-")


# --- what is offered --------------------------------------------------------------------------------------------------


def test_an_offer_has_what_is_known_of_the_configuration_and_of_the_place():
    (offer,) = only(there(price=1.9))
    assert content(offer) == {
        "account": "default",
        "configuration": "A100_1x",
        "cluster": "Msc1",
        "resourcePool": "on-demand",
        "gpuModel": "NVIDIA A100",
        "gpus": 1,
        "vcpus": 14,
        "memoryGB": 112,
        "storageGB": 1700,
        "pricePerHour": "1.90",
        "available": True,
    }


PARTS = [
    ({}, {"price_per_hour": "2.05"}, "without a price of the place, the configuration's"),
    ({"price": -1.0}, {"price_per_hour": None}, "not a price"),
    ({"price": 1e300}, {"price_per_hour": None}, "not a price either, and more digits than a field holds"),
    ({"available": None}, {"available": None}, "the cloud does not say"),
    ({"available": False}, {"available": False}, "sold out"),
    ({"rpool": None}, {"resource_pool": None}, "a cloud without pools"),
    ({"cluster": None}, {"cluster": "Msc1"}, "the cluster that was asked"),
    ({"cluster": "MSC1"}, {"cluster": "Msc1"}, "one spelling, as the list of clusters has it"),
    ({"count": 5, "max_count": 9}, {"gpus": 1}, "counts change always, and are not kept"),
]


@pytest.mark.parametrize(("said", "expected", "why"), PARTS, ids=[row[2] for row in PARTS])
def test_what_the_cloud_says_of_a_place(said, expected, why):
    (offer,) = only(there(**said))
    assert {name: getattr(offer, name) for name in expected} == expected, why


SIZES = [
    ({"gpus": -1}, "gpus", None, "no count"),
    ({"gpus": 2**31}, "gpus", None, "beyond what the field holds"),
    ({"memory": 10**30}, "memory_gb", None, "beyond any number"),
    ({"brand": None, "type": "gpu"}, "gpu_model", "gpu", "the next best word"),
    ({"brand": "A\x1b[31m100"}, "gpu_model", "A [31m100", "nothing that steers a terminal"),
    ({"brand": "x" * 300}, "gpu_model", "x" * 253, "cut to what the field holds"),
]


@pytest.mark.parametrize(("changed", "field", "expected", "why"), SIZES, ids=[row[3] for row in SIZES])
def test_what_the_cloud_says_of_a_configuration(changed, field, expected, why):
    (offer,) = only(there(), configurations={"A100_1x": A100.model_copy(update=changed)})
    assert getattr(offer, field) == expected, why


LEFT_OUT = [
    ({"cluster": "Hou1"}, "an answer about another cluster"),
    ({"configuration": None}, "no configuration"),
    ({"configuration": "x" * 254}, "longer than a GpuVM can ask for"),
    ({"configuration": "a\nb"}, "more than one line"),
    ({"rpool": "x" * 254}, "a pool that no GpuVM can ask for"),
]


@pytest.mark.parametrize(("said", "why"), LEFT_OUT, ids=[row[1] for row in LEFT_OUT])
def test_what_is_left_out(said, why):
    assert only(there(**said)) == [], why


def test_an_emoji_is_a_word_like_any_other():
    word = "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{ROCKET}"
    (offer,) = only(there(word), configurations={word: A100})
    assert offer.configuration == word


def test_a_cluster_that_no_gpuvm_can_ask_for_offers_nothing():
    assert only(there(cluster=None), cluster="x" * 254) == []


def test_an_offer_that_is_listed_twice_is_one():
    assert len(only(there(), there(available=False))) == 1


def test_a_configuration_that_is_not_described_is_offered_and_unknown():
    assert only(there("new")) == [None]


# --- what is written --------------------------------------------------------------------------------------------------


def answer(*items, complete=("Msc1", "Hou1"), configurations=CATALOGUE):
    by_cluster = {name: tuple(item for item in items if item.cluster == name) for name in ("Msc1", "Hou1")}
    known = {name: found for name, found in by_cluster.items() if name in complete or found}
    return CloudAnswer(frozenset(by_cluster), configurations, known, frozenset(complete))


def listed(*items):
    """The objects that stand for these places, as an earlier answer had them."""
    found = {}
    for item in items:
        for name, offer in offered("default", item.cluster, CATALOGUE, [item]).items():
            found[name] = ListedOffer(name, f"u-{name}", "1", frozenset({OWNER.uid}), content(offer))
    return found


def facts(standing, now):
    return OfferFacts(OWNER, now, listed(*standing), {})


def name_of(item):
    return offer_name("default", item.configuration, item.cluster, item.rpool)


ONE, TWO = there(), there("H100_8x")
FAR = there(cluster="Hou1")
SOLD_OUT = there(available=False)
NOTHING = answer()

WRITES = [
    ((), answer(ONE), True, "a new offer"),
    ((ONE,), answer(ONE), False, "nothing has changed"),
    ((ONE,), answer(SOLD_OUT), True, "sold out"),
    ((ONE,), answer(there(price=3.0)), True, "another price"),
    ((ONE,), answer(ONE, configurations={"A100_1x": A100.model_copy(update={"memory": 200})}), True, "more memory"),
    ((ONE,), answer(there(count=3, maxCount=7)), False, "only the count differs"),
    ((ONE,), answer(there("new")), False, "a configuration that is not described is not offered yet"),
    ((ONE,), answer(ONE, configurations={}), False, "the catalogue is empty: the offer stays as it was described"),
    ((ONE,), answer(complete=()), False, "no cluster answered"),
]


@pytest.mark.parametrize(("standing", "now", "expected", "why"), WRITES, ids=[row[3] for row in WRITES])
def test_what_is_written(standing, now, expected, why):
    plan = decide(facts(standing, now))
    assert (list(plan.write) == [name_of(ONE)], plan.delete) == (expected, ()), why


OTHERS_DID = [
    ({"content": {"pricePerHour": "0.01"}}, True, "a person has edited it"),
    ({"owners": frozenset()}, True, "it was restored from a backup without its owner"),
    ({"owners": frozenset({"u-0"})}, True, "its account was deleted, and created again"),
    ({"owners": frozenset({OWNER.uid, "mine"})}, False, "somebody else owns it, too"),
]


@pytest.mark.parametrize(("changes", "expected", "why"), OTHERS_DID, ids=[row[2] for row in OTHERS_DID])
def test_what_others_did_to_an_offer_is_put_right(changes, expected, why):
    found = facts((ONE,), answer(ONE))
    item = found.listed[name_of(ONE)]
    plan = decide(replace(found, listed={item.name: replace(item, **changes)}))
    assert bool(plan.write) is expected, why


def test_an_offer_of_another_owner_is_never_deleted():
    found = facts((ONE,), NOTHING)
    others = {name: replace(item, owners=frozenset({"u-2"})) for name, item in found.listed.items()}
    assert look(replace(found, listed=others), NOTHING, NOTHING, NOTHING).listed == others


def test_an_answer_of_many_thousands_makes_a_bounded_number_of_objects():
    pools = [there(pool=f"pool-{number}") for number in range(MOST_OFFERS + 50)]
    assert len(decide(facts((), answer(*pools))).write) == MOST_OFFERS


# --- what vanishes ----------------------------------------------------------------------------------------------------


def look(state, *answers):
    """Decide once for each answer, and delete what is to go; return what stands in the end."""
    for item in answers:
        plan = decide(replace(state, answer=item))
        kept = {name: one for name, one in state.listed.items() if name not in plan.delete}
        state = replace(state, listed=kept, misses=plan.misses)
    return state


ONLY_FAR = answer(FAR)
BLIND = answer(FAR, complete=("Hou1",))  # Msc1 did not answer
PARTIAL = answer(there(pool="other"), FAR, complete=("Hou1",))  # Msc1 answered in part
GOING = [
    ((ONLY_FAR,), False, "one answer may be wrong"),
    ((ONLY_FAR, ONLY_FAR), True, "two complete answers lack it"),
    ((BLIND,) * 5, False, "a failed answer says nothing"),
    ((PARTIAL,) * 5, False, "a partial answer says nothing of what it lacks"),
    ((ONLY_FAR, BLIND, ONLY_FAR), True, "what failed in between proves nothing either way"),
    ((ONLY_FAR, answer(ONE, FAR), ONLY_FAR), False, "it was back: the count begins anew"),
    ((answer(FAR, configurations={}),) * GONE_AFTER, True, "what is described does not matter: it is offered nowhere"),
    ((answer(ONE, FAR, configurations={}),) * 5, False, "offered, and not described: it stands"),
]


@pytest.mark.parametrize(("answers", "gone", "why"), GOING, ids=[row[2] for row in GOING])
def test_when_an_offer_goes(answers, gone, why):
    end = look(facts((ONE, FAR), NOTHING), *answers)
    assert (name_of(ONE) not in end.listed) is gone, why
    assert name_of(FAR) in end.listed


def test_the_offers_of_a_cluster_go_when_the_cluster_is_no_longer_listed():
    here = CloudAnswer(frozenset({"Hou1"}), CATALOGUE, {"Hou1": (FAR,)}, frozenset({"Hou1"}))
    assert list(look(facts((ONE, FAR), NOTHING), here, here).listed) == [name_of(FAR)]
