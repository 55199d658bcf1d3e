"""What doctor finds, and what it does not."""

from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gpucloud.cli.plugin.cluster.leases import Lease
from gpucloud.cli.plugin.cluster.rights import WANTED_RIGHTS
from gpucloud.cli.plugin.doctor import findings
from gpucloud.cli.plugin.doctor.facts import Facts, Severity
from gpucloud.cli.terminal.marks import plain
from gpucloud.kinds.crd import custom_resource_definition
from gpucloud.kinds.definitions import ALL_DEFINITIONS
from support.pluginworld import a_snapshot, a_vm, a_vpc, an_account

LACKED = "The cloud's listing lacks this VM and many others. If the VM is really gone: kubectl annotate gpuvm train a=b"
NOW = datetime(2026, 1, 1, 1, tzinfo=UTC)  # an hour after everything was created
CRDS = {item.plural: custom_resource_definition(item) for item in ALL_DEFINITIONS}
ERROR, WARNING, NOTE = Severity
WELL = Facts(
    now=NOW,
    namespace="team",
    who="ann",
    kinds=frozenset(CRDS),
    definitions=CRDS,
    rights=dict.fromkeys(WANTED_RIGHTS, True),
    operator_namespace="operators",
    leases=(Lease("gpucloud-operator", "pod-1", NOW),),
    watched=frozenset({"*"}),
    things=(an_account(), a_vpc(), a_vm(), a_snapshot()),
)


def examine(facts):
    """The findings as people read them, without marks."""
    return tuple(replace(one, message=plain(one.message), advice=plain(one.advice)) for one in findings.examine(facts))


def older(plural):
    definition = deepcopy(CRDS[plural])
    del definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]["vmId"]
    return {**CRDS, plural: definition}


def newer(plural):
    definition = deepcopy(CRDS[plural])
    properties = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    properties["spec"]["properties"]["onEviction"] = {"type": "string"}
    return {**CRDS, plural: definition}


def asked(request, value="2026-01-01T00:54:59Z", **more):
    return {"annotations": {f"gpucloud.dev/{request}-requested-at": value, **more}}


def unpublished():
    failed = {"type": "PublicationFailed", "status": "True", "reason": "Conflict", "message": "ConfigMap 'taken' exists."}
    return a_vm(status={"conditions": [*a_vm().status["conditions"], failed]})


def there(name):
    return a_vm(name, status={"vmId": f"{name}-x", "state": "ONLINE"})


DYING_SECRET = an_account("default", "Ready", "SecretDeleting")
UNTOLD = {"things": (an_account(),), "dying_secrets": frozenset({an_account().key})}


def test_nothing_is_found_where_all_is_well():
    assert examine(WELL) == ()


def test_the_annotation_that_the_operator_sets_itself_is_not_advised_away():
    """Without it a final snapshot is not known as that of its VM, and is taken again."""
    final = a_snapshot("notes-final-abcde", annotations={"gpucloud.dev/final-snapshot-of": "uid-of-GpuVM-notes"})
    assert examine(replace(WELL, things=(an_account(), a_vm(), final))) == ()


