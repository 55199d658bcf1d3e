"""What ``status`` shows: whole messages, causes first, nothing that leads a terminal astray."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpucloud.cli.plugin.model import overview
from gpucloud.cli.plugin.model.dependencies import World, causes
from gpucloud.cli.plugin.model.health import message
from gpucloud.cli.plugin.model.objects import Event, Key, thing
from gpucloud.cli.terminal.page import Line, table, wrapped
from gpucloud.kinds.common import FIRST_CONDITION
from gpucloud.reconcile.ownership import record_id
from support.pluginworld import a_snapshot, a_thing, a_vm, a_vpc, an_account

LONG = "The cloud answered: " + "no room for this, and that is the whole truth of it; " * 4 + "ask for more."
NOW = datetime(2026, 1, 2, tzinfo=UTC)
PRICED = {"state": "ONLINE", "vmId": "train-x", "pricePerHour": "2.05"}
RESTORED = {"state": "Seen", "name": "prod", "id": record_id("n", "u-before", "prod")}
CHAIN = World.of(
    (
        an_account(),
        a_vpc("lab", "Stalled", "Conflict", message=LONG),
        a_vm("train", "Working", "DependencyNotReady"),
        a_snapshot("before", "Working", "DependencyNotReady"),
        a_vm("well", status=PRICED, spec={}),
    )
)


def text_of(lines, width=None):
    return "\n".join(f"{line.lead}{line.text}" for line in wrapped(lines, width))


def test_the_cause_stands_first_with_its_whole_message_and_who_waits():
    text = text_of(overview.as_lines(CHAIN, NOW))
    assert text.index(LONG) < text.index("Objects")
    assert text.count(LONG) == 1, "once is enough"
    assert "2 wait for it: GpuSnapshot/before, GpuVM/train" in text
    assert "$2.05 an hour" in text


def test_the_tree_of_a_named_object_says_that_it_holds_more_than_this_one():
    """Its head was "Objects", as if these were all."""
    text = text_of(overview.as_lines(CHAIN, NOW, (Key("team", "GpuVM", "well"),)))
    assert "\nGpuVM/well and related objects\n" in text
    two = (Key("team", "GpuVM", "well"), Key("team", "GpuVpc", "lab"))
    assert "\n2 objects asked for, and related ones\n" in text_of(overview.as_lines(CHAIN, NOW, two))


def test_an_account_shows_its_tenant_by_that_word():
    world = World.of((an_account(status={"tenant": "acme"}),))
    assert "GpuCloudAccount/default  Ready  Connected  tenant acme" in text_of(overview.as_lines(world, NOW))


def test_a_host_shows_its_state_and_address():
    status = {"provisioningState": "provisioned", "publicIp": "198.51.100.7", "nodeType": "H100"}
    world = World.of((a_thing("GpuHost", "metal", status=status),))
    assert "GpuHost/metal  Ready  Running  provisioned  198.51.100.7" in text_of(overview.as_lines(world, NOW))
    assert "nodeType=H100" in text_of(overview.as_lines(world, NOW, wide=True))


def test_objects_that_say_the_same_are_one_cause():
    """One that others wait for stands alone, with those."""
    same = {"message": "The cloud refuses it.", "spec": {}}
    things = [a_vm(name, "Stalled", "Rejected", **same) for name in ("a", "b", "c")]
    waits = a_snapshot("before", "Working", "DependencyNotReady", of="c")
    text = text_of(overview.as_lines(World.of((*things, a_vm("d", "Stalled", "Conflict", **same), waits)), NOW))
    causes = text.partition("Objects")[0]
    assert "  GpuVM/a, GpuVM/b  Stalled  Rejected\n    The cloud refuses it.\n" in causes
    assert "  GpuVM/c  Stalled  Rejected\n    The cloud refuses it.\n    1 waits for it: GpuSnapshot/before" in causes
    assert "  GpuVM/d  Stalled  Conflict\n" in causes


def test_the_reason_of_an_older_spec_is_not_shown_as_that_of_the_new_one():
    text = text_of(overview.as_lines(World.of((a_vm("train", "Unseen", "Running", spec={}),)), NOW))
    assert "GpuVM/train  Unseen\n" in text
    assert "Running" not in text


def test_what_is_missing_names_a_way_out():
    text = text_of(overview.as_lines(World.of((a_vm("train", "Working", "DependencyNotReady"),)), NOW))
    assert "GpuVpc/lab  missing" in text
    assert "There is no GpuVpc/lab in namespace 'team'. Create GpuVpc/lab; or, if its name is wrong, delete the" in text


WAITS = "Waiting for GpuVpc 'lab': there is none in namespace 'team' yet."
FOR_BOTH = {"vpcRef": {"name": "lab"}, "image": {"snapshotRef": {"name": "golden"}}}


@pytest.mark.parametrize(
    ("things", "shown", "why"),
    [
        (
            (a_vm("train", "Working", "DependencyNotReady", message=WAITS),),
            0,
            "the cause says it, and the tree names the GpuVpc",
        ),
        (
            (a_vm("train", "Working", "DependencyNotReady", message=WAITS), a_vpc("lab", "Working", "Creating")),
            1,
            "it is there, and on its way",
        ),
        (
            (
                a_vm("train", "Working", "DependencyNotReady", message=WAITS, spec=FOR_BOTH),
                a_snapshot("golden", "Working", "Creating", of="other"),
            ),
            1,
            "of two, one is there",
        ),
        (
            (a_vm("train", "Working", "AccountNotReady", message=WAITS, spec={"accountRef": {"name": "x"}}),),
            0,
            "an account, too",
        ),
        ((a_vm("train", "Stalled", "Rejected", message=WAITS),), 1, "it waits for nothing"),
    ],
)
def test_the_tree_does_not_repeat_that_something_is_missing(things, shown, why):
    text = text_of(overview.as_lines(World.of(things), NOW))
    assert text.count(WAITS) == shown, why
    assert "waits for" in text or shown, why


def test_what_is_missing_names_what_may_be_meant():
    world = World.of((a_vm("train", "Working", "DependencyNotReady"), a_thing("GpuVpc", "labs"), a_thing("GpuVM", "lab")))
    text = text_of(overview.as_lines(world, NOW))
    assert "There is no GpuVpc/lab in namespace 'team'. Did you mean 'labs'? If its name is wrong, delete the" in text
    assert "the right one; else create GpuVpc/lab." in " ".join(text.split())


def test_missing_ssh_keys_are_what_is_wrong():
    """As is a missing GpuVpc: a person has to create one or the other."""
    (cause,) = causes(World.of((a_vm("train", "Working", "SSHKeysNotFound"),)))
    assert cause.calls_a_person
    text = text_of(overview.as_lines(World.of((a_vm("train", "Working", "SSHKeysNotFound"),)), NOW))
    assert "What is wrong" in text
    assert "In progress" not in text


HELD = {"finalizers": ["gpucloud.dev/finalizer"]}
# what there is, whether it is wrong, and why
WAITING = [
    (
        (an_account("default", "Deleting", "DeletionBlocked"), a_vm("train", "Working", "AccountNotReady", **HELD)),
        True,
        "each waits for the other to be gone, and a deletion cannot be taken back",
    ),
    (
        (a_vpc("lab", "Deleting", "DeletionBlocked"), a_vm("train", "Working", "DependencyNotReady", **HELD)),
        True,
        "so with a VPC",
    ),
    (
        (an_account("default", "Deleting", "DeletionBlocked"), a_vm("train", "Ready", "Running", **HELD)),
        False,
        "nothing waits in vain: the deletion ends with the VM's",
    ),
    ((an_account("default", "Deleting", "DeletionBlocked"), a_vm("train", "Deleting", **HELD)), False, "both go"),
    ((an_account("default", "Working", "SecretNotFound"),), True, "a missing Secret is as missing as an object is"),
    ((an_account("default", "Working", "ApiUnavailable"),), False, "the operator keeps trying"),
]


@pytest.mark.parametrize(("things", "wrong", "why"), WAITING, ids=[row[2] for row in WAITING])
def test_what_only_a_person_ends_is_what_is_wrong(things, wrong, why):
    """The history: VMs whose account was being deleted stood under "In progress", and the exit code was 0."""
    world = World.of(things)
    text = text_of(overview.as_lines(world, NOW))
    assert any(cause.calls_a_person for cause in causes(world)) is wrong, why
    assert ("What is wrong" in text, "In progress" in text and wrong) == (wrong, False), text


def test_an_account_that_is_ready_and_calls_a_person_says_why():
    account = an_account("default", "Ready", "SecretDeleting", message="Secret 'credential' is being deleted.")
    assert "Ready  SecretDeleting\n   Secret 'credential' is being deleted." in text_of(
        overview.as_lines(World.of((account,)), NOW)
    )


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_message_is_wrapped_and_never_cut(width):
    text = text_of(overview.as_lines(CHAIN, NOW), width)
    assert all(len(line) <= width for line in text.splitlines())
    assert LONG in " ".join(text.replace("│", " ").split())


def test_named_objects_show_what_they_hang_on_and_their_events_and_no_others():
    key = Key("team", "GpuSnapshot", "before")
    events = {key: (Event(datetime(2026, 1, 2, tzinfo=UTC), "Warning", "OrderFailed", "no room", 3),)}
    text = text_of(overview.as_lines(CHAIN, NOW, (key,), events))
    for shown in (
        "GpuCloudAccount/default",
        "GpuVpc/lab",
        "GpuVM/train",
        "GpuSnapshot/before",
        "OrderFailed (3 times): no room",
    ):
        assert shown in text
    assert "GpuVM/well" not in text


def test_the_document_says_the_same():
    document = overview.as_document(CHAIN, NOW)
    by_name = {item["name"]: item for item in document["objects"]}
    lab = {"kind": "GpuVpc", "namespace": "team", "name": "lab"}
    assert by_name["train"]["waitsFor"] == [{**lab, "exists": True}]
    assert by_name["before"]["rootCauses"] == [lab]
    assert by_name["train"]["parent"] == lab
    (cause,) = document["causes"]
    assert (cause["standing"], cause["reason"], cause["message"]) == ("Stalled", "Conflict", LONG)
    assert [item["name"] for item in cause["waiting"]] == ["before", "train"]
    assert (document["pricePerHour"], document["vmsWithoutPrice"], document["vmsPoweredOff"]) == ("2.05", 0, 0)


@pytest.mark.parametrize(
    ("vms", "expected", "why"),
    [
        ([a_vm(status=PRICED), a_vm("b", status=PRICED)], ("4.10", 0, 0), "added up"),
        ([a_vm(status={"vmId": "x"})], ("0", 1, 0), "unknown is not nothing: it is counted apart"),
        ([a_vm("off", status={**PRICED, "state": "OFFLINE"})], ("0", 0, 1), "off: the GPU is not paid"),
        ([a_vm("lost", "Stalled", status={**PRICED, "order": {"state": "Lost"}})], ("0", 0, 0), "it is not in the cloud"),
        ([a_vm("off", status={**PRICED, "state": "OFFLINE", "order": {"state": "Gone"}})], ("0", 0, 0), "nor is this"),
        ([a_vm("waits", "Working", status={**PRICED, "state": "PENDING_RESOURCES"})], ("0", 0, 0), "it never started"),
        ([a_vm("failed", "Stalled", status={**PRICED, "state": "CREATE_FAILED"})], ("0", 0, 0), "it never came to be"),
        ([a_vm("copy", "Stalled", "Conflict", status={**PRICED, "order": RESTORED})], ("0", 0, 0), "it is another object's"),
        ([a_vm("new", "Working", status={"pricePerHour": "2.05"})], ("0", 0, 0), "not bought yet"),
        ([a_vm(status={"vmId": "x", "pricePerHour": "dear"})], ("0", 1, 0), "no price"),
        ([an_account(), a_vpc()], ("0", 0, 0), "only VMs are priced"),
    ],
)
def test_what_it_costs_an_hour(vms, expected, why):
    spent = overview.cost(vms, NOW)
    assert (str(spent.per_hour), spent.unpriced, spent.off) == expected, why


SPENT = {**PRICED, "billedSince": "2026-01-01T22:00:00Z", "billedSeconds": 3600}
COSTS = [
    (SPENT, "6.15", "two hours, and one before"),
    ({**SPENT, "state": "OFFLINE", "billedSince": None}, "2.05", "it is off: the hour before"),
    ({**SPENT, "order": {"state": "Lost"}}, None, "it is lost"),
    ({**SPENT, "order": RESTORED}, None, "a backup restored it from an object of another UID"),
    ({**SPENT, "vmId": None}, None, "it never started"),
    ({**SPENT, "pricePerHour": "dear"}, None, "no price"),
    ({**PRICED, "billedSince": "once", "billedSeconds": "long"}, "0.00", "statuses can be edited"),
]


@pytest.mark.parametrize(("status", "expected", "why"), COSTS, ids=[row[2] for row in COSTS])
def test_what_it_has_cost_so_far(status, expected, why):
    document = overview.as_document(World.of((a_vm(status=status), an_account())), NOW)
    by_kind = {item["kind"]: item["accruedCost"] for item in document["objects"]}
    assert by_kind == {"GpuVM": expected, "GpuCloudAccount": None}, why
    assert document["accruedCost"] == (expected or "0.00")


def test_a_failed_vm_is_not_counted_and_told():
    """Its own condition says that it may be billed: the sum beside it must not deny that."""
    world = World.of((a_vm("failed", "Stalled", "CreateFailed", status={**PRICED, "state": "CREATE_FAILED"}),))
    assert "$0.00 an hour (1 failed VM of $2.05 may be billed, not counted), $0.00 so far" in text_of(
        overview.as_lines(world, NOW)
    )
    assert overview.as_document(world, NOW)["vmsFailed"] == 1


NEEDED = "The VPC is still needed by GpuVM 'train': delete it, too."


def test_what_blocks_a_deletion_and_goes_is_named_as_its_cause():
    blocked = a_vpc("lab", "Deleting", "DeletionBlocked", message=NEEDED)
    text = text_of(overview.as_lines(World.of((an_account(), blocked, a_vm("train", "Deleting"))), NOW))
    assert "GpuVpc/lab is deleted when GpuVM/train is gone." in text
    assert "waits for it" not in text


def test_a_deletion_that_waits_for_several_says_for_how_many():
    """Else a person deletes the one that is named, and waits for nothing."""
    account = an_account("default", "Deleting", "DeletionBlocked", message="Still used by GpuVpc 'lab' and others.")
    going = a_vpc("lab", "Deleting", "DeletionBlocked", message=NEEDED)
    by_name = {"cluster": "Msc1", "vpc": "acme"}
    waits = [a_vm(f"x{number}", "Working", "AccountNotReady", spec=by_name) for number in range(20)]
    page = text_of(overview.as_lines(World.of((account, going, a_vm("train"), *waits)), NOW))
    causes = page[: page.index("Objects")]
    assert "GpuCloudAccount/default is deleted when GpuVpc/lab and 21 other objects are gone." in causes
    assert "20 wait for it: GpuVM/x0" in causes
    assert "1 waits for it" not in causes


@pytest.mark.parametrize(
    ("blocked", "keep"),
    [
        (a_vpc("lab", "Deleting", "DeletionBlocked", message=NEEDED), "kubectl gpucloud retain gvpc/lab --namespace=team"),
        (an_account("default", "Deleting", "DeletionBlocked", message="Still used by GpuVM 'train'."), None),
    ],
    ids=["a VPC can be kept", "an account stands for nothing in the cloud"],
)
def test_what_is_deleted_while_others_use_it_is_the_cause_and_not_its_users(blocked, keep):
    """A VM that is well is not 'in progress', and nothing else waits for it: the deletion is what somebody must see to."""
    waits = a_vm("late", "Working", "AccountNotReady")
    page = text_of(overview.as_lines(World.of((an_account(), blocked, a_vm("train"), waits)), NOW))
    causes = page[: page.index("Objects")]
    assert f"{blocked.key}  Deleting  DeletionBlocked" in causes
    assert "GpuVM/train  Ready" not in causes
    assert "wait for it: GpuVM/train" not in causes
    assert ("To keep it in the cloud" in causes) is bool(keep)
    assert (keep or "") in causes


def test_a_deletion_that_no_operator_has_seen_says_so_and_what_to_run():
    """Without an operator the status still tells of the VM as it was: 'The VM is running.'"""
    left = a_vm("train", "Deleting", "Running", status={"observedGeneration": 1})
    page = text_of(overview.as_lines(World.of((left,)), NOW))
    assert "Running" not in page
    assert "The operator has not seen the deletion yet. If this lasts for a minute, no operator runs" in page
    assert "Nothing moves here?" in page


def test_a_connection_that_could_not_be_published_stands_beside_the_vm():
    failed = {"type": "PublicationFailed", "status": "True", "reason": "Conflict", "message": "ConfigMap 'taken' exists."}
    body = a_vm().status
    vm = a_vm(status={"conditions": [*body["conditions"], failed]})
    assert "PublicationFailed Conflict: ConfigMap 'taken' exists." in text_of(overview.as_lines(World.of((vm,)), NOW))


@pytest.mark.parametrize(("state", "billed"), [("ONLINE", True), ("OFFLINE", False)])
def test_a_price_stands_beside_what_is_billed(state, billed):
    world = World.of((a_vm(status={**PRICED, "state": state}),))
    assert ("  $2.05/h" in text_of(overview.as_lines(world, NOW))) is billed
    (item,) = overview.as_document(world, NOW)["objects"]
    assert (item["pricePerHour"], item["billed"]) == ("2.05", billed)


def test_a_pause_is_in_the_summary_and_beside_the_object():
    world = World.of((a_vm("held", annotations={"gpucloud.dev/paused": "true"}, status=PRICED), a_vm("free", status=PRICED)))
    text = text_of(overview.as_lines(world, NOW))
    assert "2 objects: 2 ready, 1 of them paused" in text
    (line,) = [line for line in text.splitlines() if "GpuVM/held" in line]
    assert "Ready" in line
    assert "  Paused  " in line
    (line,) = [line for line in text.splitlines() if "GpuVM/free" in line]
    assert "Paused" not in line


def test_an_object_whose_reason_is_the_pause_says_so_once():
    held = a_vm("held", "Unknown", "Paused", annotations={"gpucloud.dev/paused": "true"})
    text = text_of(overview.as_lines(World.of((held,)), NOW))
    tree = text[text.index("Objects") :]
    assert tree.count("Paused") == 1, tree


FORGED = "A100\n\x1b[2JGpuVM/forged  Ready\x07"


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("status", [{}, {"order": {"configuration": FORGED}}], ids=["spec", "order"])
def test_no_configuration_steers_a_terminal(status, *, wide):
    """No rule of the apiserver forbids control characters in it, and an administrator looks at everybody's objects."""
    text = text_of(overview.as_lines(World.of((a_vm("train", spec={"configuration": FORGED}, status=status),)), NOW, wide=wide))
    assert "A100 [2JGpuVM/forged" in text
    assert "\x1b" not in text
    assert "\x07" not in text


