"""YAML of the programs: read alike by kubectl, which is written in Go, and by PyYAML."""

import pytest
import yaml

from gpucloud.cli.terminal import printing

# Plain scalars that go-yaml, YAML 1.1 or YAML 1.2 read as a number, a boolean, a time or nothing.
AMBIGUOUS = [
    *("1e3", "12345e67", "1E+3", "+1", "-1", "1_000", "0o17", "017", "0x1F", "0b11", ".5", "1.", "1:30", "190:20:30"),
    *("y", "Y", "n", "N", "yes", "No", "on", "OFF", "true", "False", "TRUE", "null", "Null", "~", ""),
    *(".inf", "-.Inf", ".NaN", "nan", "inf", "Infinity", "=", "<<", "2026-11-26", "2026-11-26T22:00:00Z"),
]


@pytest.mark.parametrize("word", AMBIGUOUS)
def test_a_string_that_could_be_something_else_is_quoted(capsys, word):
    printing.document({"name": word, word: ["x", word]}, printing.Output.YAML)
    text = capsys.readouterr().out
    assert text.count(f"'{word}'") == 3, text
    assert yaml.safe_load(text) == {"name": word, word: ["x", word]}


TEXT = ["train", "A100_40GB_PCIe_1x", "ssh-ed25519 AAAA you@example.com", "yes-or-no", "/dev/vda", "e3"]
ODD = ["a: b", "1: b", "x #y", "two\nlines", "1\n2\n", "tab\there", "\x1b[31mred", "5\x1b", "it's", "\u00e9", "\U0001f6001"]


@pytest.mark.parametrize("word", TEXT)
def test_other_text_stays_as_people_write_it(capsys, word):
    printing.documents([{"name": word}])
    assert capsys.readouterr().out == f"name: {word}\n"


def test_numbers_booleans_and_nothing_stay_what_they_are(capsys):
    printing.document({"disk": 100, "isDefault": False, "price": 2.5, "vpc": None}, printing.Output.YAML)
    assert capsys.readouterr().out == "disk: 100\nisDefault: false\nprice: 2.5\nvpc: null\n"


@pytest.mark.parametrize("text", ODD)
def test_whatever_a_string_holds_comes_back(capsys, text):
    printing.document({"log": text}, printing.Output.YAML)
    assert yaml.safe_load(capsys.readouterr().out) == {"log": text}


@pytest.mark.parametrize(
    ("char", "why"),
    [
        ("\x85", "go-yaml takes it for the end of a line, and a line in quotes goes on behind a space"),
        ("\u2028", "an end of a line to YAML 1.1 only"),
        ("\u202e", "turns what follows it round on a terminal: the name that is read is not the one that is applied"),
        ("\u200b", "is not seen at all"),
        ("\xa0", "looks like a space"),
        ("\U000e0041", "is not seen, and takes more than four digits"),
        ("\x9b", "begins a command to a terminal"),
    ],
)
def test_what_a_terminal_does_not_show_is_escaped(capsys, char, why):
    for text in (f"lab{char}x", char, f"é{char} \\ \"q\" 'p'"):
        printing.documents([{"name": text, text: 1}])
        out = capsys.readouterr().out
        assert char not in out, why
        assert yaml.safe_load(out) == {"name": text, text: 1}
