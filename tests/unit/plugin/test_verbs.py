"""Each verb against a small apiserver: what it asks, what it says, how it ends."""

import json
from copy import deepcopy

import pytest
import yaml

from gpucloud.cli.plugin import entry
from gpucloud.cli.terminal import printing
from support.fakeapiserver import PLURALS, PREFIX
from support.pluginworld import a_body

VM_SPEC = {"cluster": "Msc1", "configuration": "A100_40GB_PCIe_1x", "vpc": "acme"}


def a_vm_body(name="train", how="Ready", reason="", **more):
    return a_body("GpuVM", name, how, reason, **{"spec": dict(VM_SPEC), **more})


def test_status_shows_all_and_ends_with_0(api, plugin):
    api.add(a_body("GpuCloudAccount", "default", reason="Connected"), a_vm_body())
    code, out, err = plugin("status")
    assert (code, err) == (0, "")
    assert "GpuVM/train  Ready  Running" in out
    assert "\x1b" not in out, "no colours in a pipe"


def test_tree_is_another_word_for_status(api, plugin):
    api.add(a_vm_body())
    assert plugin("tree") == plugin("status")


def test_status_ends_with_3_when_something_is_stalled(api, plugin):
    api.add(a_vm_body("train", "Stalled", "Rejected"))
    code, out, _ = plugin("status")
    assert code == 3
    assert "train is Rejected." in out


@pytest.mark.parametrize(
    ("how", "paused", "code", "why"),
    [
        ("Unknown", True, 3, "it stays so until a person resumes it"),
        ("Working", True, 3, "the same"),
        ("Ready", True, 0, "a pause of what is as asked is what somebody wants"),
        ("Working", False, 0, "it goes on by itself"),
    ],
)
def test_status_ends_with_3_when_a_pause_keeps_something_from_what_is_asked(api, plugin, how, paused, code, why):
    api.add(a_vm_body("train", how, annotations={"gpucloud.dev/paused": "true"} if paused else {}))
    assert plugin("status")[0] == code, why


