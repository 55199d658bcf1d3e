"""``python -m simulation``: many histories on all cores, or one history told in full."""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from simulation import aims, campaign, exhaustive, fleet, hunt, shards, telling
from simulation.defects import DEFECTS
from simulation.weather import Weather

if TYPE_CHECKING:
    from collections.abc import Callable


MANY, HUNTED, SHARDED = 2_000, 5_000, 300  # histories: of a campaign, to find each defect in, with shards


def _some(text: str) -> int:
    """A number of histories: none would pass without a word."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} histories show nothing: give 1 or more")
    return number


def _aim(text: str) -> tuple[str, ...]:
    """Plots, kinds of faults, acts and settings, with semicolons between."""
    aim = tuple(word for word in text.split(";") if word)
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
    parser.add_argument("--minutes", type=float, default=0.0, help="stop after so many minutes (default: not)")
    parser.add_argument("--seed", type=int, default=None, help="make this one history again and tell it")
    parser.add_argument("--first", type=int, default=0, help="first seed of many (default 0)")
    parser.add_argument("--processes", type=int, default=2, help="worker processes (default 2)")
    parser.add_argument("--whole", action="store_true", help="with --seed: do not make the history shorter")
    parser.add_argument("--shrink", type=int, default=5, help="how many of the violations to make shorter (default 5)")
    parser.add_argument("--without", default="", help="kinds of faults and acts to leave out, with commas between")
    parser.add_argument("--exhaustive", action="store_true", help="visit every interleaving of a small world instead")
    parser.add_argument("--depth", type=int, default=14, help="with --exhaustive: how many choices deep (default 14)")
    parser.add_argument("--replay", default="", help="make the history of a file of out/simulate again")
    parser.add_argument("--digests", default="", help="only tell what these seeds' histories hash to")
    parser.add_argument(
        "--start", choices=exhaustive.STARTS, default="new", help="with --exhaustive: where to begin (default new)"
    )
    parser.add_argument("--stop", action="store_true", help="stop at the first violation")
    parser.add_argument(
        "--aim", type=_aim, default=(), help="make only histories with these plots, faults and settings, semicolons between"
    )
    parser.add_argument("--fleet", type=_some, default=0, help="apply so many GpuVMs at once instead, and say what each costs")
    parser.add_argument("--shards", action="store_true", help="make histories with shards instead (docs/adr/0018)")
    parser.add_argument("--rivals", action="store_true", help="with --shards: two objects of different shards choose one name")
    parser.add_argument("--defects", nargs="?", const="", default=None, help="plant known defects, and say what finds each")
    parser.add_argument(
        "--plant",
        choices=DEFECTS,
        metavar="NAME",
        default=None,
        help="plant this known defect, and stop at the first violation",
    )
    given = parser.parse_args(words)
    if given.histories is None:
        given.histories = HUNTED if given.defects is not None else SHARDED if given.shards else MANY
    if given.plant is not None:
        DEFECTS[given.plant]()
        given.stop = True  # nor are the digests compared with those of another process, which knows of no defect
    Weather.without = frozenset(given.without.split(","))
    runs: tuple[tuple[object, Callable[[], int]], ...] = (
        (given.replay, lambda: telling.again(Path(given.replay))),
        (given.seed is not None, lambda: telling.one(given.seed, shrink=not given.whole)),
        (given.fleet, lambda: fleet.run(given.fleet)),
        (given.shards, lambda: shards.run(given.histories, given.first, rivals=given.rivals)),
        (given.defects is not None, lambda: hunt.table(given.histories, given.processes, given.defects)),
        (given.digests, lambda: campaign.tell_digests(map(int, given.digests.split(",")))),
        (given.exhaustive, lambda: exhaustive.explore(given.depth, given.minutes, given.processes, given.start)),
    )
    return next((run for wanted, run in runs if wanted), lambda: campaign.run(given))()


if __name__ == "__main__":
    sys.exit(main())
