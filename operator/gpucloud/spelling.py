"""Which known name a wrong one may be a slip of, and the one question that asks for it: ``Did you mean 'Msc1'?``."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST = 253  # characters of a name that is compared
MOST_BEGUN = 3  # names that only begin as the word does; more are no help
MOST_COMPARED = 100  # names; each reconcile of a waiting object compares them anew, in some 20 microseconds each
_SLIPS = 2  # letters that only one of both has, as for one wrong letter; a third of a long word may differ


def nearest(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the known names that this one may be a slip of, in any case of letters.

    First those that begin with it and are near, then those that only begin with it, at most 3; else all that are equally near.
    """
    names = tuple(dict.fromkeys(known))
    begun = tuple(name for name in names if len(word) > 2 and name.lower().startswith(word.lower()))
    return _near(word, begun) or begun[:MOST_BEGUN] or _near(word, names)


def suggestion(word: str, known: Iterable[str], what: str = "") -> str:
    """Return the question for the known names that this one may be a slip of, with a space before it; empty if none is near.

    Empty, too, for more than ``MOST_COMPARED`` names. Code that looks but once asks for the ``question`` of the ``nearest``.
    """
    return question(nearest_of_few(word, known), what)


def nearest_of_few(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the known names that this one may be a slip of; none of more than ``MOST_COMPARED`` names."""
    names = tuple(dict.fromkeys(known))
    return nearest(word, names) if len(names) <= MOST_COMPARED else ()


def question(names: Iterable[str], what: str = "") -> str:
    """Return ``Did you mean WHAT 'a' or 'b'?`` as a sentence with a space before it; empty for no names."""
    shown = " or ".join(repr(str(name)) for name in names)
    return f" Did you mean {f'{what} ' if what else ''}{shown}?" if shown else ""


def as_listed(word: str, words: Iterable[str]) -> str:
    """Return the one of these words that this is, however it is capitalised; as it is if it is none of them."""
    plain = word.casefold()
    return next((one for one in words if one.casefold() == plain), word)


def expected(words: Iterable[str], value: str) -> str:
    """Return what a setting takes that was given another word, with the one that it may be a slip of."""
    known = tuple(words)
    asked = question(nearest(value, known))
    return f"expected one of {', '.join(known)}, not {value!r}{f'.{asked}' if asked else ''}"


def use_one_of(known: Iterable[str]) -> str:
    """Return the way out of a word that is none of the known ones."""
    first, *others = known
    return f"Use one of: {', '.join((first, *others))}." if others else f"Use {first}."


def _near(word: str, known: Iterable[str]) -> tuple[str, ...]:
    import difflib  # noqa: PLC0415 - for a refusal only

    plain, by_plain = word[:LONGEST].casefold(), {name.casefold(): name for name in known if len(name) <= LONGEST}
    apart = {name: _letters_apart(plain, name) for name in difflib.get_close_matches(plain, by_plain)}
    least = min(apart.values(), default=0)
    if least > max(_SLIPS, len(plain) // 3):
        return ()
    return tuple(sorted(by_plain[name] for name in apart if apart[name] == least))


def _letters_apart(some: str, other: str) -> int:
    """Return how many letters only one of both has: none where two are swapped, as in "x1" for "1x"."""
    return (Counter(some) - Counter(other)).total() + (Counter(other) - Counter(some)).total()
