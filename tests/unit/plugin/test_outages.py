"""Servers that cannot answer for a moment: what has begun to wait or watch goes on, and leaves them alone as they ask."""

import threading

import pytest

from gpucloud.cli.plugin.cloud.sources import Direct
from gpucloud.cli.plugin.errors import ExitCode, PluginError, TransientError, UnansweredError
from gpucloud.cli.plugin.kube.access import Answer
from gpucloud.cli.plugin.model.objects import Key
from gpucloud.cli.plugin.model.verdicts import Aim, Goal
from gpucloud.cli.plugin.waiting import waits, watching
from gpucloud.cli.terminal.page import Line
from gpucloud.cloud.options import ApiKey
from gpucloud.flags import load
from support.fakeapiserver import PREFIX
from support.pluginworld import a_body, a_vm

VM = f"{PREFIX}/namespaces/team/gpuvms/train"
KEY = Key("team", "GpuVM", "train")
AIM = Aim(Goal.READY, {KEY: "uid-of-GpuVM-train"})


@pytest.fixture
def pauses(monkeypatch):
    """The pauses, which take no time."""
    found = []
    monkeypatch.setattr("time.sleep", found.append)
    return found


class Outage:
    """The read of this number, counted from 0, of the VM is answered with an error; with the one after it the VM is Ready."""

    def __init__(self, api, status, number):
        self.real, self.status, self.left = api.answer, status, number
        api.answer, self.api = self.answer, api

    def answer(self, method, path, body):
        if (method, path) != ("GET", VM):
            return self.real(method, path, body)
        self.left -= 1
        if self.left == -1:
            return self.status, {"kind": "Status", "message": "not now", "reason": "Busy"}
        if self.left < -1:
            ready = a_body("GpuVM", "train")["status"]
            self.api.objects[VM]["status"] = {**ready, "lastHandledReconcileAt": self._asked()}
        return self.real(method, path, body)

    def _asked(self):
        return self.api.objects[VM]["metadata"]["annotations"].get("gpucloud.dev/reconcile-requested-at", "")


@pytest.mark.usefixtures("pauses")
@pytest.mark.parametrize("status", [429, 500, 503])
@pytest.mark.parametrize(
    ("words", "number"),
    [(("wait", "train"), 1), (("wait", "train"), 2), (("start", "train", "--wait"), 1), (("retry", "train", "--wait"), 1)],
)
def test_a_wait_that_has_begun_outlasts_an_outage(api, plugin, status, words, number):
    api.add(a_body("GpuVM", "train", "Working", spec={"powerState": "Stopped"}))
    Outage(api, status, number)
    code, out, err = plugin(*words)
    assert (code, "GpuVM/train: ready" in out, "not now. Try again." in err) == (0, True, True)


@pytest.mark.parametrize("status", [429, 503])
def test_a_wait_that_has_not_begun_says_at_once_that_the_cluster_cannot_answer(api, plugin, status):
    api.add(a_body("GpuVM", "train"))
    Outage(api, status, 0)
    code, out, err = plugin("wait", "train")
    assert (code, out, "not now.\nTry again.\n" in err) == (1, "", True)


def test_a_refusal_ends_a_wait(pauses):
    with pytest.raises(PluginError, match="forbidden"):
        waits.wait(scripted(a_vm("train", "Working"), PluginError("forbidden.", do="Ask for it.")), AIM, 60.0)
    assert len(pauses) == 1


def scripted(*answers):
    """A look that gives these one after another, and raises those that are errors."""
    left = list(answers)

    def look(_seconds):
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return {KEY: answer}

    return look


def test_a_wait_leaves_the_cluster_alone_as_it_asks_but_not_beyond_its_own_time(pauses):
    busy = TransientError("busy.", 7.0, do="Try again.")
    assert waits.wait(scripted(busy, a_vm()), AIM, 60.0) is ExitCode.OK
    assert pauses == [7.0]
    assert waits.wait(scripted(busy, a_vm()), AIM, 3.0) is ExitCode.OK
    assert pauses[1] <= 3.0


def test_an_object_that_could_not_be_looked_at_is_not_gone(capsys):
    aim = Aim(Goal.GONE, {KEY: ""})
    assert waits.wait(scripted(TransientError("busy.", do="Try again.")), aim, 0.0) is ExitCode.TIMED_OUT
    assert capsys.readouterr().out == "GpuVM/train: not gone yet: busy. Try again.\n"


