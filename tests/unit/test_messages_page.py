"""The page of all messages: as printed, with each message once, and in a reader's words."""

from __future__ import annotations

import ast
import re
from collections import Counter

import pytest

from support.messages.__main__ import PAGE
from support.messages.conditions import said
from support.messages.filled import HELPERS, placeholder
from support.messages.fixturenames import found_in
from support.messages.page import page
from support.messages.placeholders import NAMES, NOUNS, generic
from support.messages.program import modules
from support.messages.sentences import printed, sentences
from support.messages.sources import FROM_ELSEWHERE, INFORMS, UNSEEN, unread
from support.messages.words import WORDS

GENERIC = [
    ("VM 'train-tagaa-mzx7ntfklm' in VPC 'acme'", "VM '{name in the cloud}' in VPC '{VPC}'", "the noun says what it is"),
    ("spec.configuration is 'A100_40GB_PCIe_1x'", "spec.configuration is '{configuration}'", "else the name does"),
    ("is 'true', neither", "is 'true', neither", "words of the message's own stay"),
    ('failed: "the cloud\'s own words". Do', 'failed: "{words of the cloud}". Do', "quoted by the message"),
    ('refused ("HTTP 502").', 'refused ("{words of the cloud}").', "quoted in brackets"),
    ("kubectl delete gpuvm/a gpuvm/b --namespace=team", "kubectl delete {kind}/{name} … --namespace={namespace}", "a command"),
]


@pytest.mark.parametrize(("words", "shown", "why"), GENERIC, ids=[row[2] for row in GENERIC])
def test_the_page_shows_placeholders_for_the_names_of_the_tests(words, shown, why):
    assert generic(words) == shown, why


WORDS_OF_TESTS = re.compile(r"\b(own words|HTTP \d+)\b")


@pytest.mark.parametrize("message", said(), ids=lambda item: f"{item.kind} {item.reason}")
def test_no_name_of_the_tests_is_on_the_page(message):
    words = generic(message.words)
    assert [*found_in(words), *WORDS_OF_TESTS.findall(words)] == []


# a message with a name of some table, and what is found in it
NAMED = [
    ("Waiting for GpuVM 'train'.", ["train"], "in quotes"),
    ("kubectl delete gpuvm train --namespace=team", ["team", "train"], "in a command"),
    ("gpuvms/train", ["train"], "behind a kind"),
    ("Still used by another GpuVM, there.", [], "names of some tests that are words, too"),
    ("VM 'old' stands beside 'another'.", ["another", "old"], "such a name in quotes"),
    ("The VM's spec.configuration is {configuration}.", [], "no name"),
]


@pytest.mark.parametrize(("words", "found", "why"), NAMED, ids=[row[2] for row in NAMED])
def test_the_names_of_the_tests_are_known_by_their_facts(words, found, why):
    assert found_in(words) == found, why


PYTHON = re.compile(r"' if \w|\bif \w+ else\b|\{[^{}]* or '|__|\{_|![rs]\}")
OF_COMMANDS = re.compile(r"\{\{.*?\}\}|\{\.[^{}]*\}")  # templates of kubectl
PLACEHOLDER = re.compile(r"\{([^{}\"]*)\}")
READERS_WORDS = re.compile(r"[A-Za-z]+(?:[ -][A-Za-z]+)*")


def shown_placeholders():
    return set(PLACEHOLDER.findall(OF_COMMANDS.sub("", PAGE.read_text(encoding="utf-8"))))


def test_no_expression_of_the_code_is_on_the_page():
    assert PYTHON.findall(PAGE.read_text(encoding="utf-8")) == []
    assert sorted(name for name in shown_placeholders() if not READERS_WORDS.fullmatch(name)) == []


ALSO_OF_A_FUNCTION = {
    "again",
    "command",
    "message",
    "question",
    "reason",
    "server",
    "shown",
    "unread",
    "unseen",
}  # a reader's words, all the same
METHODS = {"join", "get", "format"}  # of texts and dictionaries


def functions_that_fill_in():
    """The names of all functions that some text calls for what it is filled in with; methods have names of what they give."""
    nodes = (node for module in modules().values() for node in ast.walk(module.tree))
    filled = (node.value for node in nodes if isinstance(node, ast.FormattedValue) and isinstance(node.value, ast.Call))
    return METHODS | {call.func.id for call in filled if isinstance(call.func, ast.Name) and not call.func.id.startswith("_")}


def test_no_function_of_the_code_stands_for_what_it_returns():
    assert shown_placeholders() & functions_that_fill_in() == ALSO_OF_A_FUNCTION


# an expression of a text, and what the page shows for it
FILLED_IN = [
    ("NOUNS[kind]", "{NOUNS}"),
    ("value[:40]", "{value}"),
    ("left[0]", "{left}"),
    ("answer['state']", "{state}"),
    ("user.get('username')", "{username}"),
    ("len(names)", "{number}"),
    ("', '.join(names)", "{names}"),
    ("', '.join(str(one.key) for one in found)", "{names}"),
    ("'; '.join(map(str, commands))", "{commands}"),
    ("shlex.quote(who or 'USER')", "{who}"),
    ("question(near)", "{question}"),
]


@pytest.mark.parametrize(("expression", "shown"), FILLED_IN)
def test_what_stands_for_an_expression_is_no_expression(expression, shown):
    assert placeholder(ast.parse(expression, mode="eval").body) == shown


DECIDING = ("reconcile/", "engine/kinds/")
# Sentences of the source that are no message, and why.
NO_MESSAGE = {
    "File system at {}": "the name of what a reference means: it stands before the message",
    **dict.fromkeys(map(str, sentences("reconcile/transitions.py")), "proof of a transition, which reports no trouble"),
}


def test_every_sentence_of_the_deciding_modules_is_on_the_page():
    shown = printed(page())
    missing = [item for item in sentences(*DECIDING) if not any(map(item.is_in, shown))]
    assert [f"{item.place}: {item}" for item in missing if str(item) not in NO_MESSAGE] == []
    assert {str(item) for item in missing} >= set(NO_MESSAGE), "an exception that none needs"


def test_no_message_places_one_object_in_all_namespaces():
    assert "{key} in all namespaces" not in page()


def test_the_page_of_all_messages_is_as_printed():
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make messages`"


def test_every_command_on_the_page_has_marks_of_code():
    assert re.findall(r"(?:[:|•→] )kubectl [a-z].{30}", PAGE.read_text(encoding="utf-8")) == []


def test_what_is_the_case_is_on_the_page_once_with_all_its_ways_out():
    _, _, errors = PAGE.read_text(encoding="utf-8").partition("## Errors of the commands")
    for section in errors.partition("## Lines of success")[0].split("### "):
        found = (re.split(r" → | \| ", row.removeprefix("| "))[0] for row in section.splitlines() if row.startswith("| "))
        assert [cause for cause, times in Counter(found).items() if cause and times > 1] == []


KEPT = {
    "FROM_ELSEWHERE": FROM_ELSEWHERE,
    "UNSEEN": UNSEEN,
    "INFORMS": INFORMS,
    "HELPERS": HELPERS,
    "NOUNS": NOUNS,
    "NAMES": NAMES,
    "WORDS": WORDS,
}


@pytest.mark.parametrize("name", KEPT)
def test_no_exception_is_kept_that_none_needs(name):
    assert page()
    assert unread() == []
    assert sorted(map(str, set(KEPT[name]) - KEPT[name].used)) == []
