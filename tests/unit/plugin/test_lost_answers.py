"""Writes whose answer is lost: the plugin looks what came of them, and a repeat makes nothing twice."""

import re

import pytest

from gpucloud.cli.plugin.kube import transport
from support.fakeapiserver import PREFIX
from support.pluginworld import a_body

SNAPSHOTS, VMS = f"{PREFIX}/namespaces/team/gpusnapshots", f"{PREFIX}/namespaces/team/gpuvms"
STATUS = "kubectl gpucloud status {} --namespace=team"


class Fault:
    """What befalls the first write: carried out or not, answered by a cut or a status; then reads may fail, too."""

    def __init__(self, api, *, commits, status=None, reads=None):
        self.real, self.commits, self.status, self.reads, self.writes = api.answer, commits, status, reads, 0
        api.answer = self.answer

    def answer(self, method, path, body):
        if method == "GET" and self.writes and self.reads is not None:
            return self._ends(self.reads)
        if method not in {"POST", "PATCH"} or self.writes:
            return self.real(method, path, body)
        self.writes += 1
        if self.commits:
            self.real(method, path, body)
        return self._ends(self.status)

    def _ends(self, status):
        if not status:
            raise ConnectionResetError
        return status, {"kind": "Status", "message": "etcdserver: request timed out"}


@pytest.fixture
def train(api):
    api.add(a_body("GpuVM", "train", spec={"powerState": "Running"}, status={"vmId": "train-x"}))


@pytest.fixture
def create(plugin, tmp_path):
    """A function that creates the GpuVM ``new`` of a configuration."""
    key = tmp_path / "key.pub"
    key.write_text("ssh-ed25519 AAAAmadeupkey ann@example.com\n")
    given = ("--cluster", "Msc1", "--vpc", "acme", "--ssh-key", str(key), "--apply")
    return lambda configuration="A100": plugin("create", "new", "-c", configuration, *given)


def made(api, plural):
    return [path.rpartition("/")[2] for path in api.objects if f"/{plural}/" in path]


@pytest.mark.usefixtures("train")
@pytest.mark.parametrize("status", [None, 500, 504])
def test_a_snapshot_that_was_made_is_recognised(api, plugin, status):
    Fault(api, commits=True, status=status)
    code, out, err = plugin("snapshot", "train")
    (name,) = made(api, "gpusnapshots")
    assert (code, out) == (0, f"GpuSnapshot/{name}: created, of GpuVM/train\n")
    assert f"GpuSnapshot/{name} is there as it was sent, although the answer was lost: do not send it again." in err


@pytest.mark.usefixtures("train")
def test_a_snapshot_that_was_not_made_is_repeated_under_its_name(api, plugin):
    Fault(api, commits=False)
    code, out, err = plugin("snapshot", "train")
    assert (code, out, made(api, "gpusnapshots")) == (1, "", [])
    assert "does not answer" in err
    (name,) = re.findall(r"GpuSnapshot/(\S+) is not there so far\.\nTry again with", err)
    assert f"'kubectl gpucloud snapshot gvm/train --name={name} --namespace=team', which never makes a second one." in err
    assert plugin("snapshot", "train", "--name", name)[0] == 0
    assert made(api, "gpusnapshots") == [name]


@pytest.mark.usefixtures("train")
@pytest.mark.parametrize("reads", [False, 403, 500])
def test_a_snapshot_that_cannot_be_looked_for_may_have_been_made(api, plugin, reads):
    fault = Fault(api, commits=True, reads=reads)
    code, out, err = plugin("snapshot", "train")
    (name,) = made(api, "gpusnapshots")
    assert (code, out) == (1, "")
    assert f"GpuSnapshot/{name} may have been made all the same.\nTry again with" in err
    assert err.endswith(f"or see whether it is there:\n{STATUS.format(f'gsnap/{name}')}\n")
    fault.reads = None
    code, out, err = plugin("snapshot", "train", "--name", name)
    assert (code, made(api, "gpusnapshots"), err) == (0, [name], "")


def test_a_gpuvm_that_was_made_is_recognised(api, create):
    Fault(api, commits=True)
    code, out, err = create()
    assert (code, out, made(api, "gpuvms")) == (0, "GpuVM/new: created\n", ["new"])
    assert "GpuVM/new is there as it was sent" in err


def test_a_repeat_is_not_told_to_choose_another_name(api, create):
    """That would buy a second VM."""
    fault = Fault(api, commits=True, reads=False)
    code, out, err = create()
    assert (code, out) == (1, "")
    assert "GpuVM/new may have been made all the same.\nTry again" in err
    assert err.endswith(f"or see whether it is there:\n{STATUS.format('gvm/new')}\n")
    assert "\nTry again under the same name, which never makes a second one" in err
    fault.reads = None
    code, out, err = create()
    assert (code, made(api, "gpuvms"), "another name" in err) == (0, ["new"], False)
    assert out == "GpuVM/new: exists already, just as it was asked for\n"