@pytest.mark.parametrize(("form", "parse"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_status_for_programs(api, plugin, form, parse):
    api.add(a_vm_body(), a_vm_body("other", namespace="elsewhere"))
    _, out, _ = plugin("status", "-o", form)
    assert [item["name"] for item in parse(out)["objects"]] == ["train"]
    _, out, _ = plugin("status", "-A", "-o", form)
    assert [item["name"] for item in parse(out)["objects"]] == ["other", "train"]


def test_status_of_one_object_shows_its_events(api, plugin):
    api.add(a_vm_body())
    event = {"type": "Normal", "reason": "Created", "message": "The VM was ordered.", "lastTimestamp": "2026-01-01T00:00:00Z"}
    api.canned["/api/v1/namespaces/team/events"] = {"items": [{"metadata": {"name": "train.1"}, **event}]}
    _, out, _ = plugin("status", "gvm/train")
    assert "Created: The VM was ordered." in out


def test_events_that_may_not_be_seen_spoil_nothing(api, plugin):
    api.add(a_vm_body())
    api.refused["/api/v1/namespaces/team/events"] = 403
    code, out, err = plugin("status", "gvm/train")
    assert (code, "GpuVM/train" in out) == (0, True)
    assert "read the events" in err


def test_what_is_not_there_is_told_with_what_to_do(plugin):
    code, out, err = plugin("status", "gvm/nope")
    assert (code, out) == (1, "")
    assert err.startswith("kubectl gpucloud: there is no GpuVM/nope in namespace 'team'")
    assert err.splitlines()[1:] == [
        "Name another namespace with -n, or see what is there:",
        "kubectl get gvm --namespace=team",
    ]


def test_a_name_of_another_kind_is_answered_by_that_object(api, plugin):
    api.add(a_body("GpuSnapshot", "golden"))
    _, _, err = plugin("status", "golden")
    assert "there is no GpuVM/golden in namespace 'team'. Did you mean 'gsnap/golden'?" in err


@pytest.mark.parametrize(("verb", "wanted"), [("start", "Running"), ("stop", "Stopped")])
def test_start_and_stop_set_the_power_state(api, plugin, verb, wanted):
    other = "Stopped" if wanted == "Running" else "Running"
    api.add(a_vm_body(spec={**VM_SPEC, "powerState": other}), a_vm_body("b", spec={**VM_SPEC, "powerState": wanted}))
    code, out, _ = plugin(verb, "train", "gvm/b")
    assert code == 0
    assert [(path.rpartition("/")[2], body) for path, body in api.changed("PATCH")] == [
        ("train", {"spec": {"powerState": wanted}})
    ]
    assert f"GpuVM/b: spec.powerState is {wanted} already" in out


STEERS = "\x1b[2J\x9b31m\r\u202e"


@pytest.mark.parametrize(
    "words", [("doctor",), ("doctor", "-o", "json"), ("doctor", "-o", "yaml"), ("status", "-o", "json"), ("logs", "train")]
)
def test_no_text_of_others_steers_the_terminal(api, plugin, words):
    spec = {**VM_SPEC, "accountRef": {"name": f"a{STEERS}"}}
    api.add(a_vm_body(spec=spec, annotations={"gpucloud.dev/pause": STEERS, "gpucloud.dev/paused": STEERS}))
    _, out, err = plugin(*words)
    assert (out + err).strip()
    assert all(char.isprintable() or char == "\n" for char in out + err)


def test_json_with_such_text_is_what_it_was(capsys):
    found = {"a": f'{STEERS}\U000e0001\\"ü🙂'}
    printing.document(found, printing.Output.JSON)
    assert json.loads(capsys.readouterr().out) == found


def test_one_name_that_is_wrong_changes_none(api, plugin):
    api.add(a_vm_body())
    code, _, _ = plugin("stop", "train", "tarin")
    assert (code, api.changed("PATCH")) == (1, [])


@pytest.mark.parametrize(
    ("marks", "keeper"),
    [
        ({"annotations": {"argocd.argoproj.io/tracking-id": "x"}}, "Argo CD"),
        ({"labels": {"kustomize.toolkit.fluxcd.io/name": "x"}}, "Flux"),
    ],
)
def test_who_sets_it_back_is_named(api, plugin, marks, keeper):
    api.add(a_vm_body(**marks))
    _, _, err = plugin("stop", "train")
    assert f"comes from {keeper}" in err


PAUSED = {"gpucloud.dev/paused": "true"}


@pytest.mark.parametrize("how", ["Deleting", "Stalled"])
@pytest.mark.parametrize("words", [("start", "b"), ("stop", "b"), ("restart",), ("snapshot",)], ids=lambda words: words[0])
def test_of_what_is_being_deleted_nothing_is_asked(api, plugin, words, how):
    """Nor of those that are named before it."""
    verb, *others = words
    power = "Stopped" if verb == "start" else "Running"
    spec = {**VM_SPEC, "powerState": power}
    api.add(a_vm_body("b", spec=spec), a_vm_body(how=how, spec=spec, deleting="2026-01-01T00:00:00Z"))
    code, out, err = plugin(verb, *others, "train")
    assert (code, out, api.changed("PATCH"), api.changed("POST")) == (1, "", [], [])
    assert "GpuVM/train is being deleted" in err
    assert "create it again" in err


STOPPED = {"spec": {**VM_SPEC, "powerState": "Stopped"}}
MADE = {"status": {"vmId": "x"}}
PAUSES = [
    ("start", STOPPED, True, "it is switched later"),
    ("stop", {}, True, "it is switched later"),
    ("start", {}, False, "it is as asked already"),
    ("start", {"how": "Working"}, True, "its spec asks for it already, and it is not so yet"),
    ("snapshot", {}, True, "there is no VM yet"),
    ("snapshot", MADE, False, "a pause keeps nobody from taking a snapshot of what is there"),
]


@pytest.mark.parametrize(("verb", "more", "held", "why"), PAUSES)
def test_a_pause_that_holds_back_what_is_asked_is_told(api, plugin, verb, more, held, why):
    api.add(a_vm_body(**deepcopy(more), annotations=PAUSED))
    code, _, err = plugin(verb, "train")
    assert code == 0, why
    assert (
        "GpuVM/train is paused: nothing happens until the pause ends. To end it:\nkubectl gpucloud resume gvm/train "
        "--namespace=team\n" in err
    ) is held, why


@pytest.mark.parametrize(("verb", "more", "held", "why"), PAUSES)
def test_nobody_waits_in_vain_for_a_pause_to_end(api, plugin, verb, more, held, why):
    api.add(a_vm_body(**deepcopy(more), annotations=PAUSED))
    code, out, err = plugin(verb, "train", "--wait", "--timeout", "0")
    assert (code == 1, out == "", "is paused.\nRun this first:\nkubectl gpucloud resume gvm/train" in err) == (
        held,
        held,
        held,
    ), why
    assert not (held and (api.changed("PATCH") or api.changed("POST"))), why


def test_a_name_that_is_nearly_known_is_answered_by_that(api, plugin):
    api.add(a_vm_body("train"), a_vm_body("notebook"))
    _, _, err = plugin("stop", "trian")
    assert "there is no GpuVM/trian in namespace 'team'. Did you mean 'train'?" in err
    _, _, err = plugin("stop", "gpuv/train")
    assert "unknown kind 'gpuv'" in err
    assert "Did you mean 'gpuvm'?" in err


def test_restart_waits_for_its_own_answer(api, plugin):
    api.add(a_vm_body())

    def answer():
        (body,) = api.objects.values()
        asked = body["metadata"]["annotations"].get("gpucloud.dev/restart-requested-at")
        if asked and len(api.calls) > 4:
            body["status"]["lastHandledRestartAt"] = asked

    api.on_read = answer
    code, out, err = plugin("restart", "train", "--wait", "--timeout", "20s")
    assert code == 0
    assert "take up the request" in err, "Ready alone is the state before"
    assert out.splitlines()[-1].startswith("GpuVM/train: ready")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"spec": {**VM_SPEC, "powerState": "Stopped"}}, "nothing to restart"),
        ({"annotations": PAUSED}, "is paused"),
    ],
)
def test_a_restart_that_would_never_come_is_refused(api, plugin, more, says):
    api.add(a_vm_body(**more))
    code, _, err = plugin("restart", "train")
    assert (code, api.changed("PATCH")) == (1, [])
    assert says in err


