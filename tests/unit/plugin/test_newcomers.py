"""What is empty says why: a namespace that is not there, and a boot log of a VM that is off; what fails brings no command."""

import pytest

from gpucloud.cli.plugin.kube.access import At
from gpucloud.cli.plugin.usage import command_options
from gpucloud.cli.plugin.verbs import cloud
from gpucloud.cli.terminal.marks import paste
from support.pluginworld import a_body

STATUS = {"vmId": "train-1", "vpc": "acme", "cluster": "Msc1", "state": "ONLINE"}


class Cloud:
    """A cloud whose boot log reads so."""

    def __init__(self, log):
        self.log = log

    def boot_log(self, _vm, _limit):
        return self.log


@pytest.mark.parametrize("words", [("status",), ("status", "-w"), ("stop", "train"), ("snapshot", "train")])
def test_a_namespace_that_is_not_there_is_answered_by_the_near_one(words, api, plugin):
    api.canned["/api/v1/namespaces"] = {"items": [{"metadata": {"name": "team"}}, {"metadata": {"name": "other"}}]}
    code, out, err = plugin(*words, "-n", "taem")
    assert (code, out) == (1, "")
    assert (
        "there is no namespace 'taem'. Did you mean 'team'?\nName another one with -n, or create it:\nkubectl create namespace"
        in err
    )


VERBS_OF_ONE_KIND = [("stop",), ("restart",), ("snapshot",), ("ssh",), ("logs",)]
THERE = [
    ((), "Name a GpuVM. Namespace 'team' has none.\n", "none"),
    (("train",), "Name a GpuVM of namespace 'team': train.\n", "one"),
    (tuple(f"vm-{number}" for number in range(7)), "': vm-0, vm-1, vm-2, vm-3, vm-4 and 2 more.\n", "more than help"),
]


@pytest.mark.parametrize("verb", VERBS_OF_ONE_KIND, ids=" ".join)
@pytest.mark.parametrize(("names", "says", "why"), THERE, ids=[row[2] for row in THERE])
def test_an_object_of_another_kind_is_answered_by_those_that_the_verb_takes(verb, names, says, why, api, plugin):
    api.add(*(a_body("GpuVM", name) for name in names))
    code, out, err = plugin(*verb, "gvpc/lab")
    assert (code, out) == (2, ""), why
    assert err.startswith("kubectl gpucloud: 'gvpc/lab' is not a GpuVM, and this verb takes nothing else.\nName a GpuVM"), why
    assert err.endswith(says), why


def test_the_way_out_of_another_kind_needs_no_right_to_list(api, plugin):
    api.refused["/apis/gpucloud.dev/v1alpha1/namespaces/team/gpuvms"] = 403
    code, _, err = plugin("stop", "gvpc/lab")
    assert (code, err.endswith("\nName a GpuVM.\n")) == (2, True)


@pytest.mark.parametrize(
    ("state", "says", "why"),
    [
        ("OFFLINE", "GpuVM/train is off, and the cloud has no boot log of it: start it with", "it is off"),
        ("ONLINE", "the cloud has no boot log of GpuVM/train yet: try again", "it has just come up"),
    ],
)
def test_an_empty_log_says_why(state, says, why, api, plugin, monkeypatch):
    api.add(a_body("GpuVM", "train", status=STATUS | {"state": state}))
    monkeypatch.setattr(cloud, "source_of", lambda *_: Cloud(""))
    code, out, err = plugin("logs", "train")
    assert (code, out, says in err) == (0, "", True), why


def test_a_log_of_which_no_line_is_asked_for_says_nothing(api, plugin, monkeypatch):
    api.add(a_body("GpuVM", "train", status=STATUS))
    monkeypatch.setattr(cloud, "source_of", lambda *_: Cloud("a"))
    assert plugin("logs", "train", "--tail", "0") == (0, "", "")


def test_a_failure_that_the_cloud_words_brings_no_command(capsys):
    command_options.remember(At(context="prod"))
    cloud.complete((f"Msc1 says: {paste('kubectl delete gpuvm --all')}",), 0)
    assert "--context=prod" not in capsys.readouterr().err
