"""A workload's run without faults: which calls there are, and what is made and destroyed. Made once a session."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chaos.rig.ledger import Books, Summary
from chaos.rig.oracles import Expected, violations
from chaos.rig.workloads import WORKLOADS

if TYPE_CHECKING:
    from chaos.rig.calls import Call
    from chaos.rig.rig import Rig


@dataclass(frozen=True)
class Reference:
    """The calls on both links in order, and the create/delete summary."""

    cloud: list[Call]
    kube: list[Call]
    summary: Summary


_known: dict[tuple[int, str], Reference] = {}
_making = threading.Lock()


def reference(rig: Rig, name: str) -> Reference:
    """The reference of a workload; it must itself hold everything."""
    with _making:
        if (id(rig), name) not in _known:
            _known[id(rig), name] = _made(rig, name)
        return _known[id(rig), name]


def _made(rig: Rig, name: str) -> Reference:
    workload = WORKLOADS[name]
    with rig.trial(**workload.options) as trial:
        workload.prepare(trial)
        trial.start()
        workload.live(trial)
        found = violations(trial, Expected())
        assert not found, f"{name}, without any fault: {found}"
        return Reference(trial.cloud.calls, trial.kube.calls, Books.of(trial).summary())
