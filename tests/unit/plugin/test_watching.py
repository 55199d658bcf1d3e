"""``status --watch``, ``--selector`` and ``-o wide``; ``logs --tail`` and ``--follow``."""

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from datetime import UTC, datetime, timedelta

import pytest

from gpucloud.cli.plugin.cluster import Cluster
from gpucloud.cli.plugin.errors import PluginError, UnansweredError
from gpucloud.cli.plugin.kube.access import RefusedError
from gpucloud.cli.plugin.model import overview
from gpucloud.cli.plugin.model.dependencies import World
from gpucloud.cli.plugin.verbs import cloud
from gpucloud.cli.plugin.waiting import watching
from gpucloud.cli.terminal import printing
from gpucloud.cli.terminal.marks import paste
from gpucloud.cli.terminal.page import Line, wrapped
from support.pluginworld import a_body, a_vm, a_vpc, an_account

STATUS = {
    "state": "ONLINE",
    "vmId": "train-x",
    "vpc": "acme",
    "cluster": "Msc1",
    "ip": "198.51.100.200",
    "privateIp": "10.0.0.7",
    "pricePerHour": "12.05",
}
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
SPEC = {"configuration": "A100_40GB_PCIe_1x", "vpcRef": {"name": "lab"}}


def scripted(*answers):
    """A function that gives these one after another, and raises those that are errors; then the user presses Ctrl-C."""
    left = [*answers, KeyboardInterrupt()]

    def read():
        answer = left.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return read


def no_pause(_asked):
    """Time does not matter here."""


def watched(*answers):
    drawn = []
    with pytest.raises(KeyboardInterrupt):
        watching.pages(scripted(*answers), drawn.append, no_pause)
    return [[line.text for line in page] for page in drawn]


def test_a_page_is_drawn_after_each_look():
    assert watched([Line("one")], [Line("two")]) == [["one"], ["two"]]


def test_an_outage_keeps_the_page_and_is_told_above_it_once():
    lost = UnansweredError("The cluster does not answer", do="Try again.")
    pages = watched([Line("one")], lost, lost, [Line("two")])
    told = ["The cluster does not answer. Try again. The page below is older.", "", "one"]
    assert pages == [["one"], told, told, ["two"]]


def test_a_refusal_ends_a_watch():
    with pytest.raises(PluginError, match="forbidden"):
        watching.pages(scripted([Line("one")], PluginError("forbidden.", do="Ask for it.")), lambda _: None, no_pause)


def test_without_a_terminal_only_a_change_is_printed(capsys):
    draw = watching.changes()
    for text in ("one", "one", "two", "two", "one"):
        draw([Line(text)])
    assert capsys.readouterr().out == "one\n\ntwo\n\none\n"


def test_without_a_terminal_a_cost_that_grows_is_no_change(capsys):
    """Else a watch in a pipe would print the page with every cent."""
    vm, draw = a_vm(spec=SPEC, status={**STATUS, "billedSince": "2026-01-02T11:00:00Z"}), watching.changes()
    for minutes in (0, 20, 40):
        draw(list(overview.as_lines(World.of((vm,)), NOON + timedelta(minutes=minutes))))
    draw(list(overview.as_lines(World.of((a_vm("other"), vm)), NOON + timedelta(hours=1))))
    told = [line for line in capsys.readouterr().out.splitlines() if "so far" in line]
    assert told == ["$12.05 an hour, $12.05 so far", "$12.05 an hour, $24.10 so far"]


@pytest.fixture
def terminal(monkeypatch):
    """A terminal of 5 lines of 30 columns, and a function that reads what was written to it."""
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 5, 30, 0, 0))
    with os.fdopen(follower, "w", encoding="utf-8") as stream:
        yield stream, lambda: os.read(leader, 4096).decode().replace("\r\n", "\n")
    os.close(leader)


def test_a_terminal_is_drawn_over_from_its_first_line(terminal):
    stream, written = terminal
    printing.screen([Line("one"), Line("two")], stream)
    assert written() == "\x1b[Hone\x1b[K\ntwo\x1b[K\n\x1b[J"


def test_a_command_that_the_terminal_wraps_counts_as_several_lines(terminal):
    stream, written = terminal
    printing.screen(
        [Line(text) for text in ("one", f"Try: {paste('kubectl gpucloud retry ' + 'x' * 40)}", "two", "three")], stream
    )
    lines = written().replace("\x1b[K", "").splitlines()
    assert lines[:2] == ["\x1b[Hone", "Try:"]
    assert lines[2] == "3 more lines: enlarge the terminal, or name objects.", "the command would take three of the five"


