"""The fenced blocks of a page of the documents: which there are, and a terminal in which a reader would type them.

``bash`` is typed. ``text`` right after it is what that prints. ``yaml`` that names a kind is a manifest, which the apiserver
judges and does not keep. What only a test needs to know stands in HTML comments right above a block, which readers do not see:

    <!-- snippet: before: COMMANDS -->        type this first
    <!-- snippet: exit 3 -->                  it ends like that
    <!-- snippet: until: WORDS -->            it runs in a terminal of its own to the end of the page; go on once it prints this
    <!-- snippet: not run: REASON: WORDS -->  it cannot run here; the reasons are few, and a test knows them
"""

from __future__ import annotations

import os
import random
import re
import socket
import subprocess
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from support.processes import ChildProcess

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]
TYPED = "bash"
DRY_RUN = "kubectl apply --dry-run=server --validate=strict -f -"
LONGEST_SECONDS = 400.0  # against hangs; what a page waits for has deadlines of its own
_OURS = (20_000, 32_000)  # below the ports of outgoing connections
_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\S*)$")
_NOTE = re.compile(r"^ *<!-- snippet: (?P<word>before|exit|until|not run):? ?(?P<rest>.*?) -->$")
_COMMENT = re.compile(r"^ *<!--")
# What differs from run to run, in the order in which it is looked for, and the word that stands for it.
_PASSING = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"), "<time>"),
    (re.compile(r"\b\d{1,3}(\.\d{1,3}){3}(/\d+)?\b"), "<address>"),
    (re.compile(r"\b(\d+(\.\d+)?[smhd])+\b"), "<age>"),
    (re.compile(r"-[a-z2-7]{5}-[a-z2-7]{10}\b"), "-<mark>"),
    (re.compile(r"-\d{8}-?\d{6}\b"), "-<time>"),
    (re.compile(r"\$\d+\.\d\d so far"), "<cost> so far"),
    (re.compile(r"127\.0\.0\.1:\d+|<address>:\d+"), "<address>"),
)


@dataclass(frozen=True)
class Block:
    """One fenced block, with the notes above it."""

    page: Path
    line: int
    language: str
    text: str
    before: tuple[str, ...] = ()
    exit_code: int = 0
    until: str = ""
    not_run: str = ""
    follows: bool = False  # another block, with nothing in between

    @property
    def where(self) -> str:
        return f"{self.page.name}:{self.line}"

    @property
    def is_manifest(self) -> bool:
        return self.language == "yaml" and self.text.startswith("apiVersion:")

    @property
    def runs(self) -> bool:
        """Whether something comes of it in a terminal."""
        return not self.not_run and (self.is_manifest or self.language == TYPED)


@dataclass
class _Reading:
    """What has been read of a page so far."""

    page: Path
    blocks: list[Block] = field(default_factory=list)
    notes: dict[str, list[str]] = field(default_factory=dict)
    near: bool = False  # nothing but empty lines since the last block

    def note(self, found: re.Match[str]) -> None:
        self.notes.setdefault(found["word"], []).append(found["rest"])

    def block(self, line: int, language: str, text: str) -> None:
        one = {word: rest[-1] for word, rest in self.notes.items()}
        self.blocks.append(
            Block(
                self.page,
                line,
                language,
                text,
                before=tuple(self.notes.get("before", ())),
                exit_code=int(one.get("exit", 0)),
                until=one.get("until", ""),
                not_run=one.get("not run", ""),
                follows=self.near and not self.notes,
            )
        )
        self.notes, self.near = {}, True

    def prose(self, line: str) -> None:
        if line.strip() and not _COMMENT.match(line):
            assert not self.notes, f"{self.page.name}: a note stands above {line!r}, which is no block"
            self.near = False


def blocks(page: Path) -> list[Block]:
    """All blocks of a page, in order."""
    reading = _Reading(page)
    lines = iter(enumerate(page.read_text().splitlines(), 1))
    for number, line in lines:
        if opened := _FENCE.match(line):
            body = []
            for _, inner in lines:
                if inner == f"{opened['indent']}```":
                    break
                body.append(inner.removeprefix(opened["indent"]))
            reading.block(number, opened["language"], "\n".join(body))
        elif noted := _NOTE.match(line):
            reading.note(noted)
        else:
            reading.prose(line)
    return reading.blocks


def shown_after(found: list[Block]) -> dict[int, Block]:
    """What the blocks are said to print, by the place of the block that prints it."""
    pairs = enumerate(pairwise(found))
    return {
        place: after
        for place, (one, after) in pairs
        if after.follows and after.language == "text" and one.language == TYPED and not one.not_run
    }


