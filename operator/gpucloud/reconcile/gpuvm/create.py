"""Steps before a VM is bought, beyond those before every creation."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile import order as orders
from gpucloud.reconcile import quota
from gpucloud.reconcile.adoption import missing_required
from gpucloud.reconcile.conditions import stalled, working
from gpucloud.reconcile.core.create import (
    SLOW_SECONDS,
    creating,
    name_conflict,
    order,
    outstanding,
    overdue,
    rejected,
    terminating,
    unproven,
)
from gpucloud.reconcile.core.plan_status import plan_status
from gpucloud.reconcile.core.steps import dependency_not_ready
from gpucloud.reconcile.facts import KeyTrouble, Unknown, UnknownReason
from gpucloud.reconcile.gpuvm import buy_anyway, recreate
from gpucloud.reconcile.gpuvm import elsewhere as other_clusters
from gpucloud.reconcile.gpuvm.adopted import elsewhere
from gpucloud.reconcile.gpuvm.clusters import clusters
from gpucloud.reconcile.gpuvm.offers import (
    accepted,
    cluster_of,
    current_offer,
    described,
    offer_of,
    offers,
    ordered_offer,
    refusals,
)
from gpucloud.reconcile.gpuvm.waiting import in_line, ordering, waiter
from gpucloud.reconcile.plan import Plan, first_plan
from gpucloud.reconcile.price import dollars
from gpucloud.reconcile.text import bracketed, followed

if TYPE_CHECKING:
    from decimal import Decimal

    from gpucloud.kinds.gpuvm import GpuVMStatus
    from gpucloud.reconcile.conditions import Verdict
    from gpucloud.reconcile.gpuvm.facts import VmFacts
    from gpucloud.reconcile.quota import Usage

KEY_RETRY_SECONDS = (1.0, 5.0)  # first and longest wait between reads of a missing Secret
ROOM_RETRY_SECONDS = (5.0, 60.0)  # first and longest wait between checks of an exceeded quota
_PUT_BACK = "Put the old value back"
PRICE_SECONDS = 5.0  # at start, wait this long for the catalogue before a missing price is reported


def decide(f: VmFacts) -> Plan[GpuVMStatus]:
    """Return the next step towards buying a VM that does not exist: it never did, or it is recreated."""
    return first_plan(
        f,
        refused_for_good,
        name_conflict,
        outstanding,
        overdue,
        dependency_not_ready,
        elsewhere,
        missing_required,
        unproven,
        duplicate,
        other_clusters.taken_over,
        stray,
        terminating,
        ssh_keys_missing,
        quota_exceeded,
        in_line,
        to_its_cluster,
    ) or buy(f)


def to_its_cluster(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Go to the cluster of the next order before that is recorded: there the name must be free. It keeps its place in line."""
    if cluster_of(f.spec, current_offer(f)) == f.identity.cluster:
        return None
    plan = plan_status(f, _instead(f) or ordering(f) or creating(f), requeue_at=f.now.mono + other_clusters.SOON_SECONDS)
    return replace(plan, waits=waiter(f, ready=True), pending=True)


