"""Histories and results as people read them."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

from simulation import shrinking, single

if TYPE_CHECKING:
    from collections import Counter

    from simulation.single import Outcome

OUT = Path("out/simulate")
_DEVIATION = re.compile(r"^  (\S.*) \[(\d+)\] = (.*)$", re.MULTILINE)


def one(seed: int, *, shrink: bool) -> int:
    """Tell one history; answers the exit code."""
    single.quieten()
    print(story(seed, shrink=shrink))
    return 0


def story(seed: int, *, shrink: bool = True) -> str:
    """One history, made shorter, line by line; also written to ``out/simulate``."""
    outcome = single.live(seed, keep=True)
    runs = 0
    if shrink and outcome.violations:
        outcome, runs = shrinking.shrink(outcome)
    head = f"seed {seed}: {outcome.oracle or 'no violation'}, {len(outcome.deviations)} deviations" + (
        f" after {runs} runs" if runs else ""
    )
    known = outcome.deviations.items() if outcome.violations else ()
    deviations = [f"  {domain} [{number}] = {value!r}" for (domain, number), value in known]
    text = "\n".join([head, *deviations, *map(str, outcome.lines), *map(str, outcome.violations), ""])
    if outcome.violations:
        OUT.mkdir(parents=True, exist_ok=True)
        (OUT / f"{seed}-{outcome.oracle.replace(' ', '-')}.txt").write_text(text, errors="backslashreplace")
    return text


def replay(text: str) -> Outcome:
    """Make a told history again from its deviations, whatever else its seed would draw by now."""
    seed = int(text.split(":", 1)[0].removeprefix("seed "))
    found = _DEVIATION.findall(text)
    deviations = {(domain, int(number)): ast.literal_eval(value) for domain, number, value in found}
    return single.live(seed, deviations, keep=True)


def again(path: Path) -> int:
    """Make the history of a file again, and tell it; answers the exit code."""
    single.quieten()
    outcome = replay(path.read_text())
    print("\n".join([*map(str, outcome.lines), *map(str, outcome.violations)]))
    return 1 if outcome.violations else 0


def table(done: int, seconds: float, met: Counter[str], sometimes: Counter[str], broken: dict[str, list[Outcome]]) -> str:
    """What a campaign has shown."""
    lines = [f"{done} histories in {seconds:.0f} s: {done / seconds:.1f} a second"]
    lines += ["faults met, by number of histories:"]
    lines += [f"  {kind:<20} {count}" for kind, count in met.most_common()]
    lines += ["states reached, by number of times:"]
    lines += [f"  {state:<30} {count}" for state, count in sometimes.most_common()]
    lines += [f"violations: {sum(map(len, broken.values()))}"]
    for oracle, outcomes in sorted(broken.items(), key=lambda item: -len(item[1])):
        seeds = ", ".join(str(outcome.seed) for outcome in outcomes[:8])
        lines.append(f"  {oracle:<16} {len(outcomes):>5}  seeds {seeds}")
    return "\n".join(lines)