@pytest.mark.parametrize(
    ("changes", "severity", "check", "says"),
    [
        ({"kinds": None}, ERROR, "definitions", "does not serve"),
        ({"kinds": WELL.kinds - {"gpuvpcs"}}, ERROR, "definitions", "gpuvpcs.gpucloud.dev is not installed"),
        ({"definitions": older("gpuvms")}, WARNING, "definitions", "it lacks status.vmId"),
        ({"definitions": newer("gpuvms")}, NOTE, "definitions", "it also has spec.onEviction"),
        ({"rights": {**WELL.rights, WANTED_RIGHTS[0]: False}}, NOTE, "rights", f"{WANTED_RIGHTS[0].verb} gpuvpcs"),
        ({"unread": {"gpuvms": "forbidden"}}, ERROR, "rights", "gpuvms could not be looked at: forbidden"),
        (
            {"things": (a_vm("train", "Unseen"),)},
            ERROR,
            "operator",
            "GpuVM/train within a minute: none runs, or none watches namespace 'team'.",
        ),
        (
            {"things": (a_vm("train", "Unseen"),), "watched": None},
            ERROR,
            "operator",
            "GpuVM/train within a minute, although one runs: it does not seem to watch namespace 'team'.",
        ),
        (
            {"things": (a_vm("train", "Unseen"),), "watched": frozenset({"ml", "web"})},
            ERROR,
            "operator",
            "No operator in namespace 'operators' watches namespace 'team': it watches namespaces 'ml', 'web' only.",
        ),
        (
            {"namespace": None, "watched": frozenset({"ml"})},
            ERROR,
            "operator",
            "No operator in namespace 'operators' watches namespace 'team': it watches namespace 'ml' only.",
        ),
        ({"things": (), "watched": None}, NOTE, "operator", "doctor cannot see whether the operator watches namespace 'team'"),
        (
            {"things": (), "namespace": "tema", "namespaces": ("default", "team")},
            ERROR,
            "namespace",
            "There is no namespace 'tema'. Did you mean 'team'?",
        ),
        ({"things": (), "namespaces": ()}, ERROR, "namespace", "There is no namespace 'team'."),
        (
            {"leases": (Lease("gpucloud", "pod-1", NOW - timedelta(minutes=5)),)},
            ERROR,
            "operator",
            "pod-1 holds the Lease gpucloud and renewed it 5 min ago",
        ),
        ({"leases": (Lease("gpucloud", "", None),)}, ERROR, "operator", "Nobody leads: nobody holds the Lease gpucloud."),
        ({"leases": (Lease("gpucloud", "pod-1", None),)}, ERROR, "operator", "holds the Lease gpucloud and never renewed it."),
        (
            {"leases": None},
            NOTE,
            "operator",
            "You may not see the Leases in namespace 'operators', so it cannot be seen whether an operator runs; the status",
        ),
        (
            {"leases": None, "things": (), "watched": None},
            NOTE,
            "operator",
            "so it cannot be seen whether an operator runs and watches namespace 'team'.",
        ),
        ({"leases": ()}, NOTE, "operator", "No Lease was found in namespace 'operators', so it cannot be seen whether"),
        ({"leases": (), "things": ()}, NOTE, "operator", "so it cannot be seen whether an operator runs."),
        (
            {"things": (a_vm(**asked("restart")),)},
            WARNING,
            "operator",
            "answered gpucloud.dev/restart-requested-at of GpuVM/train",
        ),
        ({"things": (a_vm(**asked("restart", "again")),)}, WARNING, "operator", "restart-requested-at of GpuVM/train"),
        (
            {"things": (a_vm(**asked("restart"), status={"lastHandledRestartAt": "2026-01-01T00:01:00Z"}),)},
            WARNING,
            "operator",
            "restart-requested-at of GpuVM/train",
        ),
        ({"things": (a_vpc(**asked("reconcile")),)}, WARNING, "operator", "reconcile-requested-at of GpuVpc/lab"),
        ({"things": (an_account("default", "Working", "SecretNotFound"),)}, ERROR, "missing", "SecretNotFound"),
        (
            {"things": (DYING_SECRET, there("a"), there("b"), a_vm("c"))},
            WARNING,
            "accounts",
            "SecretDeleting: default is SecretDeleting. 2 VMs need it: GpuVM/a, GpuVM/b.",
        ),
        ({"things": (DYING_SECRET,)}, WARNING, "accounts", "SecretDeleting: default is SecretDeleting."),
        (UNTOLD, WARNING, "accounts", "SecretDeleting: Its Secret is being deleted, which the operator has not told yet."),
        ({"things": (a_vm("train", "Stalled", "Rejected"),)}, ERROR, "stalled", "Rejected: train is Rejected."),
        (
            {"things": (a_vpc("lab", "Stalled", "Conflict"), a_vm("train", "Working", "DependencyNotReady"))},
            ERROR,
            "stalled",
            "1 waits for it: GpuVM/train",
        ),
        ({"things": (a_vm("train", "Working", "DependencyNotReady"),)}, ERROR, "missing", "There is no GpuVpc/lab"),
        ({"things": (a_vm("train", "Working", "SSHKeysNotFound"),)}, ERROR, "missing", "SSHKeysNotFound: train is"),
        (
            {"things": (a_vm("train", "Stalled", "DeletionHeld", deleting="2026-01-01T00:59:59Z"),)},
            ERROR,
            "deletion-guard",
            "train is DeletionHeld.",
        ),
        ({"things": (a_vm("train", "Deleting"),)}, WARNING, "deletion", "in deletion for 60 min"),
        ({"things": (a_vm(annotations={"gpucloud.dev/paused": "true"}),)}, WARNING, "paused", "Paused by the annotation"),
        (
            {"things": (a_vm(annotations={"gpucloud.dev/pause": "true"}),)},
            WARNING,
            "annotations",
            "Did you mean 'gpucloud.dev/paused'?",
        ),
        ({"things": (a_vm(annotations={"gpucloud.dev/zzz": "1"}),)}, WARNING, "annotations", "means nothing to the operator."),
        (
            {"things": (a_vm(annotations={"gpucloud.dev/final-snapshot-of": "a-uid"}),)},
            WARNING,
            "annotations",
            "means nothing to the operator.",
        ),
        (
            {"things": (a_vm("train", "Unknown", "ImplausibleListing", message=LACKED),)},
            WARNING,
            "listing",
            "ImplausibleListing: The cloud's listing lacks this VM and many others.",
        ),
        ({"things": (unpublished(),)}, WARNING, "connection", "PublicationFailed Conflict: ConfigMap 'taken' exists."),
        (
            {"things": (a_vm(annotations={"gpucloud.dev/paused": "True"}),)},
            WARNING,
            "paused",
            "is 'True', neither 'true' nor 'false'",
        ),
        (
            {"things": (a_vm(annotations={"gpucloud.dev/buy-anyway": "True"}),)},
            WARNING,
            "annotations",
            "buy-anyway on this object is 'True', not a time such as",
        ),
        (
            {"things": (a_vm(annotations={"gpucloud.dev/accept-absence": "true"}),)},
            WARNING,
            "annotations",
            "on this object is 'true', not a time such as",
        ),
        (
            {"things": (a_vm(annotations={"gpucloud.dev/accept-absence": "2027-01-01T00:00:00Z"}),)},
            WARNING,
            "annotations",
            "in the future",
        ),
    ],
)
def test_each_finding(changes, severity, check, says):
    (found,) = examine(replace(WELL, **changes))
    assert (found.severity, found.check) == (severity, check)
    assert says in found.message
    assert found.advice


