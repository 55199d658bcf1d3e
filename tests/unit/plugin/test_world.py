"""Who waits for whom, and where the waiting begins."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpucloud.cli.plugin.model.dependencies import World, causes
from gpucloud.cli.plugin.model.health import Standing, standing
from gpucloud.cli.plugin.model.objects import Key
from support.pluginworld import a_snapshot, a_thing, a_vm, a_vpc, an_account

ACCOUNT, VPC, VM, SNAPSHOT = (
    Key("team", kind, name)
    for kind, name in (("GpuCloudAccount", "default"), ("GpuVpc", "lab"), ("GpuVM", "train"), ("GpuSnapshot", "before"))
)
DEPENDS, BLOCKED = ("Working", "DependencyNotReady"), ("Deleting", "DeletionBlocked")
NEEDED_BY_VM = {
    "message": "The VPC is still needed by GpuVM 'train': delete it, too. The VPC is destroyed as soon as nothing needs it."
}
IN_USE_BY_VM = {"message": "Still used by GpuVM 'train'. The account is deleted after its last user."}
BY_NAME = {"cluster": "msc1", "vpc": "acme-lab"}
FROM_SNAPSHOT = {"cluster": "Msc1", "vpc": "acme", "image": {"snapshotRef": {"name": "before"}}}


@pytest.mark.parametrize(
    ("things", "asked", "expected", "why"),
    [
        ((an_account(), a_vpc(), a_vm()), VM, (), "what is ready waits for nothing"),
        ((a_vpc("lab", "Stalled", "Conflict"), a_vm("train", *DEPENDS)), VM, (VPC,), "a VM waits for its VPC"),
        ((a_vm("train", *DEPENDS),), VM, (VPC,), "what is missing is waited for, too"),
        ((a_vm("train", "Working", "Creating"), a_snapshot("before", *DEPENDS)), SNAPSHOT, (VM,), "a snapshot for its VM"),
        (
            (a_snapshot("before", "Working"), a_vm("train", *DEPENDS, spec=FROM_SNAPSHOT)),
            VM,
            (SNAPSHOT,),
            "a VM for the snapshot that it is made from",
        ),
        (
            (an_account("default", "Stalled", "CredentialsRefused"), a_vm("train", "Working", "AccountNotReady")),
            VM,
            (ACCOUNT,),
            "all for their account",
        ),
        (
            (an_account("default", "Stalled", "CredentialsRefused"), a_vm("train", "Stalled", "CredentialsRefused")),
            VM,
            (ACCOUNT,),
            "a refusal that the account has, too, is the account's",
        ),
        ((an_account(), a_vm("train", "Stalled", "CredentialsRefused")), VM, (), "of a good account it is the object's own"),
        (
            (a_vm("train", "Stalled", "NoAccount", spec={"accountRef": {"name": "default"}}),),
            VM,
            (ACCOUNT,),
            "an account that is named and not there",
        ),
        ((a_vm("train", "Stalled", "NoAccount"),), VM, (), "no account at all: nothing that could be named"),
        ((a_vpc("lab", *BLOCKED, **NEEDED_BY_VM), a_vm()), VPC, (VM,), "in deletion it is the other way round"),
        (
            (
                a_vm("train", *BLOCKED, message="The VM is still needed by GpuSnapshot 'before': delete it, too."),
                a_snapshot("before", "Working", status={"order": {"state": "Accepted"}}),
            ),
            VM,
            (SNAPSHOT,),
            "a VM waits for a snapshot under way",
        ),
        (
            (a_vm("train", *BLOCKED), a_snapshot(status={"order": {"state": "Seen"}, "readyToUse": True})),
            VM,
            (),
            "but not for one that is taken",
        ),
        ((a_vpc("lab", *BLOCKED), a_vm("other", spec=BY_NAME)), VPC, (), "a VM that was never ordered has nothing in the VPC"),
        ((an_account("default", *BLOCKED, **IN_USE_BY_VM), a_vm()), ACCOUNT, (VM,), "an account for its users"),
        (
            (
                an_account("default", *BLOCKED, **IN_USE_BY_VM),
                a_vpc("lab", *BLOCKED, **NEEDED_BY_VM),
                a_vm(),
                a_vm("other", spec=BY_NAME | {"vpc": "acme"}),
            ),
            VPC,
            (VM,),
            "a VPC that goes waits for its VMs, not for the account and by it for the VMs of other VPCs",
        ),
        (
            (
                a_vpc("lab", *BLOCKED, message="Still in the VPC: train-a1b2. It is destroyed as soon as it is empty."),
                a_vm("other", spec=BY_NAME | {"vpc": "acme"}),
            ),
            VPC,
            (),
            "what the cloud shows in the VPC need not be an object's",
        ),
        (
            (
                a_vpc("lab", *BLOCKED, message="The VPC is still needed by GpuSnapshot 'before': delete it, too."),
                a_snapshot("before", status={"order": {"state": "Seen", "cluster": "Msc1", "vpc": "acme-lab"}}),
            ),
            VPC,
            (SNAPSHOT,),
            "a VPC waits for the snapshots in it, also for one whose VM is gone",
        ),
        (
            (a_vpc("lab", "Deleting", "DeletionBlocked", message="The cloud refuses that (GpuVM)."),),
            VPC,
            (),
            "a refused destruction waits for no object",
        ),
        (
            (a_vpc("lab", *BLOCKED, message="Reworded."), *(a_vm(f"vm-{number}") for number in range(8))),
            VPC,
            tuple(Key("team", "GpuVM", f"vm-{number}") for number in range(8)),
            "who blocks a deletion is told by the specs, whatever the message says of them",
        ),
        (
            (an_account("default", "Stalled", "SecretNotFound"), a_vm("train", "Unknown", "ApiUnavailable")),
            VM,
            (),
            "a cloud that cannot be reached is not the account's trouble if the account reports another one",
        ),
        (
            (
                a_vpc("lab", "Working"),
                a_snapshot("before", "Working"),
                a_vm(
                    "train",
                    *DEPENDS,
                    spec=FROM_SNAPSHOT | {"vpcRef": {"name": "lab"}},
                    message="Waiting for GpuSnapshot 'before' to become Ready. (Creating: The snapshot is being taken.)",
                ),
            ),
            VM,
            (VPC, SNAPSHOT),
            "of two references both, while neither is Ready",
        ),
        (
            (a_vpc("lab", *BLOCKED, annotations={"gpucloud.dev/paused": "true"}), a_vm()),
            VPC,
            (),
            "what is paused waits for a person",
        ),
        ((a_vpc("lab", "Working"), a_vm("train", "Stalled", "InvalidReference")), VM, (), "a wrong reference is the VM's own"),
        ((a_vm("train", "Unseen"),), VM, (), "of what the operator has not seen nothing is known"),
    ],
)
def test_what_an_object_waits_for(things, asked, expected, why):
    world = World.of(things)
    assert world.waits_for(world.things[asked]) == expected, why


@pytest.mark.parametrize(
    ("things", "expected", "why"),
    [
        (
            (
                an_account("default", "Stalled", "CredentialsRefused"),
                a_vpc("lab", "Working", "AccountNotReady"),
                a_vm("train", *DEPENDS),
                a_snapshot("before", *DEPENDS),
            ),
            [(ACCOUNT, {VPC, VM, SNAPSHOT})],
            "one cause for the whole chain",
        ),
        (
            (a_vm("slow", "Working", "Creating"), a_vm("train", *DEPENDS)),
            [(VPC, {VM}), (Key("team", "GpuVM", "slow"), set())],
            "what a person must do stands before what goes on by itself",
        ),
        ((an_account(), a_vm()), [], "nothing is wrong"),
        (
            (a_vm("a", "Stalled", "Rejected"), a_vpc("lab", "Stalled", "Conflict"), a_vm("train", *DEPENDS)),
            [(VPC, {VM}), (Key("team", "GpuVM", "a"), set())],
            "of two, the one that most others wait for",
        ),
    ],
)
def test_root_causes(things, expected, why):
    assert [(cause.key, set(cause.waiting)) for cause in causes(World.of(things))] == expected, why


@pytest.mark.parametrize(
    ("things", "asked", "expected", "why"),
    [
        ((an_account(), a_vpc(), a_vm(), a_snapshot()), SNAPSHOT, VM, "a snapshot under its VM"),
        ((an_account(), a_vpc(), a_vm(), a_snapshot()), VM, VPC, "a VM in its VPC"),
        ((an_account(), a_vpc()), VPC, ACCOUNT, "a VPC under the account"),
        ((an_account(), a_snapshot()), SNAPSHOT, ACCOUNT, "without its VM under the account"),
        (
            (an_account(), a_vpc(), a_snapshot("before", status={"order": {"cluster": "msc1", "vpc": "acme-lab"}})),
            SNAPSHOT,
            VPC,
            "a snapshot whose VM is gone in its VPC",
        ),
        (
            (an_account(), a_vpc(), a_vm(spec=BY_NAME)),
            VM,
            VPC,
            "the GpuVpc that owns the VPC which the VM names, in whatever spelling of the cluster",
        ),
        (
            (an_account(), a_vpc("lab", "Stalled", "Conflict"), a_vm(spec=BY_NAME)),
            VM,
            ACCOUNT,
            "a GpuVpc in Conflict does not own the VPC",
        ),
        ((an_account(), a_vpc(status={}), a_vm(spec=BY_NAME)), VM, ACCOUNT, "nor does one whose VPC was never seen"),
        (
            (an_account(), an_account("other"), a_vpc(), a_vm(spec=BY_NAME | {"accountRef": {"name": "other"}})),
            VM,
            Key("team", "GpuCloudAccount", "other"),
            "another account's VPC of the same name is another VPC",
        ),
        (
            (
                an_account(),
                an_account("other"),
                a_vpc(status={"vpcId": "1", "tenancy": "acme"}),
                a_vm(spec=BY_NAME | {"accountRef": {"name": "other"}}, status={"tenancy": "acme"}),
            ),
            VM,
            VPC,
            "two accounts of one tenant",
        ),
        (
            (an_account(), a_vpc(), a_vm(spec=BY_NAME, status={"order": {"cluster": "Msc1", "vpc": "acme"}})),
            VM,
            ACCOUNT,
            "where the VM was ordered counts, not what its spec names now",
        ),
        ((a_vm(),), VM, None, "alone at the top"),
        (
            (an_account(), an_account("other"), a_vm(spec={}, status={"account": "other"})),
            VM,
            Key("team", "GpuCloudAccount", "other"),
            "the account that was frozen, not the default",
        ),
        ((an_account(), a_vm(spec={}, status={"account": "(operator)"})), VM, None, "the operator's own has no object"),
        ((an_account(namespace="elsewhere"), a_vm(spec={})), VM, None, "references never leave the namespace"),
    ],
)
def test_under_which_object_people_look(things, asked, expected, why):
    world = World.of(things)
    assert world.parent(world.things[asked]) == expected, why


@pytest.mark.parametrize(
    ("users", "expected", "why"),
    [
        ((a_vm(),), (VPC,), "a VM that is well stays until somebody deletes it"),
        ((a_vm("train", "Stalled", "CreateFailed"),), (VPC,), "so does one that has failed"),
        ((a_vm("train", "Deleting"),), (VM,), "a VM that is being deleted is waited for"),
        ((a_vm("train", "Deleting"), a_vm("other")), (VM, VPC), "both, where one goes and one stays"),
    ],
)
def test_a_deletion_begins_with_itself_while_one_of_its_users_is_not_deleted(users, expected, why):
    names = ", ".join(f"GpuVM {user.key.name!r}" for user in users)
    world = World.of((a_vpc("lab", *BLOCKED, message=f"The VPC is still needed by {names}: delete them, too."), *users))
    assert world.roots(VPC) == expected, why


GOING_ACCOUNT = an_account("default", *BLOCKED, **IN_USE_BY_VM)
LATE = a_vm("late", "Working", "AccountNotReady", spec=BY_NAME | {"vpc": "acme"})


def test_who_needs_an_account_in_deletion_waits_for_the_account_and_not_for_its_other_users():
    """It is not helped when one of them is gone."""
    vpc = a_vpc("lab", *BLOCKED, **NEEDED_BY_VM)
    found = {cause.key: cause.waiting for cause in causes(World.of((GOING_ACCOUNT, vpc, a_vm(), LATE)))}
    assert found == {ACCOUNT: (LATE.key,), VPC: (ACCOUNT,)}


def test_a_cause_of_a_deletion_knows_how_many_others_that_waits_for():
    vpc = a_vpc("lab", *BLOCKED, **NEEDED_BY_VM)
    found = {cause.key: cause for cause in causes(World.of((GOING_ACCOUNT, vpc, a_vm(), LATE)))}
    assert [(blocked.key, blocked.others) for blocked in found[VPC].blocked] == [(ACCOUNT, 2)]


REASONS = st.sampled_from(["DependencyNotReady", "AccountNotReady", "DeletionBlocked", "Creating", "Rejected", "NoAccount"])
NAMES = st.sampled_from(["a", "b", "c"])
REFERENCES = st.fixed_dictionaries(
    {},
    optional={name: st.fixed_dictionaries({"name": NAMES}) for name in ("vpcRef", "vmRef", "accountRef")}
    | {"image": st.fixed_dictionaries({"snapshotRef": st.fixed_dictionaries({"name": NAMES})})},
)
THINGS = st.lists(
    st.builds(
        lambda kind, name, how, reason, spec, users: a_thing(
            kind, name, how.value, reason, spec=spec, **({"message": users} if reason == "DeletionBlocked" else {})
        ),
        st.sampled_from(["GpuCloudAccount", "GpuVpc", "GpuVM", "GpuSnapshot"]),
        NAMES,
        st.sampled_from(Standing),
        REASONS,
        REFERENCES,
        st.builds(
            "The VM is still needed by {} {!r}, GpuVM {!r}: delete it, too.".format,
            st.sampled_from(["GpuVpc", "GpuSnapshot"]),
            NAMES,
            NAMES,
        ),
    ),
    max_size=12,
)


@settings(deadline=None)
@given(THINGS)
def test_every_object_that_is_not_ready_has_a_cause_and_no_cause_has_one(things):
    """Whatever refers to whatever, in rings too: it ends, nothing is unexplained, and nothing that is well is a cause."""
    world = World.of(things)
    found = {cause.key: cause for cause in causes(world)}
    for item in world.things.values():
        if standing(item) is not Standing.READY:
            assert any(item.key == key or item.key in cause.waiting for key, cause in found.items())
    for key, cause in found.items():
        assert cause.standing is not Standing.READY
        assert key not in cause.waiting
        for other in cause.waiting:
            assert standing(world.things[other]) is not Standing.READY


@settings(deadline=None)
@given(THINGS)
def test_every_object_stands_in_the_tree_once(things):
    world = World.of(things)
    children = world.children()
    shown, todo = [], list(children.get(None, ()))
    while todo:
        key = todo.pop()
        shown.append(key)
        todo += children.get(key, ())
    assert sorted(shown) == sorted(world.things)
