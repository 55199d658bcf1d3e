"""What kubectl is told to complete."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpucloud.cli.plugin.usage import completion
from gpucloud.cli.plugin.usage.commands import VERBS
from support.pluginworld import a_body

OFFERS = "/apis/gpucloud.dev/v1alpha1/namespaces/team/gpuoffers"
CONFIGURATIONS = ["A100_40GB_PCIe_1x", "H100_80GB_SXM_8x", "L40S_1x"]
CLUSTERS = ["Ams1", "Hou1", "Msc1", "Sea1"]


@pytest.fixture
def complete(api, tmp_path, monkeypatch, capsys):
    """A function from words to candidates and the directive."""
    api.add(
        a_body("GpuVM", "train", spec={"configuration": "L40S_1x", "cluster": "msc1"}),
        a_body("GpuVM", "eval"),
        a_body("GpuVpc", "lab", spec={"cluster": "Ams1"}),
        a_body("GpuVM", "far", namespace="other"),
        a_body("GpuCloudAccount", "default", status={"clusters": ["Hou1", "Msc1"]}),
    )
    api.canned[OFFERS] = {
        "items": [
            {"metadata": {"name": "a"}, "configuration": "A100_40GB_PCIe_1x", "cluster": "Msc1"},
            {"metadata": {"name": "b"}, "configuration": "A100_40GB_PCIe_1x", "cluster": "Hou1"},
            {"metadata": {"name": "c"}, "configuration": "H100_80GB_SXM_8x", "cluster": "Sea1"},
            {"metadata": {"name": "d"}},
            {"metadata": {"name": "e"}, "configuration": "A100\n:0", "cluster": "M\x1b[2J"},
        ]
    }
    api.canned["/api/v1/namespaces"] = {"items": [{"metadata": {"name": "team"}}, {"metadata": {"name": "other"}}]}
    monkeypatch.setattr(os, "environ", os.environ | {"KUBECONFIG": str(api.kubeconfig(tmp_path))})

    def ask(*words):
        assert completion.main(words) == 0
        out, err = capsys.readouterr()
        *lines, directive = out.splitlines()
        assert err == ""
        return lines, directive

    return ask


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], sorted(VERBS)),
        ([""], sorted(VERBS)),
        (["st"], ["start", "status", "stop"]),
        (["stop", ""], ["eval", "train"]),
        (["stop", "t"], ["train"]),
        (["stop", "-n", "other", ""], ["far"]),
        (["stop", "--namespace=other", ""], ["far"]),
        (["stop", "eval", "t"], ["train"]),
        (["ssh", "train", "-n", ""], ["other", "team"]),
        (["wait", "g"], ["gca/", "ghost/", "gsnap/", "gvm/", "gvpc/"]),
        (["wait", "gvm/"], ["gvm/eval", "gvm/train"]),
        (["wait", "gvpc/l"], ["gvpc/lab"]),
        (["wait", "pod/"], []),
        (["wait", "gvm/train", "--for", ""], ["gone", "ready"]),
        (["status", "-o", "j"], ["json"]),
        (["status", "--all"], ["--all-namespaces"]),
        (["offers", ""], []),
        (["stop", "it's \"", ""], ["eval", "train"]),
        (["create", "new", "-c", ""], CONFIGURATIONS),
        (["create", "new", "--configuration=A"], ["--configuration=A100_40GB_PCIe_1x"]),
        (["create", "new", "--cluster", ""], CLUSTERS),
        (["create", "new", "-n", "other", "-c", ""], []),
        (["offers", "--cluster", "M"], ["Msc1"]),
        (["adopt", ""], ["gsnap/", "gvm/", "gvpc/"]),
        (["adopt", "gv"], ["gvm/", "gvpc/"]),
        (["adopt", "gvm/"], []),
    ],
)
def test_candidates(complete, words, expected):
    assert complete(*words) == (expected, ":4")


@pytest.mark.parametrize(
    ("refused", "configurations", "clusters", "why"),
    [
        (("gpuoffers",), ["L40S_1x"], ["Ams1", "Hou1", "Msc1"], "objects name some"),
        (("gpuvms", "gpuvpcs", "gpucloudaccounts"), CONFIGURATIONS[:2], ["Hou1", "Msc1", "Sea1"], "the offers name most"),
        (("",), [], [], "nothing may be seen"),
    ],
)
def test_what_may_not_be_seen_hides_nothing_else(complete, api, refused, configurations, clusters, why):
    for plural in refused:
        api.refused[f"/apis/gpucloud.dev/v1alpha1/namespaces/team/{plural}"] = 403
    assert complete("create", "new", "-c", "") == (configurations, ":4"), why
    assert complete("create", "new", "--cluster", "") == (clusters, ":4"), why


def test_the_kinds_to_adopt_are_completed_without_a_call(complete, api):
    complete("adopt", "gvm/o")
    assert api.calls == []


@pytest.mark.parametrize("words", [("ssh", "train", "--", ""), ("status", "--kubeconfig", "")])
def test_files_may_follow(complete, words):
    assert complete(*words) == ([], ":0")


def test_it_says_nothing_but_candidates_whatever_happens(complete, monkeypatch, tmp_path):
    monkeypatch.setitem(os.environ, "KUBECONFIG", str(tmp_path / "nowhere"))
    assert complete("stop", "") == ([], ":4")


def test_the_archives_program_for_kubectl_asks_the_plugin_on_the_path():
    """krew links one program, so a copy of this one lies in a folder of the PATH, away from its archive."""
    program = Path(__file__).parents[3] / "deploy" / "krew" / "kubectl_complete-gpucloud"
    env = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for words, expected in ((["st"], "start\nstatus\nstop\n:4\n"), (["wait", "it's \"two words", "--for", "g"], "gone\n:4\n")):
        done = subprocess.run(  # noqa: S603  # our own program
            [program, *words], env=env, capture_output=True, text=True, check=True, timeout=60
        )
        assert (done.stdout, done.stderr) == (expected, "")
