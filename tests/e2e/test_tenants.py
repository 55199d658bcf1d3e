"""Two tenants, each in a namespace of its own: neither sees, adopts nor destroys what is the other's."""

from __future__ import annotations

import pytest

from support.kstatus import condition
from support.manifests import gpucloudaccount, gpusnapshot, gpuvm, gpuvpc, secret
from support.waiting import eventually, gone, reach

FLAGS = {
    "poll_pending_seconds": 0.2,
    "poll_steady_seconds": 0.5,
    "create_grace_seconds": 1,
    "cloud_qps": 500,
    "cloud_burst": 100,
}
OBJECTS = (("gpuvpc", "lab", "True/Available"), ("gpuvm", "train", "True/Running"), ("gpusnapshot", "before", "True/Completed"))


@pytest.fixture
def there(kubectl, new_namespace):
    """Another fresh namespace, as ``here`` is one."""
    return kubectl.in_namespace(new_namespace())


def team(tenant, key):
    """The same manifests for everybody, but for the VPCs, whose names bear the tenant's."""
    return [
        secret(apikey=key["value"]),
        gpucloudaccount(),
        gpuvpc(name=f"{tenant}-lab"),
        gpuvm(vpc=tenant, vmName="shared"),
        gpusnapshot(snapshotName="golden"),
    ]


def mutations_of(sim, key):
    return {call["operation"] for call in sim.control(f"ledger?mutating=true&credential={key['id']}")["entries"]}


def test_same_names_same_cloud_two_tenants(here, there, sim, operator):
    sim.turn(snapshot_seconds=0.3, destroy_seconds=0.3, snapshot_delete_seconds=0.3)
    keys = {"acme": sim.key("ann"), "globex": sim.key("gil")}
    operator(**FLAGS, api_key_file=None)
    for where, tenant in ((here, "acme"), (there, "globex")):
        where.apply(team(tenant, keys[tenant]))
    for where, tenant in ((here, "acme"), (there, "globex")):
        for kind, name, wanted in OBJECTS:
            assert reach(where, kind, name, wanted)["status"]["tenancy"] == tenant
        reach(where, "gpucloudaccount", "default", "True/Connected", says=f"tenant '{tenant}'")
    assert sorted(sim.vms()) == ["shared", "shared"]
    assert sorted(sim.snapshots()) == ["golden", "golden"]

    # A VPC of the other tenant's is none for us to adopt, and a VM in it cannot be ours.
    there.apply([gpuvpc("theirs", name="acme-lab", adoption="Required"), gpuvm("spy", vpc="acme", vmName="shared")])
    reach(there, "gpuvpc", "theirs", "False/NotFound")
    reach(there, "gpuvm", "spy", "False/Rejected", says="acme")
    there.ok("delete", "gpuvpc/theirs", "gpuvm/spy", "--wait=false")
    gone(there, "gpuvpc", "theirs")
    gone(there, "gpuvm", "spy")

    there.ok("delete", "gpuvpc,gpuvm,gpusnapshot,gpucloudaccount", "--all", "--wait=false")
    for kind in ("gpuvpc", "gpuvm", "gpusnapshot", "gpucloudaccount"):
        eventually(lambda kind=kind: not there.list(kind), 90, f"every {kind} of the other tenant's to go")
    assert (sim.vms(), sim.snapshots(), sim.vpcs()) == (["shared"], ["golden"], ["acme-lab"])
    for kind, name, wanted in OBJECTS:
        reach(here, kind, name, wanted)
    assert not mutations_of(sim, keys["acme"]) & {"DestroyServer", "DestroyVpc", "DeleteSnapshot"}


