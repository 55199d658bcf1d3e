"""A VPC that was adopted goes with its object, where the spec says so; an object that is being deleted adopts nothing."""

import pytest

from gpucloud.sim.messages import Request
from simulation.books import FINALIZER
from support.court import SIGNED


@pytest.mark.parametrize(
    ("goes", "told", "found"),
    [
        (True, "by a status", []),
        (True, "by a listing", []),
        (True, "by nothing", ["foreign"]),
        (True, "by a later listing", ["foreign"]),
        (False, "by a status", ["foreign"]),
    ],
)
def test_a_vpc_that_was_adopted_before_its_object_was_deleted_goes_with_it(court, goes, told, found):
    court.world.cloud.make_vpc("acme-net", "Msc1", "stranger")
    spec = {"cluster": "Msc1", "name": "acme-net", "adoption": "Required", "deletion": {"policy": "Delete"}}
    item = court.world.actors.owner.create("GpuVpc", "team", "net", spec) | {"kind": "GpuVpc"}
    court.hands.patch(item, {"metadata": {"finalizers": [FINALIZER]}})
    vpc = next(row for row in court.world.cloud.world.vpcs.table.rows() if row.name == "acme-net")
    court.passes(1)
    look = Request("GET", "/api/v1/vpcs/GetVpcs", (("Cluster", "Msc1"),), SIGNED)
    if told == "by a listing":
        court.world.cloud.carry_out(court.operator, "GetVpcs", look, "")
    if told == "by a status":
        court.writes(item, adopted=True, vpcId=vpc.id, order={"state": "Destroying", "name": vpc.name})
    if goes:
        court.world.actors.owner.delete(item)
    court.passes(1)
    if told == "by a later listing":
        court.world.cloud.carry_out(court.operator, "GetVpcs", look, "")
        court.writes(item, adopted=True, vpcId=vpc.id, order={"state": "Destroying", "name": vpc.name})
    request = Request("DELETE", "/api/v1/vpcs/DestroyVpc", (("Id", vpc.id), ("Cluster", "Msc1")), SIGNED)
    court.judge.sent(court.operator, "DestroyVpc", request)
    assert court.world.cloud.carry_out(court.operator, "DestroyVpc", request, "").status < 300
    assert court.oracles == found
