"""Facts about a GpuVpc with defaults, so that a test says only what it is about."""

from __future__ import annotations

from datetime import timedelta

from gpucloud.cloud.models import VpcRecord
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.kinds.gpuvpc import GpuVpcSpec, GpuVpcStatus
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.facts import Absent, Now, Present
from gpucloud.reconcile.gpuvpc import Occupants, VpcFacts, identity
from support import builders
from support.builders import NOW, START, an_object, an_order, with_standing
from support.rows import OLD

NAME = "acme-train"
ORDER = an_order(NAME, vpc=NAME, cloud_id="vpc-1")
MADE = {"order": ORDER, "vpc_id": "vpc-1", "account": OWN_ACCOUNT}
EMPTY = Occupants((), NOW)


def a_vpc_spec(**changes):
    return GpuVpcSpec.model_validate({"cluster": "Msc1", "name": NAME} | changes)


def a_vpc_status(*arguments, **fields):
    return builders.a_status(*arguments, model=GpuVpcStatus, **fields)


def a_vpc(vpc_id="vpc-1", as_of=NOW, duplicate_records=False, **fields):
    record = {"id": vpc_id, "name": NAME, "cluster": "Msc1", "tenancyName": "acme"} | fields
    return Present(VpcRecord.model_validate(record), as_of, duplicate_records)


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
        memory=OLD,
        standing=orders.Standing(None, NOW - 60),
    )
    return with_standing(base, changes)
