"""Plots of a cloud that answers wrongly for a while, call after call, as one listing or one answer alone proves nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.stage import MAIN, UP_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.stage import Stage

PRETENDS_SECONDS = 3700.0  # over an hour: calls without a cause are counted by the hour
SEVERAL = 3  # that vanish at once are not believed to be gone


def _accepted_and_never_made(on: Stage) -> None:
    """The cloud accepts each order, and carries none out."""
    on.arranged.fault("CreateServer", "write-ghost")
    on.vm("x")
    on.then(65 * on.world.grace, on.delete, "GpuVM", "x")


def _accepted_and_not_destroyed(on: Stage) -> None:
    """The cloud accepts each destruction, and carries none out: for some graces, or for so long that its owner asks again."""
    on.vm("x", deletion={"snapshots": on.choose("snapshots of what stays", "Delete", "Keep")})
    on.then(UP_SECONDS, on.snapshot, "taken", vmRef={"name": "x"})
    if on.choose("another is kept", True, False):  # so that the first is deleted by a call of its own
        on.then(UP_SECONDS, on.snapshot, "kept", vmRef={"name": "x"}, deletion={"policy": "Retain"})
    begins, lasts = 3 * UP_SECONDS + on.soon("deleted"), on.choose("pretends for", PRETENDS_SECONDS, 3 * on.world.grace)

    def begin() -> None:
        on.cloud.only_pretends = True
        on.delete("GpuVM", "x")

    def end() -> None:
        on.cloud.only_pretends = False
        on.annotate("GpuVM", "x", reconcile_requested_at=on.world.stamp())

    on.then(begins, begin)
    on.then(begins + lasts, end)
    restarted = on.choose("restarted after", "none", "the first call", "the second call")
    if restarted != "none":
        on.then(begins + (4.0 if restarted == "the first call" else 11 * on.world.grace), on.killed)


def _half_a_listing(on: Stage) -> None:
    """For some graces listings lack records, and show that they do."""
    on.vm("x", vmName=MAIN)
    begin, lasts = UP_SECONDS + on.soon("begins"), on.graces("short for", 5.0, 3.0)
    kind = on.choose("short by", "list-foreign", "list-more")
    on.arranged.fault("GetServers", kind, begin=begin, end=begin + lasts + 30.0)
    on.then(begin + lasts, on.delete, "GpuVM", "x")


def _nothing_listed(on: Stage) -> None:
    """For some graces listings are empty, though several VMs run: of one alone that would be proof that it is gone."""
    names, empty = ("x", "y", "z", "w"), 60.0 + on.graces("empty for", 3.0, 2.0)

    def begin() -> None:
        if sum(on.stands(name, "Seen") for name in names) >= SEVERAL:
            on.arranged.fault("GetServers", "list-empty", end=empty)
            on.then(empty, lambda: None)  # the storm lasts as long

    for name in names:
        on.vm(name)
    on.then(UP_SECONDS + on.soon("begins"), begin)


def _drip(on: Stage) -> None:
    """The answer to a listing drips for hours."""
    on.vm("x")
    on.arranged.fault("GetServers", "cloud-drip", times=on.choose("dripping answers", 1, 3), begin=on.soon("drips"))


def _power_shows_late(on: Stage) -> None:
    """A VM is stopped, and listings show that late."""
    on.vm("x")
    lag = on.graces("lags by", 0.8, 0.6, 3.0)

    def begin() -> None:
        on.world.weather.plotted.add("lag")
        on.cloud.lag = lag
        on.edit("GpuVM", "x", powerState="Stopped")

    older = UP_SECONDS + 2 * lag
    on.then(older + on.soon("stopped"), begin)
    on.then(older + 30.0 + 2 * lag, on.edit, "GpuVM", "x", powerState="Running")


PLOTS: dict[str, Callable[[Stage], None]] = {
    "accepted and never made": _accepted_and_never_made,
    "half a listing": _half_a_listing,
    "nothing listed": _nothing_listed,
    "drip": _drip,
    "power shows late": _power_shows_late,
}
# A third draw: it leaves the plots of all other histories as they are, and these take an hour each.
LASTING: dict[str, Callable[[Stage], None]] = {"accepted and not destroyed": _accepted_and_not_destroyed}