def test_a_second_claim_from_another_namespace_learns_nothing_of_the_first(here, there, sim, operator):
    """Two accounts of one tenant: what one has, the other is not told the owner of, and deleting its object sends nothing."""
    key = sim.key("ann")
    operator(**FLAGS, api_key_file=None)
    here.apply([secret(apikey=key["value"]), gpucloudaccount(), gpuvm("ours", vmName="shared"), gpuvpc("ours")])
    reach(here, "gpuvm", "ours", "True/Running")
    reach(here, "gpuvpc", "ours", "True/Available")
    there.apply([secret(apikey=sim.key("ann")["value"]), gpucloudaccount()])
    there.apply([gpuvm("second", vmName="shared"), gpuvpc("second"), gpuvpc("third", adoption="IfExists")])
    for kind, name in (("gpuvm", "second"), ("gpuvpc", "second"), ("gpuvpc", "third")):
        item = reach(there, kind, name, "False/Conflict", says="in another namespace")
        assert "ours" not in condition(item, "Stalled")["message"]
        assert here.namespace not in str(item["status"])
    there.ok("delete", "gpuvm,gpuvpc", "--all", "--wait=false")
    gone(there, "gpuvm", "second")
    gone(there, "gpuvpc", "second", "third")
    assert (sim.vms(), sim.vpcs()) == (["shared"], ["acme-lab"])
    assert not {"DestroyServer", "DestroyVpc"} & set(sim.mutations())


def test_namespaces_that_share_the_operators_account_name_only_what_is_theirs(here, there, sim, operator):
    """The histories: one boots a copy of the other's disk by spec.vm; one adopts the VPC of all, deletes its object, and
    so blocks all.
    """
    sim.turn(snapshot_seconds=0.3, snapshot_delete_seconds=0.3, destroy_seconds=0.3)
    operator(**FLAGS, own_account_sharing="Isolated")
    here.apply([gpuvm("prod", vmName="prod"), gpusnapshot("nightly", vmRef={"name": "prod"}, snapshotName="golden")])
    reach(here, "gpuvm", "prod", "True/Running")
    reach(here, "gpusnapshot", "nightly", "True/Completed")

    place = {"cluster": "Msc1", "vpc": "acme", "name": "prod"}
    copies = [gpusnapshot("copy", vmRef=None, vm=place), gpuvm("spy", image={"snapshot": "golden"})]
    adopted = gpuvpc("all", name="acme", adoption="IfExists", deletion={"policy": "Delete"})
    there.apply([*copies, adopted, gpuvm("claim", vmName="prod")])
    for kind, name in (("gpusnapshot", "copy"), ("gpuvm", "spy"), ("gpuvpc", "all")):
        reach(there, kind, name, "False/InvalidReference", says="--own-account-sharing=Shared")
    reach(there, "gpuvm", "claim", "False/Conflict")
    here.apply(copies)  # the same manifests where the things are
    reach(here, "gpusnapshot", "copy", "True/Completed")
    reach(here, "gpuvm", "spy", "True/Running")

    there.delete("gpuvpc", "all")
    there.apply(gpuvm("plain"))
    reach(there, "gpuvm", "plain", "True/Running")
    there.ok("delete", "gpuvm,gpusnapshot", "--all", "--wait=false")
    gone(there, "gpuvm", "spy", "claim", "plain")
    gone(there, "gpusnapshot", "copy")
    assert {"prod", "golden"} <= {*sim.vms(), *sim.snapshots()}
    assert "DestroyVpc" not in sim.mutations()


def test_where_the_administrator_shares_the_account_any_name_will_do(here, there, sim, operator):
    """And a VPC that one namespace adopted, and is deleting for good, keeps nobody else from creating in it."""
    sim.turn(snapshot_seconds=0.3, destroy_seconds=0.3)
    operator(**FLAGS, own_account_sharing="Shared")
    here.apply(gpuvm("prod", vmName="prod"))
    reach(here, "gpuvm", "prod", "True/Running")
    there.apply(gpusnapshot("copy", vmRef=None, vm={"cluster": "Msc1", "vpc": "acme", "name": "prod"}))
    reach(there, "gpusnapshot", "copy", "True/Completed")
    there.apply(gpuvpc("all", name="acme", adoption="IfExists", deletion={"policy": "Delete"}))
    reach(there, "gpuvpc", "all", "True/Adopted")
    there.delete("gpuvpc", "all", wait=False)
    reach(there, "gpuvpc", "all", "False/DeletionBlocked")
    here.apply(gpuvm("next"))
    reach(here, "gpuvm", "next", "True/Running")
    assert "DestroyVpc" not in sim.mutations()


