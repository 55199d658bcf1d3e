"""Defects of adoption, of recreation, of final snapshots, of bare metal hosts, and of GpuOffers."""

from __future__ import annotations

import math

from gpucloud.kinds.common import DeletionPolicy
from gpucloud.reconcile import adoption, retention
from gpucloud.reconcile.gpuhost import facts as host_facts
from gpucloud.reconcile.gpuhost.facts import HostFacts
from gpucloud.reconcile.gpuoffer.decide import _differs, _misses
from gpucloud.reconcile.gpuvm import final_snapshot, offers, on_loss, recreate, replacement, snapshots, template
from gpucloud.reconcile.gpuvm.final_snapshot import _again_from
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


@named(FEATURES, "a lost VM is recreated though its spec does not ask for that")
def recreated_unasked() -> None:
    """spec.onLoss: Fail is read as Recreate."""
    replace(on_loss.asks_recreation, lambda _: True)


@named(FEATURES, "a VM is replaced though its spec does not allow that")
def replaced_unasked() -> None:
    """spec.replacePolicy: Never is read as Recreate."""
    replace(template.asks_another, lambda spec, order: bool(order is not None and template.changes(spec, order.template)))


@named(FEATURES, "a VM is replaced without a plan in status")
def replaced_unplanned() -> None:
    """The grace of a plan is not waited out, so it is never written."""
    replace(replacement._planned, lambda _: None)


@named(FEATURES, "a final snapshot of a plan that was given up counts for the next")
def saved_for_another_plan() -> None:
    """All plans to replace the same VM share one final snapshot."""
    replace(snapshots.replacement_of, lambda order_id, _: f"{order_id}-replaced-0")
    replace(final_snapshot.without_given_up, lambda _, status: status)


@named(FEATURES, "a VM is replaced without a look at room")
def replaced_without_room() -> None:
    """What the waiting line says is not asked before the old VM goes."""
    replace(replacement._without_room, lambda _: None)


@named(FEATURES, "a VM is replaced by its own equal")
def replaced_by_its_equal() -> None:
    """An offer that the VM is already counts like any other."""
    replace(replacement.preferred_offers, offers.counting)


@named(FEATURES, "a VM of another spec is Ready")
def another_is_ready() -> None:
    """What a VM was made from is not compared where its replacement was called off."""
    replace(replacement._kept, lambda _: None)


@named(FEATURES, "a VM is recreated without end")
def recreated_without_end() -> None:
    """The limit counts nothing."""
    replace(recreate.limited, lambda *_: None)


@named(FEATURES, "a new process sends a host's announced operation again")
def announced_is_sent_again() -> None:
    """Whoever finds an announcement takes it for its own, and for unsent."""
    replace(HostFacts.is_own, lambda *_: True)


@named(FEATURES, "an unclear answer to a host's operation counts as a refusal")
def host_unclear_is_undone() -> None:
    """What was asked for is sent again after a 5xx."""
    replace(host_facts.is_certainly_undone, lambda refusal: refusal is not None)


@named(FEATURES, "a new process asks the cloud for a final snapshot again at once")
def snapshot_is_asked_for_again() -> None:
    """What another process has announced is not waited for."""
    again_from = _again_from
    replace(again_from, lambda f, known, final, sent: -math.inf if sent is None else again_from(f, known, final, sent))


@named(FEATURES, "an offer that is gone stays")
def offers_kept() -> None:
    """What a complete answer of the cloud lacks is not counted."""
    replace(_misses, lambda *_: {})


@named(FEATURES, "an offer is written at each look")
def offers_rewritten() -> None:
    """Nothing compares what stands in a GpuOffer with what is to be written."""
    replace(_differs, lambda *_: True)
