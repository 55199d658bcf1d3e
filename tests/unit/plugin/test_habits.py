"""What people type by the habit of kubectl, and a cluster without our CRDs: every verb says what to do."""

import pytest

from support.pluginworld import a_body


def test_a_wait_for_several_that_is_over_names_the_page_of_all(api, plugin):
    api.add(a_body("GpuVM", "a", "Working"), a_body("GpuVM", "b", "Working"))
    _, _, err = plugin("wait", "gvm/a", "gvm/b", "--timeout", "0")
    assert "2 of 2 are not ready yet: raise --timeout, or see 'kubectl gpucloud status --namespace=team'." in err


NAMELESS = {"reason": "NotFound", "message": "there is nothing like it here"}
RELAYED = {"name": "x", "kind": "gpuvms", "causes": [{"reason": "UnexpectedServerResponse", "message": "404 page not found"}]}
NOT_SERVED = {
    "text of a server that knows no such path": (404, "404 page not found"),
    "a Status of the apiserver, which names no object": (404, NAMELESS | {"details": {}}),
    "a Status without details": (404, NAMELESS),
    "a Status whose details are none": (404, NAMELESS | {"details": ["x"]}),
    "a Status whose name is no text": (404, NAMELESS | {"details": {"name": {"x": "x"}}}),
    "a Status that a proxy made of text": (404, NAMELESS | {"details": RELAYED}),
    "a Status of something else": (404, {"reason": "Gone", "message": "gone", "details": {"name": "x"}}),
}


@pytest.mark.parametrize(
    "words",
    [
        *[(verb, "x") for verb in ("stop", "start", "restart", "retry", "pause", "resume", "retain", "logs", "ssh", "wait")],
        ("snapshot", "x"),
        ("status",),
        ("status", "gvm/x"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("answer", NOT_SERVED.values(), ids=NOT_SERVED)
def test_without_the_crds_every_verb_says_so_and_how_to_install_them(api, plugin, words, answer):
    api.unserved = answer
    code, out, err = plugin(*words)
    assert (code, out) == (1, "")
    assert "its CRD is not installed in this cluster.\nInstall the CRDs of gpucloud-operator:\nkubectl apply" in err
    assert "there is no GpuVM" not in err


def test_an_object_that_is_not_there_is_known_by_its_name_whatever_the_words(api, plugin):
    words = "the server could not find the requested resource"
    api.unserved = (404, {"reason": "NotFound", "message": words, "details": {"name": "x", "kind": "gpuvms"}})
    code, _, err = plugin("stop", "x")
    assert (code, "CRD" in err) == (1, False)
    assert "there is no GpuVM/x in namespace 'team'" in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("stop", "gvm", "v1"), "'gvm' is a kind.\nWrite gvm/v1."),
        (("restart", "gpuvm", "v1"), "'gpuvm' is a kind.\nWrite gvm/v1."),
        (("wait", "gvpc", "lab"), "'gvpc' is a kind.\nWrite gvpc/lab."),
        (("create", "gvm", "v1"), "'gvm' is a kind.\nWrite gvm/v1."),
        (("adopt", "gsnap", "golden"), "'gsnap' is a kind.\nWrite gsnap/golden."),
        (("ssh", "gvm", "v1"), "'gvm' is a kind.\nWrite gvm/v1."),
        (("ssh", "gvm", "v1", "--", "nvidia-smi"), "'gvm' is a kind.\nWrite gvm/v1."),
        (("ssh", "gvm", "--", "v1"), "there is no GpuVM/gvm"),
    ],
    ids=["several", "one", "any kind", "new", "in the cloud", "ssh", "ssh, and a command", "what follows -- is a command"],
)
def test_a_kind_and_a_name_apart_are_answered_by_how_to_write_them(plugin, words, says):
    code, _, err = plugin(*words)
    assert code != 0
    assert says in err


@pytest.mark.parametrize(("typed", "meant"), [("delete", "gone"), ("condition=Ready", "ready")])
def test_a_goal_by_kubectls_word_is_answered_by_ours(plugin, typed, meant):
    code, _, err = plugin("wait", "gvm/a", f"--for={typed}")
    assert code == 2
    assert f"unknown value {typed!r}. Did you mean {meant!r}?\nUse one of: ready, gone." in err
