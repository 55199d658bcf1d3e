"""A 200 that is not what was asked for, as of a proxy's login page or an answer cut short: no object, and no empty list."""

import pytest

from gpucloud.cli.plugin.cluster import Cluster, writing
from gpucloud.cli.plugin.errors import UnansweredError
from gpucloud.cli.plugin.kube.access import At
from gpucloud.cli.plugin.kube.client import KubeApi
from gpucloud.cli.plugin.model.objects import KINDS, Key, Thing
from gpucloud.cli.plugin.verbs import orphans as verb
from gpucloud.cloud.models import VmRecord
from gpucloud.engine.cloud.queries import ClusterRecords, Records
from gpucloud.reconcile.naming import external_name
from support.builders import TAG, UID
from support.fakeapiserver import PREFIX
from support.pluginworld import a_body

VMS = f"{PREFIX}/namespaces/team/gpuvms"
UNREADABLE = {
    "a login page": "<html>log in</html>",
    "cut short": '{"kind": "GpuVMList", "items": [{"metadata": {"na',
    "nothing": "",
    "no object": "[]",
    "an object of something else": {"ok": True},
    "a Status": {"kind": "Status", "status": "Success"},
}
WORDS = "the cluster's answer is not "


@pytest.fixture(params=UNREADABLE.values(), ids=UNREADABLE)
def unreadable(request):
    return request.param


@pytest.fixture
def train(api):
    api.add(a_body("GpuVM", "train", spec={"powerState": "Running"}))


class Source:
    """A cloud with the VM of the object ``used``."""

    def records(self):
        vm = VmRecord(id=external_name("used", UID, TAG), namespace="acme", configuration="A100", status="ONLINE")
        return Records(clusters=(ClusterRecords(cluster="Msc1", vms=(vm,)),))


class Garbled:
    """From the call with this number on, counted from 0, all answers are unreadable; a change is carried out all the same."""

    def __init__(self, api, text, first=0, methods=("GET", "POST", "PATCH")):
        self.real, self.text, self.left, self.methods = api.answer, text, first, methods
        api.answer = self.answer

    def answer(self, method, path, body):
        answer = self.real(method, path, body)
        if method not in self.methods:
            return answer
        self.left -= 1
        return answer if self.left >= 0 else (200, self.text)


@pytest.mark.usefixtures("train")
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("words", [("gvm/train",), ("gvm/train", "gvpc/lab")])
def test_nothing_that_cannot_be_read_is_gone(api, plugin, unreadable, first, words):
    api.add(a_body("GpuVpc", "lab"))
    Garbled(api, unreadable, first * len(words))
    code, out, err = plugin("wait", *words, "--for", "gone", "--timeout", "0")
    assert (code, ": gone" in out, WORDS in out + err) == (4 if first else 1, False, True)


@pytest.mark.parametrize("changes", [{"uid": ""}, {"name": "other"}, {"namespace": "other"}, {"name": None}])
def test_another_object_is_not_the_one_that_was_asked_for(api, plugin, changes):
    body = a_body("GpuVM", "train")
    api.canned[f"{VMS}/train"] = {**body, "metadata": {**body["metadata"], **changes}}
    code, out, err = plugin("wait", "train", "--for", "gone", "--timeout", "0")
    assert (code, out, WORDS in err) == (1, "", True)


@pytest.mark.parametrize("missing", ["GpuVM", "GpuVpc"])
def test_a_kind_that_is_not_served_for_a_while_makes_nothing_gone(api, plugin, missing):
    """An apiserver that starts answers so until it has read the CRDs."""
    api.add(a_body("GpuVM", "train"), a_body("GpuVpc", "lab"))
    real = api.answer
    lost = KINDS[missing].plural
    api.answer = lambda method, path, body: (
        (404, "404 page not found\n") if path.endswith(f"/{lost}") else real(method, path, body)
    )
    code, out, err = plugin("wait", "gvm/train", "gvpc/lab", "--for", "gone", "--timeout", "0")
    assert (code, out) == (1, "")
    assert "its CRD is not installed" in err


@pytest.mark.usefixtures("train")
@pytest.mark.parametrize("words", [("stop", "train"), ("retain", "train"), ("pause", "train"), ("snapshot", "train")])
def test_nothing_is_said_to_be_done_without_a_readable_answer(api, plugin, unreadable, words):
    Garbled(api, unreadable)
    code, out, err = plugin(*words)
    assert (code, out, WORDS in err, api.changed("PATCH"), api.changed("POST")) == (1, "", True, [], [])


@pytest.mark.usefixtures("train")
@pytest.mark.parametrize("words", [("stop", "train"), ("retain", "train"), ("pause", "train"), ("snapshot", "train")])
def test_a_change_whose_answer_cannot_be_read_is_looked_for(api, plugin, unreadable, words):
    Garbled(api, unreadable, methods=("PATCH", "POST"))
    code, out, err = plugin(*words)
    assert (code, "although the answer was lost: do not send it again." in err) == (0, True), out


@pytest.mark.usefixtures("train")
def test_a_change_that_cannot_be_looked_for_may_have_been_made(api, plugin, unreadable):
    Garbled(api, unreadable, first=1)
    code, out, err = plugin("stop", "train")
    assert (code, out) == (1, "")
    assert "GpuVM/train may have been changed all the same" in err


def test_no_change_is_sent_without_the_uid_of_its_object(api, tmp_path):
    """It is the precondition by which another object of that name is left alone."""
    here = Cluster(KubeApi(At(api.kubeconfig(tmp_path))))
    with pytest.raises(UnansweredError):
        writing.patch(here, Thing(Key("team", "GpuVM", "train")), {"spec": {"powerState": "Stopped"}})
    assert api.changed("PATCH") == []


@pytest.mark.usefixtures("train")
@pytest.mark.parametrize("words", [("status",), ("status", "-A"), ("doctor",)])
def test_no_list_that_cannot_be_read_is_empty(api, plugin, unreadable, words):
    Garbled(api, unreadable)
    code, out, err = plugin(*words)
    assert (code, "no GPU cloud objects" in out, WORDS in err) == (1, False, True)


@pytest.mark.usefixtures("train")
def test_a_vm_of_an_object_that_could_not_be_listed_is_no_orphan(api, plugin, monkeypatch, unreadable):
    api.add(a_body("GpuCloudAccount", "default"), a_body("GpuVM", "used", uid=UID))
    monkeypatch.setattr(verb, "source_of", lambda *_: Source())
    real = api.answer
    api.answer = lambda method, path, body: (200, unreadable) if path == f"{PREFIX}/gpuvms" else real(method, path, body)
    code, out, err = plugin("orphans", "--install-tag", TAG)
    assert (code, out, "the cluster's answer is not " in err) == (1, "", True)


@pytest.mark.parametrize(
    "listed", [{"items": "none"}, {"items": [7]}, {"items": [{"spec": {}}]}, {"items": [{"metadata": {"name": "train"}}]}]
)
def test_what_is_no_list_of_objects_is_not_read_as_one(api, tmp_path, listed):
    api.canned[f"{PREFIX}/gpuvms"] = listed
    with pytest.raises(UnansweredError, match=WORDS):
        list(Cluster(KubeApi(At(api.kubeconfig(tmp_path)))).bodies("GpuVM", None))


@pytest.mark.parametrize("listed", [{"items": []}, {"items": None}])
def test_an_empty_list_is_empty(api, tmp_path, listed):
    api.canned[f"{PREFIX}/gpuvms"] = listed
    assert list(Cluster(KubeApi(At(api.kubeconfig(tmp_path)))).bodies("GpuVM", None)) == []
