"""The reference pages written by hand keep up with the code: every setting, every reason, every annotation."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from gpucloud.cli.plugin.model.explanations import explanations
from gpucloud.flags import ENV_PREFIX, FLAGS
from gpucloud.kinds.explained import EXPLAINED
from gpucloud.kinds.meta import Annotation, ConditionType, Reason
from pages.__main__ import pages
from pages.markdown import between
from pages.reasons import recipes_into, troubles_into
from printed import stale
from support.decisions.tables import TABLES

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "reference"
SETTINGS = (PAGES / "settings.md").read_text()
STATUS = (PAGES / "status.md").read_text()
TROUBLESHOOTING = (ROOT / "docs" / "how-to" / "troubleshooting.md").read_text()
# Reasons of an object that is not Ready, for which nobody needs to look anything up.
HARMLESS = {
    Reason.PROVISIONING: "the cloud is at work on it, and its word says so",
    Reason.STARTING: "what was asked for is under way",
    Reason.STOPPING: "what was asked for is under way",
    Reason.RESTARTING: "what was asked for is under way",
    Reason.RECREATING: "what was asked for is under way",
    Reason.REBOOTING: "what was asked for is under way",
    Reason.REPROVISIONING: "what was asked for is under way",
    Reason.DELETING: "what was asked for is under way; the page has a row for a deletion that hangs",
}


# Each kind's page of recipes, and the reasons that call a person beside those of its table of decisions.
RECIPES = {"GpuVM": "gpuvm", "GpuVpc": "vpc", "GpuSnapshot": "snapshot", "GpuHost": "host", "GpuCloudAccount": "account"}
ELSEWHERE = {"GpuVM": {Reason.DELETION_HELD, Reason.LIMIT_REACHED}}  # decided in test_brake.py and test_quota.py


def calling_a_person(kind):
    """The reasons with which an object of this kind may be Stalled."""
    rows = TABLES[kind].rows.values()
    return {row.reason for row in rows if row.reason and row.progress == "Stalled"} | ELSEWHERE.get(kind, set())


def rows_of(text):
    """The cells of every row of every table, by the first cell."""
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return {line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]] for line in lines}


def test_every_printed_page_is_as_it_would_be_printed_today():
    assert stale(pages()) == [], "run: make crds"


@pytest.mark.parametrize("item", FLAGS.values(), ids=lambda item: item.name)
def test_every_setting_is_listed_as_it_is(item):
    variable, default, meaning = rows_of(SETTINGS)[f"`{item.option}`"]
    assert (variable, meaning) == (f"`{item.variable}`", item.help)
    assert default.casefold() == ("none" if item.default in ("", ()) else str(item.default).casefold())


def test_a_table_without_its_marks_is_refused():
    """Else it would be printed nowhere, and every check of it pass."""
    with pytest.raises(ValueError, match="settings: end"):
        between("<!-- settings: printed by `make crds` -->\n", "settings", "| a |")


@pytest.mark.parametrize("secret", ["API_KEY", "USERNAME", "PASSWORD"])
def test_every_secret_is_named_in_both_forms(secret):
    assert f"`{ENV_PREFIX}{secret}`" in SETTINGS
    assert f"`{ENV_PREFIX}{secret}_FILE`" in SETTINGS


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_is_explained(reason):
    cells = rows_of(STATUS)[f"`{reason}`"]
    assert len(cells) == 3, "the condition, the meaning, what to do"
    assert all(cells)


def test_the_plugin_explains_the_reasons_in_the_order_of_the_code():
    assert [row.reason for row in EXPLAINED] == list(map(Reason, explanations()))


def test_every_reason_is_explained_once():
    assert Counter(row.reason for row in EXPLAINED) == Counter(Reason)


def not_ready(reason):
    """Whether an object that is not as asked may bear it."""
    conditions = rows_of(STATUS)[f"`{reason}`"][0]
    return conditions.startswith("Ready") and not conditions.startswith("Ready True")


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_that_calls_for_a_look_is_in_troubleshooting(reason):
    listed = any(f"`{reason}`" in line for line in TROUBLESHOOTING.splitlines() if line.startswith("| "))
    expected = not_ready(reason) and reason not in HARMLESS
    assert listed is expected, "a row of docs/how-to/troubleshooting.md, or HARMLESS with a reason"


@pytest.mark.parametrize(("kind", "page"), RECIPES.items())
def test_every_reason_that_calls_a_person_is_in_the_recipes_of_its_kind(kind, page):
    section = (ROOT / "docs" / "how-to" / f"{page}.md").read_text().split("what now?\n")[1].split("\n## ")[0]
    listed = {Reason(word) for cell in rows_of(section) for word in re.findall(r"`(\w+)`", cell)}
    assert calling_a_person(kind) - listed == set()
    borne = {row.reason for row in TABLES[kind].rows.values()} | ELSEWHERE.get(kind, set())
    assert listed - borne == set(), "no object of this kind bears them"


@pytest.mark.parametrize("name", [*RECIPES.values(), "troubleshooting"])
def test_a_way_out_that_was_edited_on_a_page_alone_is_printed_again(name):
    page = (ROOT / "docs" / "how-to" / f"{name}.md").read_text()
    edited = re.sub(r"(?m)^(\| `\w+`.* \| ).*( \|)$", r"\1Another way out.\2", page)
    assert edited != page
    printed = troubles_into(edited) if name == "troubleshooting" else recipes_into(edited, f"{name}.md")
    of_reasons = [text.partition("reasons: printed by")[2].partition("reasons: end")[0] for text in (printed, page)]
    assert of_reasons[0] == of_reasons[1]
    assert "Another way out." not in of_reasons[0]


def test_some_kind_has_each_reason_that_calls_a_person():
    stalled = {reason for reason in Reason if "Stalled" in rows_of(STATUS)[f"`{reason}`"][0]}
    assert {reason for kind in RECIPES for reason in calling_a_person(kind)} == stalled


DECIDED = [row for table in TABLES.values() for row in table.rows.values() if row.reason]


@pytest.mark.parametrize("reason", sorted({row.reason for row in DECIDED}))
def test_the_conditions_of_each_reason_are_as_decided(reason):
    """The words of the cell are those of the decisions, none more and none less."""
    words = set(re.findall(r"True|False|Unknown|Reconciling|Stalled", rows_of(STATUS)[f"`{reason}`"][0]))
    rows = [row for row in DECIDED if row.reason == reason]
    assert words == {word for row in rows for word in (row.ready, row.progress) if word}


@pytest.mark.parametrize("annotation", Annotation)
def test_every_annotation_is_explained(annotation):
    assert all(rows_of(STATUS)[f"`{annotation}`"])


@pytest.mark.parametrize("condition", ConditionType)
def test_every_condition_is_explained(condition):
    assert all(rows_of(STATUS)[f"`{condition}`"])


def test_no_reason_is_explained_that_does_not_exist():
    known = {f"`{word}`" for word in (*Reason, *Annotation, *ConditionType)}
    named = {word for word in rows_of(STATUS) if word.strip("`").isalnum()}
    assert named - known == set()


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")], ids=lambda p: p.name
)
def test_every_link_within_the_repository_leads_somewhere(page):
    links = re.findall(r"\]\(([\w./:-]+)[)#]", page.read_text())
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


def test_every_command_of_make_that_a_page_names_exists_and_those_that_try_the_product_are_named():
    targets = set(re.findall(r"^([a-z0-9-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    assert {word for page in pages for word in re.findall(r"`make ([a-z0-9-]+)", page.read_text())} <= targets
    for page in pages[:2]:
        named = set(re.findall(r"`make ([a-z0-9-]+)", page.read_text()))
        assert {"simulate", "chaos", "fuzz", "planted", "mutants", "bench"} <= named, page


def test_the_help_of_make_fits_a_terminal_of_100_columns():
    command = ["make", "help"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()  # noqa: S603 - our own
    assert len(told) > 20
    assert [line for line in told if len(line) > 100] == []


def test_make_simulate_prints_what_the_histories_say_and_not_its_recipe():
    recipe = re.search(r"^simulate:.*\n(?:\t\$\(foreach.*\n)?\t(.)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe[1] == "@"


def test_the_readme_stays_short():
    """What a visitor does not need in the first minutes stands on a page of docs/."""
    prose = re.sub(r"```.*?```|\]\([^)]*\)", "", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert len(re.findall(r"[A-Za-z][\w'-]*", prose)) <= 500
