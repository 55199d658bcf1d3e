"""The arguments of ``python -m simulation``: what each means, and which of them each mode heeds."""

from __future__ import annotations

import argparse
import difflib
from pathlib import Path

from simulation import actors, aims, exhaustive
from simulation.defects import DEFECTS
from simulation.weather import KINDS

CAMPAIGN = ""  # the mode without an option of its own: many histories
# Mode: the options that it heeds beside its own. Any other would go unheeded, and is refused.
HEEDED: dict[str, tuple[str, ...]] = {
    CAMPAIGN: ("histories", "first", "minutes", "processes", "shrink", "without", "stop", "aim", "plant"),
    "seed": ("whole", "without", "plant"),
    "replay": ("without", "plant"),
    "fleet": ("plant",),
    "shards": ("histories", "first", "rivals", "without", "plant"),
    "defects": ("histories", "processes"),
    "digests": ("without", "plant"),
    "exhaustive": ("depth", "start", "minutes", "processes", "plant"),
}
HISTORIES = {CAMPAIGN: 2_000, "defects": 5_000, "shards": 300}  # how many, unless told
DEFAULTS = {"first": 0, "minutes": 0.0, "processes": 2, "shrink": 5, "depth": 14, "start": exhaustive.STARTS[0]}


def parse(description: str | None, words: list[str] | None) -> tuple[str, argparse.Namespace]:
    """The mode, and all options. Ends with an error if one of those given has no effect in that mode."""
    parser = _parser(description)
    given = parser.parse_args(words)
    options = [name for name, value in vars(given).items() if value is not None]
    mode = _mode(parser, options)
    _refuse_unheeded(parser, mode, options)
    unset = {"histories": HISTORIES.get(mode), **DEFAULTS, "without": frozenset(), "aim": ()}
    for name, value in unset.items():
        if getattr(given, name) is None:
            setattr(given, name, value)
    return mode, given


def _mode(parser: argparse.ArgumentParser, options: list[str]) -> str:
    modes = [name for name in HEEDED if name in options]
    if len(modes) > 1:
        parser.error(f"give one of {_flags(modes, 'and')}: each is a run of its own")
    return modes[0] if modes else CAMPAIGN


def _refuse_unheeded(parser: argparse.ArgumentParser, mode: str, options: list[str]) -> None:
    heeded = HEEDED[mode]
    for name in options:
        if name in {mode, *heeded}:
            continue
        if mode != CAMPAIGN:
            parser.error(f"--{name} has no effect with --{mode}, which heeds {_flags(heeded, 'and')}")
        modes = [other for other, named in HEEDED.items() if name in named]
        parser.error(f"--{name} has an effect only with {_flags(modes, 'or')}")


def _flags(names: list[str] | tuple[str, ...], word: str) -> str:
    *first, last = (f"--{name}" for name in names)
    return f"{', '.join(first)} {word} {last}" if first else last


def _parser(description: str | None) -> argparse.ArgumentParser:
    """Nothing has a default here, so that what was given can be told from what was not."""
    parser = argparse.ArgumentParser(prog="python -m simulation", description=description)
    parser.add_argument(
        "--histories", type=_some, default=None, help="how many (default 2000; with --defects 5000, with --shards 300)"
    )
    parser.add_argument("--minutes", type=_minutes, default=None, help="stop after so many minutes (default 0: no limit)")
    parser.add_argument("--seed", type=_whole, default=None, help="make this one history again and tell it")
    parser.add_argument("--first", type=_whole, default=None, help="first seed of many (default 0)")
    parser.add_argument("--processes", type=_some, default=None, help="worker processes (default 2)")
    parser.add_argument("--whole", action="store_true", default=None, help="with --seed: do not make the history shorter")
    parser.add_argument("--shrink", type=_whole, default=None, help="how many of the violations to make shorter (default 5)")
    parser.add_argument(
        "--without", type=_without, default=None, help="kinds of faults and acts to leave out, with commas between"
    )
    parser.add_argument(
        "--exhaustive", action="store_true", default=None, help="visit every interleaving of a small world instead"
    )
    parser.add_argument("--depth", type=_some, default=None, help="with --exhaustive: how many choices deep (default 14)")
    parser.add_argument("--replay", type=_file, default=None, help="make the history of a file of out/simulate again")
    parser.add_argument("--digests", type=_seeds, default=None, help="only tell what these seeds' histories hash to")
    parser.add_argument(
        "--start", choices=exhaustive.STARTS, default=None, help="with --exhaustive: where to begin (default new)"
    )
    parser.add_argument("--stop", action="store_true", default=None, help="stop at the first violation")
    parser.add_argument(
        "--aim", type=_aim, default=None, help="make only histories with these plots, faults and settings, semicolons between"
    )
    parser.add_argument(
        "--fleet", type=_some, default=None, help="apply so many GpuVMs at once instead, and say what each costs"
    )
    parser.add_argument(
        "--shards", action="store_true", default=None, help="make histories with shards instead (docs/adr/0018)"
    )
    parser.add_argument(
        "--rivals", action="store_true", default=None, help="with --shards: two objects of different shards choose one name"
    )
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
    return parser


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