THEIRS = {
    "state": "Seen",
    "name": "theirs",
    "cloudId": "theirs",
    "cluster": "Msc1",
    "vpc": "acme",
    "recordedAt": "2026-01-01T00:00:00Z",
}
SOMEBODY = {
    "the operator's own account": {"account": "(operator)"},
    "an account that is not there": {"account": "somebody-elses"},
    "the other tenant": {"tenancy": "acme"},
}
NOTHING = {"order": None, "account": None, "tenancy": None, "conditions": []}
ELSEWHERE = {"account": "(operator)", "tenancy": "acme"}
LIES = {
    "gpuvm": {
        **SOMEBODY,
        "the other's VM": {"vmId": "theirs", "order": THEIRS},
        "everything of the other's": {"vmId": "theirs", "order": THEIRS, **ELSEWHERE},
        "nothing at all": {"vmId": None, **NOTHING},
    },
    "gpuvpc": {
        **SOMEBODY,
        "the other's VPC": {"vpcId": "theirs"},
        "everything of the other's": {"vpcId": "theirs", **ELSEWHERE},
    },
    "gpusnapshot": {
        **SOMEBODY,
        "the other's snapshot": {"snapshotId": "theirs", "order": THEIRS},
        "everything of the other's": {"snapshotId": "theirs", "order": THEIRS, **ELSEWHERE},
        "nothing at all": {"snapshotId": None, **NOTHING},
    },
}
KINDS = {
    "gpuvm": ("vmId", "True/Running"),
    "gpuvpc": ("vpcId", "True/Available"),
    "gpusnapshot": ("snapshotId", "True/Completed"),
}


def liars(kind):
    """One object a lie."""
    make = {
        "gpuvm": lambda name: gpuvm(name, vpc="globex"),
        "gpuvpc": lambda name: gpuvpc(name, name=f"globex-{name}"),
        "gpusnapshot": lambda name: gpusnapshot(name, vmRef=None, vm={"cluster": "Msc1", "vpc": "globex", "name": "source"}),
    }[kind]
    return {f"{kind}-{number}": (make(f"{kind}-{number}"), lie) for number, lie in enumerate(LIES[kind].values())}


def tell(here):
    for kind in LIES:
        for name, (_, lie) in liars(kind).items():
            here.patch(kind, name, {"status": lie}, subresource="status")


@pytest.mark.parametrize("served", [["default"], None], ids=["own account elsewhere", "own account everywhere"])
def test_a_forged_status_changes_nothing(served, here, sim, operator, figure):
    """The operator's own account is acme's; what is here is globex's, and whoever may write its status lies in it."""
    sim.turn(snapshot_seconds=0.3, snapshot_delete_seconds=0.3, destroy_seconds=0.3)
    sim.create_vm("theirs")
    sim.create_vm("source", vpc="globex", tenant="globex")
    sim.force("theirs", "ONLINE")
    sim.force("source", "ONLINE", "globex")
    sim.create_snapshot("theirs", "theirs")
    operator(**FLAGS, own_account_namespace=served)
    here.apply([secret(apikey=sim.key("gil")["value"]), gpucloudaccount()])
    here.apply([manifest for kind in LIES for manifest, _ in liars(kind).values()])
    ids = {
        kind: {name: reach(here, kind, name, wanted)["status"][field] for name in liars(kind)}
        for kind, (field, wanted) in KINDS.items()
    }
    made = (sorted(sim.vms()), sorted(sim.snapshots()), sorted(sim.vpcs()))
    tell(here)
    asked = len(sim.calls("GetServers"))
    eventually(lambda: len(sim.calls("GetServers")) > asked + 6, what="some more listings")
    assert (sorted(sim.vms()), sorted(sim.snapshots()), sorted(sim.vpcs())) == made, "nothing is made or destroyed"
    tell(here)  # the lie may have been mended: tell it again
    for kind in LIES:
        here.ok("delete", kind, *liars(kind), "--wait=false")
    for kind in LIES:
        gone(here, kind, *liars(kind), timeout=60)
    assert (sorted(sim.vms()), sim.snapshots(), sim.vpcs()) == (["source", "theirs"], ["theirs"], []), (
        "all of ours, and only that"
    )
    for kind, operation in (("gpuvm", "DestroyServer"), ("gpuvpc", "DestroyVpc"), ("gpusnapshot", "DeleteSnapshot")):
        assert {call["parameters"]["Id"] for call in sim.calls(operation)} == set(ids[kind].values())
    figure(f"{sum(map(len, LIES.values()))} forged statuses")
