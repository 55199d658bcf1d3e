"""Indexes of the judge's records: a look-up costs what it finds, and not what there is."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from simulation.books import Life
    from simulation.cloud import Order, Row

Place = tuple[str, "Hashable"]  # a table, and the key of a row in it


class Orders(list["Order"]):
    """All orders, in the order in which they were sent. They are only ever appended."""

    def __init__(self) -> None:
        super().__init__()
        self._by_uid: defaultdict[str, list[Order]] = defaultdict(list)
        self._by_name: defaultdict[str, list[Order]] = defaultdict(list)

    def append(self, order: Order) -> None:
        """Another order was sent."""
        super().append(order)
        self._by_uid[order.uid].append(order)
        self._by_name[order.name].append(order)

    def of(self, uid: str) -> list[Order]:
        """The orders that were sent for an object."""
        return self._by_uid.get(uid, [])

    def named(self, name: str) -> list[Order]:
        """The orders that asked for this name."""
        return self._by_name.get(name, [])

    def are_anothers(self, name: str, uid: str) -> bool:
        """Whether orders of this name were sent, for other objects only."""
        senders = {order.uid for order in self.named(name)}
        return bool(senders) and uid not in senders


class Rows:
    """Where the rows of the cloud are, by whom they were made for, and by name. ``tables``: the cloud's own, by name."""

    def __init__(self) -> None:
        self._by_maker: defaultdict[str, dict[Place, None]] = defaultdict(dict)
        self._by_name: defaultdict[str, dict[Place, None]] = defaultdict(dict)

    def made(self, table: str, key: Hashable, name: str, maker: str) -> None:
        """A row has appeared."""
        self._by_maker[maker][table, key] = None
        self._by_name[name][table, key] = None

    def placed(self, maker: str, world: Any) -> list[tuple[Place, Row]]:
        """Place and row of what was once made for this object, or has taken the place of that."""
        rows = ((place, getattr(world, place[0]).table.get(place[1])) for place in self._by_maker.get(maker, ()))
        return [(place, row) for place, row in rows if row is not None]

    def of(self, maker: str, world: Any) -> Iterator[tuple[str, Row]]:
        """Table and row of what was once made for this object, or has taken the place of that."""
        return _present(self._by_maker.get(maker, ()), world)

    def named(self, name: str, world: Any) -> Iterator[tuple[str, Row]]:
        """Table and row of what once had this name, or has taken the place of that."""
        return _present(self._by_name.get(name, ()), world)


def _present(places: Iterable[Place], world: Any) -> Iterator[tuple[str, Row]]:
    for table, key in places:
        row = getattr(world, table).table.get(key)
        if row is not None:
            yield table, row


class Texts:
    """Which objects have ever recorded a text in their status, so that few have to be asked whether they record it now."""

    def __init__(self) -> None:
        self._lives: defaultdict[str, dict[str, Life]] = defaultdict(dict)
        self._read: dict[str, frozenset[str]] = {}
        self.asked = 0  # how many objects were asked, for tests

    def take(self, life: Life) -> None:
        """A status of this object was committed."""
        new = life.records()
        for text in new - self._read.get(life.uid, frozenset()):
            self._lives[text][life.uid] = life
        self._read[life.uid] = frozenset(new)

    def mentioning(self, text: str) -> Iterator[Life]:
        """Objects that mention a text, from the oldest to the youngest; of those that are gone, what they recorded last."""
        found = sorted(self._lives.get(text, {}).values(), key=lambda life: life.number)
        self.asked += len(found)
        return (life for life in found if life.mentions(text))
