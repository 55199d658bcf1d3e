"""One of a few words as the value of an option: in any case of letters, and with the word that a slip may have meant."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING

from gpucloud.spelling import expected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def one_of(words: Iterable[str]) -> Callable[[str], str]:
    """Return a reader of such values, for argparse: it returns the word as it is listed.

    Raises:
        ArgumentTypeError: from the reader, if the value is none of the words.
    """
    known = {word.casefold(): word for word in words}

    def read(value: str) -> str:
        found = known.get(value.casefold())
        if found is None:
            raise ArgumentTypeError(expected(known.values(), value))
        return found

    return read
