"""When a wait ends, and how."""

import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.plugin.model.health import Standing, message, standing
from gpucloud.cli.plugin.model.objects import KINDS, Key, target
from gpucloud.cli.plugin.model.verdicts import Aim, Goal, Outcome, Request, Verdict, judge, total
from gpucloud.cli.plugin.usage.options import seconds
from gpucloud.kinds.meta import Annotation
from support.pluginworld import a_body, a_thing, a_vm, an_account

KEY = Key("team", "GpuVM", "train")
UIDS = {KEY: "uid-of-GpuVM-train"}
PENDING, MET, FAILED = Outcome
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("item", "ready", "gone", "why"),
    [
        (a_vm(), MET, PENDING, "as asked; not being deleted, so it is waited for that somebody deletes it"),
        (a_vm("train", "Working"), PENDING, PENDING, "on its way"),
        (a_vm("train", "Unseen"), PENDING, PENDING, "an old verdict counts for nothing"),
        (a_vm("train", "Unknown"), PENDING, PENDING, "what cannot be seen may be seen again"),
        (a_vm("train", "Stalled"), FAILED, PENDING, "Stalled ends a wait for ready; deleting may still help"),
        (a_vm("train", "Deleting"), FAILED, PENDING, "it will not be ready any more"),
        (a_vm("train", "Stalled", deleting="2026-01-01T00:00:00Z"), FAILED, FAILED, "a deletion that a person must free"),
        (None, FAILED, MET, "deleted meanwhile"),
        (a_vm(uid="another"), FAILED, MET, "another of the same name is not the one that was meant"),
    ],
)
def test_what_has_come_of_an_object(item, ready, gone, why):
    assert judge(KEY, item, Aim(Goal.READY, UIDS)).outcome is ready, why
    assert judge(KEY, item, Aim(Goal.GONE, UIDS)).outcome is gone, why


REFUSED = "CredentialsRefused"
MINE = {"accountRef": {"name": "mine"}}


@pytest.mark.parametrize(
    ("item", "says", "why"),
    [
        (
            a_vm("train", "Stalled", REFUSED),
            "a valid credential of the account that GpuVM/train uses",
            "default, or the operator's",
        ),
        (a_vm("train", "Stalled", REFUSED, spec=MINE), "a valid credential of GpuCloudAccount/mine", "the one that it names"),
        (
            a_vm("train", "Stalled", REFUSED, status={"account": "default"}),
            "a valid credential of GpuCloudAccount/default",
            "the one that it used before",
        ),
        (
            a_vm("train", "Stalled", REFUSED, status={"account": "(operator)"}),
            "a valid credential of the operator's own account",
            "an administrator puts it right",
        ),
        (
            a_vm("train", "Stalled", "TenantMismatch", spec=MINE),
            "a valid credential of GpuCloudAccount/mine",
            "a wrong tenant's",
        ),
        (a_vm("train", "Stalled", "NoAccount"), "an account that GpuVM/train can use", "an apply in any order"),
        (a_vm("train", "Stalled", "InvalidSSHKeys"), "valid keys in what spec.sshKeysFrom names", "they are read every 5 s"),
        (an_account("default", "Stalled", REFUSED), "a valid credential in Secret 'credential'", "the account's own Secret"),
        (
            an_account("default", "Stalled", "InvalidSecret"),
            "a valid credential in Secret 'credential'",
            "nothing usable in it",
        ),
        (
            a_thing("GpuHost", "rack", "Stalled", "InvalidSecret"),
            "a valid Secret for spec.reprovision.cloudInitSecretRef",
            "of a host it is the cloud-init",
        ),
    ],
)
def test_an_account_or_a_secret_that_is_put_right_ends_the_trouble_so_it_is_waited_for(item, says, why):
    """The verdict is as old as the operator's last look: up to a minute after a new key."""
    verdict = judge(item.key, item, Aim(Goal.READY, {item.key: item.uid}))
    assert (verdict.outcome, verdict.awaits) == (PENDING, says), why
    assert verdict.words == f"Waiting for {says}. {item.conditions[0].reason}: {message(item)}", why
    deleting = replace(item, deleting=NOON)
    assert judge(item.key, deleting, Aim(Goal.GONE, {item.key: item.uid})).outcome is PENDING, why


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (a_vm("train", "Stalled", "PermissionDenied"), "the key is valid, and a new one need not come"),
        (a_vm("train", "Stalled", "EndpointMismatch"), "the operator's own options are wrong"),
        (an_account("default", "Stalled", "UnknownEndpoint"), "the account itself is wrong, and immutable"),
        (
            an_account("default", "Ready", "SecretDeleting"),
            "Ready for what exists; nothing new is created, and no wait ends that",
        ),
    ],
)
def test_other_trouble_with_an_account_ends_a_wait_at_once(item, why):
    assert judge(item.key, item, Aim(Goal.READY, {item.key: item.uid})).outcome is FAILED, why