def test_a_look_takes_no_longer_than_is_left(pauses):
    limits = []

    def look(seconds):
        limits.append(seconds)
        return {KEY: a_vm("train", "Working") if len(limits) < 3 else a_vm()}

    waits.wait(look, AIM, 20.0)
    assert (len(pauses), all(10.0 < seconds <= 20.0 for seconds in limits)) == (2, True)
    limits.clear()
    assert waits.wait(look, AIM, 0.0) is ExitCode.TIMED_OUT
    assert limits == [waits.LAST_SECONDS], "an answer takes a moment"


def test_a_silent_cluster_is_not_waited_for_beyond_the_time(api, plugin, monkeypatch):
    """It would answer in the end."""
    monkeypatch.setattr(waits, "LAST_SECONDS", 0.2)
    api.add(a_body("GpuVM", "train"))
    told = threading.Event()
    api.on_read = lambda: told.wait(20)
    code, out, err = plugin("wait", "train", "--timeout", "0.2")
    told.set()
    assert (code, out, "does not answer (timed out)" in err) == (1, "", True)


def test_a_watch_outlasts_an_outage_and_leaves_the_cluster_alone_as_it_asks():
    drawn, paused = [], []
    left = [[Line("one")], TransientError("cannot list.", 7.0, do="Try again."), [Line("two")], KeyboardInterrupt()]

    def look():
        answer = left.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    with pytest.raises(KeyboardInterrupt):
        watching.pages(look, lambda page: drawn.append([line.text for line in page]), paused.append)
    assert drawn == [["one"], ["cannot list. Try again. The page below is older.", "", "one"], ["two"]]
    assert paused == [0.0, 7.0, 0.0]


@pytest.mark.parametrize("status", [429, 503])
def test_a_list_that_is_refused_for_a_moment_ends_no_watch(api, plugin, monkeypatch, status):
    api.add(a_body("GpuVM", "train"))
    real, pauses = api.answer, []

    def answer(method, path, body):
        refused = pauses and path.endswith("/gpuvms")
        return (status, {"message": "not now"}) if refused else real(method, path, body)

    def sleep(seconds):
        pauses.append(seconds)
        if len(pauses) == 3:
            raise KeyboardInterrupt

    api.answer = answer
    monkeypatch.setattr("time.sleep", sleep)
    code, out, _ = plugin("status", "-w")
    assert (code, out.count("not now. Try again. The page below is older.")) == (130, 1)


def test_a_log_outlasts_an_outage_which_is_told_once(capsys):
    written, paused = [], []
    busy = TransientError("the cloud is down.", 7.0, do="Try again.")
    left = ["a\n", busy, busy, "a\nb\n", busy, KeyboardInterrupt()]

    def read():
        answer = left.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    with pytest.raises(KeyboardInterrupt):
        watching.follow(read, None, written.append, paused.append)
    assert "".join(written) == "a\nb\n"
    assert paused == [0.0, 7.0, 7.0, 0.0, 7.0]
    assert capsys.readouterr().err.count("the cloud is down.") == 2


def test_a_cloud_that_cannot_be_reached_is_an_outage():
    way = Direct("http://127.0.0.1:1", ApiKey("k" * 20), load({"endpoint": ["default=http://127.0.0.1:1"]}, {}))
    with pytest.raises(TransientError, match="cannot be reached"):
        way.boot_log(a_vm(status={"vmId": "x", "vpc": "acme", "cluster": "Msc1"}), 10)


@pytest.mark.parametrize(
    ("said", "pause"),
    [("3", 3.0), ("100000", 60.0), ("", 0.0), ("soon", 0.0), ("-5", 0.0), ("Fri, 27 Nov 2026 10:00:00 GMT", 0.0)],
)
def test_how_long_a_server_asks_to_be_left_alone(said, pause):
    assert Answer(429, b"", said).pause == pause


def test_silence_is_an_outage_too():
    assert isinstance(UnansweredError("no answer", do="Try again."), TransientError)


WRONG_WORDS = [
    (("orphans",), "/api/v1/namespaces/kube-system", "you may not read"),
    (("version",), "/version", "does not say"),
    (("doctor",), "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "may not"),
    (("doctor",), "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "not installed"),
]


@pytest.mark.parametrize(("words", "path", "wrong"), WRONG_WORDS)
@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_cannot_be_answered_now_is_neither_forbidden_nor_missing(api, plugin, status, words, path, wrong):
    api.refused[path] = status
    code, out, err = plugin(*words)
    assert (code, "cannot" in err, err.rstrip().endswith("Try again.")) == (1, True, True)
    assert wrong not in out + err


@pytest.mark.parametrize(("words", "path"), [(words, path) for words, path, _ in WRONG_WORDS])
def test_what_is_forbidden_ends_no_look_at_the_rest(api, plugin, words, path):
    api.refused[path] = 403
    assert not plugin(*words)[2].rstrip().endswith("Try again.")
