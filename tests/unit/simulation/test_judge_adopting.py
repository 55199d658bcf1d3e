"""What is adopted has one adopter, is touched only by it, and is destroyed only where its spec says Delete."""

import pytest


@pytest.mark.parametrize(
    ("policy", "goes", "found"),
    [
        pytest.param("Delete", True, [], id="its owner says so"),
        pytest.param(None, True, ["foreign"], id="what was adopted stays where nobody says Delete"),
        pytest.param("Retain", True, ["foreign"], id="it is to stay"),
        pytest.param("Delete", False, ["foreign"], id="nobody has deleted the object"),
    ],
)
def test_an_adopted_vm_goes_only_with_its_object_and_by_an_explicit_delete(court, policy, goes, found):
    court.world.cloud.make_vm("legacy", "acme", "Msc1", "stranger")
    item = court.applied(vmName="legacy", adoption="Required", deletion={"policy": policy} if policy else {})
    court.writes(item, adopted=True)
    if goes:
        court.world.actors.owner.delete(item)
    court.destroys("legacy")
    assert court.oracles == found


@pytest.mark.parametrize(("recorded", "found"), [(True, []), (False, ["foreign"])])
def test_an_adopted_vm_is_powered_only_when_its_adoption_is_recorded(court, recorded, found):
    court.world.cloud.make_vm("legacy", "acme", "Msc1", "stranger")
    court.passes(1000)
    court.world.cloud.notice()
    item = court.applied(vmName="legacy", adoption="Required", powerState="Stopped")
    if recorded:
        court.records(item, "legacy")
    court.sends("StopServer", id="legacy", namespace="acme", cluster="Msc1")
    assert court.oracles == found


@pytest.mark.parametrize(("names", "found"), [(("legacy", "legacy"), ["adopted twice"]), (("legacy", "other"), [])])
def test_one_vm_has_one_adopter(court, names, found):
    for called, name in zip("ab", names, strict=True):
        item = court.applied(called, vmName=name, adoption="Required")
        court.writes(item, adopted=True, order={"state": "Seen", "name": name, "cloudId": name, "vpc": "acme", "id": "x"})
        court.says(item, "True", "Running")
    assert [one for one in court.oracles if one != "ready"] == found


def test_nothing_is_bought_for_an_object_that_requires_what_exists(court):
    court.bought(thing="legacy", vmName="legacy", adoption="Required")
    assert "bought" in court.oracles