def test_a_wait_outlasts_the_verdict_on_a_key_that_was_replaced(api, plugin, monkeypatch):
    api.add(a_body("GpuVM", "early", "Stalled", REFUSED, spec=MINE))
    monkeypatch.setattr("time.sleep", lambda _seconds: api.add(a_body("GpuVM", "early")))
    code, out, err = plugin("wait", "gvm/early")
    assert (code, out) == (0, "GpuVM/early: ready (Running: early is Running.)\n")
    assert "Waiting for a valid credential of GpuCloudAccount/mine. CredentialsRefused: early is CredentialsRefused." in err


def test_a_key_that_stays_wrong_ends_a_wait_long_before_its_timeout(api, plugin, monkeypatch):
    api.add(a_body("GpuVM", "early", "Stalled", REFUSED, spec=MINE))
    looks, began = [], time.monotonic()
    monkeypatch.setattr("time.monotonic", lambda: began + 30.0 * len(looks))
    monkeypatch.setattr("time.sleep", looks.append)
    code, out, _ = plugin("wait", "gvm/early", "--timeout", "30m")
    assert (code, out) == (3, "GpuVM/early: failed: CredentialsRefused: early is CredentialsRefused.\n")
    assert len(looks) == 3, "90 seconds: the operator reads a new key within a minute"


def test_a_wait_in_vain_for_an_account_says_what_it_waited_for(api, plugin):
    api.add(a_body("GpuVM", "a", "Working"), *(a_body("GpuVM", name, "Stalled", REFUSED, spec=MINE) for name in "bc"))
    code, out, err = plugin("wait", "a", "b", "c", "--timeout", "0")
    assert code == 4
    assert "GpuVM/b: not ready yet: Waiting for a valid credential of GpuCloudAccount/mine." in out
    assert err.endswith(
        "3 of 3 are not ready yet, and GpuVM/b, GpuVM/c still need a valid credential of GpuCloudAccount/mine: do as the "
        "message says, then wait again.\n"
    )


def test_an_edit_that_was_just_made_is_waited_for_without_an_alarm():
    """The VM is not new: its status is of an older generation."""
    unseen = replace(a_vm("train"), generation=3)
    words = judge(KEY, unseen, Aim(Goal.READY, UIDS)).words
    assert words == "The operator has not seen generation 3 of the spec yet."
    assert message(unseen).startswith(words)
    assert "kubectl gpucloud doctor" in message(unseen)


def test_a_new_object_is_said_to_wait_for_the_first_look():
    """Its generation says nothing to a person who has just created it."""
    new = a_vm("train", "Unseen")
    words = judge(KEY, new, Aim(Goal.READY, UIDS)).words
    assert words == "Waiting for the operator's first look at it."
    assert message(new).startswith(f"{words} If this lasts for a minute, no operator runs, or none watches namespace 'team': ")


@pytest.mark.parametrize(
    ("how", "answer", "expected"),
    [
        ("Ready", "yes", MET),
        ("Ready", "older", PENDING),
        ("Ready", "", PENDING),
        ("Working", "yes", PENDING),
        ("Stalled", "", FAILED),
    ],
)
def test_a_restart_is_done_only_when_the_status_answers_it(how, answer, expected):
    """Ready alone is the state before the request."""
    item = a_vm("train", how, status={"lastHandledRestartAt": answer})
    assert (
        judge(KEY, item, Aim(Goal.READY, UIDS, Request("lastHandledRestartAt", "yes", Annotation.RESTART_REQUESTED_AT))).outcome
        is expected
    )


OURS, LATER, AHEAD = "2026-01-01T00:00:05Z", "2026-01-01T00:00:09Z", "2030-01-01T00:00:00Z"
REQUESTS = [
    (OURS, OURS, MET, "it is answered"),
    (OURS, None, PENDING, "nothing is answered"),
    (OURS, "2026-01-01T00:00:01Z", PENDING, "an earlier one is"),
    (OURS, AHEAD, PENDING, "an earlier one of a clock that is ahead: it said ready, and failed, before anything had happened"),
    (OURS, "by hand", PENDING, "an earlier one that is no time"),
    (LATER, LATER, MET, "a second one overtook it: the wait for the first one hung until its timeout"),
    (LATER, OURS, MET, "it is answered; the second one has a wait of its own"),
    (LATER, AHEAD, PENDING, "neither of the two"),
    ("2026-01-01T00:00:01Z", "2026-01-01T00:00:01Z", PENDING, "an earlier one that somebody has put back, such as GitOps"),
    (None, AHEAD, PENDING, "withdrawn by somebody"),
]


