"""How a defect is planted: a function, a method, a class or a table of the product is replaced in this process.

A defect names what it replaces by import, so a rename or a move of the product carries the reference along. It is planted
before the world starts: what an instance already holds stays as it was.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

PACKAGE, SIMULATOR = "gpucloud", "gpucloud.sim"  # the simulated cloud is part of the package, and no part of the operator
Defect = Callable[[], None]  # plants itself; its docstring says what is wrong then


def named(table: dict[str, Defect], name: str) -> Callable[[Defect], Defect]:
    """Register a defect in this table."""

    def register(defect: Defect) -> Defect:
        if name in table:
            raise ValueError(f"two defects are named {name!r}")
        table[name] = defect
        return defect

    return register


def holders() -> Iterator[ModuleType | type]:
    """The loaded modules of the operator, and the classes that each of them defines."""
    for name, module in sorted(sys.modules.items()):
        if name.split(".")[0] == PACKAGE and not f"{name}.".startswith(f"{SIMULATOR}."):
            yield module
            yield from [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == name]


def replace(original: object, instead: object) -> None:
    """Bind ``instead`` wherever a module or a class of the operator binds exactly ``original``.

    A plain number or word may be bound by chance elsewhere: assign such a constant to the one module that reads it, instead.

    Raises:
        ValueError: nothing binds it, so nothing would be planted.
    """
    if isinstance(original, str | int | float | None):
        raise TypeError(f"{original!r} may be bound elsewhere by chance")
    places = [(holder, name) for holder in holders() for name, value in vars(holder).items() if value is original]
    if not places:
        raise ValueError(f"this cannot be planted any more: nothing binds {original!r}")
    for holder, name in places:
        setattr(holder, name, instead)


def getter(original: object) -> Callable[[Any], Any]:
    """The function behind a property."""
    if not isinstance(original, property) or original.fget is None:
        raise TypeError(f"{original!r} is no property")
    return original.fget
