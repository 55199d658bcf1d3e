"""Which of several objects owns a thing in the cloud, over accounts and namespaces."""

import pytest

from gpucloud.kinds.common import OrderState
from gpucloud.reconcile.facts import ResourceOwner
from support.builders import an_order
from support.ordered import ELDER, YOUNGER


def claimants(reconcilers, mine, theirs):
    """One VM by name, through two accounts of one namespace."""
    for name, session in (("mine", mine), ("theirs", theirs)):
        reconcilers.account(name, session=session)
        born = ELDER if name == "mine" else YOUNGER
        reconcilers.put(
            "GpuVM", name, spec={"vmName": "shared", "accountRef": {"name": name}}, meta={"creationTimestamp": born}
        )


@pytest.mark.parametrize(
    ("mine", "theirs", "conflict"),
    [
        (("acme",), ("acme",), True),
        (("acme",), ("other",), False),
        (("acme",), (), True),  # not known: may be the same
        ((), (), True),
        (("acme", "other"), ("other",), True),
    ],
)
async def test_one_thing_one_owner_over_all_accounts_of_a_tenant(reconcilers, a_session, mine, theirs, conflict):
    url = "https://cloud.example"
    claimants(reconcilers, a_session(url, *mine), a_session(url, *theirs))
    assert (await reconcilers.facts("GpuVM", "mine")).owner is None
    assert (await reconcilers.facts("GpuVM", "theirs")).owner == (ResourceOwner("GpuVM", "team", "mine") if conflict else None)


@pytest.mark.parametrize("adopts", ["Never", "IfExists"])
async def test_a_key_of_another_tenant_gives_up_no_claim_to_what_was_ordered(reconcilers, a_session, adopts):
    """Simulated world, seed 610187: another namespace adopted the VPC meanwhile, and destroyed it with its own object."""
    order = an_order("acme-net", vpc="acme-net").model_dump(mode="json", by_alias=True)
    url, places = "https://cloud.example", {"mine": "other", "theirs": "acme"}
    for name, tenant in places.items():
        reconcilers.account(name, session=a_session(url, tenant))
    spec = {"name": "acme-net", "accountRef": {"name": "mine"}}
    reconcilers.put("GpuVpc", "mine", spec=spec, status={"tenancy": "acme", "order": order, "observedGeneration": 1})
    reconcilers.put("GpuVpc", "theirs", spec=spec | {"accountRef": {"name": "theirs"}, "adoption": adopts})
    assert (await reconcilers.facts("GpuVpc", "theirs")).owner == ResourceOwner("GpuVpc", "team", "mine")


@pytest.mark.parametrize(("ordered", "conflict"), [(False, True), (True, False)])
async def test_what_was_ordered_is_claimed_while_its_account_has_no_session(reconcilers, a_session, ordered, conflict):
    """Right after a restart, say; who has an order of its own keeps its thing, which may be behind another endpoint."""
    order = an_order("acme-net", vpc="acme-net").model_dump(mode="json", by_alias=True)
    spec, status = {"name": "acme-net", "accountRef": {"name": "mine"}}, {"order": order, "observedGeneration": 1}
    reconcilers.account("mine", trouble="its Secret cannot be read")
    reconcilers.account("theirs", session=a_session("https://cloud.example", "acme"))
    reconcilers.put("GpuVpc", "mine", spec=spec, status=status, meta={"creationTimestamp": ELDER})
    theirs = spec | {"accountRef": {"name": "theirs"}, "adoption": "IfExists"}
    reconcilers.put("GpuVpc", "theirs", spec=theirs, status=status if ordered else {}, meta={"creationTimestamp": YOUNGER})
    assert (await reconcilers.facts("GpuVpc", "theirs")).owner == (
        ResourceOwner("GpuVpc", "team", "mine") if conflict else None
    )
    assert (await reconcilers.facts("GpuVpc", "mine")).owner is None
    reconcilers.account("mine", session=a_session("https://elsewhere.example", "acme"))
    reconcilers.quiet()
    await reconcilers.facts("GpuVpc", "mine")
    assert reconcilers.woken == ["u-theirs"]
    assert (await reconcilers.facts("GpuVpc", "theirs")).owner is None


