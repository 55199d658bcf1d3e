"""The demo's two ways to talk: a table redrawn on a terminal, plain lines in a log."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime

import pytest
from rich.console import Console

from demo import view
from demo.screen import NARROW, LogScreen, TerminalScreen, screen

LONG = "word " * 50
COMMAND = f"kubectl wait {' '.join(f'gpuvm/{number}' for number in range(20))}"
# Of the future, so that its age stays at nought while the test runs.
KEY = view.Key("GpuVM", "train")
TRAIN = view.Row(KEY, "True", "Running", "ONLINE", "198.51.100.7", "It runs.", datetime(2999, 1, 1, tzinfo=UTC))


@pytest.fixture
def terminal():
    console = Console(file=io.StringIO(), force_terminal=True, width=80, _environ={"TERM": "xterm"})
    with TerminalScreen(console) as shown:
        yield shown, console.file


def test_a_log_is_plain_and_narrow(capsys):
    with LogScreen() as log:
        log.say(LONG)
        log.command("kubectl get gpuvm")
        log.command(COMMAND)
        log.output(LONG)
        log.show({KEY: TRAIN})
        log.show({KEY: TRAIN})
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= NARROW and line.isprintable() for line in lines)
    assert "$ kubectl get gpuvm" in lines
    assert f"$ {COMMAND}" in "\n".join(lines).replace(" \\\n   ", "")
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


def test_on_a_terminal_no_line_of_a_command_is_broken_but_by_a_backslash(terminal):
    shown, printed = terminal
    shown.command(COMMAND)
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\r", "", printed.getvalue())
    lines = [line for line in plain.split("\n") if line]
    assert f"$ {COMMAND}" in "\n".join(lines).replace(" \\\n   ", "")
    assert max(map(len, lines)) <= 80


def test_a_log_is_as_wide_as_its_reader_says(monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: False)
    monkeypatch.delenv("COLUMNS", raising=False)
    assert screen().width == NARROW
    monkeypatch.setenv("COLUMNS", "120")
    assert screen().width == 120


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
