"""One lane of the work queue. Namespaces take turns, and within one namespace its flows.

A flow is the keys whose calls may hang together: those of one cluster, as one namespace reaches it. A saturated flow is passed
over.
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


class Flow(NamedTuple):
    """The flow of a key; ``cluster`` is empty for objects whose resource is in none, or in an unknown one."""

    namespace: str
    cluster: str = ""


Keys = OrderedDict[Key, None]


class FairLane:
    """The keys of one lane."""

    def __init__(self) -> None:
        self._namespaces: OrderedDict[str, OrderedDict[Flow, Keys]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._namespaces)

    def append(self, key: Key, flow: Flow) -> None:
        """Let this key be the last of its flow."""
        self._namespaces.setdefault(flow.namespace, OrderedDict()).setdefault(flow, OrderedDict())[key] = None

    def remove(self, key: Key, flow: Flow) -> None:
        """Take this key out, whoever's turn it is."""
        flows = self._namespaces[flow.namespace]
        del flows[flow][key]
        if not flows[flow]:
            del flows[flow]
        if not flows:
            del self._namespaces[flow.namespace]

    def first(self, saturated: Callable[[Flow], bool]) -> tuple[Key, Flow] | None:
        """Return the key whose turn it is, and let the next turn be another's; None if every flow is saturated."""
        for namespace, flows in self._namespaces.items():
            flow = next((one for one in flows if not saturated(one)), None)
            if flow is not None:
                flows.move_to_end(flow)
                self._namespaces.move_to_end(namespace)
                return next(iter(flows[flow])), flow
        return None
