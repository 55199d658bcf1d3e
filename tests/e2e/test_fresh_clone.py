"""README, recipes and tutorial typed word by word in a fresh clone, as by a new user. Times are printed, never judged."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest

from support.freshclone import Clone
from support.processes import ChildProcess
from support.snippets import ROOT, Block, blocks, free_port, shown_after
from support.waiting import eventually

pytestmark = pytest.mark.timeout(900)  # it installs everything
LONGEST_SECONDS = 400
README, TUTORIAL = ROOT / "README.md", ROOT / "docs" / "tutorial.md"
RECIPES = ROOT / "docs" / "how-to" / "gpuvm.md"  # the first page of the cookbook; tests/e2e/test_docs.py types the others


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    return Clone(tmp_path_factory.mktemp("new-user"))


def a_step(page, text):
    return Block(page, 0, "bash", text)


def quickstart():
    found = [block for block in blocks(README) if block.language == "sh"]
    assert len(found) >= 4, "create, power, offers, delete"
    return found


def test_the_readme_from_the_clone_to_a_vm_that_is_ready_stopped_and_gone_and_the_recipes(clone, figure):
    figure(f"{clone.setup_seconds:6.1f} s  make setup, which make demo begins with")
    began = time.monotonic()
    keep = f"cd {clone.folder} && exec make demo KEEP=1"
    with ChildProcess(["bash", "-c", keep], env=clone.around, name="demo") as demo:
        demo.wait_for_line("  less ", LONGEST_SECONDS)
        figure(f"{time.monotonic() - began:6.1f} s  make demo KEEP=1, until it prints what to export")
        exports = [line.strip() for line in demo.lines() if line.startswith("  export ")]
        assert len(exports) == 4, "KUBECONFIG, KUBECACHEDIR, PATH, GPUCLOUD_ENDPOINT"
        with clone.terminal() as opened:
            opened.type(a_step(README, "\n".join(exports)))
            said = [opened.type(block) for block in quickstart()]
            for block in blocks(RECIPES):
                if block.runs:
                    opened.type(block)
        demo.kill9()
        eventually(lambda: "everything is gone" in demo.log.read_text(), 60.0, "the demo ends although make was killed")
    for step in opened.took:
        figure(str(step))
    assert "gpuvm.gpucloud.dev/mine condition met" in said[0]
    assert 'gpuvm.gpucloud.dev "mine" deleted' in said[-1]


def as_typed(block):
    """A block as it is typed here: the clone is there, and the control plane in a terminal of its own."""
    match block.not_run.partition(":")[0]:
        case "checkout":
            return replace(block, not_run="", text=re.sub(r"^git clone .*\n", "", block.text))
        case "cluster":
            return replace(block, not_run="", until="Ctrl-C ends it")
    return block


def test_the_tutorial_word_by_word(clone, figure):
    found = [as_typed(block) for block in blocks(TUTORIAL)]
    shown = shown_after(found)
    with clone.terminal({"8080": str(free_port())}) as opened:
        for place, block in enumerate(found):
            if not block.runs:
                assert block.follows, f"{block.where}: it is shown, and printed by nothing"
                continue
            printed = opened.type(block)
            for line in printed.splitlines():
                if line.startswith("export "):
                    opened.type(a_step(TUTORIAL, line))
            if place in shown:
                opened.compare(shown[place], printed)
    left = clone.run("git", "status", "--porcelain").splitlines()
    assert left in ([], ["?? .exports"]), "git ignores the keys and files that the tutorial makes; .exports is the terminal's"
    for step in opened.took:
        figure(str(step))
    figure(f"{sum(step.seconds for step in opened.took):6.1f} s  the whole tutorial")
