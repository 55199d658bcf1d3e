"""``pause``, ``resume``, ``retry``, ``retain``: what they ask of the operator, and when they refuse."""

import pytest

from gpucloud.cli.plugin import entry
from support.fakeapiserver import PREFIX
from support.pluginworld import a_body

PAUSED = "gpucloud.dev/paused"
RETRY = "gpucloud.dev/reconcile-requested-at"


def patches(api):
    """The last part of each path, and what was changed there."""
    return [(path.rpartition("/")[2], body) for path, body in api.changed("PATCH")]


def test_pause_and_resume_set_and_remove_the_annotation_of_any_object(api, plugin):
    api.add(a_body("GpuVM", "train"), a_body("GpuVpc", "lab"), a_body("GpuCloudAccount", "default"))
    objects = ("train", "gvpc/lab", "gca/default")
    assert plugin("pause", *objects)[0] == 0
    assert patches(api) == [(name, {"metadata": {"annotations": {PAUSED: "true"}}}) for name in ("train", "lab", "default")]
    _, out, _ = plugin("pause", "train")
    assert (out, len(patches(api))) == ("GpuVM/train: paused already\n", 3)
    assert plugin("resume", *objects)[0] == 0
    assert patches(api)[3:] == [(name, {"metadata": {"annotations": {PAUSED: None}}}) for name in ("train", "lab", "default")]
    _, out, _ = plugin("resume", "train")
    assert (out, len(patches(api))) == ("GpuVM/train: not paused\n", 6)


def test_a_value_that_is_neither_true_nor_false_pauses_and_is_set_right(api, plugin):
    api.add(a_body("GpuVM", "train", annotations={PAUSED: "yes"}))
    plugin("pause", "train")
    assert patches(api) == [("train", {"metadata": {"annotations": {PAUSED: "true"}}})]


def test_who_pauses_again_is_named(api, plugin):
    api.add(a_body("GpuVM", "train", annotations={PAUSED: "true", "argocd.argoproj.io/tracking-id": "x"}))
    _, _, err = plugin("resume", "train")
    assert "comes from Argo CD, which sets the annotation gpucloud.dev/paused back" in err


@pytest.mark.parametrize("verb", ["pause", "resume", "retry", "retain"])
def test_one_name_that_is_wrong_changes_none(api, plugin, verb):
    api.add(a_body("GpuVM", "train", "Stalled", annotations={PAUSED: "true"} if verb == "resume" else {}))
    code, _, err = plugin(verb, "train", "trian")
    assert (code, patches(api)) == (1, [])
    assert "Did you mean 'train'?" in err


def test_a_retry_is_asked_for_what_is_not_as_asked(api, plugin):
    api.add(a_body("GpuVM", "train", "Stalled", "Rejected"), a_body("GpuVpc", "lab"))
    code, out, err = plugin("retry", "train", "gvpc/lab")
    ((name, change),) = patches(api)
    assert (code, name, list(change["metadata"]["annotations"])) == (0, "train", [RETRY])
    assert "GpuVpc/lab: is as asked, so there is nothing to try again" in out
    assert err == ""


@pytest.mark.parametrize(
    ("more", "words", "says"),
    [
        ({"annotations": {PAUSED: "true"}}, (), "is paused.\nRun this first:\nkubectl gpucloud resume"),
        ({"deleting": "2026-01-01T00:00:00Z"}, (), "is being deleted, and the operator tries that again by itself"),
    ],
)
def test_a_retry_that_would_come_to_nothing_is_refused(api, plugin, more, words, says):
    api.add(a_body("GpuVM", "train", "Stalled", "Rejected", **more))
    code, _, err = plugin("retry", "train", *words)
    assert (code, patches(api)) == (1, [])
    assert says in err


def test_an_account_does_not_say_when_it_has_tried(api, plugin):
    api.add(a_body("GpuCloudAccount", "default", "Stalled", "CredentialsRefused"))
    code, _, err = plugin("retry", "gca/default", "--wait")
    assert (code, patches(api)) == (1, [])
    assert "\nLeave --wait out" in err
    assert plugin("retry", "gca/default")[0] == 0
    assert len(patches(api)) == 1


REBOOT, REPROVISION = "gpucloud.dev/reboot-requested-at", "gpucloud.dev/reprovision-requested-at"
ANEW = "kubectl annotate gpuhost metal --namespace=team --overwrite"


@pytest.mark.parametrize("reason", ["Rejected", "ApiError"])
@pytest.mark.parametrize(
    ("asked", "does"),
    [
        pytest.param([REBOOT], f"\nMake a new request:\n{ANEW} {REBOOT}=$(date ", id="its command"),
        pytest.param(
            [REPROVISION], f"\nMake a new request, which wipes the host:\n{ANEW} {REPROVISION}=$(date ", id="a warning"
        ),
        pytest.param([REBOOT, REPROVISION], "Set one of them to the present time", id="no command: which one is not known"),
        pytest.param([], "Set one of them to the present time", id="no command: the request was taken back"),
    ],
)
def test_a_request_of_a_host_is_not_tried_again(api, plugin, reason, asked, does):
    """The operator sends each at most once: the annotation of a retry makes it look again, and no more."""
    api.add(
        a_body("GpuHost", "metal", "Stalled", reason, annotations=dict.fromkeys(asked, "2026-01-01T00:00:00Z")),
        a_body("GpuVM", "train", "Stalled", "Rejected"),
    )
    code, _, err = plugin("retry", "train", "ghost/metal")
    assert (code, patches(api)) == (1, [])
    assert "a request of GpuHost/metal is never sent again." in err
    assert does in err


