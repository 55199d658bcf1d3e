"""The plots of adoption: what strangers made, or nobody yet, is taken over by an object, by two, or by one that goes again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.stage import OTHER, TEAM, UP_SECONDS, VPC

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.stage import Stage

NAME = "legacy"  # in the cloud; no random act uses it


def _adopter(on: Stage, called: str, namespace: str = TEAM) -> None:
    """Apply a GpuVM that adopts."""
    policy = on.choose("adopted policy", None, "Delete", "Retain")
    on.vm(
        called,
        namespace,
        vmName=NAME,
        adoption=on.choose("adoption", "Required", "IfExists"),
        deletion=policy and {"policy": policy},
        powerState=on.choose("adopted power", None, "Stopped"),
    )


def _stranger_makes(on: Stage) -> None:
    on.cloud.make_vm(NAME, VPC, "Msc1", "stranger")


def _adopted_and_let_go(on: Stage) -> None:
    """A stranger's VM is adopted, and the object is deleted; another of another namespace may wait for it."""
    _stranger_makes(on)
    _adopter(on, "old")
    on.then(on.soon("second adopter"), _adopter, on, "old2", on.choose("second adopter in", TEAM, OTHER))
    on.then(UP_SECONDS + on.soon("adopter goes"), on.delete, "GpuVM", "old")


def _adopted_in_one_moment(on: Stage) -> None:
    """Two objects want one VM at once; both go."""
    _stranger_makes(on)
    _adopter(on, "old")
    _adopter(on, "old2", on.choose("second adopter in", TEAM, OTHER))
    on.then(UP_SECONDS + on.soon("adopter goes"), on.delete, "GpuVM", "old2")
    on.then(UP_SECONDS + on.soon("second goes"), on.delete, "GpuVM", "old")


def _waited_for(on: Stage) -> None:
    """What is to be adopted comes later, if nobody has bought it by then."""
    _adopter(on, "old")
    on.then(on.soon("legacy comes"), _stranger_makes, on)


def _adopted_and_lost(on: Stage) -> None:
    """What was adopted is destroyed outside, and perhaps made again; the object stays, or goes."""
    _stranger_makes(on)
    _adopter(on, "old")
    lost = UP_SECONDS + on.soon("legacy lost")
    on.then(lost, on.destroyed_outside, NAME)
    if on.choose("legacy made again", True, False):
        on.then(lost + on.graces("legacy again", 3.0, 0.3, 10.0), _stranger_makes, on)
    if on.choose("loser goes", False, True):
        on.then(lost + on.soon("loser goes"), on.delete, "GpuVM", "old")


PLOTS: dict[str, Callable[[Stage], None]] = {
    "adopted and let go": _adopted_and_let_go,
    "adopted in one moment": _adopted_in_one_moment,
    "waited for": _waited_for,
    "adopted and lost": _adopted_and_lost,
}
