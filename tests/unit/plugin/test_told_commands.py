"""Commands in what a verb says on standard error: each stands on a line of its own, as the page of the plugin promises."""

import pytest

from gpucloud.cli.plugin.cloud.source_of_verb import command_again
from gpucloud.cli.plugin.kube.access import At
from gpucloud.cli.plugin.targets import cluster
from gpucloud.cli.plugin.usage.options import SYSTEM, CloudOptions
from gpucloud.cli.terminal.marks import plain
from support.pluginworld import a_body

LIST = "/apis/gpucloud.dev/v1alpha1/namespaces/team/"
WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
MAY = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


@pytest.fixture
def ann(api):
    """A user who may do nothing."""
    api.canned[WHO] = {"status": {"userInfo": {"username": "ann"}}}
    api.canned[MAY] = {"status": {"allowed": False}}
    api.refused["/apis/gpucloud.dev"] = 403
    return api


@pytest.mark.usefixtures("ann")
def test_the_commands_that_give_a_right_stand_below_the_sentence(plugin):
    code, out, err = plugin("status", "--as", "ann")
    what, do, command = err.splitlines()
    assert (code, out) == (1, "")
    assert what.startswith("kubectl gpucloud: you (ann) may not list gpucloudaccounts, "), "in mid-sentence"
    assert do.endswith("An administrator of the cluster gives you the right to read them:")
    assert command.startswith("kubectl create role gpucloud-reader --verb=get,list,watch ")
    assert command.endswith("--user=ann --namespace=team")


@pytest.mark.usefixtures("ann")
@pytest.mark.parametrize(
    ("words", "rights", "why"),
    [
        (("stop", "train"), {"gpuvms": ("get", "patch")}, "it is read, then changed"),
        (("restart", "train"), {"gpuvms": ("get", "patch")}, "the same by an annotation"),
        (("pause", "gvpc/lab"), {"gpuvpcs": ("get", "patch")}, "of any kind"),
        (("retain", "train", "gvpc/lab"), {"gpuvms": ("get", "patch"), "gpuvpcs": ("get", "patch")}, "of two kinds"),
        (("snapshot", "train"), {"gpuvms": ("get",), "gpusnapshots": ("create",)}, "one is read, the other made"),
        (("snapshot", "train", "--wait"), {"gpuvms": ("get",), "gpusnapshots": ("create", "get")}, "and that is waited for"),
        (("wait", "train"), {"gpuvms": ("get",)}, "one right is all it needs"),
        (("wait", "train", "gvpc/lab"), {"gpuvms": ("list",), "gpuvpcs": ("list",)}, "several are listed"),
        (("ssh", "train"), {"gpuvms": ("get",)}, "it only reads"),
    ],
)
def test_a_refusal_names_all_rights_that_the_verb_lacks_and_a_command_for_each(plugin, words, rights, why):
    code, _, err = plugin(*words)
    _, do, *commands = err.splitlines()
    asked = ", and to ".join(f"{' and '.join(verbs)} {plural}.gpucloud.dev" for plural, verbs in rights.items())
    assert (code, do.startswith(f"Ask for the right to {asked}, or name a namespace of yours with -n. ")) == (1, True), (
        why,
        err,
    )
    expected = [
        f"kubectl auth can-i {verb} {plural}.gpucloud.dev --namespace=team"
        for plural, verbs in rights.items()
        for verb in verbs
    ]
    assert commands == expected, why


def test_a_right_that_the_user_has_is_not_asked_for(api, plugin):
    """Who may read, and not change; then who may change, and not read."""
    api.add(a_body("GpuVM", "train"))
    api.answer = lambda sent, path, body, other=api.answer: (
        (403, {"message": "no"}) if sent == "PATCH" else other(sent, path, body)
    )
    assert "Ask for the right to patch gpuvms.gpucloud.dev, or" in plugin("stop", "train")[2]
    api.canned[MAY] = {"status": {"allowed": True}}
    api.refused["/apis/gpucloud.dev"] = 403
    assert "Ask for the right to get gpuvms.gpucloud.dev, or" in plugin("stop", "train")[2]


def test_commands_beside_an_answer_for_programs_stand_below_their_sentence_too(ann, plugin):
    ann.refused = {f"{LIST}gpuvpcs": 403}
    ann.add(a_body("GpuVM", "train"))
    code, _, err = plugin("status", "-o", "json")
    sentence, command = err.splitlines()
    assert (code, command[:19]) == (1, "kubectl create role")
    assert sentence.startswith(
        "kubectl gpucloud: not all kinds are shown. Ask for the right to list them. You (ann) may not list "
    )


AGAIN = [
    ({}, "", "nothing was given"),
    ({"console_url": "http://127.0.0.1:8082"}, "--console=http://127.0.0.1:8082 ", "a console that is forwarded already"),
    ({"operator_namespace": "gpu ops"}, "'--operator-namespace=gpu ops' ", "an operator elsewhere"),
    ({"operator_namespace": SYSTEM}, "", "where it is looked for anyway"),
    (
        {
            "account": "lab",
            "endpoint": ("a=https://a.example",),
            "console_url": "https://c.example",
            "operator_namespace": "ops",
        },
        "--account=lab --endpoint=a=https://a.example --console=https://c.example --operator-namespace=ops ",
        "all of them",
    ),
]


@pytest.mark.parametrize(("given", "options", "why"), AGAIN, ids=[row[2] for row in AGAIN])
def test_a_command_to_paste_asks_the_cloud_in_the_same_way(given, options, why, api, tmp_path, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", str(api.kubeconfig(tmp_path)))
    said = plain(command_again(cluster(At()), CloudOptions(**given), "export"))
    assert said == f"kubectl gpucloud export {options}--namespace=team", why
