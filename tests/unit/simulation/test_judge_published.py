"""What spec.connection publishes leads to the object's own VM while that is Ready, and is withdrawn before the VM ends."""

import pytest

from simulation.people import MERGE
from simulation.publication_acts import CONFIG_MAPS, SERVICES, SLICES, connection, path
from simulation.publishing import addresses_of

SPEC = {"connection": connection("service", "a-published")}
RECORD = {"connection": {"service": "a-published"}}


def published(court, item, address, plural=SLICES):
    """An operator publishes an address for an object."""
    meta = item["metadata"]
    owner = {"apiVersion": "gpucloud.dev/v1alpha1", "kind": "GpuVM", "name": meta["name"], "uid": meta["uid"]}
    slices = plural == SLICES
    content = {"addressType": "IPv4", "endpoints": [{"addresses": [address]}]} if slices else {"data": {"host": address}}
    body = {"metadata": {"name": "a-published", "ownerReferences": [owner]}, **content}
    assert court.hands.call("POST", path(plural, "team"), body)


def running(court, **status):
    """A GpuVM that is Ready and publishes, with the address of its VM."""
    item = court.bought(**SPEC)
    court.says(item, "True", "Running")
    court.writes(item, **RECORD | status)
    ((_, vm),) = court.world.cloud.made_for(item["metadata"]["uid"])
    return item, min(addresses_of(vm))


@pytest.mark.parametrize("plural", [SLICES, CONFIG_MAPS])
def test_its_own_address_while_it_is_ready(court, plural):
    item, address = running(court)
    published(court, item, address, plural)
    assert court.oracles == []


def test_the_address_of_another(court):
    item, _ = running(court)
    published(court, item, "192.0.2.99")
    assert court.oracles == ["published"]


def test_an_address_that_no_status_records(court):
    item, address = running(court)
    court.writes(item, connection=None)
    published(court, item, address)
    assert court.oracles == ["published"]


@pytest.mark.parametrize(("seconds", "found"), [(0.5, []), (2, ["published"])])
def test_an_address_of_a_vm_that_is_not_ready(court, seconds, found):
    item, address = running(court)
    court.says(item, "False", "Stopping")
    court.passes(seconds)
    published(court, item, address)
    assert court.oracles == found


def stopped(court, item):
    vm = item["status"]["order"]["name"]
    court.world.actors.owner.patch(item, {"spec": {"powerState": "Stopped"}})
    court.sends("StopServer", id=vm, namespace="acme", cluster="Msc1")


WITHDRAWN = [
    ({}, None, 0, ["published"], "nobody has tried to withdraw it"),
    ({}, 500, 30, ["published"], "the withdrawal fails, and the call waits for less than a minute"),
    ({}, 500, 60, [], "the withdrawal has failed for a minute"),
    ({}, 404, 60, ["published"], "the withdrawal has not failed"),
]


@pytest.mark.parametrize(("more", "answer", "seconds", "found", "why"), WITHDRAWN, ids=[row[-1] for row in WITHDRAWN])
def test_a_vm_that_ends_while_something_leads_to_it(court, more, answer, seconds, found, why):
    item, address = running(court, **more)
    published(court, item, address)
    if answer is not None:
        court.writes(item, connection=RECORD["connection"] | {"withdrawingSince": "2026-01-01T00:00:00Z"})
        court.passes(1)
        court.judge.publishing.answered(path(SLICES, "team", "a-published"), answer)
    court.passes(seconds)
    stopped(court, court.hands.call("GET", f"/apis/gpucloud.dev/v1alpha1/namespaces/team/gpuvms/{item['metadata']['name']}"))
    assert court.oracles == found, why


def test_what_was_withdrawn_or_leads_nowhere_is_in_nobodys_way(court):
    item, address = running(court)
    published(court, item, address)
    court.hands.call("PATCH", path(SLICES, "team", "a-published"), {"endpoints": []}, MERGE)
    stopped(court, court.hands.call("GET", "/apis/gpucloud.dev/v1alpha1/namespaces/team/gpuvms/a"))
    assert court.oracles == []


def unmet(court):
    return [text for life in court.judge.books.standing() for text in court.judge.publishing.unmet(life)]


def test_at_the_end_what_is_asked_for_is_published(court):
    item, address = running(court)
    assert unmet(court) == ["endpointslices 'a-published' does not lead to the VM of GpuVM team/a"]
    published(court, item, address)
    assert unmet(court) == []
    court.hands.call("PATCH", path(SLICES, "team", "a-published"), {"endpoints": [{"addresses": ["192.0.2.9"]}]}, MERGE)
    assert unmet(court) == ["endpointslices 'a-published' does not lead to the VM of GpuVM team/a"]


def test_at_the_end_what_has_a_chosen_name_may_lead_to_the_vm_that_somebody_made_under_it(court):
    """Seed 14631: the ordered VM went before a listing showed it, and another of its name came within its patience."""
    item, address = running(court)
    published(court, item, address)
    court.world.actors.owner.patch(item, {"spec": {"vmName": "web"}})
    court.hands.call("PATCH", path(SLICES, "team", "a-published"), {"endpoints": [{"addresses": ["192.0.2.9"]}]}, MERGE)
    assert unmet(court) == []


def test_at_the_end_nothing_leads_to_a_vm_that_does_not_run(court):
    item, address = running(court)
    published(court, item, address)
    court.says(item, "True", "PoweredOff")
    assert "and does not ask for it" in unmet(court)[0]
    court.says(item, "Unknown", "CloudUnreachable")
    assert unmet(court) == [], "that the cloud cannot be asked is no sign that the VM is down"


def test_who_does_not_hold_the_lease_writes_nothing_that_is_published(courts):
    court = courts(leader_elect=True, lease_namespace="kube-system")
    lease = {"metadata": {"name": court.world.scenario.settings.lease_name}, "spec": {"holderIdentity": "operator-1.1"}}
    assert court.hands.call("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", lease)
    for plural in (SLICES, SERVICES, CONFIG_MAPS):
        court.judge.writes(court.operator, "DELETE", path(plural, "team", "a-published"))
    assert court.oracles == ["lease"] * 3


def test_what_no_owner_is_left_of_is_collected(court):
    item, address = running(court)
    published(court, item, address)
    court.world.tidy()
    assert court.world.api.objects(SLICES)
    court.world.actors.owner.delete(item)
    court.hands.patch(item, {"metadata": {"finalizers": None}})
    court.world.tidy()
    assert court.world.api.objects(SLICES) == []
