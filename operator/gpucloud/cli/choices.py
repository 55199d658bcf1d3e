"""One of a few words as the value of an option: in any case of letters, and with the word that a slip may have meant."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING

from gpucloud.spelling import as_listed, expected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def one_of(words: Iterable[str]) -> Callable[[str], str]:
    """Return a reader of such values, for argparse: it returns the word as it is listed.

    Raises:
        ArgumentTypeError: from the reader, if the value is none of the words.
    """
    known = tuple(words)

    def read(value: str) -> str:
        found = as_listed(value, known)
        if found not in known:
            raise ArgumentTypeError(expected(known, value))
        return found

    return read
