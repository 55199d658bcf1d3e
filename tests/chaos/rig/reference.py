"""A workload's runs without faults: which calls there are, and what is made and destroyed. Made once a session.

Two are made, since how often something is written depends on time: of two statuses that follow each other quickly only the
last is written, and the Events of both are one or two. A call that one of the two lives lacks is no point of every life.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from chaos.rig.ledger import Books, Summary
from chaos.rig.oracles import Expected, violations
from chaos.rig.workloads import WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chaos.rig.calls import Call
    from chaos.rig.points import Point
    from chaos.rig.rig import Rig


@dataclass(frozen=True)
class Reference:
    """The calls on both links in order, those that both lives had, and the create/delete summary.

    ``received``: when each of them came, by one clock for both links.
    """

    cloud: list[Call]
    kube: list[Call]
    summary: Summary
    received: Mapping[Call, float] = field(default_factory=dict)

    def after(self, point: Point) -> Reference:
        """What was still to come when the operator was at this point."""
        here = next(at for call, at in self.received.items() if (call.link, call.word, call.nth) == point.call)
        cloud, kube = ([call for call in calls if self.received[call] > here] for calls in (self.cloud, self.kube))
        return replace(self, cloud=cloud, kube=kube)


_known: dict[tuple[int, str], Reference] = {}
_making = threading.Lock()


def reference(rig: Rig, name: str) -> Reference:
    """The reference of a workload; it must itself hold everything."""
    with _making:
        if (id(rig), name) not in _known:
            _known[id(rig), name] = _made(rig, name)
        return _known[id(rig), name]


def _made(rig: Rig, name: str) -> Reference:
    one, other = _lived(rig, name), _lived(rig, name)
    assert one.summary == other.summary, f"{name}, without any fault: {one.summary}, then {other.summary}"
    return replace(one, cloud=_common(one.cloud, other.cloud), kube=_common(one.kube, other.kube))


def _common(calls: list[Call], others: list[Call]) -> list[Call]:
    """The calls of one life, without those of a class that the other had fewer of."""
    counts = Counter(call.word for call in others)
    return [call for call in calls if call.nth <= counts[call.word]]


def _lived(rig: Rig, name: str) -> Reference:
    workload = WORKLOADS[name]
    with rig.trial(**workload.options) as trial:
        workload.prepare(trial)
        trial.start()
        workload.live(trial)
        found = violations(trial, Expected())
        assert not found, f"{name}, without any fault: {found}"
        received = {seen.call: seen.received for link in (trial.cloud, trial.kube) for seen in link.seen}
        return Reference(trial.cloud.calls, trial.kube.calls, Books.of(trial).summary(), received)