def test_a_host_that_is_stalled_by_itself_is_looked_at_again(api, plugin):
    api.add(a_body("GpuHost", "metal", "Stalled", "NotFound"))
    assert plugin("retry", "ghost/metal")[0] == 0
    assert len(patches(api)) == 1


def test_a_retry_waits_for_its_own_answer(api, plugin):
    """The object is Stalled until the operator has tried."""
    api.add(a_body("GpuVM", "train", "Stalled", "Rejected"))

    def answer():
        (body,) = api.objects.values()
        asked = body["metadata"]["annotations"].get(RETRY)
        if asked and len(api.calls) > 4:
            body["status"] = a_body("GpuVM", "train")["status"] | {"lastHandledReconcileAt": asked}

    api.on_read = answer
    code, out, err = plugin("retry", "train", "--wait", "--timeout", "20s")
    assert (code, "GpuVM/train: ready" in out) == (0, True)
    assert "take up the request" in err


@pytest.mark.parametrize("kind", ["gvm", "gvpc", "gsnap"])
def test_retain_keeps_what_stands_in_the_cloud(api, plugin, kind):
    names = {"gvm": "GpuVM", "gvpc": "GpuVpc", "gsnap": "GpuSnapshot"}
    api.add(a_body(names[kind], "a", "Deleting"), a_body(names[kind], "b", spec={"deletion": {"policy": "Retain"}}))
    code, out, _ = plugin("retain", f"{kind}/a", f"{kind}/b")
    assert (code, patches(api)) == (0, [("a", {"spec": {"deletion": {"policy": "Retain"}}})])
    assert ("the VM stays in the cloud and is billed" in out) is (kind == "gvm")
    assert f"{names[kind]}/b: spec.deletion.policy is Retain already" in out


def test_what_is_being_destroyed_already_is_not_called_kept(api, plugin):
    destroying = {"order": {"state": "Destroying"}}
    api.add(a_body("GpuVM", "train", "Deleting", status=destroying), a_body("GpuVM", "other", "Replacing", status=destroying))
    code, out, err = plugin("retain", "train", "other")
    assert (code, [name for name, _ in patches(api)]) == (1, ["train", "other"])
    assert "stays in the cloud" not in out.splitlines()[0]
    assert "GpuVM/train: the call that destroys the VM was announced before this, so the VM may be destroyed" in err
    assert "GpuVM/other" not in err


@pytest.mark.parametrize("verb", ["start", "stop", "pause", "resume", "retry", "retain"])
def test_an_object_of_the_same_name_that_was_made_meanwhile_is_left_alone(api, plugin, verb):
    spec = {"powerState": "Running" if verb == "stop" else "Stopped"}
    more = {"spec": spec, "annotations": {PAUSED: "true"} if verb == "resume" else {}}
    another = a_body("GpuVM", "train", "Stalled", uid="another", **more)
    api.add(a_body("GpuVM", "train", "Stalled", **more), a_body("GpuVM", "next", "Stalled", **more))
    reads = iter(range(9))
    api.on_read = lambda: api.add(another) if next(reads) == 1 else None  # before the second of the two is read
    code, out, err = plugin(verb, "train", "next")
    assert (code, out) == (1, "")
    assert "Somebody changed it at the same time" in err
    assert (another["spec"], another["metadata"]["annotations"]) == (more["spec"], more["annotations"])


@pytest.mark.parametrize("kind", [("GpuCloudAccount", "gca"), ("GpuHost", "ghost")], ids=" ".join)
def test_what_destroys_nothing_cannot_be_retained(api, plugin, kind):
    api.add(a_body(kind[0], "it"), a_body("GpuVM", "train"))
    code, _, err = plugin("retain", "train", f"{kind[1]}/it")
    assert (code, patches(api)) == (1, [])
    assert "\nName a GpuVM, GpuVpc or GpuSnapshot" in err


def test_the_help_of_retain_names_no_kind_that_it_refuses(capsys):
    entry.main(["retain", "--help"])
    helped = " ".join(capsys.readouterr().out.split())
    assert "KIND is gvm, gvpc or gsnap;" in helped
    assert "ghost" not in helped


def test_a_kind_that_an_older_cluster_does_not_serve_is_left_out(api, plugin):
    api.add(a_body("GpuVM", "train"))
    api.refused[f"{PREFIX}/namespaces/team/gpuhosts"] = 404
    code, out, _ = plugin("status")
    assert (code, "GpuVM/train  Ready" in out) == (0, True)