@pytest.mark.parametrize("moved", [{"cluster": "Hou1"}, {"vpc": "lab"}, {"vmName": "other"}])
@pytest.mark.parametrize("order", [OrderState.ACCEPTED, OrderState.SEEN, OrderState.LOST])
async def test_what_was_ordered_is_claimed_whatever_the_spec_names_by_now(reconcilers, moved, order):
    """Simulated world, seed 92232657: another namespace ordered the name meanwhile, was given the VM, and destroyed it."""
    record = an_order("prod", order).model_dump(mode="json", by_alias=True)
    reconcilers.put("GpuVM", "mine", spec={"vmName": "prod"} | moved, status={"order": record, "observedGeneration": 1})
    reconcilers.put("GpuVM", "theirs", spec={"vmName": "prod"}, meta={"namespace": "others"})
    owner = (await reconcilers.facts("GpuVM", "theirs")).owner
    assert owner == (None if order is OrderState.LOST else ResourceOwner("GpuVM", "team", "mine"))
    assert (await reconcilers.facts("GpuVM", "mine")).owner is None


async def test_a_record_without_a_vpc_claims_what_the_spec_names(reconcilers):
    """Somebody has edited it: it names no place, and the object has one VM all the same."""
    record = an_order("prod", vpc="").model_dump(mode="json", by_alias=True)
    reconcilers.put("GpuVM", "mine", spec={"vmName": "prod"}, status={"order": record, "observedGeneration": 1})
    reconcilers.put("GpuVM", "theirs", spec={"vmName": "prod"}, meta={"namespace": "others"})
    assert (await reconcilers.facts("GpuVM", "theirs")).owner == ResourceOwner("GpuVM", "team", "mine")


async def test_behind_another_endpoint_it_is_another_thing(reconcilers, a_session):
    claimants(reconcilers, a_session("https://one.example"), a_session("https://two.example"))
    assert (await reconcilers.facts("GpuVM", "theirs")).owner is None


@pytest.mark.parametrize(("namespace", "says"), [("team", "GpuVM 'elder'"), ("others", "a GpuVM in another namespace")])
async def test_an_owner_in_another_namespace_is_not_named(reconcilers, namespace, says):
    reconcilers.put("GpuVM", "elder", spec={"vmName": "shared"}, meta={"creationTimestamp": ELDER, "namespace": "team"})
    reconcilers.put("GpuVM", "young", spec={"vmName": "shared"}, meta={"creationTimestamp": YOUNGER, "namespace": namespace})
    facts = await reconcilers.facts("GpuVM", "young")
    message = reconcilers.vms.decide(facts).status.conditions[0].message
    assert f"is already used by {says}." in message
    assert ("elder" in message) is (namespace == "team")


async def test_two_vpc_objects_of_one_vpc_have_one_owner_whatever_their_namespaces(reconcilers):
    reconcilers.put("GpuVpc", "elder", meta={"creationTimestamp": ELDER})
    reconcilers.put("GpuVpc", "young", meta={"creationTimestamp": YOUNGER, "namespace": "others"})
    assert (await reconcilers.facts("GpuVpc", "elder")).owner is None
    assert (await reconcilers.facts("GpuVpc", "young")).owner == ResourceOwner("GpuVpc", "team", "elder")


async def test_who_gives_a_claim_up_wakes_the_second_in_line(reconcilers, a_session):
    """It moves behind another endpoint: the other's Conflict is over, and nothing else would tell it."""
    reconcilers.account("mine", session=a_session("https://one.example"))
    reconcilers.put(
        "GpuVM", "elder", spec={"vmName": "shared", "accountRef": {"name": "mine"}}, meta={"creationTimestamp": ELDER}
    )
    reconcilers.account("theirs", session=a_session("https://one.example"))
    reconcilers.put("GpuVM", "young", spec={"vmName": "shared", "accountRef": {"name": "theirs"}})
    reconcilers.account("mine", session=a_session("https://two.example"))
    reconcilers.quiet()
    await reconcilers.facts("GpuVM", "elder")
    assert reconcilers.woken == ["u-young"]
