"""What kubectl is told to complete."""

import pytest

from gpucloud.cli.plugin import completion
from gpucloud.cli.plugin.cluster import Cluster
from gpucloud.cli.plugin.entry import VERBS
from gpucloud.cli.plugin.kube import At, KubeApi
from support.pluginworld import a_body


@pytest.fixture
def complete(api, tmp_path):
    api.add(
        a_body("GpuVM", "train"), a_body("GpuVM", "eval"), a_body("GpuVpc", "lab"), a_body("GpuVM", "far", namespace="other")
    )
    config = api.kubeconfig(tmp_path)

    def ask(*words):
        connect = lambda given: Cluster(KubeApi(At(config, None, given.get("--namespace"))))  # noqa: E731
        return completion.candidates(list(words), connect)

    return ask


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([""], sorted(VERBS)),
        (["st"], ["start", "status", "stop"]),
        (["stop", ""], ["eval", "train"]),
        (["stop", "t"], ["train"]),
        (["stop", "-n", "other", ""], ["far"]),
        (["stop", "--namespace=other", ""], ["far"]),
        (["wait", "g"], ["gca/", "gsnap/", "gvm/", "gvpc/"]),
        (["wait", "gvm/"], ["gvm/eval", "gvm/train"]),
        (["wait", "gvpc/l"], ["gvpc/lab"]),
        (["wait", "pod/"], []),
        (["wait", "gvm/train", "--for", ""], ["gone", "ready"]),
        (["status", "-o", "j"], ["json"]),
        (["status", "--all"], ["--all-namespaces"]),
        (["offers", ""], []),
        (["frob", ""], []),
    ],
)
def test_candidates(complete, words, expected):
    assert complete(*words) == (expected, 4)


def test_after_two_dashes_files_may_follow(complete):
    assert complete("ssh", "train", "--", "") == ([], 0)


def test_it_says_nothing_but_candidates_whatever_happens(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nowhere"))
    assert completion.main(["stop", ""]) == 0
    assert capsys.readouterr() == (":4\n", "")