def test_a_gpuvm_of_that_name_that_is_another_is_not_taken_for_what_was_sent(api, create):
    api.add(a_body("GpuVM", "new", spec={"cluster": "Msc1", "configuration": "H100"}))
    Fault(api, commits=False)
    code, out, err = create()
    assert (code, out) == (1, "")
    assert "GpuVM/new exists already in namespace 'team'.\nChoose another name, or see what is there:\n" in err


def test_one_that_is_being_deleted_is_not_taken_for_what_was_sent(api, create):
    assert create()[0] == 0
    api.objects[f"{VMS}/new"]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    Fault(api, commits=False)
    code, _, err = create()
    assert (code, "exists already in namespace 'team'.\nChoose another name" in err) == (1, True)


@pytest.mark.parametrize(
    ("reason", "words", "says"),
    [
        ("AlreadyExists", "object is being deleted", "GpuVM/new exists already in namespace 'team'.\nChoose another name"),
        (
            "Conflict",
            "the claim of this quota already exists",
            "See what is there, then try again:\nkubectl gpucloud status gvm/new",
        ),
    ],
    ids=["the name is taken, in whatever words", "another conflict whose words resemble it"],
)
def test_that_a_name_is_taken_follows_from_the_reason_and_not_from_the_words(api, create, reason, words, says):
    refusal = (409, {"kind": "Status", "message": words, "reason": reason})
    real, api.answer = api.answer, lambda method, path, body: refusal if method == "POST" else real(method, path, body)
    code, out, err = create()
    assert (code, out) == (1, "")
    assert says in err


CHANGES = [("stop",), ("pause",), ("restart",), ("retain",)]


@pytest.mark.usefixtures("train")
@pytest.mark.parametrize("words", CHANGES)
@pytest.mark.parametrize("status", [None, 504])
def test_a_change_that_was_made_is_recognised(api, plugin, words, status):
    Fault(api, commits=True, status=status)
    code, out, err = plugin(*words, "train")
    assert (code, out.startswith("GpuVM/train: ")) == (0, True)
    assert "GpuVM/train is changed as it was asked, although the answer was lost: do not send it again." in err


@pytest.mark.usefixtures("train")
@pytest.mark.parametrize("words", CHANGES)
def test_a_change_that_was_not_made_is_said_not_to_be(api, plugin, words):
    Fault(api, commits=False)
    code, out, err = plugin(*words, "train")
    assert (code, out) == (1, "")
    assert "GpuVM/train is not changed so far.\nTry again.\n" in err


@pytest.mark.usefixtures("train")
@pytest.mark.parametrize("words", CHANGES)
def test_a_change_that_cannot_be_looked_for_may_have_been_made(api, plugin, words):
    Fault(api, commits=True, reads=False)
    code, out, err = plugin(*words, "train")
    assert (code, out) == (1, "")
    assert (
        f"GpuVM/train may have been changed all the same.\nSee it before you try again:\n{STATUS.format('gvm/train')}\n" in err
    )


def test_a_change_of_an_object_that_is_being_deleted_is_recognised(api, plugin):
    api.add(a_body("GpuVM", "train", "Deleting"))
    Fault(api, commits=True)
    code, out, _ = plugin("retain", "train")
    assert (code, out.startswith("GpuVM/train: spec.deletion.policy is Retain")) == (0, True)


def test_an_annotation_that_was_removed_is_recognised(api, plugin):
    api.add(a_body("GpuVM", "train", annotations={"gpucloud.dev/paused": "true"}))
    Fault(api, commits=True)
    assert plugin("resume", "train")[:2] == (0, "GpuVM/train: resumed (gpucloud.dev/paused removed)\n")


@pytest.mark.usefixtures("train")
def test_a_change_of_another_object_of_that_name_is_not_this_one(api, plugin):
    """It was deleted and made anew meanwhile, with what was asked of the other."""
    Fault(api, commits=True)
    api.on_read = lambda: len(api.changed("PATCH")) and api.objects[f"{VMS}/train"]["metadata"].update(uid="another")
    code, out, err = plugin("stop", "train")
    assert (code, out) == (1, "")
    assert "GpuVM/train is not changed so far.\nTry again.\n" in err


@pytest.mark.usefixtures("train")
def test_what_never_left_was_not_made(plugin, monkeypatch):
    """A connection that is refused carries no request: nothing is to be looked for."""
    sent = transport.Transport.request

    def request(self, method, *rest):
        if method == "POST":
            raise ConnectionRefusedError(111, "Connection refused")
        return sent(self, method, *rest)

    monkeypatch.setattr(transport.Transport, "request", request)
    code, _, err = plugin("snapshot", "train")
    assert (code, err.count("\n"), "made" in err) == (1, 2, False)
    assert "does not answer (Connection refused).\nCheck --context, --kubeconfig and your network, then try again." in err
