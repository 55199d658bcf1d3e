"""Steps of a GpuVM that adopts: a VM that is elsewhere than the spec says, and one that is not as the spec says.

Of what the service reports, cluster and VPC are compared by looking for the name elsewhere, the configuration by the catalogue,
and the image by its letters and digits: "Ubuntu 22.04.4 LTS" is reported as "Ubuntu_22.04.4_LTS" (field notes).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpucloud.kinds.common import Adoption
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import adoption
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.conditions import stalled
from gpucloud.reconcile.core.plan_status import plan_status
from gpucloud.reconcile.facts import Absent
from gpucloud.reconcile.gpuvm import buy_anyway
from gpucloud.reconcile.gpuvm.offers import offers

if TYPE_CHECKING:
    from gpucloud.cloud.models import VmRecord
    from gpucloud.kinds.gpuvm import GpuVMStatus
    from gpucloud.reconcile.facts import Present
    from gpucloud.reconcile.gpuvm.facts import VmFacts
    from gpucloud.reconcile.plan import Plan


def elsewhere(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Report a VM of the name to adopt that is in another VPC or cluster. None is bought beside it."""
    if not f.elsewhere or not isinstance(f.found, Absent) or orders.may_exist(f.order):
        return None
    there = f.elsewhere[0]
    words = (
        f"There is no VM named {f.identity.name!r} in {f.place}, but one in VPC {there.vpc!r} of cluster {there.cluster!r}. To "
        "adopt that one, delete this object and apply it with that spec.cluster and spec.vpc."
    )
    if f.adoption is Adoption.REQUIRED:
        return plan_status(f, stalled(Reason.NOT_FOUND, words))
    if buy_anyway.beside_others(f):
        return None
    words += f" To buy one here: {buy_anyway.command(f)}"
    return plan_status(f, stalled(Reason.POSSIBLE_DUPLICATE, words))


class Differing(NamedTuple):
    """A field of the spec, and what the cloud shows instead of its value."""

    field: str
    actual: str
    wanted: str


def differs(f: VmFacts, vm: Present[VmRecord]) -> Plan[GpuVMStatus] | None:
    """Report an adopted VM of another configuration or image than the spec's. Nothing is done to it, nor is it replaced."""
    differing = shown_otherwise(f, vm) if f.adopted else None
    return None if differing is None else adoption.mismatch(f, *differing)


def shown_otherwise(f: VmFacts, vm: Present[VmRecord]) -> Differing | None:
    """Return the field in which the cloud shows another VM than the spec asks for; None if it shows no difference."""
    used = f.configuration_in_use
    if used is not None and used not in {offer.configuration for offer in offers(f.spec)}:
        return Differing("spec.configuration", used, f.spec.configuration)
    image = None if f.spec.image is None else f.spec.image.operating_system
    if image is not None and vm.record.image is not None and _plain(image) != _plain(vm.record.image):
        return Differing("spec.image.operatingSystem", vm.record.image, image)
    return None


def _plain(image: str) -> str:
    return "".join(char for char in image.casefold() if char.isalnum())
