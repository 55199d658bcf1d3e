"""Histories of a VM of the operator's own account whose status is wiped, in a namespace that has an account by then."""

from __future__ import annotations

import asyncio

import pytest

from support.fakes import DOWN, GOING, a_resource, a_secret
from support.orderrig import KEY, VPC, MakingCloud, history_over

pytestmark = pytest.mark.looptime
THEIRS = "their-made-up-key"


class TwoTenants(MakingCloud):
    """``theirs`` is what the key of the namespace's own account sees: another tenant, without any VM of ours."""

    def __init__(self):
        super().__init__()
        self.theirs = MakingCloud()
        self.theirs.world(KEY, GetVpcs=[VPC | {"tenancyName": "other"}])
        self.theirs.worlds[THEIRS], self.theirs.odd = self.theirs.worlds[KEY], {"tenancy_name": "other"}

    async def handle_async_request(self, request):
        key = request.headers.get("Authorization", "").removeprefix("ApiKey ")
        if key == THEIRS:
            return await self.theirs.handle_async_request(request)
        return await super().handle_async_request(request)

    def share(self):
        """The key of the namespace's own account is another one of the same tenant."""
        self.theirs.vms, self.theirs.worlds[KEY], self.theirs.odd = self.vms, self.worlds[KEY], {}
        self.theirs.worlds[THEIRS] = self.worlds[KEY]

    @property
    def bought(self):
        """How many VMs stand with the operator's own key, and with that of the namespace's account."""
        return len(self.vms), len(self.theirs.vms)

    @property
    def changed_with_theirs(self):
        return [call for call in self.theirs.calls if not call[1].startswith("Get")]


it = history_over(TwoTenants)


def account(it):
    """The namespace gets an account of another tenant."""
    it.kube.secrets["team", "key"] = a_secret(apikey=THEIRS)
    it.kube.known["gpucloudaccounts"].add("u-default")
    body = it.kube.bodies["u-default"] = a_resource("GpuCloudAccount", "default", uid="u-default", version=50)
    it.engine.on_event("GpuCloudAccount", "ADDED", body)


async def bought(it, **spec):
    await it.apply(**spec)
    await it.until(lambda: it.ready == "True/Running")


async def wiped(it, settings=(), **deleting):
    """A new process: an account ``default``, and a status that says nothing."""
    it.kube.bodies["u-train"].pop("status", None)
    it.kube.bodies["u-train"]["metadata"] |= deleting
    bodies, it.bodies = it.bodies, {}
    await it.start(**dict(settings))
    account(it)
    for body in it.bodies.values() or bodies.values():
        it._show("ADDED", body)


@pytest.mark.parametrize("chosen", [{}, {"vmName": "prod"}])
async def test_no_second_vm_is_bought_with_another_account(it, chosen):
    """A second VM was bought with the namespace's account, and the first one was nobody's."""
    await bought(it, **chosen)
    await wiped(it)
    await it.until(lambda: it.ready == ("False/Conflict" if chosen else "True/Running"), 300)
    await asyncio.sleep(600)
    assert (len(it.cloud.vms), it.cloud.changed_with_theirs) == (1, [])
    assert it.status.get("account") == (None if chosen else "(operator)")
    it.delete()
    await it.until(lambda: it.gone, 300)
    assert (len(it.cloud.vms), it.cloud.changed_with_theirs) == (1 if chosen else 0, [])


async def test_an_object_that_is_deleted_takes_its_vm_along(it):
    """DestroyServer was sent with the namespace's account, the object went, and the VM stayed."""
    await bought(it)
    await wiped(it, **GOING)
    await it.until(lambda: it.gone, 300)
    assert (it.cloud.vms, it.cloud.changed_with_theirs) == ({}, [])


async def test_nothing_is_bought_while_the_operators_own_account_shows_nothing(it):
    await bought(it)
    it.cloud.refuse("GetServers", 500)
    await wiped(it)
    await asyncio.sleep(600)
    assert (it.ready, it.cloud.changed_with_theirs) == ("Unknown/ApiUnavailable", [])
    it.cloud.heal()
    await it.until(lambda: it.ready == "True/Running", 100)