@pytest.mark.parametrize(
    ("things", "why"),
    [
        ((a_vm("train", "Working", "Creating"),), "what is under way is no finding"),
        ((a_vm("train", "Deleting", deleting="2026-01-01T00:55:00Z"),), "a deletion may take some minutes"),
        ((a_vm(**asked("restart", "now"), status={"lastHandledRestartAt": "now"}),), "an annotation that is one, and answered"),
        ((a_vm(**asked("restart", "x" * 999), status={"lastHandledRestartAt": "x" * 253}),), "as much as a status holds"),
        ((a_vm(**asked("restart", "")),), "an empty value asks for nothing"),
        ((a_vm(**asked("restart", "2026-01-01T00:55:00Z")),), "an answer may take some minutes"),
        ((a_vm("train", "Working", "WaitingForCapacity", **asked("restart")),), "it must come up before it is restarted"),
        ((a_vm("train", "Deleting", deleting="2026-01-01T00:55:00Z", **asked("reconcile")),), "what goes answers nothing"),
        ((a_vm("train", "Unknown", "ApiUnavailable"),), "the cloud may answer again, which no person has to see to"),
        ((a_vpc(**asked("restart")),), "only a GpuVM is restarted"),
        ((an_account(**asked("reconcile")),), "the status of an account has no answer"),
        ((a_vm(annotations={"example.com/paused": "yes"}),), "an annotation of others"),
    ],
)
def test_what_is_no_finding(things, why):
    assert examine(replace(WELL, things=things)) == (), why