def test_a_page_that_is_too_long_says_how_much_is_left_out(terminal):
    stream, written = terminal
    printing.screen([Line(f"line {number}") for number in range(6)], stream)
    lines = written().replace("\x1b[K", "").splitlines()
    assert lines[:3] == ["\x1b[Hline 0", "line 1", "line 2"]
    assert lines[3].startswith("3 more lines")
    assert len(lines) == 5, "four lines, and the cursor's"


def test_the_terminal_is_given_back_after_ctrl_c(terminal):
    stream, written = terminal
    with pytest.raises(KeyboardInterrupt), printing.full_screen(stream):
        raise KeyboardInterrupt
    assert written() == printing.ENTER + printing.LEAVE


def test_a_watch_in_a_pipe_shows_a_change_and_ends_by_ctrl_c(api, tmp_path):
    api.add(a_body("GpuVM", "train", "Working"))
    code = "import sys; from gpucloud.cli.plugin import main; sys.exit(main())"
    environ = {**os.environ, "KUBECONFIG": str(api.kubeconfig(tmp_path))}
    command = [sys.executable, "-c", code, "status", "-w"]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdout.readline() == "Namespace team: 1 object: 1 working\n"
        api.add(a_body("GpuVM", "train"))
        assert "Namespace team: 1 object: 1 ready\n" in iter(process.stdout.readline, "")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == 130
    assert "\x1b" not in out
    assert err == "", "nothing was asked for, so there is nothing to say"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["status", "-w", "-o", "json"], "--watch shows text, not json"),
        (["status", "gvm/train", "-l", "team=a"], "named objects and --selector cannot be combined"),
        (["status", "gvm/train", "-A"], "named objects and -A cannot be combined"),
        (["doctor", "-o", "wide"], "unknown value 'wide'"),
        (["logs", "train", "-f", "-o", "yaml"], "--follow prints text, not yaml"),
        (["logs", "train", "--tail", "-1"], "--tail: expected a number from 0 to 2147483647, not '-1'"),
    ],
)
def test_what_does_not_go_together_is_wrong_usage(words, says, plugin):
    code, out, err = plugin(*words)
    assert (code, out, says in err) == (2, "", True)


def test_a_selector_chooses_objects_and_what_they_hang_on(api, plugin):
    api.add(
        a_body("GpuCloudAccount", "default", reason="Connected"),
        a_body("GpuVM", "mine", labels={"team": "a"}),
        a_body("GpuVM", "theirs", "Stalled", labels={"team": "b"}),
    )
    code, out, _ = plugin("status", "-l", "team=a")
    assert code == 0, "what is Stalled was not asked for"
    assert ("GpuVM/mine" in out, "GpuVM/theirs" in out, "GpuCloudAccount/default" in out) == (True, False, True)
    _, out, _ = plugin("status", "-l", "team=a", "-o", "json")
    assert [item["name"] for item in json.loads(out)["objects"]] == ["mine"]
    code, _, _ = plugin("status", "-l", "team=b")
    assert code == 3


def test_a_selector_shows_no_unlabelled_users_of_a_labelled_object(api, plugin):
    """A label of the account, or of a VPC, chooses none of the VMs in it; their number and their price are not counted."""
    in_lab, priced = {"vpcRef": {"name": "lab"}}, {"pricePerHour": "2.00", "vmId": "vm-1", "state": "RUNNING"}
    api.add(
        a_body("GpuCloudAccount", "default", reason="Connected", labels={"team": "a"}),
        a_body("GpuVpc", "lab", labels={"team": "a"}),
        a_body("GpuVM", "mine", labels={"team": "a"}, spec=in_lab, status=priced),
        a_body("GpuVM", "theirs", "Stalled", spec=in_lab, status=priced),
    )
    code, out, _ = plugin("status", "-l", "team=a")
    assert ("GpuVM/mine" in out, "GpuVM/theirs" in out, code) == (True, False, 0)
    assert out.startswith("Namespace team: 3 of 4 objects: 3 ready\n$2.00 an hour")
    code, out, _ = plugin("status", "gvpc/lab")
    assert "GpuVM/theirs" in out, "who names a VPC sees its VMs"
    assert out.startswith("Namespace team: 3 of 4 objects: 1 stalled, 2 ready\n$4.00 an hour")


