"""What we tell people to type to Helm: every option exists for its verb, and no upgrade keeps the old chart's values."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from chartfiles.places import CHART
from gpucloud.cli import uninstall

ROOT = Path(__file__).parents[2]
# A command ends with its code span, its sentence or its paragraph, or where the next command begins.
COMMAND = re.compile(
    r"\bhelm ([a-z]+)\b(.*?)(?=`|[.;!?)](?:\s|$)|\n\s*\n|\n\s*[-|#]\s|\b(?:helm|kubectl|gpucloud) |\Z)", re.DOTALL
)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "deploy").rglob("*.md"))]
TEXTS = {
    "a refusal": f"{uninstall.ADVICE}\n{uninstall.SET_NOW}",
    "a time that is over": f"{uninstall.STUCK}\n{uninstall.SET_NOW}",
    **{
        str(path.relative_to(ROOT)): path.read_text()
        for path in [*PAGES, CHART / "templates" / "NOTES.txt", CHART / "values.yaml"]
    },
}


def commands(text):
    """Each command of a text: its verb, and the options that are named with it."""
    return [(verb, set(OPTION.findall(rest))) for verb, rest in COMMAND.findall(text)]


@pytest.fixture(scope="session")
def options(helm):
    """A function from a verb to the options that Helm knows there."""

    @cache
    def known(verb):
        done = helm.run(verb, "--help")
        assert done.returncode == 0, done.stderr
        return set(OPTION.findall(done.stdout.partition("Flags:")[2]))

    return known


@pytest.mark.parametrize("where", [name for name, text in TEXTS.items() if commands(text)])
def test_every_option_that_is_told_exists(where, options):
    told = commands(TEXTS[where])
    assert [(verb, sorted(named - options(verb))) for verb, named in told if named and named - options(verb)] == []


@pytest.mark.parametrize("where", [name for name, text in TEXTS.items() if commands(text)])
def test_no_upgrade_that_is_told_keeps_the_old_image(where):
    """A published chart names its image in its values. Of the other options one keeps these, one forgets all that was set.

    What comes from somebody's repository (``--repo``) is another chart than ours.
    """
    upgrades = [named for verb, named in commands(TEXTS[where]) if verb == "upgrade" and named and "--repo" not in named]
    assert [sorted(named) for named in upgrades if "--reset-then-reuse-values" not in named] == []


READ = [
    ("run helm uninstall again, and longer: --set a. Use --b", [("uninstall", {"--set"})], "to the sentence's end"),
    ("run helm uninstall again, with --set a.b", [("uninstall", {"--set"})], "prose"),
    (
        "helm upgrade a b \\\n  --set c=d --wait\n\n--more",
        [("upgrade", {"--set", "--wait"})],
        "over lines, to the paragraph's end",
    ),
    ("`helm rollback a`, then `helm test b --logs`", [("rollback", set()), ("test", {"--logs"})], "each its own"),
    ("`helm uninstall --no-hooks`, with `--take-ownership`", [("uninstall", {"--no-hooks"})], "another code span"),
]


@pytest.mark.parametrize(("text", "expected", "why"), READ, ids=[row[2] for row in READ])
def test_commands_are_read_as_people_read_them(text, expected, why):
    assert commands(text) == expected, why


def test_enough_was_read():
    found = [one for text in TEXTS.values() for one in commands(text)]
    assert len([named for _, named in found if named]) >= 12
    assert {"install", "upgrade", "uninstall", "rollback", "test"} <= {verb for verb, _ in found}