async def test_what_was_never_ordered_is_bought_with_the_namespaces_account(it):
    """Its process ended before the first status, so the operator's own account is asked first."""
    it.kube.replace_status = refused
    await it.apply()
    await asyncio.sleep(1)
    it.kube.bodies["u-train"]["status"] = {}
    await wiped(it)
    assert await it.until(lambda: it.cloud.theirs.vms, 400) > 300
    await it.until(lambda: it.status.get("account") == "default" and it.ready == "True/Running", 100)
    assert it.cloud.vms == {}


async def refused(*_args):
    raise DOWN


MARKED_OR_CHOSEN = pytest.mark.parametrize("spec", [{}, {"vmName": "prod"}])


@pytest.mark.parametrize("key", [None, KEY])
async def test_a_rejected_listing_of_a_known_cluster_lacks_nothing(it, key):
    """The object went, and its VM stayed."""
    await bought(it)
    it.cloud.refuse("GetServers", 400, key)
    await wiped(it, **GOING)
    await asyncio.sleep(600)
    assert (it.gone, it.cloud.bought) == (False, (1, 0))
    assert "spec.deletion.policy: Retain" in it.words
    it.cloud.heal()
    await it.until(lambda: it.gone, 400)
    assert it.cloud.bought == (0, 0)


async def test_a_rejected_listing_of_a_known_cluster_buys_nothing(it):
    await bought(it)
    it.cloud.refuse("GetServers", 400)
    await wiped(it)
    await asyncio.sleep(600)
    assert (it.ready, it.cloud.bought) == ("False/InvalidSpec", (1, 0))
    assert "delete this object with spec.deletion.policy: Retain" in it.words


async def in_another_cluster(it):
    """An object that was never ordered, in a cluster that the operator's own account does not have; its list comes late."""
    it.cloud.worlds[KEY]["GetAll"], it.cloud.takes["GetAll"] = ["Hou1"], 1
    it.cloud.refuse("GetServers", 400, KEY)
    it.kube.replace_status = refused
    await it.apply()
    await asyncio.sleep(1)


async def test_a_cluster_that_the_operators_own_account_does_not_have_lacks_it_at_once(it):
    await in_another_cluster(it)
    await wiped(it)
    await it.until(lambda: it.ready == "True/Running" and it.status["account"] == "default", 60)
    assert it.cloud.bought == (0, 1)


async def test_a_list_of_clusters_that_failed_once_is_asked_for_again(it):
    await in_another_cluster(it)
    it.cloud.refuse("GetAll", 500, KEY)
    await wiped(it)
    await asyncio.sleep(90)
    assert (it.ready, it.cloud.bought) == ("False/InvalidSpec", (0, 0))
    del it.cloud.refused[KEY, "GetAll"]
    await it.until(lambda: it.ready == "True/Running", 400)
    assert len(it.cloud.asked("GetAll", KEY)) < 12


async def test_a_deleted_object_in_a_cluster_that_the_operators_own_account_does_not_have_goes(it):
    await in_another_cluster(it)
    await wiped(it, **GOING)
    await it.until(lambda: it.gone, 100)


@MARKED_OR_CHOSEN
async def test_a_vm_that_is_listed_late_is_not_bought_again(it, spec):
    it.cloud.lag = 20
    await it.apply(**spec)
    await it.until(lambda: it.cloud.vms)
    await asyncio.sleep(1)
    await wiped(it)
    await asyncio.sleep(600)
    assert (it.ready, it.cloud.bought) == ("False/Conflict" if spec else "True/Running", (1, 0))


@MARKED_OR_CHOSEN
async def test_listings_that_lack_a_vm_for_a_while_do_not_buy_it_again(it, spec):
    await bought(it, **spec)
    name, (_, record) = it.cloud.vms.popitem()
    it.cloud.vms[name] = (asyncio.get_running_loop().time() + 8, record)
    await wiped(it)
    await asyncio.sleep(600)
    assert (it.ready, it.cloud.bought) == ("False/Conflict" if spec else "True/Running", (1, 0))