@pytest.mark.parametrize(
    ("more", "account"),
    [
        ({}, None),
        ({"status": {"account": "(operator)"}}, None),
        ({"status": {"account": "team-a"}}, {"name": "team-a"}),
        ({"spec": {**VM_SPEC, "accountRef": {"name": "b"}}, "status": {"account": "b"}}, {"name": "b"}),
    ],
)
def test_a_snapshot_uses_its_vms_account(api, plugin, more, account):
    api.add(a_vm_body(**more))
    code, _, _ = plugin("snapshot", "train", "--name", "before")
    assert code == 0
    ((path, body),) = api.changed("POST")
    assert (path.rpartition("/")[2], body["metadata"]["name"]) == ("gpusnapshots", "before")
    assert body["spec"] == {"vmRef": {"name": "train"}} | ({"accountRef": account} if account else {})


def test_wait_stops_at_once_when_one_is_stalled(api, plugin):
    api.add(a_vm_body("a", "Working"), a_vm_body("b", "Stalled", "Rejected", message="no such configuration"))
    code, out, _ = plugin("wait", "gvm/a", "gvm/b", "--timeout", "1h")
    assert code == 3
    assert "GpuVM/b: failed: Rejected: no such configuration" in out


def test_wait_ends_with_4_when_the_time_is_over(api, plugin):
    api.add(a_vm_body("a", "Working"))
    code, out, err = plugin("wait", "gvm/a", "--timeout", "0")
    assert code == 4
    assert "GpuVM/a: not ready yet" in out
    assert "raise --timeout, or see 'kubectl gpucloud status gvm/a --namespace=team'." in err


def test_wait_for_gone_ends_when_it_is(api, plugin):
    api.add(a_vm_body("a", "Deleting"))
    api.on_read = lambda: len(api.calls) > 2 and api.objects.clear()
    code, out, _ = plugin("wait", "gvm/a", "--for", "gone", "--timeout", "20s")
    assert (code, out) == (0, "GpuVM/a: gone\n")


def test_wait_outlasts_an_apiserver_that_is_away_for_a_while(api, plugin):
    api.add(a_vm_body("a", "Working"))
    alive = api.answer

    def sometimes(method, path, body):
        if len(api.calls) == 3:
            raise ConnectionAbortedError  # the answer never comes
        if len(api.calls) > 3:
            api.add(a_vm_body("a"))
        return alive(method, path, body)

    api.answer = sometimes
    code, _, err = plugin("wait", "gvm/a", "--timeout", "30s")
    assert code == 0
    assert "does not answer" in err


def test_doctor_through_the_users_own_rights(api, plugin):
    api.add(a_vm_body("train", "Stalled", "Rejected"))
    api.refused["/apis/apiextensions.k8s.io"] = 403
    code, out, _ = plugin("doctor", "-o", "json")
    checks = [finding["check"] for finding in json.loads(out)["findings"]]
    assert (code, checks) == (3, ["definitions", "stalled", "rights", "operator"])


LABEL = {"app.kubernetes.io/part-of": "gpucloud-operator"}
LEASES = [
    ("op-gpucloud-operator", LABEL, True, "named after the release"),
    ("anything", {**LABEL, "team": "a"}, True, "leaderElection.leaseName is free"),
    ("gpucloud-operator", None, True, "an operator of before the label"),
    ("another-controller", {"app.kubernetes.io/part-of": "another"}, False, "somebody else's"),
    ("another-controller", None, False, "somebody else's"),
]