HELD = {"gpucloud.dev/paused": "true"}


@pytest.mark.parametrize(
    ("item", "check", "why"),
    [
        (a_vm(**asked("restart", **HELD)), "paused", "a pause holds the answer back"),
        (a_vm("train", "Unseen", **asked("reconcile")), "operator", "told already, of the whole object"),
        (
            a_vm("train", "Stalled", "InvalidSpec", **asked("reconcile")),
            "stalled",
            "a spec that cannot be read is not answered",
        ),
    ],
)
def test_a_request_that_cannot_be_answered_is_no_finding_of_its_own(item, check, why):
    assert [finding.check for finding in examine(replace(WELL, things=(item,)))] == [check], why


def test_what_is_asked_of_a_stalled_object_is_answered_by_an_operator_that_is_well():
    item = a_vm("train", "Stalled", "Rejected", **asked("reconcile"))
    assert [finding.check for finding in examine(replace(WELL, things=(item,)))] == ["stalled", "operator"]


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("pause", "kubectl annotate gpuvm/train gpucloud.dev/pause- gpucloud.dev/paused='a b' --namespace="),
        ("zzz", "kubectl annotate gpuvm/train gpucloud.dev/zzz- --namespace="),
    ],
)
def test_a_misspelt_annotation_is_replaced_by_the_one_that_is_meant(name, advice):
    (found,) = examine(replace(WELL, things=(a_vm(annotations={f"gpucloud.dev/{name}": "a b"}),)))
    assert found.advice.startswith(advice)
    assert ("Did you mean" in found.message) is ("paused" in advice)


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("buy-anway", "orders a VM, which is billed"),
        ("accept-absense", "may be ordered again and billed"),
        ("brake-release-at", "destroy VMs and their data"),
        ("provision-requested-at", "its data is destroyed"),
        ("reboot-requested", "the host is rebooted"),
        ("restart-requested", "the VM is restarted"),
    ],
)
def test_advice_that_buys_or_destroys_says_so(name, effect):
    (found,) = examine(replace(WELL, things=(a_vm(annotations={f"gpucloud.dev/{name}": "1"}),)))
    assert (effect in found.message, "=" in found.advice.partition(" --")[0]) == (True, False), "nor is it a command to paste"


def test_a_value_that_steers_a_terminal_stands_in_no_command():
    (found,) = examine(replace(WELL, things=(a_vm(annotations={"gpucloud.dev/pause": "1\x1b[2J"}),)))
    assert found.advice == "kubectl annotate gpuvm/train gpucloud.dev/pause- --namespace=team"


HELD_BACK = "The deletion guard holds this deletion. Release it: kubectl annotate namespace team gpucloud.dev/x=y"


@pytest.mark.parametrize("reason", ["DeletionHeld", "Rejected"])
def test_who_waits_is_told_apart_from_a_command_that_ends_a_message(reason):
    vpc = a_vpc("lab", "Stalled", reason, message=HELD_BACK)
    (found,) = examine(replace(WELL, things=(vpc, a_vm("train", "Working", "DependencyNotReady"))))
    assert found.message.endswith(f"{HELD_BACK}; 1 waits for it: GpuVM/train.")