async def test_a_wait_for_a_late_listing_says_so(it):
    await bought(it)
    it.cloud.vms.clear()
    await wiped(it)
    await asyncio.sleep(30)
    assert it.ready == "Unknown/AccountNotReady"
    assert it.words.startswith("Looking for the VM 'train-")
    assert "The status was lost" in it.words
    asked = len(it.cloud.asked("GetServers"))
    await asyncio.sleep(60)
    assert len(it.cloud.asked("GetServers")) - asked < 120


@MARKED_OR_CHOSEN
async def test_an_account_that_may_not_serve_the_namespace_any_more_is_asked_all_the_same(it, spec):
    await bought(it, **spec)
    await wiped(it, {"own_account_namespace": ("another",)})
    await it.until(lambda: it.ready == "False/NoAccount")
    await asyncio.sleep(600)
    assert (it.ready, it.cloud.bought, it.cloud.changed_with_theirs) == ("False/NoAccount", (1, 0), [])
    assert "Ask the administrator to add the namespace (--own-account-namespace)." in it.words
    assert it.words.endswith("delete this object with spec.deletion.policy: Retain.")


async def test_what_an_account_lacks_that_does_not_serve_the_namespace_is_bought_with_the_namespaces(it):
    await bought(it)
    it.cloud.vms.clear()
    await wiped(it, {"own_account_namespace": ("another",)})
    await it.until(lambda: it.ready == "True/Running", 400)
    assert it.cloud.bought == (0, 1)


@pytest.mark.parametrize("answer", [401, 500, None])
async def test_a_vm_of_the_namespaces_account_is_used_at_once(it, answer):
    """A refused credential of the operator blocked it for ever."""
    account(it)
    await bought(it)
    if answer is not None:
        it.cloud.refuse("GetServers", answer, KEY)
    await wiped(it)
    assert await it.until(lambda: it.ready == "True/Running") < 10
    await asyncio.sleep(600)
    assert (it.status["account"], it.ready, it.cloud.bought) == ("default", "True/Running", (0, 1))


async def test_of_two_keys_of_one_tenant_the_namespaces_is_used(it):
    it.cloud.share()
    account(it)
    await bought(it)
    it.cloud.takes["GetServers"], it.cloud.theirs.takes["GetServers"] = 0.1, 3
    await wiped(it)
    await it.until(lambda: it.ready == "True/Running")
    assert (it.status["account"], len(it.cloud.vms)) == ("default", 1)


async def test_a_deleted_object_whose_vm_the_namespaces_account_lists_goes_at_once(it):
    """It took six minutes, where it had taken two seconds."""
    account(it)
    await bought(it)
    await wiped(it, **GOING)
    assert await it.until(lambda: it.gone, 400) < 10
    assert it.cloud.bought == (0, 0)


async def test_a_deleted_object_that_neither_account_lists_goes_after_both_were_asked(it):
    """The operator's own account alone let it go, while the namespace's listed the VM late."""
    account(it)
    it.cloud.theirs.lag = 100
    await it.apply()
    await it.until(lambda: it.cloud.theirs.vms)
    await wiped(it, **GOING)
    await it.until(lambda: it.gone, 500)
    assert it.cloud.bought == (0, 0)


async def test_a_chosen_name_without_a_vpc_is_an_invalid_spec_and_holds_its_object(it):
    """An older definition lets such a spec pass. Nobody can look for the VM, so a lost status must not let the object go."""
    await it.apply(vpc=None, vmName="prod")
    await it.until(lambda: it.ready == "False/InvalidSpec")
    assert "set exactly one of spec.vpc and spec.vpcRef" in it.words
    it.restore({})
    await it.start()
    it.delete()
    await it.until(lambda: it.ready == "False/DeletionBlocked", 400)
    await asyncio.sleep(400)
    assert (it.gone, "Set exactly one of spec.vpc and spec.vpcRef" in it.words) == (False, True)


async def test_a_chosen_name_without_a_vpc_for_which_nothing_was_ordered_is_let_go(it):
    await it.apply(vpc=None, vmName="prod")
    await it.until(lambda: it.ready == "False/InvalidSpec")
    it.delete()
    await it.until(lambda: it.gone)