def test_the_clouds_words_cannot_forge_a_line_nor_colour_it():
    world = World.of((a_vm("train", "Stalled", message="no\n\x1b[31mGpuVM/forged  Ready\x07"),))
    text = text_of(overview.as_lines(world, NOW))
    assert "\x1b" not in text
    assert "no [31mGpuVM/forged Ready" in text


def test_no_cell_of_a_table_steers_a_terminal():
    """Names of VMs and configurations in ``orphans`` and ``offers`` are the cloud's words, and anybody's of the tenant."""
    head, row = table(("NAME", "STATE"), [["train\x1b[2J\n", "ONLINE"]])
    assert (head.text, row.text) == ("NAME       STATE", "train [2J  ONLINE")


@settings(deadline=None)
@given(st.text(st.sampled_from("ab c-"), max_size=300), st.integers(1, 100), st.integers(0, 30))
def test_wrapping_keeps_every_word(text, width, lead):
    lines = list(wrapped([Line(text, " " * lead, " " * lead)], width))
    assert " ".join(line.text for line in lines).split() == text.split()


def test_a_table_lines_up_and_shows_what_is_empty():
    lines = [line.text for line in table(("A", "LONG"), [["x", ""], ["longer", "y"]])]
    assert lines == ["A       LONG", "x       -", "longer  y"]


def test_what_no_operator_has_looked_at_says_why_that_may_be_and_what_to_run():
    """The history: an object in a namespace that is not watched said only that it waits."""
    item = thing("GpuVM", {"metadata": {"name": "train", "namespace": "team", "generation": 1}})
    assert "none watches namespace 'team'" in message(item)
    assert "kubectl gpucloud doctor --namespace=team" in message(item)
    assert all(words in FIRST_CONDITION["message"] for words in ("none watches this namespace", "kubectl gpucloud doctor"))