@pytest.mark.parametrize(("asked", "answered", "expected", "why"), REQUESTS, ids=[row[-1] for row in REQUESTS])
@pytest.mark.parametrize("ends_stalled", [False, True])
def test_equality_decides_which_request_is_answered(asked, answered, expected, why, ends_stalled):
    """The times are of several clocks, and only the operator knows what it took for new: any other value than the last."""
    annotations = {} if asked is None else {"gpucloud.dev/restart-requested-at": asked}
    item = a_vm("train", annotations=annotations, status={"lastHandledRestartAt": answered})
    request = Request("lastHandledRestartAt", OURS, Annotation.RESTART_REQUESTED_AT, ends_stalled=ends_stalled)
    assert judge(KEY, item, Aim(Goal.READY, UIDS, request)).outcome is expected, why


@pytest.mark.parametrize(
    ("how", "answer", "expected", "why"),
    [
        ("Stalled", "older", PENDING, "what it said before the try counts for nothing"),
        ("Stalled", "yes", FAILED, "it was tried, and refused again"),
        ("Working", "yes", PENDING, "it is under way"),
        ("Ready", "yes", MET, "it helped"),
    ],
)
def test_a_stalled_object_is_waited_for_after_a_retry(how, answer, expected, why):
    item = a_vm("train", how, status={"lastHandledReconcileAt": answer})
    request = Request("lastHandledReconcileAt", "yes", Annotation.RECONCILE_REQUESTED_AT, ends_stalled=True)
    assert judge(KEY, item, Aim(Goal.READY, UIDS, request)).outcome is expected, why


@pytest.mark.parametrize(
    ("how", "goal", "expected", "why"),
    [
        ("Working", Goal.READY, FAILED, "nothing is done to it"),
        ("Unseen", Goal.READY, FAILED, "nor looked at"),
        ("Deleting", Goal.GONE, FAILED, "nor destroyed"),
        ("Ready", Goal.GONE, FAILED, "even if somebody deletes it"),
        ("Ready", Goal.READY, MET, "it is as asked already"),
    ],
)
def test_nobody_waits_for_what_a_pause_holds_back(how, goal, expected, why):
    verdict = judge(KEY, a_vm("train", how, annotations={"gpucloud.dev/paused": "true"}), Aim(goal, UIDS))
    assert verdict.outcome is expected, why
    assert expected is MET or "kubectl gpucloud resume gvm/train --namespace=team" in verdict.words


@settings(deadline=None)
@given(st.lists(st.sampled_from(Outcome), min_size=1), st.booleans())
def test_the_end_of_a_wait_for_several(outcomes, timed_out):
    verdicts = {Key("team", "GpuVM", str(number)): Verdict(outcome, "") for number, outcome in enumerate(outcomes)}
    code = total(verdicts, timed_out=timed_out)
    assert (code is ExitCode.OK) == (set(outcomes) == {MET})
    assert (code is ExitCode.FOUND) == (FAILED in outcomes)
    assert (code is None) == (FAILED not in outcomes and PENDING in outcomes and not timed_out)


@pytest.mark.parametrize("how", Standing)
def test_the_words_for_an_objects_standing_are_read_off_its_conditions(how):
    assert standing(a_thing("GpuVM", "train", how.value)) is how


@pytest.mark.parametrize(("text", "expected"), [("90", 90.0), ("90s", 90.0), ("30m", 1800.0), ("1.5h", 5400.0), ("0", 0.0)])
def test_lengths_of_time(text, expected):
    assert seconds(text) == expected


@pytest.mark.parametrize("text", ["", "m", "-1s", "soon", "1d", "inf", "nan"])
def test_what_is_no_length_of_time(text):
    with pytest.raises(PluginError, match="--timeout") as error:
        seconds(text)
    assert error.value.code is ExitCode.MISUSED


@pytest.mark.parametrize(
    ("text", "others", "expected"),
    [
        ("gvm/train", True, ("GpuVM", "train")),
        ("GpuVM/train", True, ("GpuVM", "train")),
        ("gpuvms.gpucloud.dev/train", True, ("GpuVM", "train")),
        ("gsnap/a", True, ("GpuSnapshot", "a")),
        ("train", True, ("GpuVM", "train")),
        ("train", False, ("GpuVM", "train")),
        ("gvm/train", False, ("GpuVM", "train")),
        ("gvm/gvm", True, ("GpuVM", "gvm")),
    ],
)
def test_how_objects_are_named(text, others, expected):
    assert target(text, others=others) == expected


