"""GpuOffers follow what each account's credential is offered, by one look an interval and by few writes."""

from __future__ import annotations

import asyncio

import pytest

from gpucloud.cloud.options import ApiKey
from gpucloud.engine.kinds.gpuoffer.publisher import RETRY_SECONDS, SPACING_SECONDS
from gpucloud.engine.kube.client import KubeError
from gpucloud.kinds.common import OWN_ACCOUNT
from support.fakes import GOING
from support.offerrig import CATALOGUE, INTERVAL, place

pytestmark = pytest.mark.looptime
ONE = ("default", "A100_1x", "on-demand", "2.05", True)
SOLD_OUT = (*ONE[:-1], False)
DOWN = KubeError(0, "ClientConnectorError", "got no answer")


async def looked(rig, times=1, seconds=INTERVAL):
    """Let as many looks be due and happen."""
    for _ in range(times):
        await rig.publisher.publish_due()
        await asyncio.sleep(seconds)


def writes(rig):
    return [method for method, *_ in rig.server.writes]


async def test_offers_appear_change_and_vanish(rig):
    rig.offers(place())
    await rig.account()
    await looked(rig)
    assert rig.standing() == [ONE]
    rig.offers(place(available=False))
    await looked(rig)
    assert rig.standing() == [SOLD_OUT]
    rig.offers()
    await looked(rig)
    assert rig.standing() == [SOLD_OUT], "one answer may be wrong"
    await looked(rig)
    assert (rig.standing(), writes(rig)) == ([], ["POST", "PATCH", "DELETE"])