def test_a_selector_that_matches_nothing_shows_nothing(api, plugin):
    """An empty choice is not all objects."""
    api.add(a_body("GpuVM", "mine", "Stalled", labels={"team": "a"}))
    code, out, _ = plugin("status", "-l", "team=c")
    assert (code, out) == (0, "There are no GPU cloud objects in namespace 'team' with the labels 'team=c'.\n")
    _, out, _ = plugin("status", "-l", "team=c", "-o", "json")
    assert json.loads(out)["objects"] == []


class StrictAboutLabels:
    """An apiserver that reads selectors, in its own words."""

    namespace = "team"

    def call(self, _method, _path, query=None, _body=None):
        if "labelSelector" in (query or {}):
            raise RefusedError(400, "unable to parse requirement: found '!', expected: identifier")
        return {"items": []}


def test_a_selector_that_cannot_be_read_is_answered_by_what_one_looks_like():
    with pytest.raises(PluginError) as caught:
        Cluster(StrictAboutLabels()).things("team", selector="!!bad")
    assert caught.value.code == 2
    assert str(caught.value) == (
        "--selector: '!!bad' is not a label selector (unable to parse requirement: found '!', expected: identifier). Use for "
        "example team=vision, 'team in (vision, audio)' or '!team'."
    )


class TwoPages:
    """A list of two pages; keeps the queries."""

    namespace = "team"

    def __init__(self):
        self.queries = []

    def call(self, _method, _path, query=None, _body=None):
        self.queries.append(query)
        return {"metadata": {} if "continue" in query else {"continue": "next"}, "items": []}


def test_every_page_of_a_list_is_asked_for_with_the_labels():
    api = TwoPages()
    Cluster(api).things("team", ("GpuVM",), "team in (a, b)")
    assert [query["labelSelector"] for query in api.queries] == ["team in (a, b)"] * 2


def lines_of(vm, width, **more):
    world = World.of((an_account(), a_vpc("lab", status={"vpcId": "v", "name": "acme", "ipRange": "10.0.0.0/16"}), vm))
    found = wrapped(overview.as_lines(world, NOON, **more), width)
    return [f"{line.lead}{line.text}" for line in found]


@pytest.mark.parametrize(
    ("how", "name", "configuration"),
    [
        ("Ready", "train", True),
        ("Ready", "llama-finetune-north-1", False),
        ("Working", "train", False),
    ],
)
def test_a_vm_is_one_line_of_80_columns(how, name, configuration):
    """Name, standing, address and price stay; its configuration is left out where it does not fit."""
    vm = a_vm(name, how, "Running" if how == "Ready" else "Stopping", spec=SPEC, status=STATUS)
    found = lines_of(vm, 80)
    (place,) = [place for place, line in enumerate(found) if f"─ GpuVM/{name}" in line]
    assert all(word in found[place] for word in (how, "198.51.100.200", "$12.05/h"))
    assert ("A100" in found[place]) is configuration
    assert "A100" not in "".join(found[place + 1 : place + 2]), "it is not wrapped"
    said = "Configurations that do not fit are left out: use -o wide, or a wider terminal."
    assert (said in found) is not configuration, "what is left out is said once, at the end"
    (whole,) = [line for line in lines_of(vm, None) if f"─ GpuVM/{name}" in line]
    assert whole.endswith("$12.05/h  A100_40GB_PCIe_1x"), "in a pipe nothing is left out"


def test_the_configuration_shown_is_the_one_that_was_ordered():
    """One of the alternatives runs, and its price stands beside it."""
    vm = a_vm("train", spec=SPEC, status=STATUS | {"order": {"configuration": "A100_40GB_PCIe_2x"}})
    (line,) = [line for line in lines_of(vm, None) if "─ GpuVM/train" in line]
    assert line.endswith("A100_40GB_PCIe_2x")


@pytest.mark.parametrize(
    ("how", "reason", "shown", "why"),
    [
        ("Ready", "Running", False, "the reason says it already"),
        ("Working", "Stopping", True, "it tells how far the cloud is"),
        ("Stalled", "CreateFailed", True, "it is the cloud's own word for what is wrong"),
    ],
)
def test_the_clouds_word_for_the_state_is_shown_where_it_says_something(how, reason, shown, why):
    (line,) = [line for line in lines_of(a_vm("train", how, reason, spec=SPEC, status=STATUS), None) if "─ GpuVM/" in line]
    assert ("ONLINE" in line) is shown, why