@pytest.mark.parametrize(
    ("text", "others", "says"),
    [
        ("pod/train", True, r"unknown kind 'pod'. Use one of: gpucloudaccount \(gca\), gpuvpc \(gvpc\), gpuvm \(gvm\)"),
        ("gvm/", True, "is not KIND/NAME"),
        ("gvm/a/b", True, "is not KIND/NAME"),
        ("gvm", True, "'gvm' is a kind. Add the name of an object, such as gvm/train"),
        ("", False, "is not KIND/NAME"),
        ("gvpc/lab", False, "is not a GpuVM, and this verb takes nothing else"),
    ],
)
def test_what_names_no_object(text, others, says):
    with pytest.raises(PluginError, match=says) as error:
        target(text, others=others)
    assert error.value.code is ExitCode.MISUSED


@pytest.mark.parametrize(
    ("there", "words", "says", "why"),
    [
        ((), ("gvm/trian",), "GpuVM/trian: there is no such object in namespace 'team'", "it never existed"),
        (
            (("GpuVM", "train"),),
            ("gvm/trian",),
            "GpuVM/trian: there is no such object in namespace 'team'. Did you mean 'train'?",
            "a name that is nearly known",
        ),
    ],
)
def test_a_wait_for_gone_of_what_is_not_there_says_so_and_succeeds_as_kubectl_does(api, plugin, there, words, says, why):
    api.add(*(a_body(*one) for one in there))
    code, out, _ = plugin("wait", *words, "--for", "gone", "--timeout", "0")
    assert (code, out) == (0, says + "\n"), why


@pytest.mark.parametrize(
    ("there", "goal", "says", "why"),
    [
        (
            (("GpuVM", "a", "Ready"),),
            "gone",
            "1 of 1 are not gone yet, and nobody has deleted GpuVM/a: 'kubectl delete gvm/a --namespace=team'.",
            "nobody deletes it",
        ),
        (
            (("GpuVM", "a", "Ready"), ("GpuVpc", "b", "Ready")),
            "gone",
            "nobody has deleted GpuVM/a, GpuVpc/b: 'kubectl delete gvm/a gvpc/b --namespace=team'.",
            "one command for both",
        ),
        ((("GpuVM", "a", "Deleting"),), "gone", "not gone yet: raise --timeout, or see 'kubectl gpucloud status", "it goes"),
        (
            (("GpuVM", "a", "Unseen"),),
            "ready",
            "the operator has not answered for GpuVM/a: see 'kubectl gpucloud doctor --namespace=team'.",
            "no operator looks at it",
        ),
        (
            (("GpuVM", "a", "Unseen"), ("GpuVM", "b", "Working")),
            "ready",
            "the operator has not answered for GpuVM/a: see 'kubectl gpucloud doctor --namespace=team'.",
            "one of two",
        ),
        ((("GpuVM", "a", "Unseen"),), "gone", "'kubectl delete gvm/a --namespace=team'", "the deletion comes first"),
    ],
)
def test_a_wait_whose_time_is_over_names_what_can_end_it(api, plugin, there, goal, says, why):
    api.add(*(a_body(*one) for one in there))
    names = [f"{KINDS[kind].short}/{name}" for kind, name, _ in there]
    code, _, err = plugin("wait", *names, "--for", goal, "--timeout", "0")
    assert code == 4, why
    assert says in err, why


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("gvm/train",), "one object, which is read"),
        (("gvm/train", "gvpc/lab"), "several, which are listed"),
    ],
)
def test_a_wait_for_gone_in_a_namespace_that_is_not_there_fails(api, plugin, words, why):
    """The VM of the namespace that was meant may live, and cost money."""
    api.add(a_body("GpuVM", "train"))
    api.canned["/api/v1/namespaces"] = {"items": [{"metadata": {"name": "team"}}]}
    code, out, err = plugin("wait", *words, "--for", "gone", "-n", "taem", "--timeout", "0")
    assert (code, out) == (1, ""), why
    assert (
        "there is no namespace 'taem'. Did you mean 'team'?\nName another one with -n, or create it:\nkubectl create namespace"
        in err
    ), why


def test_a_namespace_that_cannot_be_looked_for_now_is_not_taken_for_one_that_is_there(api, plugin):
    api.refused["/api/v1/namespaces/taem"] = 503
    code, out, err = plugin("wait", "gvm/train", "--for", "gone", "-n", "taem", "--timeout", "0")
    assert (code, out, "cannot look for namespace 'taem'" in err) == (1, "", True)


@pytest.mark.parametrize("words", [("gvm/train",), ("gvm/train", "gvpc/lab")])
def test_what_a_deletion_of_its_namespace_takes_along_during_the_wait_is_gone(api, plugin, monkeypatch, words):
    api.add(a_body("GpuVM", "train", "Deleting"))

    def end_namespace(_seconds):
        api.objects.clear()
        del api.canned["/api/v1/namespaces/team"]

    monkeypatch.setattr("time.sleep", end_namespace)
    code, out, _ = plugin("wait", *words, "--for", "gone")
    assert (code, out.splitlines()[0]) == (0, "GpuVM/train: gone")
