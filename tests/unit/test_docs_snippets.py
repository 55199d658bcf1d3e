"""Each block of the tutorial and the how-to pages is run, or says why it cannot be; and the judge of what they show is fair."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from support.snippets import ROOT, Terminal, alike, blocks, shown_after

PAGES = [ROOT / "docs" / "tutorial.md", *sorted((ROOT / "docs" / "how-to").glob("*.md"))]
BLOCKS = [block for page in PAGES for block in blocks(page)]
COMMANDS = ("kubectl", "gpucloud", "helm", "make", "uv", "pipx", "export", "$", "python", "kubeconform", "git")
# Why blocks do not run here, and how many: one more must be meant.
NOT_RUN = {
    "checkout": 2,  # the tests run in a checkout that is set up
    "cluster": 1,  # the tests bring their own
    "controllers": 1,  # needs kube-controller-manager; an end-to-end test of its own does it
    "engine": 4,  # needs a container engine, or root
    "fragment": 8,  # no manifest, and no command
    "network": 2,  # nothing answers there
    "pods": 2,  # needs a node
    "registry": 1,  # nothing is published
    "synopsis": 2,  # flags alone
    "tool": 1,  # a program that is not here
}
# Pages that name an address or a file of the reader's own, and what one with the demo does there in place of a note on it.
NOT_IN_THE_DEMO = {
    "account.md": "it holds the section",
    "install-with-helm.md": "the demo's cluster has no nodes; the page begins with a simulated cloud of its own",
    "run-the-operator.md": "the demo runs the operator; the page says how a simulated cloud is started",
}
OF_THE_READER = re.compile(r"https://cloud\.example|~/gpucloud-api-key|\$HOME/gpucloud-api-key")
IN_THE_DEMO = "[With `make demo KEEP=1`](account.md#with-make-demo-keep1) some lines of this page are different."


def looks_like_a_command(block):
    return block.text.split(maxsplit=1)[0] in COMMANDS


def test_what_does_not_run_is_counted():
    reasons = Counter(block.not_run.partition(":")[0] for block in BLOCKS if block.not_run)
    assert reasons == NOT_RUN, "\n".join(f"{block.where}: {block.not_run}" for block in BLOCKS if block.not_run)
    assert all(block.not_run.partition(":")[2].strip() for block in BLOCKS if block.not_run), (
        "and each says what would be needed"
    )


def test_most_is_run():
    assert len([block for block in BLOCKS if block.runs]) > 50
    assert len([block for block in BLOCKS if block.is_manifest]) >= 3
    assert len(shown_after(blocks(PAGES[0]))) >= 8, "the tutorial shows what comes of it"


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.where)
def test_a_block_runs_or_says_why_not(block):
    assert block.language, "say what it is: bash is run, text is shown"
    if block.runs or block.not_run:
        return
    assert block.language == "text", "only shell and manifests can be run"
    assert block.follows, "what is shown stands right after what prints it"
    assert not looks_like_a_command(block)


LIKE = [
    ("NAME READY AGE\nlab True 5s", "NAME   READY   AGE\nlab    True    2m16s\n", True, "blanks and ages"),
    ("ip 198.51.100.2", "ip 198.51.100.17", True, "addresses"),
    ("at 2026-01-02T03:04:05+00:00", "at 2026-11-21T20:28:08.598000+00:00", True, "times"),
    ("train-ibzrp-mzx7ntfklm is up", "train-fcwsh-jiotudms5u is up", True, "marks in names"),
    ("a\n…\nz", "a\nb\nc\nz", True, "lines left out"),
    ("a\n…\nz", "a\nz", True, "no line left out"),
    ("a … z", "a b c z", True, "words left out"),
    ("a\n\nb", "a\nb\n", True, "empty lines"),
    ("…", "", True, "whatever it prints"),
    ("lab True", "lab False", False, "another word"),
    ("a\nb", "a\nb\nc", False, "more than is shown"),
    ("a\nb\nc", "a\nb", False, "less than is shown"),
    ("b\na", "a\nb", False, "another order"),
    ("a … z", "a\nz", False, "not over lines"),
    ("3 VMs", "4 VMs", False, "a count"),
    ("$4.10 an hour", "$2.05 an hour", False, "a price"),
    ("a.c", "abc", False, "no pattern of the page's own"),
]


@pytest.mark.parametrize(("expected", "printed", "same", "why"), LIKE, ids=[row[3] for row in LIKE])
def test_what_counts_as_alike(expected, printed, same, why):
    assert alike(expected, printed) is same, why


@pytest.fixture
def typed(tmp_path):
    """A function from the text of a page to what its blocks print."""

    def run(text):
        page = tmp_path / "page.md"
        page.write_text(text)
        with Terminal(tmp_path, {"PATH": "/usr/bin:/bin"}, {"8080": "9090"}) as terminal:
            return terminal.run(page)

    return run


def a_page(command, shown="", *notes):
    above = "".join(f"<!-- snippet: {note} -->\n" for note in notes)
    below = f"\n```text\n{shown}\n```\n" if shown else ""
    return f"# A page\n\nSome words.\n\n{above}```bash\n{command}\n```\n{below}"


def test_what_one_block_exports_the_next_one_has(typed):
    assert typed(a_page("export A=1\nB=2") + a_page('echo "$A ${B:-none}"', "1 none")) == ["", "1 none\n"]


def test_what_stands_before_is_typed_first_and_not_shown(typed):
    assert typed(a_page("cat there", "words", "before: echo words > there")) == ["words\n"]


def test_a_port_is_another_one_in_commands_and_in_what_they_show(typed):
    assert typed(a_page("echo :8080", ":8080")) == [":9090\n"]


def test_what_cannot_run_is_not_run(typed):
    assert typed(a_page("false", "", "not run: network: it would fail")) == []


def test_one_that_runs_on_is_waited_for_and_ended_with_the_page(typed, tmp_path):
    told = typed(
        a_page("export WORD=up\nbash -c 'echo $$ > pid; echo $WORD; exec sleep 60'", "", "until: up")
        + a_page("kill -0 $(cat pid)")
    )
    assert told[0].strip() == "up"
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()


@pytest.mark.parametrize(
    ("page", "says"),
    [
        (a_page("echo a | false | cat"), "ended with 1, not 0"),
        (a_page("false\necho a"), "ended with 1, not 0"),
        (a_page('echo "$NOBODY_SET_IT"'), "ended with 1, not 0"),
        (a_page("true", "", "exit 3"), "ended with 0, not 3"),
        (a_page("true", "", "before: false"), "ended with 1, not 0"),
        (a_page("echo a", "b"), "but it printed"),
        ("<!-- snippet: exit 3 -->\nwords\n", "which is no block"),
    ],
    ids=["a failure in a pipe", "before the last command", "unset", "it should fail", "what is first", "shown", "a lone note"],
)
def test_a_page_that_is_wrong_is_found(typed, page, says):
    with pytest.raises(AssertionError, match=says):
        typed(page)


OF_READERS = {block.page.name for block in BLOCKS if OF_THE_READER.search(block.text)}


@pytest.mark.parametrize("name", sorted(OF_READERS))
def test_a_page_with_an_address_of_the_readers_own_says_what_is_different_in_the_demo(name):
    words = (ROOT / "docs" / "how-to" / name).read_text()
    assert (words.count(IN_THE_DEMO) == 1) is not (name in NOT_IN_THE_DEMO)


def test_no_page_is_excepted_in_vain():
    assert set(NOT_IN_THE_DEMO) - OF_READERS == set()
