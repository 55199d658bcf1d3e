"""GpuOffers follow what each account's credential is offered, by one look an interval and by few writes."""

from __future__ import annotations

import asyncio

import pytest

from gpucloud.cloud.options import ApiKey
from gpucloud.engine.kinds.gpuoffer.publisher import RETRY_SECONDS
from gpucloud.engine.kube.errors import KubeError
from gpucloud.kinds.common import OWN_ACCOUNT
from support.fakes import GOING
from support.offerrig import INTERVAL, place

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


async def test_an_offer_that_was_restored_without_its_owner_is_the_accounts_again(rig):
    rig.offers(place())
    await rig.account()
    await looked(rig)
    ((_, name),) = rig.server.objects
    meta = rig.server.objects["team", name]["metadata"]
    for owners in ([], [{**meta["ownerReferences"][0], "uid": "u-before"}]):
        rig.server.edit(name, metadata={**meta, "ownerReferences": owners})
        await looked(rig)
        assert rig.server.objects["team", name]["metadata"]["ownerReferences"] == meta["ownerReferences"]
    assert writes(rig) == ["POST", "PATCH", "PATCH"]


async def test_an_offer_that_a_person_made_is_left_alone(rig):
    rig.offers(place())
    await rig.account()
    rig.server.put("mine", account="default", configuration="mine", cluster="Msc1")
    mine = rig.server.objects["team", "mine"]
    await looked(rig, 3)
    assert (rig.server.objects["team", "mine"], writes(rig)) == (mine, ["POST"])


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


@pytest.mark.parametrize("operation", ["GetConfigurations", "GetAvailability"])
async def test_a_missing_permission_removes_nothing_and_is_not_asked_for_more_often(rig, operation):
    rig.offers(place())
    await rig.account()
    await looked(rig)
    rig.cloud.refuse(operation, 403)
    await looked(rig, 60, seconds=INTERVAL / 20)
    assert (rig.standing(), rig.asked().count(operation)) == ([ONE], 4)


async def test_an_answer_that_also_speaks_of_another_cluster_is_taken_for_its_own_alone_and_proves_no_absence(rig):
    rig.offers(place(), place(cluster="Hou1"))
    await rig.account(clusters=("Hou1", "Msc1"))
    await looked(rig)
    assert [body["cluster"] for body in rig.server.objects.values()] == ["Hou1", "Msc1"]
    rig.offers(place())
    await looked(rig, 5)
    assert len(rig.standing()) == 2, "the answer about Hou1 holds records of Msc1, so some of its own may be missing"


REFUSALS = [
    (("all", KubeError(404, "NotFound", "no such resource")), "Install the CRDs", "the definition is not installed yet"),
    (("all", KubeError(403, "Forbidden", "gpuoffers is forbidden")), "Grant the operator list", "the rights of before"),
    (("POST", KubeError(403, "Forbidden", "a policy")), "Grant the operator list", "a right is lacking, or a policy refuses"),
    (("all", DOWN), "next interval", "the apiserver is away"),
]


@pytest.mark.parametrize(("refusal", "advice", "why"), REFUSALS, ids=[row[2] for row in REFUSALS])
async def test_an_apiserver_that_refuses_is_asked_once_an_interval_and_reported_once(rig, logs, refusal, advice, why):
    rig.offers(place())
    await rig.account()
    rig.server.refuses = refusal
    await looked(rig, 60, seconds=INTERVAL / 20)
    assert rig.standing() == [], why
    assert (rig.server.lists, rig.asked()) == (3, 3 * ["GetConfigurations", "GetAvailability"])
    assert [account for account, _ in rig.told] == ["default"]
    assert advice in rig.told[0][1]
    assert len([line for line in logs if line["event"] == "the GpuOffers cannot be written"]) == 1
    rig.server.refuses = None
    await looked(rig)
    assert rig.standing() == [ONE]


async def test_a_refusal_that_comes_back_is_reported_again(rig):
    rig.offers(place())
    await rig.account()
    for refusal in (("all", DOWN), None, ("all", DOWN)):
        rig.server.refuses = refusal
        await looked(rig)
    assert len(rig.told) == 2


@pytest.mark.parametrize(
    ("operation", "event"),
    [
        ("GetConfigurations", "no offers: the configurations cannot be listed"),
        ("GetAvailability", "the availability cannot be listed"),
    ],
)
async def test_the_log_of_offers_that_cannot_be_read_names_the_host(rig, logs, operation, event):
    rig.offers(place())
    await rig.account()
    rig.cloud.refuse(operation, 500)
    await looked(rig)
    assert {line.get("host") for line in logs if line["event"] == event} == {"prod.example"}


async def test_an_error_of_one_credential_does_not_stop_the_others(rig, logs):
    rig.offers(place())
    rig.offers(place(), key="b")
    broken = await rig.account()
    await rig.account("second", "b")
    broken.catalogue.configurations = None
    await looked(rig)
    assert rig.standing() == [("second", *ONE[1:])]
    assert [line["log_level"] for line in logs if "unexpectedly" in line["event"]] == ["error"]
