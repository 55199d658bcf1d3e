"""Histories and results as people read them."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

from simulation import shrinking, single

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable

    from simulation.records import Line
    from simulation.single import Outcome

OUT = Path("out/simulate")
WIDEST = 240  # characters of a line, where a history is told in brief
_PLAIN = {"200", "201", "202"}
_DEVIATION = re.compile(r"^  (\S.*) \[(\d+)\] = (.*)$", re.MULTILINE)


def one(seed: int, *, shrink: bool) -> int:
    """Tell one history; answers the exit code."""
    single.quieten()
    outcome = single.live(seed, keep=True)
    print(story(outcome, shrink=shrink))
    return 1 if outcome.violations else 0


def story(outcome: Outcome, *, shrink: bool = True) -> str:
    """One history. One with a violation is made shorter, written whole to ``out/simulate``, and told in brief."""
    seed, runs = outcome.seed, 0
    if shrink and outcome.violations:
        outcome, runs = shrinking.shrink(outcome)
    head = f"seed {seed}: {outcome.oracle or 'no violation'}, {len(outcome.deviations)} deviations" + (
        f" after {runs} runs" if runs else ""
    )
    known = outcome.deviations.items() if outcome.violations else ()
    deviations = [f"  {domain} [{number}] = {value!r}" for (domain, number), value in known]
    text = "\n".join([head, *deviations, *map(str, outcome.lines), *map(str, outcome.violations), ""])
    if not outcome.violations:
        return text
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / f"{seed}-{outcome.oracle.replace(' ', '-')}.txt"
    path.write_text(text, errors="backslashreplace")
    if not shrink:
        return text
    drawn = [line for line in deviations if not line.startswith("  latency")]
    told = brief(outcome.lines)
    left_out = (
        f"  (left out: {len(deviations) - len(drawn)} latencies, {len(outcome.lines) - len(told)} lines; the whole: {path})"
    )
    return "\n".join([head, *drawn, left_out, *told, *map(str, outcome.violations), ""])


def brief(lines: Iterable[Line]) -> list[str]:
    """What a reader needs: what people and the cloud did, changing calls, faults, and each verdict that is new."""
    verdicts: dict[str, str] = {}
    return [cut if len(cut := str(line)) <= WIDEST else f"{cut[:WIDEST]}..." for line in lines if _tells(line, verdicts)]


def _tells(line: Line, verdicts: dict[str, str]) -> bool:
    if line.who == "admin" and line.at == 0.0:
        return False  # the stage is set, always in the same way
    if not line.who.startswith("operator"):
        return line.answer != "for the tenant"
    if line.answer and line.answer.split()[0] not in _PLAIN:
        return True  # a fault, or a refusal
    verb, _, about = line.what.partition(" ")
    if verb == "PUT" and about.endswith("/status"):
        before, verdicts[about] = verdicts.get(about), line.answer
        return before != line.answer
    return not (verb.startswith("Get") or (verb == "POST" and about.endswith("/events")))


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


def histories(count: int) -> str:
    """Return this number of histories in words."""
    return f"{count} {'history' if count == 1 else 'histories'}"


def table(
    done: int,
    seeds: tuple[int, int],
    seconds: float,
    met: Counter[str],
    sometimes: Counter[str],
    broken: dict[str, list[Outcome]],
) -> str:
    """What a campaign has shown."""
    first, last = seeds
    lines = [f"{histories(done)} in {seconds:.0f} s: {done / seconds:.1f} a second"]
    lines += [
        f"seeds {first} to {last}; again: make simulate FIRST={first} HISTORIES={last - first + 1}, one: make simulate SEED=n"
    ]
    lines += ["faults met, by number of histories:"]
    lines += [f"  {kind:<20} {count}" for kind, count in met.most_common()]
    lines += ["states reached, by number of times:"]
    lines += [f"  {state:<30} {count}" for state, count in sometimes.most_common()]
    lines += [f"violations: {sum(map(len, broken.values()))}"]
    for oracle, outcomes in sorted(broken.items(), key=lambda item: -len(item[1])):
        seeds = ", ".join(str(outcome.seed) for outcome in outcomes[:8])
        lines.append(f"  {oracle:<16} {len(outcomes):>5}  seeds {seeds}")
    return "\n".join(lines)
