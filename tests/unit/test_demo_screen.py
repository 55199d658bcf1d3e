"""The demo's two ways to talk: a table redrawn on a terminal, plain lines in a log."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest
from rich.console import Console

from demo import view
from demo.screen import LogScreen, TerminalScreen, screen

LONG = "word " * 50
# Of the future, so that its age stays at nought while the test runs.
KEY = view.Key("GpuVM", "train")
TRAIN = view.Row(KEY, "True", "Running", "ONLINE", "198.51.100.7", "It runs.", datetime(2999, 1, 1, tzinfo=UTC))


@pytest.fixture
def terminal():
    console = Console(file=io.StringIO(), force_terminal=True, width=view.WIDTH, _environ={"TERM": "xterm"})
    with TerminalScreen(console) as shown:
        yield shown, console.file


def test_a_log_is_plain_and_narrow(capsys):
    with LogScreen() as log:
        log.say(LONG)
        log.command("kubectl get gpuvm")
        log.output(LONG)
        log.show({KEY: TRAIN})
        log.show({KEY: TRAIN})
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= view.WIDTH and line.isprintable() for line in lines)
    assert "$ kubectl get gpuvm" in lines
    assert sum("Ready=True" in line for line in lines) == 1, "what did not change is not said again"


def test_a_terminal_redraws_the_table_only_when_it_looks_different(terminal):
    shown, printed = terminal
    shown.show({KEY: TRAIN})
    shown.show({KEY: TRAIN})
    assert printed.getvalue().count("It runs.") == 1
    shown.show({})
    shown.show({KEY: TRAIN})
    assert printed.getvalue().count("It runs.") == 2


def test_a_command_stands_above_the_table(terminal):
    shown, printed = terminal
    shown.show({KEY: TRAIN})
    shown.command("kubectl get gpuvm")
    after = printed.getvalue().rpartition("kubectl get gpuvm")[2]
    assert "It runs." in after, "the table is drawn again below"


@pytest.mark.parametrize(
    ("why", "tty", "term", "kind"),
    [
        ("a pipe or a file", False, "xterm", LogScreen),
        ("a terminal that cannot move its cursor", True, "dumb", LogScreen),
        ("a terminal", True, "xterm", TerminalScreen),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_way_follows_from_where_it_goes(monkeypatch, why, tty, term, kind):
    monkeypatch.setattr("sys.stdout.isatty", lambda: tty)
    monkeypatch.setenv("TERM", term)
    assert isinstance(screen(), kind), why