def test_findings_that_say_the_same_are_shown_once(api, plugin):
    """For programs each has its own object."""
    api.add(*(a_vm_body(name, annotations=PAUSED) for name in ("a", "b")))
    _, out, _ = plugin("doctor")
    assert out.count("Paused by the annotation") == 1
    assert "GpuVM/a, GpuVM/b in team: Paused by the annotation" in out
    assert all(f"-> Run: kubectl gpucloud resume gvm/{name} --namespace=team\n" in out for name in ("a", "b"))
    _, out, _ = plugin("doctor", "-o", "json")
    assert [item["object"]["name"] for item in json.loads(out)["findings"] if item["check"] == "paused"] == ["a", "b"]


@pytest.mark.parametrize(("name", "labels", "ours", "why"), LEASES)
def test_doctor_tells_that_nobody_leads(api, plugin, name, labels, ours, why):
    lease = {"metadata": {"name": name, "labels": labels}, "spec": {"holderIdentity": ""}}
    api.canned["/apis/coordination.k8s.io/v1/namespaces/gpucloud-system/leases"] = {"items": [lease]}
    _, out, _ = plugin("doctor")
    assert (f"Nobody leads: nobody holds the Lease {name}." in " ".join(out.split())) is ours, why


@pytest.mark.parametrize(
    ("leases", "says", "why"),
    [
        (None, "You may not see the Leases in namespace 'ours'", "refused, or none served"),
        (None, "Ask the administrator for the right to list leases.coordination.k8s.io in namespace", "what to ask for"),
        ([], "No Lease was found in namespace 'ours'", "without --leader-elect there is none"),
        ([{"metadata": {"name": "another-controller"}}], "No Lease was found in namespace 'ours'", "somebody else's"),
    ],
)
def test_doctor_notes_that_it_cannot_know_of_an_operator(api, plugin, leases, says, why):
    definitions = {"resources": [{"name": plural} for plural in (*PLURALS.values(), "gpuoffers")]}
    api.canned[PREFIX] = definitions
    if leases is not None:
        api.canned["/apis/coordination.k8s.io/v1/namespaces/ours/leases"] = {"items": leases}
    api.add(a_vm_body(spec={}))
    code, out, _ = plugin("doctor", "--operator-namespace", "ours")
    assert code == 0, f"{why}: a note is no finding that fails"
    assert says in out, why
    assert "--operator-namespace" in out
    assert "Nothing wrong" not in out


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (401, "\nLog in to the cluster again."),
        (403, "or ask for the right. An administrator"),
        (404, "\nInstall the CRDs of gpucloud-operator:\nkubectl apply"),
        (500, "\nTry again."),
    ],
)
def test_a_refusal_is_one_sentence_with_what_to_do(api, plugin, status, says):
    api.refused["/apis/gpucloud.dev"] = status
    code, out, err = plugin("status")
    assert (code, out, err.count("kubectl gpucloud: ")) == (1, "", 1)
    assert says in err


def test_no_cluster_is_one_sentence_and_what_to_do(plugin, tmp_path):
    nowhere = tmp_path / "nowhere"
    nowhere.write_text(
        "{apiVersion: v1, kind: Config, current-context: a, users: [{name: a, user: {}}], "
        "clusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}], contexts: [{name: a, context: {cluster: a, user: a}}]}"
    )
    code, _, err = plugin("status", kubeconfig=nowhere)
    what, do = err.splitlines()
    assert (code, do) == (1, "Check --context, --kubeconfig and your network, then try again.")
    assert "the cluster at http://127.0.0.1:1 does not answer" in what


@pytest.mark.parametrize(
    ("variable", "says"),
    [
        ("/nonexistent", "KUBECONFIG names /nonexistent, which does not exist.\nSet KUBECONFIG"),
        ("/nonexistent:/nor-this", "KUBECONFIG names /nonexistent:/nor-this, which does not exist"),
        ("", "there is no kubeconfig /nobody/.kube/config.\nSet KUBECONFIG to your kubeconfig, or name it with --kubeconfig."),
    ],
)
def test_a_kubeconfig_that_is_not_there_is_named(monkeypatch, capsys, variable, says):
    monkeypatch.setenv("HOME", "/nobody")
    monkeypatch.setenv("KUBECONFIG", variable)
    assert entry.main(["status"]) == 2
    assert says in capsys.readouterr().err
