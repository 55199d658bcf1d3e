"""``python -m simulation``: many histories on all cores, or one history told in full."""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from simulation import actors, aims, campaign, exhaustive, fleet, hunt, shards, telling
from simulation.defects import DEFECTS
from simulation.weather import KINDS, Weather

if TYPE_CHECKING:
    from collections.abc import Callable


MANY, HUNTED, SHARDED = 2_000, 5_000, 300  # histories: of a campaign, to find each defect in, with shards
DEPTH = 14  # choices
MODES = ("replay", "seed", "fleet", "shards", "defects", "digests", "exhaustive")
ONLY_WITH = {"rivals": "shards", "start": "exhaustive", "depth": "exhaustive", "whole": "seed"}
INTERRUPTED = 130  # exit code


def _whole(text: str) -> int:
    """A whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def _some(text: str) -> int:
    """A number of histories, VMs, processes or choices: none would pass without a word."""
    number = _whole(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is too few: give 1 or more")
    return number


def _minutes(text: str) -> float:
    """A duration that may be without limit."""
    try:
        minutes = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 <= minutes < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no duration: give more than 0, or 0 for no limit")
    return minutes


def _seeds(text: str) -> tuple[int, ...]:
    return tuple(map(_whole, text.split(",")))


def _file(text: str) -> Path:
    if not Path(text).is_file():
        raise argparse.ArgumentTypeError(f"there is no file {text!r}; out/simulate has those of the last violations")
    return Path(text)


def _without(text: str) -> frozenset[str]:
    """Kinds of faults and acts, with commas between."""
    words = frozenset(word for word in text.split(",") if word)
    known = (*KINDS, *actors.WEIGHTS, "situations")
    for word in sorted(words.difference(known)):
        near = difflib.get_close_matches(word, known, cutoff=0.4)
        raise argparse.ArgumentTypeError(
            f"no kind of fault or act is named {word!r}{'; near: ' if near else ''}{', '.join(map(repr, near))}"
        )
    return words


def _defects(text: str) -> str:
    """A part of the names of known defects."""
    if not any(text in name for name in DEFECTS):
        near = difflib.get_close_matches(text, DEFECTS, cutoff=0.3)
        raise argparse.ArgumentTypeError(
            f"no known defect has {text!r} in its name{'; near: ' if near else ''}{', '.join(map(repr, near))}"
        )
    return text


def _aim(text: str) -> tuple[str, ...]:
    """Plots, kinds of faults, acts and settings, with semicolons between."""
    aim = tuple(word for word in text.split(";") if word)
    if text and not aim:
        raise argparse.ArgumentTypeError(f"{text!r} names nothing to aim at; tests/simulation/aims.py has examples")
    for word in aim:
        if not aims.known(word):
            near = difflib.get_close_matches(word, aims.known_words(), cutoff=0.4)
            raise argparse.ArgumentTypeError(
                f"no plot, kind of fault, act or setting is named {word!r}; "
                + (f"near: {', '.join(map(repr, near))}" if near else "tests/simulation/aims.py has examples")
            )
    return aim


def main(words: list[str] | None = None) -> int:
    """Exit code 0: no violation."""
    parser = argparse.ArgumentParser(prog="python -m simulation", description=__doc__)
    parser.add_argument(
        "--histories", type=_some, default=None, help="how many (default 2000; with --defects 5000, with --shards 300)"
    )
    parser.add_argument("--minutes", type=_minutes, default=0.0, help="stop after so many minutes (default 0: no limit)")
    parser.add_argument("--seed", type=_whole, default=None, help="make this one history again and tell it")
    parser.add_argument("--first", type=_whole, default=0, help="first seed of many (default 0)")
    parser.add_argument("--processes", type=_some, default=2, help="worker processes (default 2)")
    parser.add_argument("--whole", action="store_true", help="with --seed: do not make the history shorter")
    parser.add_argument("--shrink", type=_whole, default=5, help="how many of the violations to make shorter (default 5)")
    parser.add_argument(
        "--without", type=_without, default=frozenset(), help="kinds of faults and acts to leave out, with commas between"
    )
    parser.add_argument("--exhaustive", action="store_true", help="visit every interleaving of a small world instead")
    parser.add_argument("--depth", type=_some, default=None, help="with --exhaustive: how many choices deep (default 14)")
    parser.add_argument("--replay", type=_file, default=None, help="make the history of a file of out/simulate again")
    parser.add_argument("--digests", type=_seeds, default=None, help="only tell what these seeds' histories hash to")
    parser.add_argument(
        "--start", choices=exhaustive.STARTS, default=None, help="with --exhaustive: where to begin (default new)"
    )
    parser.add_argument("--stop", action="store_true", help="stop at the first violation")
    parser.add_argument(
        "--aim", type=_aim, default=(), help="make only histories with these plots, faults and settings, semicolons between"
    )
    parser.add_argument(
        "--fleet", type=_some, default=None, help="apply so many GpuVMs at once instead, and say what each costs"
    )
    parser.add_argument("--shards", action="store_true", help="make histories with shards instead (docs/adr/0018)")
    parser.add_argument("--rivals", action="store_true", help="with --shards: two objects of different shards choose one name")
    parser.add_argument(
        "--defects", type=_defects, nargs="?", const="", default=None, help="plant known defects, and say what finds each"
    )
    parser.add_argument(
        "--plant",
        choices=DEFECTS,
        metavar="NAME",
        default=None,
        help="plant this known defect, and stop at the first violation",
    )
    given = parser.parse_args(words)
    _refuse_pairs(parser, given)
    if given.histories is None:
        given.histories = HUNTED if given.defects is not None else SHARDED if given.shards else MANY
    if given.plant is not None:
        DEFECTS[given.plant]()
        given.stop = True  # nor are the digests compared with those of another process, which knows of no defect
    Weather.without = given.without
    runs: tuple[tuple[object, Callable[[], int]], ...] = (
        (given.replay is not None, lambda: telling.again(given.replay)),
        (given.seed is not None, lambda: telling.one(given.seed, shrink=not given.whole)),
        (given.fleet, lambda: fleet.run(given.fleet)),
        (given.shards, lambda: shards.run(given.histories, given.first, rivals=given.rivals)),
        (given.defects is not None, lambda: hunt.table(given.histories, given.processes, given.defects)),
        (given.digests, lambda: campaign.tell_digests(given.digests)),
        (
            given.exhaustive,
            lambda: exhaustive.explore(
                given.depth or DEPTH, given.minutes, given.processes, given.start or exhaustive.STARTS[0]
            ),
        ),
    )
    try:
        return next((run for wanted, run in runs if wanted), lambda: campaign.run(given))()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


def _refuse_pairs(parser: argparse.ArgumentParser, given: argparse.Namespace) -> None:
    """End with an error if one of the flags would go unheeded."""
    values = {name: value for name, value in vars(given).items() if value is not None and value is not False}
    modes = [name for name in MODES if name in values]
    if len(modes) > 1:
        parser.error(f"give one of {' and '.join(f'--{name}' for name in modes)}: each is a run of its own")
    for name, mode in ONLY_WITH.items():
        if name in values and mode not in modes:
            parser.error(f"--{name} has an effect only with --{mode}")


if __name__ == "__main__":
    sys.exit(main())