def test_a_secret_that_is_being_deleted_is_replaced_by_a_copy():
    """tests/e2e/test_plugin.py carries these commands out."""
    (found,) = examine(replace(WELL, things=(DYING_SECRET,)))
    copy, use = found.advice.partition(": kubectl ")[2].split(" && ")
    assert copy.startswith("get secret credential --namespace=team -o go-template='")
    assert copy.endswith("kubectl create secret generic credential-2 --namespace=team --from-env-file=/dev/stdin")
    assert use == (
        "kubectl patch gpucloudaccount default --namespace=team --type=merge "
        """--patch '{"spec":{"secretRef":{"name":"credential-2"}}}'"""
    )


def test_a_young_object_gives_the_operator_time():
    young = replace(a_vm("train", "Unseen"), created=NOW - timedelta(seconds=30))
    assert examine(replace(WELL, things=(young,))) == ()


def test_an_operator_that_has_looked_at_nothing_is_told_once():
    """The error says that none runs, or none watches: a note that this cannot be seen would take it back."""
    new = replace(a_vm("train", "Unseen"), created=NOW - timedelta(minutes=5))
    (found,) = examine(replace(WELL, things=(new,), leases=()))
    assert "No operator has looked at GpuVM/train within a minute" in found.message


def test_the_gravest_stands_first():
    things = (a_vm("a", annotations={"gpucloud.dev/paused": "true"}), a_vm("b", "Stalled", "Rejected"))
    assert [finding.severity for finding in examine(replace(WELL, things=things))] == [ERROR, WARNING]


PLURALS = tuple(dict.fromkeys(right.resource for right in WANTED_RIGHTS))
NO_RIGHTS = {"rights": dict.fromkeys(WANTED_RIGHTS, False), "unread": dict.fromkeys(PLURALS, "forbidden")}
READ = "--verb=get,list,watch --resource=" + ",".join(f"{plural}.gpucloud.dev" for plural in PLURALS)


def of_rights(**changes):
    return [finding for finding in examine(replace(WELL, **changes)) if finding.check == "rights"]


def test_who_may_nothing_is_told_once_and_by_which_commands_to_read():
    error, note = of_rights(**NO_RIGHTS)
    assert error.message == f"You (ann) may not list {', '.join(PLURALS)} in namespace 'team': this page leaves them out."
    assert error.advice.endswith(
        f"kubectl create role gpucloud-reader {READ} --namespace=team && "
        "kubectl create rolebinding gpucloud-reader --role=gpucloud-reader --user=ann --namespace=team"
    )
    assert (
        note.message == "You (ann) may not: create, patch, delete gpuvpcs, gpuvms, gpusnapshots, gpuhosts in namespace 'team'."
    )


GRANTS = [
    ({"namespace": None}, f"kubectl create clusterrole gpucloud-reader {READ} && ", "a role of the whole cluster"),
    ({"namespace": None}, "clusterrolebinding gpucloud-reader --clusterrole=gpucloud-reader --user=ann", "and its binding"),
    ({"who": ""}, "--user=USER ", "the apiserver does not say who asks"),
    ({"who": "ann b;c"}, "--user='ann b;c' ", "a name that a shell would take apart"),
]


@pytest.mark.parametrize(("changes", "says", "why"), GRANTS, ids=[row[2] for row in GRANTS])
def test_the_commands_that_give_the_right_to_read(changes, says, why):
    assert says in of_rights(**NO_RIGHTS, **changes)[0].advice, why


UNREAD = [
    ({"kinds": None}, 0, "no CRD is there, which is said once already"),
    ({"kinds": WELL.kinds - {"gpuvms"}}, 0, "this one is not there"),
    ({}, 1, "it has another reason"),
]


@pytest.mark.parametrize(("changes", "count", "why"), UNREAD, ids=[row[2] for row in UNREAD])
def test_what_could_not_be_read_for_another_reason_is_told_once(changes, count, why):
    told = [finding.advice for finding in of_rights(unread={"gpuvms": "it failed"}, **changes)]
    assert len(told) == count, why
    assert all("Whether you may list them: kubectl auth can-i list gpuvms --namespace=team" in advice for advice in told)
