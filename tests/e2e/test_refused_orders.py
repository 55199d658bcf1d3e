"""What somebody makes by hand after the cloud has refused our order is theirs."""

from __future__ import annotations

from support.kstatus import ready
from support.manifests import gpuvpc
from support.waiting import eventually, reach

POLLS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.4, "blind_after_seconds": 1, "create_grace_seconds": 1}


def test_what_somebody_makes_after_a_refusal_is_theirs(here, sim, operator):
    """The record of the refused order proves nothing, to this process or to the next."""
    sim.fault(operation="CreateVpc", kind="status", status=403, nth=1)
    process = operator(**POLLS)
    here.apply(gpuvpc())
    reach(here, "gpuvpc", "lab", "False/PermissionDenied")
    sim.create_vpc("acme-lab")  # as an administrator would who reads that
    reach(here, "gpuvpc", "lab", "False/Conflict", says="spec.adoption")
    process.kill9()
    process = operator(**POLLS)
    process.wait_for_line('"synced"')
    asked = len(sim.calls("GetVpcs"))
    eventually(lambda: len(sim.calls("GetVpcs")) > asked + 3, what="some looks of the next")
    assert ready(here.get("gpuvpc", "lab")) == "False/Conflict"
    here.delete("gpuvpc", "lab")
    assert not sim.calls("DestroyVpc")
    assert "acme-lab" in sim.vpcs()
