"""Defects of adoption, of bare metal hosts, of alternative offers, and of objects whose status was lost."""

from __future__ import annotations

from typing import Any

from gpucloud.engine.kinds.gpuvm.unclaimed import Unclaimed
from gpucloud.kinds.common import DeletionPolicy
from gpucloud.reconcile import adoption, retention
from gpucloud.reconcile.gpuhost import facts as host_facts
from gpucloud.reconcile.gpuhost.facts import HostFacts
from gpucloud.reconcile.gpuvm import offers
from gpucloud.reconcile.gpuvm.facts import VmFacts
from simulation.planting import Defect, named, replace

FEATURES: dict[str, Defect] = {}


@named(FEATURES, "what was adopted is destroyed with its object")
def adopted_is_destroyed() -> None:
    """An open deletion policy means Delete, whoever made the thing."""
    replace(retention.deletion_policy, lambda declared, **_: declared or DeletionPolicy.DELETE)


@named(FEATURES, "what is to be adopted is bought where it is missing")
def required_is_bought() -> None:
    """adoption: Required is read as IfExists."""
    replace(adoption.missing_required, lambda _: None)


@named(FEATURES, "a new process sends a host's announced operation again")
def announced_is_sent_again() -> None:
    """Whoever finds an announcement takes it for its own, and for unsent."""
    replace(HostFacts.is_own, lambda *_: True)


@named(FEATURES, "an unclear answer to a host's operation counts as a refusal")
def host_unclear_is_undone() -> None:
    """What was asked for is sent again after a 5xx."""
    replace(host_facts.is_certainly_undone, lambda refusal: refusal is not None)


@named(FEATURES, "an alternative is ordered under the record of the first offer")
def alternative_unrecorded() -> None:
    """A record may be sent whatever it names."""
    replace(VmFacts.is_as_recorded, property(lambda _: True))


@named(FEATURES, "each refusal of one of several offers moves on at once")
def moves_on_for_ever() -> None:
    """No refusal delays the next order of a VM with alternatives, tried or not."""
    replace(offers.moves_on, lambda f: f.spec.placement is not None and bool(f.spec.placement.alternatives))


@named(FEATURES, "a VM whose status was lost is not looked for in other clusters")
def strays_unseen() -> None:
    """Only where the spec names it now."""

    async def nowhere(*_: Any) -> tuple[()]:
        return ()

    replace(Unclaimed.strays, nowhere)