def refused_for_good(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Report Rejected if the cloud has rejected every offer of this generation."""
    return rejected(f) if len(offers(f.spec)) == 1 or not accepted(f) else None


def duplicate(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Wait if an unclaimed VM that was bought for an object of this name may be this object's VM."""
    if orders.may_exist(f.order):
        return None
    name = shlex.quote(next(iter(f.lookalikes), ""))
    adopt = f"kubectl gpucloud adopt {name} --namespace={f.meta.namespace}"
    words = f"Destroy it; or delete this object, and apply in its place what this prints: {adopt}"
    way_out = followed(words, "To buy another")
    return beside_lookalike(f, "Nothing is bought", f"made for an object of this name, and no object uses it. {way_out}")


def beside_lookalike(f: VmFacts, opening: str, why_and_way_out: str) -> Plan[GpuVMStatus] | None:
    """Wait while an unclaimed VM was bought for an object of this name, and no annotation says to buy another all the same.

    ``opening`` says what is not done. ``why_and_way_out`` follows "VM … was", and ends before the command that does it.
    """
    if not buy_anyway.is_held_by_others(f):
        return None
    names = ", ".join(map(repr, f.lookalikes[:3]))
    words = f"{opening}: VM {names} was {why_and_way_out}{buy_anyway.no_effect(f, own=False)}: {buy_anyway.command(f)}"
    again = _backing_off(f, ROOM_RETRY_SECONDS)  # listings wake an object for its own name, not for theirs
    return plan_status(f, stalled(Reason.POSSIBLE_DUPLICATE, words), requeue_at=again)


def stray(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Wait if the status was lost, or may be older, and a VM of this name is in another place: it may be this object's."""
    if not f.strays or buy_anyway.beside_own(f):
        return None
    if isinstance(f.strays, Unknown):
        return _unsearched(f, f.strays)
    known = f.may_adopt or not f.chosen_name  # else it may be another namespace's
    there = f"VPC {f.strays[0].vpc!r} of cluster {f.strays[0].cluster!r}" if known else "another place"
    beside = f"{buy_anyway.no_effect(f, own=True)}: {buy_anyway.command_beside_own(f)}"
    way_out = "Destroy that VM, or adopt it with another object."
    if not f.may_adopt:
        way_out = "Destroy that VM, if it is yours."
    words = (
        f"Nothing is bought: VM {f.identity.name!r} in {there} may be this object's, whose status was "
        f"lost. {way_out} To buy another{beside}"
    )
    return plan_status(
        f,
        stalled(Reason.POSSIBLE_DUPLICATE, words),
        requeue_at=_backing_off(f, ROOM_RETRY_SECONDS),
    )


def _unsearched(f: VmFacts, unknown: Unknown) -> Plan[GpuVMStatus]:
    """Wait until every cluster is listed; name one that is not. What the others show wakes the object."""
    late, patient_until = unknown.cause is UnknownReason.NOT_LISTED, f.history.first_seen + SLOW_SECONDS
    if late and f.now.mono < patient_until:
        return Plan(requeue_at=patient_until, pending=True)
    waits = unknown.since > f.now.mono  # no listing that begins before then counts
    if waits or (unknown.detail in clusters(f.spec) and len(clusters(f.spec)) > 1):
        again = max(f.now.mono + ROOM_RETRY_SECONDS[0], unknown.since)
        if late and not waits:
            return Plan(requeue_at=again, pending=True)
        said = other_clusters.unsearched(f, unknown)
        return replace(plan_status(f, said, requeue_at=again), pending=False)
    which = f"cluster {unknown.detail!r}" if unknown.detail else "the list of clusters"
    missing = "is not read yet" if late else f"cannot be read now ({unknown.cause})"
    words = (
        f"Nothing is ordered: the record of orders is lost, so a VM may be in any cluster; {which} {missing}. "
        "The operator keeps trying. "
        f"To buy a VM now{buy_anyway.no_effect(f, own=True)}: {buy_anyway.command_beside_own(f)}"
    )
    plan = plan_status(f, working(Reason.API_UNAVAILABLE, words, ready="Unknown"))
    return replace(plan, pending=False)  # its own cluster has shown all that it can


def ssh_keys_missing(f: VmFacts, then: str = "The VM is created as soon as") -> Plan[GpuVMStatus] | None:
    """Wait while the SSH keys are unknown or invalid. ``then``: what happens when keys are read."""
    if f.keys.trouble is KeyTrouble.MISSING:
        wrong = " If spec.sshKeysFrom is wrong, delete this object and create it again with the right name."
        corrected = wrong if f.keys.may_be_misnamed and not orders.may_exist(f.order) else ""
        words = f"{f.keys.detail} {then} keys are read.{corrected}"
        verdict = working(Reason.SSH_KEYS_NOT_FOUND, words)
        return plan_status(f, verdict, requeue_at=_backing_off(f, KEY_RETRY_SECONDS))
    if f.keys.trouble is KeyTrouble.INVALID:
        return plan_status(f, stalled(Reason.INVALID_SSH_KEYS, f.keys.detail), requeue_at=f.now.mono + KEY_RETRY_SECONDS[1])
    return None


def quota_exceeded(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Wait while the account or the namespace is at its quota."""
    return beyond_quota(f, current_offer(f).configuration, f.price_per_hour)


def beyond_quota(
    f: VmFacts, configuration: str, price_per_hour: str | None, *, replaces: bool = False
) -> Plan[GpuVMStatus] | None:
    """Wait while the quota has no room for a VM of this configuration, at this price.

    An order that was recorded before holds its place: it is checked only for what it costs more by now, as after an edit.
    ``replaces``: the VM is to take the place of one that stands, for an edit that can be taken back.
    """
    holds_place = orders.being_made(f.order) or (f.tracked.earlier_unclear and orders.uses_quota(f.order))
    usage = quota.prices_only(f.usage) if holds_place else f.usage
    price, recorded = dollars(price_per_hour), dollars(f.status.price_per_hour)
    if not usage or (holds_place and (price is None or (recorded is not None and price <= recorded))):
        return None
    words, setting = _too_much(f, usage, price, replaces=replaces), quota.needs_price(usage)
    if words is None and setting is not None and price is None:
        if f.now.mono < f.history.first_seen + PRICE_SECONDS:
            return Plan(requeue_at=f.now.mono + 1.0, pending=True)
        unknown = f"The cloud's catalogue has no price for {configuration!r}, which {setting} needs.{f.corrections('')}"
        words = f"{unknown} {_priced(replaces=replaces)}"
    if words is None:
        return None
    return plan_status(f, stalled(Reason.LIMIT_REACHED, words), requeue_at=_backing_off(f, ROOM_RETRY_SECONDS))


def _too_much(f: VmFacts, usage: tuple[Usage, ...], price: Decimal | None, *, replaces: bool) -> str | None:
    """Return which limit is exceeded, and what to do about it; None if the VM fits."""
    alone = quota.too_dear(usage, price, "The new VM" if replaces else "This VM")
    if alone is not None:
        cheaper = f"Delete this object{f.deletion_does} and create it again with a cheaper configuration"
        return f"{alone} {_PUT_BACK if replaces else cheaper}, or ask the administrator for a higher limit."
    words = quota.exceeded(usage, price)
    return None if words is None else f"{words} Delete a GpuVM, or ask the administrator for a higher limit."


def _priced(*, replaces: bool) -> str:
    """Return what to do about a VM of which the catalogue has no price, where a limit needs one."""
    if replaces:
        return f"{_PUT_BACK}, or ask the administrator to lift that limit."
    another = "recreate this object with an offer that has a price: kubectl gpucloud offers"
    return f"Ask the administrator to lift that limit, or {another}"


def _instead(f: VmFacts) -> Verdict | None:
    """Return the verdict while an alternative is ordered for the first time; None for any other order."""
    tried, here = refusals(f), current_offer(f)
    if not tried or any(offer_of(item) == here for item in tried):
        return None
    last = max(tried, key=lambda item: item.at)
    refused = f"the cloud refused {described(offer_of(last))}{bracketed(last.message)}"
    return working(Reason.CREATING, f"The VM is being created as {described(here)}: {refused}.")


def _backing_off(f: VmFacts, bounds: tuple[float, float]) -> float:
    """Return when to check again: the longer the wait so far, the later."""
    shortest, longest = bounds
    waited = max(0.0, f.now.mono - f.history.first_seen)
    return f.now.mono + min(max(shortest, waited / 4), longest)


def buy(f: VmFacts) -> Plan[GpuVMStatus]:
    """Record the order, then send it. The creation also answers a restart that was requested before the VM existed.

    The price is that of the configuration that is ordered now: an earlier order, never made, may have asked for another.
    """
    same = ordered_offer(f.spec, f.order) in {None, current_offer(f)}
    restart = f.meta.annotations.get(Annotation.RESTART_REQUESTED_AT)
    plan = order(
        recreate.with_new_deadline(f),
        _instead(f) or ordering(f) or recreate.announcement(f),
        last_handled_restart_at=restart or f.status.last_handled_restart_at,
        price_per_hour=f.price_per_hour or (f.status.price_per_hour if same else None),
    )
    return recreate.counted(f, plan)
