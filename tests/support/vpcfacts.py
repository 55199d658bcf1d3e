"""Facts about a GpuVpc with defaults, so that a test says only what it is about."""

from __future__ import annotations

from datetime import timedelta

from gpucloud.cloud.errors import ErrorKind
from gpucloud.cloud.models import VpcRecord
from gpucloud.kinds.common import OWN_ACCOUNT, OrderState, Origin
from gpucloud.kinds.gpuvpc import GpuVpcSpec, GpuVpcStatus
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.continuity import Doubt, Sightings
from gpucloud.reconcile.facts import Absent, Now, Present, Verb
from gpucloud.reconcile.gpuvpc import Occupants, VpcFacts, identity
from support import builders
from support.builders import NOW, START, an_object, an_order, known, with_standing
from support.rows import OLD, tried

NAME = "acme-train"
ORDER = an_order(NAME, vpc=NAME, cloud_id="vpc-1")
MADE = {"order": ORDER, "vpc_id": "vpc-1", "account": OWN_ACCOUNT}
EMPTY = Occupants((), NOW, NOW - 2)


def a_vpc_spec(**changes):
    return GpuVpcSpec.model_validate({"cluster": "Msc1", "name": NAME} | changes)


def a_vpc_status(*arguments, **fields):
    return builders.a_status(*arguments, model=GpuVpcStatus, **fields)


def a_vpc(vpc_id="vpc-1", as_of=NOW, duplicate_records=False, **fields):
    record = {"id": vpc_id, "name": NAME, "cluster": "Msc1", "tenancyName": "acme"} | fields
    return Present(VpcRecord.model_validate(record), as_of, duplicate_records)


INTENDED = an_order(NAME, OrderState.INTENDED, vpc=NAME)
MINE = known(INTENDED, ago=1, recorded=1)
TOLD = known(an_order(NAME, OrderState.DESTROYING, vpc=NAME, cloud_id="vpc-1"), ago=5, absence_counts_from=NOW - 5)
REJECTED = a_vpc_status(
    "Rejected", progress="Stalled", order=an_order(NAME, OrderState.REFUSED, vpc=NAME, refused_generation=1)
)
OTHERS = Sightings(NOW - 33, Doubt.RENUMBERED, NOW - 31)  # listings of a grace have shown another id
TWICE = Sightings(NOW - 6, Doubt.RENUMBERED, NOW - 2)  # one before has shown another id
RENUMBERED = known(ORDER, sightings=OTHERS)
CREATING = a_vpc_status("Creating", order=INTENDED, account=OWN_ACCOUNT)
AVAILABLE = a_vpc_status("Available", "True", None, **MADE)
GOING = a_vpc_status("Deleting", **MADE)
DELETING = an_object(deleting=True)
EMPTIED = {"meta": DELETING, "status": GOING, "found": a_vpc(), "occupants": EMPTY}
RETAINS = a_vpc_spec(deletion={"policy": "Retain"})
ADOPTS = a_vpc_spec(adoption="IfExists")
ADOPTED = an_order(NAME, vpc=NAME, cloud_id="vpc-1", origin=Origin.ADOPTED)
TAKEN_OVER = a_vpc_status("Adopted", "True", None, vpc_id="vpc-1", account=OWN_ACCOUNT, adopted=True, order=ADOPTED)
REFUSED_FOR_CERTAIN = tried(Verb.CREATE_VPC, ago=0.5, kind=ErrorKind.FORBIDDEN)


def vpc_facts(**changes):
    """A guarded GpuVpc, known for a minute, whose name two listings in a row have shown free."""
    spec = changes.pop("spec", a_vpc_spec())
    base = VpcFacts(
        now=Now(START + timedelta(seconds=NOW), NOW),
        meta=changes.pop("meta", an_object()),
        spec=spec,
        status=changes.pop("status", GpuVpcStatus()),
        identity=identity(spec),
        found=Absent(NOW, NOW - 9, NOW - 2),
        history=OLD,
        tracked=orders.TrackedOrder(None, NOW - 60),
    )
    return with_standing(base, changes)
