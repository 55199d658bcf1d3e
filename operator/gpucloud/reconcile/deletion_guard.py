"""The deletion guard: if too many deletions are requested at once, destruction pauses until a person releases it.

The worst accidents cross namespaces (a pruned application, a deleted CRD), so the deletions of all namespaces are counted
together, by the apiserver's deletion timestamps. See docs/adr/0007.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile import order as orders
from gpucloud.reconcile import time_annotations
from gpucloud.reconcile.commands import retain_command
from gpucloud.reconcile.price import NOTHING, shown
from gpucloud.reconcile.text import followed
from gpucloud.reconcile.time_annotations import TimeAnnotationRule

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from decimal import Decimal

    from gpucloud.kinds.common import Order
    from gpucloud.reconcile.time_annotations import TimeAnnotation

# Allowed difference of clocks: a release annotation with a later time would switch the guard off.
_FORM = TimeAnnotationRule(Annotation.BRAKE_RELEASED_AT, timedelta(minutes=5))


@dataclass(frozen=True, slots=True)
class Rule:
    """Deletions allowed within a window, beyond which they are held; zero: unlimited."""

    vms: int = 0
    price: Decimal = NOTHING
    window: timedelta = timedelta(minutes=10)

    @property
    def on(self) -> bool:
        """Whether a limit is set."""
        return self.vms > 0 or self.price > 0

    def exceeded(self, vms: int, price: Decimal) -> str | None:
        """Return the setting that this many VMs, or their price, exceed; None if none."""
        if self.vms and vms > self.vms:
            return f"--brake-vms {self.vms}"
        if self.price and price > self.price:
            return f"--brake-price-per-hour {self.price:f}"
        return None


@dataclass(frozen=True, slots=True)
class VmDeletion:
    """A deletion that destroys a VM.

    ``admitted``: the guard admitted it, so it counts and is not held. ``held``: it was held before, perhaps before a restart.
    ``released``: by an annotation of its namespace, or of the object itself (``released_itself``).
    """

    uid: str
    namespace: str
    requested_at: datetime
    price: Decimal | None = None
    admitted: bool = False
    released: bool = False
    released_itself: bool = False
    held: bool = False


@dataclass(frozen=True, slots=True)
class Hold:
    """Why a VM is not destroyed. ``exceeded`` is empty if only its status still says so."""

    vms: int = 0
    price: Decimal = NOTHING
    unpriced: int = 0
    window: timedelta = timedelta(0)
    exceeded: str = ""
    trouble: str = ""  # what is wrong with an annotation that should have released it


def is_destroyed(order: Order | None, *, marked: bool, seen_new: bool) -> bool:
    """Whether deleting the object sends a destroying call: something may be there, or its marked name is destroyed unseen.

    What is lost, and what no record tells of, is destroyed by a name that proves its owner though no listing shows it
    (core/absent.py). ``seen_new``: this process saw the object before any order.
    """
    if order is None:
        return marked and not seen_new
    return orders.may_exist(order) or (marked and order.state is OrderState.LOST)


def release(text: str | None, now: datetime, where: str, written_at: datetime | None = None) -> TimeAnnotation:
    """Read the annotation of ``where``: it releases deletions requested up to its time.

    A time that lay ahead when it was written never counts, not even for a process that starts after it has come. ``written_at``
    is None where nothing tells that.
    """
    return time_annotations.read(text, now if written_at is None else min(now, written_at), where, _FORM)


def hold(deletion: VmDeletion, among: Sequence[VmDeletion], rule: Rule) -> Hold | None:
    """Return why this deletion is held, or None. ``among``: all unreleased deletions by time of request."""
    if not rule.on or deletion.released or deletion.admitted:
        return None
    return _crowd(deletion, among, rule) or (Hold() if deletion.held else None)


def _crowd(deletion: VmDeletion, among: Sequence[VmDeletion], rule: Rule) -> Hold | None:
    """Return the first window with this deletion that exceeds a limit."""
    first = bisect_left(among, deletion.requested_at - rule.window, key=_entered)
    last = bisect_right(among, deletion.requested_at, key=_entered)
    end, price, unpriced = first, NOTHING, 0
    for start in range(first, last):
        while end < len(among) and among[end].requested_at <= among[start].requested_at + rule.window:
            price += among[end].price or NOTHING
            unpriced += among[end].price is None
            end += 1
        exceeded = rule.exceeded(end - start, price)
        if exceeded is not None:
            return Hold(end - start, price, unpriced, rule.window, exceeded)
        price -= among[start].price or NOTHING
        unpriced -= among[start].price is None
    return None


def _entered(deletion: VmDeletion) -> datetime:
    return deletion.requested_at


OLDER = "The namespace's annotation is too old to count."  # as its time is before this deletion


def message(held: Hold, namespace: str, name: str) -> str:
    """Return the message: what happened, and the commands that release it.

    Where a release annotation does not count, why it does not goes before the figures.
    """
    if not held.exceeded:
        why = "Held: too many deletions at once."
    elif held.trouble:
        why = f"Held by {held.exceeded}."
    else:
        many, exceed = ("1 VM", "exceeds") if held.vms == 1 else (f"{held.vms} VMs", "exceed")
        price = f"{shown(held.price)} dollars an hour" + (f", {held.unpriced} unpriced" if held.unpriced else "")
        why = f"Held: {many} ({price}) deleted in {held.window.total_seconds():g} s {exceed} {held.exceeded}."
    said = f"kubectl annotate {{}} --overwrite {Annotation.BRAKE_RELEASED_AT}={time_annotations.NOW_IN_SHELL}"
    opening = f"{why} {held.trouble}".strip()
    words = f"{opening} To keep it (billed), {retain_command('GpuVM', namespace, name)}"
    words = followed(words, f"To destroy it: {said.format(f'gpuvm {name} --namespace={namespace}')}")
    return followed(words, f"Or all in the namespace: {said.format(f'namespace {namespace}')}")
