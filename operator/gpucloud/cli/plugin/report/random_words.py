"""Recognises words that a machine drew at random, as keys and passwords are, wherever a text holds one. Pure.

Such a word changes between small letters, capitals and digits every few characters; a name such as `AssessmentOfTheYear2026` is
made of longer pieces. What resembles a secret and is public stays: UIDs, digests, commits, public keys, their fingerprints, and
the names of Events, which end in a time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

SHORTEST = 10  # if it has small letters, capitals and digits, much mixed: passwords are short
SHORTEST_OF_TWO_KINDS = 16
SHORTEST_OF_LETTERS = 20  # without a digit it may be a name of several words; with marks in it, of several parts
LONGEST_PIECE = 3.8  # characters on average: a time as 20261127T230956Z has 4
LONGEST_PIECE_OF_SHORT = 2.0
LONGEST_PIECE_OF_PARTS = 2.4  # where marks divide the word, as in base64
_UUID = r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}(?![\w-])"
# Read from left to right: an escape of JSON or of a URL is no part of a word, and what is public is passed over as a whole.
_PART = re.compile(
    rf"""\\+(?:u[0-9A-Fa-f]{{4}}|[a-z])?|%[0-9A-Fa-f]{{2}}|(?<![\w-]){_UUID}"""
    r"""|\bsha\d{1,3}:[0-9a-f]+|\bSHA256:[\w+/=]{43,50}|\b(?:commit|revision)[ :=]{1,2}[0-9a-f]{40}\b"""
    r"""|\b(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[\w@.-]{1,64} AAAA[\w+/=]+"""
    r"""|(?P<word>[\w+/~.-]+=*)""",
    re.ASCII,
)
_EVENT = re.compile(r"[a-z0-9][a-z0-9.-]{0,236}\.1[6-9a-f][0-9a-f]{14}[.-]?")  # nanoseconds, from 2020 to 2043
_RUN = re.compile(r"[A-Za-z0-9]+")
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_NAME = re.compile(r"[a-z0-9.-]*|Gpu[A-Z]\w*")  # what may stand before or behind a slash, as in GpuVM/train


def without_random_words(text: str, instead: str, names: AbstractSet[str] = frozenset()) -> str:
    """Return a text with each random word replaced; ``names`` of objects stay, random or not."""

    def shown(part: re.Match[str]) -> str:
        word = part["word"]
        return part[0] if word is None or len(word) < SHORTEST or word in names else _without_random(word, instead, names)

    return _PART.sub(shown, text)


def is_random(run: str) -> bool:
    """Whether letters and digits without a mark between them are a word that no person has made."""
    if len(run) < SHORTEST or run.isdigit():
        return False
    if len(run) < SHORTEST_OF_TWO_KINDS:
        return all(_kinds(run)) and len(run) <= LONGEST_PIECE_OF_SHORT * _pieces(run)
    return (not run.isalpha() or len(run) >= SHORTEST_OF_LETTERS) and len(run) <= LONGEST_PIECE * _pieces(run)


def _without_random(word: str, instead: str, names: AbstractSet[str]) -> str:
    """Replace what is random between two slashes, or all that is no name, since base64 has slashes, too."""
    parts = word.split("/")
    kept = [part in names or _EVENT.fullmatch(part) is not None for part in parts]
    suspect = [not keep and any(map(is_random, _RUN.findall(part))) for part, keep in zip(parts, kept, strict=True)]
    if not any(suspect):
        return instead if not any(kept) and _is_random_in_parts(word) else word
    shown = [
        part if keep or (not bad and _NAME.fullmatch(part)) else instead
        for part, keep, bad in zip(parts, kept, suspect, strict=True)
    ]
    return re.sub(rf"({re.escape(instead)}/)+(?={re.escape(instead)})", "", "/".join(shown))


def _is_random_in_parts(word: str) -> bool:
    """Whether a word with marks in it, as base64 has them, is random as a whole: each kind of character, much mixed."""
    run = "".join(_RUN.findall(word))
    return len(run) >= SHORTEST_OF_LETTERS and min(_kinds(run)) >= 3 and len(run) <= LONGEST_PIECE_OF_PARTS * _pieces(run)


def _kinds(run: str) -> tuple[int, int, int]:
    """How many small letters, capitals and digits it has."""
    return sum(map(str.islower, run)), sum(map(str.isupper, run)), sum(map(str.isdigit, run))


def _pieces(run: str) -> int:
    return len(_PIECE.findall(run))
