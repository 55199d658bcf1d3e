"""Whose turn it is: the queued keys of each lane. Namespaces take turns, and within one the places that its keys are about.

A place is what may hang as a whole: one cluster, as one namespace reaches it. A crowded place is passed over.
"""

from __future__ import annotations

from collections import OrderedDict
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Key(NamedTuple):
    """The object to reconcile."""

    kind: str
    namespace: str
    name: str
    uid: str


class Lane(IntEnum):
    """Priority of a key: its status announces a call, a user edited it or waits for its first status, or it is only polled."""

    ANNOUNCED = 0
    PEOPLE = 1
    POLLS = 2


class Place(NamedTuple):
    """What the keys that are queued here are about; ``cluster`` is empty for what is in none."""

    namespace: str
    cluster: str = ""


Keys = OrderedDict[Key, None]


class Turns:
    """The keys of one lane."""

    def __init__(self) -> None:
        self._namespaces: OrderedDict[str, OrderedDict[Place, Keys]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._namespaces)

    def append(self, key: Key, place: Place) -> None:
        """Let this key be the last of its place."""
        self._namespaces.setdefault(place.namespace, OrderedDict()).setdefault(place, OrderedDict())[key] = None

    def remove(self, key: Key, place: Place) -> None:
        """Take this key out, whoever's turn it is."""
        places = self._namespaces[place.namespace]
        del places[place][key]
        if not places[place]:
            del places[place]
        if not places:
            del self._namespaces[place.namespace]

    def first(self, crowded: Callable[[Place], bool]) -> tuple[Key, Place] | None:
        """Return the key whose turn it is, and let the next turn be another's; None if every place is crowded."""
        for namespace, places in self._namespaces.items():
            place = next((one for one in places if not crowded(one)), None)
            if place is not None:
                places.move_to_end(place)
                self._namespaces.move_to_end(namespace)
                return next(iter(places[place])), place
        return None
