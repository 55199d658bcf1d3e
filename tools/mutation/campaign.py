"""One room of the product, the tests that concern it, and what became of its mutants."""

from __future__ import annotations

import contextlib
import random
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mutmut.configuration import reset_config
from mutmut.mutation.data import SourceFileMutationData
from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.mutation.file_mutation import mutate_file_contents
from mutmut.stats import status_by_exit_code
from mutmut.utils.format_utils import get_mutant_name

from mutation.undecorate import undecorate

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
FOUND = frozenset({"killed", "timeout", "segfault", "suspicious"})
UNTRIED = "not checked"
UNTOLD = "no outcome"
CONFIGURATION = """
[tool.mutmut]
source_paths = ["gpucloud"]
only_mutate = ["gpucloud/{room}/*"]
pytest_add_cli_args_test_selection = ["tests/unit/{room}"]
# Deselected: these look at all the functions of a class, to which mutmut adds its own.
pytest_add_cli_args = [
  "-p", "no:cacheprovider", "-p", "quick_first",
  "--deselect", "tests/unit/cloud/test_calls.py::test_the_table_covers_every_public_operation",
  "--deselect", "tests/unit/cloud/test_documentation.py::test_every_operation_is_documented_with_its_arguments",
]
also_copy = ["docs", "quick_first.py"]
use_git_change_detection = false
track_dependencies = false
timeout_multiplier = 5  # of what the tests take; a mutant that waits for ever must not hold the others up for long
"""


@dataclass(frozen=True)
class Outcome:
    """One mutant: its module, what became of it, and, when nobody noticed it, its diff."""

    name: str
    module: str
    status: str
    diff: str = ""

    @property
    def found(self) -> bool:
        """Whether the tests noticed. What no test calls was not noticed."""
        return self.status in FOUND


@dataclass(frozen=True)
class Campaign:
    """Mutants of ``gpucloud/<room>``, judged by ``tests/unit/<room>``. ``least`` is the share that must be found."""

    room: str
    sample: int
    least: float = 0.0

    @property
    def folder(self) -> Path:
        """Where it works."""
        return ROOT / "out" / "mutants" / self.room

    def prepare(self) -> None:
        """Copy what is needed, afresh."""
        shutil.rmtree(self.folder, ignore_errors=True)
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "operator" / "gpucloud", self.folder / "gpucloud", ignore=ignored)
        for part in (f"tests/unit/{self.room}", "tests/support", "docs"):
            shutil.copytree(ROOT / part, self.folder / part, ignore=ignored)
        shutil.copy(ROOT / "tests" / "conftest.py", self.folder / "tests")
        shutil.copy(Path(__file__).with_name("quick_first.py"), self.folder)
        settings = (ROOT / "pyproject.toml").read_text() + CONFIGURATION.format(room=self.room)
        (self.folder / "pyproject.toml").write_text(settings)
        for path in self._modules():
            undecorate(self.folder / path)

    def mutants(self) -> list[str]:
        """The names of all that can be made."""
        with self._inside():
            return [
                get_mutant_name(path, mutant)
                for path in self._modules()
                for mutant in mutate_file_contents(str(path), path.read_text()).mutant_names
            ]

    def chosen(self, seed: int, *, whole: bool) -> list[str]:
        """All of them, or a sample that the seed decides."""
        names = self.mutants()
        return names if whole else sorted(random.Random(seed).sample(names, min(self.sample, len(names))))  # noqa: S311

    def run(self, names: list[str]) -> list[Outcome]:
        """Let mutmut run them; what it says goes into a log.

        Raises:
            RuntimeError: mutmut itself failed; the tests must pass on the code as it is.
        """
        log = self.folder.with_suffix(".log")
        with log.open("w") as told:
            mutmut = Path(sys.executable).with_name("mutmut")
            done = subprocess.run([mutmut, "run", *names], cwd=self.folder, stdout=told, stderr=told, check=False)  # noqa: S603
        if done.returncode:
            raise RuntimeError(f"mutmut ended with {done.returncode}: see the end of {log}")
        wanted = set(names)
        with self._inside():
            outcomes = [outcome for path in self._modules() for outcome in _outcomes(path) if outcome.name in wanted]
        if any(outcome.status == UNTRIED for outcome in outcomes):
            raise RuntimeError(f"mutmut was interrupted before every mutant was tried: see {log}")
        return [*outcomes, *untold(names, outcomes)]

    def _modules(self) -> list[Path]:
        return sorted(path.relative_to(self.folder) for path in (self.folder / "gpucloud" / self.room).rglob("*.py"))

    @contextlib.contextmanager
    def _inside(self) -> Iterator[None]:
        """Mutmut reads its settings, and all paths, from the working directory."""
        with contextlib.chdir(self.folder):
            reset_config()
            yield


def _outcomes(path: Path) -> Iterator[Outcome]:
    data = SourceFileMutationData(path=path)
    data.load()
    module = ".".join(path.with_suffix("").parts[1:])
    for name, code in data.exit_code_by_key.items():
        status = status_by_exit_code[code]
        diff = "" if status in FOUND or code is None else str(get_diff_for_mutant(name, path=path))
        yield Outcome(name, module, status, diff)


def untold(names: list[str], outcomes: list[Outcome]) -> list[Outcome]:
    """Those that were drawn and of which mutmut said nothing: nobody found them."""
    told = {outcome.name for outcome in outcomes}
    lost = [name for name in dict.fromkeys(names) if name not in told]
    return [Outcome(name, name.rpartition(".")[0].partition(".")[2], UNTOLD) for name in lost]


def table(outcomes: list[Outcome]) -> list[str]:
    """Found of all, by module and in all."""
    found, every = Counter(item.module for item in outcomes if item.found), Counter(item.module for item in outcomes)
    lines = [f"  {module:<40} {found[module]:>5} of {every[module]:>5}" for module in sorted(every)]
    lines.append(f"  {'all':<40} {found.total():>5} of {every.total():>5}  ({share(outcomes):.1%})")
    missing = sum(item.status == UNTOLD for item in outcomes)
    return [*lines, f"  of {missing} drawn nothing was told: counted as not found"] if missing else lines


def share(outcomes: list[Outcome]) -> float:
    """Which part was found; of nothing, nothing was found."""
    return sum(item.found for item in outcomes) / len(outcomes) if outcomes else 0.0


def held(outcomes: list[Outcome], least: float) -> bool:
    """Whether enough were found. That nothing was tried is never enough."""
    return bool(outcomes) and share(outcomes) >= least