def test_wide_shows_all_at_any_width():
    text = " ".join(lines_of(a_vm(spec=SPEC, status=STATUS), 80, wide=True))
    for shown in ("ONLINE", "cluster=Msc1", "vpc=acme", "vmId=train-x", "privateIp=10.0.0.7", "A100_40GB_PCIe_1x"):
        assert shown in text
    assert "image=" not in text, "what is not known is left out"


def test_status_wide(api, plugin):
    api.add(a_body("GpuVM", "train", status=STATUS))
    _, out, _ = plugin("status", "-o", "wide")
    assert "vmId=train-x" in out


@pytest.mark.parametrize(
    ("before", "now", "expected", "why"),
    [
        ("a\nb\n", "a\nb\nc\n", "c\n", "it has grown"),
        ("a\nb", "a\nbc\nd\n", "c\nd\n", "its last line was not whole yet"),
        ("a\nb\n", "a\nb\n", "", "nothing is new"),
        ("a\nb\nc\n", "b\nc\nd\n", "d\n", "the cloud shows a window, which has moved"),
        ("a\na\nb\n", "a\nb\na\n", "a\n", "lines that are equal"),
        ("a\nb\n", "x\ny\n", "x\ny\n", "another boot"),
        ("", "x\n", "x\n", "the first lines"),
        ("a\n", "", "", "the log is empty again"),
    ],
)
def test_what_a_log_has_more(before, now, expected, why):
    assert watching.added(before, now) == expected, why


@pytest.mark.parametrize(("count", "expected"), [(None, "a\nb\nc\n"), (0, ""), (1, "c\n"), (2, "b\nc\n"), (9, "a\nb\nc\n")])
def test_the_last_lines_of_a_log(count, expected):
    assert watching.last_lines("a\nb\nc\n", count) == expected


def test_a_log_is_followed_from_its_last_lines():
    written = []
    with pytest.raises(KeyboardInterrupt):
        watching.follow(scripted("a\nb\n", "a\nb\n", "a\nb\nc\n"), 1, written.append, no_pause)
    assert "".join(written) == "b\nc\n"


class Cloud:
    """Answers with these logs, whose last line has no end, as the cloud's; then the user presses Ctrl-C."""

    def __init__(self, *logs):
        self.read = scripted(*logs)

    def boot_log(self, _vm, _limit):
        return self.read()


@pytest.mark.parametrize(
    ("words", "out"),
    [
        ([], "a\nb [31mred\nc\n"),
        (["--tail", "2"], "b [31mred\nc\n"),
        (["--tail", "1", "-o", "json"], '"bootLog": "c"'),
    ],
)
def test_logs(words, out, api, plugin, monkeypatch):
    api.add(a_body("GpuVM", "train", status=STATUS))
    monkeypatch.setattr(cloud, "source_of", lambda *_: Cloud("a\nb \x1b[31mred\nc"))
    code, found, _ = plugin("logs", "train", *words)
    assert (code, out in found) == (0, True)
    assert "\x1b" not in found


def test_logs_follow_until_ctrl_c(api, plugin, monkeypatch):
    api.add(a_body("GpuVM", "train", status=STATUS))
    monkeypatch.setattr(cloud, "source_of", lambda *_: Cloud("a\n\x1b[31mb", "a\n\x1b[31mb\nc"))
    monkeypatch.setattr(watching, "LOG_SECONDS", 0)
    assert plugin("logs", "train", "--tail", "1", "-f") == (130, "[31mb\nc\n", "")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("stop train --wait", True),
        ("retry train --wait", True),
        ("snapshot train --wait", True),
        ("wait train", False),
        ("status -w", False),
    ],
)
def test_ctrl_c_says_that_the_operator_goes_on_only_where_something_was_asked_of_it(words, told, api, plugin, monkeypatch):
    def ctrl_c(_):
        raise KeyboardInterrupt

    api.add(a_body("GpuVM", "train", "Working"))
    monkeypatch.setattr("time.sleep", ctrl_c)
    code, _, err = plugin(*words.split())
    assert code == 130
    assert ("interrupted; the operator still carries out what was requested." in err) is told
    assert plugin("status", "-w")[2] == "", "what an earlier call has asked for is another matter"