def alike(expected: str, printed: str) -> bool:
    """Whether a page shows what is printed: ``…`` stands for anything, in a line or in place of lines.

    Ages, times, addresses and the marks in names may be others; blanks count as one.
    """
    lines = _plain(expected)
    pattern = "".join(r"(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + r"\n" for line in lines)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in _plain(printed))) is not None


def _plain(text: str) -> list[str]:
    for passing, word in _PASSING:
        text = passing.sub(word, text)
    return [line for line in (" ".join(line.split()) for line in text.splitlines()) if line]


class Took(NamedTuple):
    """How long a block took, by where it stands and its first line."""

    where: str
    line: str
    seconds: float

    def __str__(self) -> str:
        return f"{self.seconds:6.1f} s  {self.where:18} {self.line}"


class Terminal:
    """A folder and an environment in which blocks are typed; what one exports, the next one has."""

    def __init__(self, folder: Path, env: Mapping[str, str], instead: Mapping[str, str] | None = None) -> None:
        """``instead``: words of the page, and what is typed in their place; ports, which others may hold."""
        self.folder, self._env, self._instead = folder, {**env, "PS4": "+ "}, instead or {}
        self._exports = folder / ".exports"
        self._exports.touch()
        self._open = ExitStack()
        self.took: list[Took] = []

    def run(self, page: Path) -> list[str]:
        """Type all blocks of a page; answers what each printed."""
        found = blocks(page)
        shown = shown_after(found)
        told = []
        for place, block in enumerate(found):
            if block.runs and block.is_manifest:
                self._typed(f"{DRY_RUN} <<'END'\n{block.text}\nEND", block.where, 0)
            elif block.runs:
                told.append(self.type(block))
                if place in shown:
                    self.compare(shown[place], told[-1])
        return told

    def compare(self, shown: Block, printed: str) -> None:
        """Require that a page shows what is printed."""
        expected = self._said(shown.text)
        assert alike(expected, printed), f"{shown.where} shows:\n{expected}\nbut it printed:\n{printed}"

    def type(self, block: Block) -> str:
        """Type one block, which must end as it says."""
        for command in block.before:
            self._typed(command, block.where, 0)
        began = time.monotonic()
        printed = self._started(block) if block.until else self._typed(block.text, block.where, block.exit_code)
        self.took.append(Took(block.where, block.text.splitlines()[0], time.monotonic() - began))
        return printed

    def _typed(self, text: str, where: str, wanted: int) -> str:
        script = f". {self._exports}\ntrap 'export -p > {self._exports}' EXIT\n{self._said(text)}"
        done = subprocess.run(  # noqa: S603  # what our own pages say
            ["/bin/bash", "-euo", "pipefail", "-c", script], cwd=self.folder, env=dict(self._env), check=False, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LONGEST_SECONDS,
        )  # fmt: skip
        assert done.returncode == wanted, f"{where} ended with {done.returncode}, not {wanted}:\n{text}\n---\n{done.stdout}"
        return done.stdout

    def _started(self, block: Block) -> str:
        *first, last = re.split(r"(?<!\\)\n", self._said(block.text))
        script = "\n".join([f"cd {self.folder}", f". {self._exports}", *first, f"exec {last}"])
        process = self._open.enter_context(ChildProcess(["/bin/bash", "-c", script], env=self._env, name="terminal"))
        process.wait_for_line(block.until, LONGEST_SECONDS)
        return "\n".join(process.lines())

    def _said(self, text: str) -> str:
        for word, other in self._instead.items():
            text = text.replace(word, other)
        return text

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the terminals of their own, the last one first."""
        self._open.close()


def environment(home: Path, kubeconfig: Path, *folders: Path) -> dict[str, str]:
    """A reader's: a home of their own, these folders on the PATH, and none of our variables."""
    ours = ("GPUCLOUD_", "HELM_", "KUBE", "COLUMNS", "PYTHON", "VIRTUAL_ENV")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    path = os.pathsep.join([*map(str, folders), inherited.get("PATH", "")])
    return {**inherited, "HOME": str(home), "PATH": path, "KUBECONFIG": str(kubeconfig), "KUBECACHEDIR": str(home / ".cache")}


def free_port() -> int:
    """A port that nobody listens on, for what a page gives a number; of those that no kernel gives away by itself."""
    while True:
        found = random.randint(*_OURS)
        with socket.socket() as placeholder, suppress(OSError):
            placeholder.bind(("127.0.0.1", found))
            return found