async def test_the_account_owns_them_so_that_they_go_with_it(rig):
    rig.offers(place())
    await rig.account()
    await looked(rig)
    ((_, body),) = rig.server.objects.items()
    owner = {"apiVersion": "gpucloud.dev/v1alpha1", "kind": "GpuCloudAccount", "name": "default", "uid": "u-default"}
    assert body["metadata"]["ownerReferences"] == [{**owner, "controller": True}]
    assert body["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "gpucloud-operator"}


async def test_the_price_of_a_look_is_one_call_and_one_a_cluster_and_of_no_change_no_write(rig):
    rig.offers(place())
    await rig.account(clusters=("Hou1", "Msc1"))
    await looked(rig, 3)
    assert rig.asked() == 3 * ["GetConfigurations", "GetAvailability", "GetAvailability"]
    sent = [body for _, operation, body in rig.cloud.calls if operation == "GetAvailability"]
    assert sent[:2] == [{"cluster": name, "reportNodes": "false"} for name in ("Hou1", "Msc1")]
    assert writes(rig) == ["POST"]


async def test_nothing_is_asked_before_the_interval_is_over(rig):
    rig.offers(place())
    await rig.account()
    await looked(rig, 60, seconds=5)
    assert rig.asked() == ["GetConfigurations", "GetAvailability"]


async def test_accounts_of_one_credential_share_a_look_and_have_their_own_offers(rig):
    rig.offers(place())
    await rig.account()
    await rig.account("second")
    await looked(rig)
    assert rig.asked() == ["GetConfigurations", "GetAvailability"]
    assert rig.standing() == [ONE, ("second", *ONE[1:])]


async def test_a_new_account_of_a_known_credential_does_not_wait_for_the_interval(rig):
    rig.offers(place())
    await rig.account()
    await looked(rig, seconds=5)
    await rig.account("second")
    await looked(rig, seconds=5)
    assert len(rig.standing()) == 2


async def test_the_operators_own_account_has_no_offers(rig):
    rig.offers(place())
    session = await rig.account()
    rig.accounts.sessions.leave(session, "team/default")
    rig.accounts.sessions.open(session.url, ApiKey("a"), OWN_ACCOUNT)
    await looked(rig, 2)
    assert (rig.asked(), rig.server.lists) == ([], 0)


async def test_the_prices_of_a_look_serve_the_vms_too(rig):
    rig.offers(place())
    session = await rig.account()
    await looked(rig)
    assert session.catalogue.price_per_hour("A100_1x") == "2.05"
    session.catalogue.refresh()
    await asyncio.sleep(1)
    assert rig.asked().count("GetConfigurations") == 1


# --- few writes -------------------------------------------------------------------------------------------------------


async def test_an_offer_that_flaps_is_written_once_a_minute(rig):
    rig.offers(place())
    await rig.account()
    for number in range(int(SPACING_SECONDS * 4 / 5)):
        rig.offers(place(available=number % 2 == 0))
        rig.publisher._turns.clear()  # however often is looked
        await looked(rig, seconds=5)
    assert len(writes(rig)) <= 4


async def test_a_new_process_takes_over_what_stands_and_writes_only_what_has_changed(rig):
    rig.offers(place(), place("A100_2x"))
    await rig.account()
    await looked(rig)
    rig.restarted()
    rig.offers(place(), place("A100_2x", available=False))
    await looked(rig)
    assert writes(rig) == ["POST", "POST", "PATCH"]


# --- what others do ---------------------------------------------------------------------------------------------------


async def test_what_a_person_changes_is_put_back_and_their_labels_stay(rig):
    rig.offers(place())
    await rig.account()
    await looked(rig)
    ((_, name),) = rig.server.objects
    meta = rig.server.objects["team", name]["metadata"]
    rig.server.edit(name, pricePerHour="0.01", metadata={**meta, "labels": {"mine": "yes"}})
    await looked(rig)
    assert rig.standing() == [ONE]
    assert rig.server.objects["team", name]["metadata"]["labels"] == {"mine": "yes"}


async def test_what_a_person_deletes_comes_back(rig):
    rig.offers(place())
    await rig.account()
    await looked(rig)
    rig.server.objects.clear()
    await looked(rig)
    assert rig.standing() == [ONE]


async def test_an_offer_that_a_person_made_is_never_touched_whatever_its_name(rig, logs):
    rig.offers(place())
    await rig.account()
    await looked(rig)
    ((_, name),) = rig.server.objects
    rig.server.objects.clear()
    rig.server.put(name, account="default", configuration="mine")
    rig.server.put("mine", account="default", configuration="mine")
    before = dict(rig.server.objects)
    await looked(rig, 3)
    assert (rig.server.objects, writes(rig)) == (before, ["POST"])
    assert len([line for line in logs if "left alone" in line["event"]]) == 1, "it is said once"


async def test_an_offer_that_was_edited_since_the_list_is_written_by_the_next_look(rig):
    rig.offers(place())
    await rig.account()
    await looked(rig)
    rig.offers(place(available=False))
    rig.server.refuses = ("PATCH", KubeError(409, "Conflict", "it has changed"))
    await looked(rig)
    assert rig.standing() == [ONE]
    rig.server.refuses = None
    await looked(rig)
    assert rig.standing() == [SOLD_OUT]


LEFT_ALONE = [
    ({"meta": GOING}, "an account that is being deleted"),
    ({"meta": {"annotations": {"gpucloud.dev/paused": "true"}}}, "an account that a person has paused"),
    ({"status": {"tenant": "globex"}}, "an account whose objects belong to another tenant than its key"),
]


@pytest.mark.parametrize(("account", "why"), LEFT_ALONE, ids=[row[1] for row in LEFT_ALONE])
async def test_no_offer_is_written_for(rig, account, why):
    rig.offers(place())
    session = await rig.account(**account)
    session.learned.tenants = frozenset({"acme"})
    await looked(rig, 2)
    assert (rig.standing(), rig.asked()) == ([], []), why


async def test_nothing_is_created_in_a_namespace_that_is_terminating(rig):
    rig.offers(place())
    await rig.account()
    rig.dying.add("team")
    await looked(rig, 2)
    assert (rig.server.lists, writes(rig)) == (0, [])


# --- what fails -------------------------------------------------------------------------------------------------------


FAILURES = [
    ("GetConfigurations", 500),
    ("GetAvailability", 500),
    ("GetAvailability", {"items": "rubbish"}),
    ("GetAvailability", 403),
]


@pytest.mark.parametrize(("operation", "failure"), FAILURES)
async def test_a_failed_answer_removes_nothing_and_is_asked_for_again_within_a_minute(rig, operation, failure):
    rig.offers(place())
    await rig.account()
    await looked(rig)
    rig.cloud.refuse(operation, failure)
    await looked(rig, 3, seconds=RETRY_SECONDS)
    assert (rig.standing(), writes(rig)) == ([ONE], ["POST"])
    assert len(rig.asked()) > 4
    rig.cloud.heal()
    rig.offers(place(available=False))
    await looked(rig)
    assert rig.standing() == [SOLD_OUT]


async def test_an_answer_that_also_speaks_of_another_cluster_is_taken_for_its_own_alone_and_proves_no_absence(rig):
    rig.offers(place(), place(cluster="Hou1"))
    await rig.account(clusters=("Hou1", "Msc1"))
    await looked(rig)
    assert [body["cluster"] for body in rig.server.objects.values()] == ["Hou1", "Msc1"]
    rig.offers(place())
    await looked(rig, 5)
    assert len(rig.standing()) == 2, "the answer about Hou1 holds records of Msc1, so some of its own may be missing"


REFUSALS = [
    (("all", KubeError(404, "NotFound", "no such resource")), "the definition is not installed yet"),
    (("all", KubeError(403, "Forbidden", "gpuoffers is forbidden")), "the rights of the version before"),
    (("POST", KubeError(403, "Forbidden", "a policy")), "a policy of the cluster"),
    (("all", DOWN), "the apiserver is away"),
]


@pytest.mark.parametrize(("refusal", "why"), REFUSALS, ids=[row[1] for row in REFUSALS])
async def test_an_apiserver_that_refuses_is_asked_again(rig, refusal, why):
    rig.offers(place())
    await rig.account()
    rig.server.refuses = refusal
    await looked(rig, 2, seconds=RETRY_SECONDS)
    assert rig.standing() == [], why
    rig.server.refuses = None
    await looked(rig)
    assert rig.standing() == [ONE]


async def test_an_error_of_one_credential_does_not_stop_the_others(rig, logs):
    rig.offers(place())
    rig.offers(place(), key="b")
    broken = await rig.account()
    await rig.account("second", "b")
    broken.catalogue.configurations = None
    await looked(rig)
    assert rig.standing() == [("second", *ONE[1:])]
    assert [line["log_level"] for line in logs if "unexpectedly" in line["event"]] == ["error"]


async def test_many_that_vanish_at_once_are_kept_and_that_is_said_once(rig, logs):
    pools = [place(pool=f"pool-{number}") for number in range(5)]
    rig.offers(*pools)
    await rig.account()
    await looked(rig)
    rig.offers(catalogue=CATALOGUE)
    await looked(rig, 5)
    assert len(rig.standing()) == 5
    assert [line["offers"] for line in logs if "vanished at once" in line["event"]] == [5]
