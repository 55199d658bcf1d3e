"""The page of the commands is what they print of themselves, and holds each of them with how it ends."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpucloud.cli.main import COMMANDS, main
from pages.commands import FLAGS_ELSEWHERE, page

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "gpucloud.md").read_text()
SECTIONS = dict(part.split("\n", maxsplit=1) for part in PAGE.split("\n## ")[1:])


def helped(name, capsys):
    """What ``--help`` of a command tells, on one line."""
    with pytest.raises(SystemExit):
        main([name, "--help"])
    return " ".join(capsys.readouterr().out.split())


def test_the_page_is_what_the_commands_print():
    assert page() == PAGE, "run: make crds"


def test_what_the_environment_says_does_not_change_it(monkeypatch):
    monkeypatch.setenv("GPUCLOUD_SIM_PORT", "1234")
    monkeypatch.setenv("COLUMNS", "40")
    assert page() == PAGE


def test_every_command_has_its_section():
    assert list(SECTIONS) == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_fits_a_terminal_of_80_columns(name, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main([name, "--help"])
    assert [line for line in capsys.readouterr().out.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_a_section_tells_every_flag_and_how_the_command_ends(name, capsys):
    told = helped(name, capsys)
    if name not in FLAGS_ELSEWHERE:
        flags = set(re.findall(r"(?<!\S)--[a-z-]+", told)) - {"--help"}
        assert flags
        assert flags - set(re.findall(r"(?:`|<code>)(--[a-z-]+)", SECTIONS[name])) == set()
    assert re.search(r"Exit code: 0 .+, 1 .+, 2 ", told.replace("3 some, ", "")), "in --help"
    assert "\nExit code: " in SECTIONS[name] or ". Exit code: " in SECTIONS[name], "and on the page"
