"""The plots of ``placement.alternatives``: the first is wrong; nothing is free for long, and the owner thinks again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.stage import UP_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.stage import Stage

USUAL, LARGER, UNKNOWN = "A100_40GB_PCIe_1x", "A100_40GB_PCIe_2x", "A100_40GB_PCIe_3x"  # the cloud does not know the last
PLENTY = 10_000


def _first_is_wrong(on: Stage) -> None:
    """The cloud does not know the configuration, but an alternative."""
    others = on.choose("alternatives", [{"configuration": USUAL}], [{"configuration": UNKNOWN}, {"configuration": USUAL}])
    on.vm("y", configuration=UNKNOWN, placement={"alternatives": others})
    if on.choose("killed meanwhile", False, True):
        on.then(on.soon("killed"), on.killed)


def _edited_while_nothing_is_free(on: Stage) -> None:
    """The cloud has no capacity for the first; meanwhile the owner takes the alternatives back, or names some."""
    if on.choose("what the cloud says of that", "refuses", "lets wait") == "refuses":
        on.cloud.turn(create_without_capacity="refuse_503")
    on.cloud.set_capacity(0)
    placement = {"alternatives": [{"configuration": LARGER}]}
    patience = on.choose("patience", None, 20, 90)
    patient = placement if patience is None else placement | {"waitSeconds": patience}
    before, after = on.choose("edit", (patient, None), (patient, patient), (None, placement))
    on.vm("y", placement=before)
    edited = UP_SECONDS + on.soon("edited")
    on.then(edited, on.edit, "GpuVM", "y", placement=after)
    on.then(edited + on.choose("free after", 60.0, 10.0, 100.0), on.cloud.set_capacity, PLENTY)


PLOTS: dict[str, Callable[[Stage], None]] = {
    "first offer is wrong": _first_is_wrong,
    "alternatives edited while nothing is free": _edited_while_nothing_is_free,
}
