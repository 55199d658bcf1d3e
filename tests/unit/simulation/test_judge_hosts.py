"""A host is rebooted by a person's request, which a status announces first, and once for each request."""

import json

import pytest

from gpucloud.sim.messages import Request, Response
from simulation.host_acts import HOST, SPEC
from support.court import SIGNED

VALUE, LATER = "2026-01-01T00:00:05Z", "2026-01-01T00:01:05Z"
CALL = Request("POST", "/api/v1/servers/metal/RebootHost", (), SIGNED, json.dumps({"id": HOST, "cluster": "Msc1"}).encode())


def requested(court, value=VALUE):
    """A GpuHost whose owner has requested a reboot."""
    owner = court.world.actors.owner
    item = owner.create("GpuHost", "team", "metal", {"cluster": "Msc1", **SPEC}) or owner.all("GpuHost")[0]
    item["kind"] = "GpuHost"
    owner.annotate(item, reboot_requested_at=value)
    return item


def announces(court, item, value=VALUE, outcome="Announced"):
    record = {"verb": "Reboot", "generation": 1, "id": value, "at": value, "outcome": outcome}
    ready = {"type": "Ready", "status": "False", "reason": "Rebooting", "message": "x", "lastTransitionTime": value}
    court.writes(item, operation=record, conditions=[ready])


def sends(court, status=200):
    court.judge.sent(court.operator, "RebootHost", CALL)
    court.judge.answered(court.operator, "RebootHost", CALL, Response(status, b""), "")


def test_a_request_is_announced_and_sent_once(court):
    announces(court, requested(court))
    sends(court)
    announces(court, requested(court, LATER), LATER)
    sends(court)
    assert court.oracles == []


@pytest.mark.parametrize(("status", "found"), [(200, ["host"]), (422, ["host"]), (503, ["host"]), (429, []), (401, [])])
def test_a_request_that_is_sent_again(court, status, found):
    announces(court, requested(court))
    sends(court, status)
    court.passes(10)
    sends(court)
    assert court.oracles == found


def test_a_request_that_a_person_repeats_after_another_one_is_a_new_one(court):
    """Seed 92334732: by a clock that was ahead, the next process's gave the same time once more."""
    item = requested(court)
    for value in (VALUE, LATER, VALUE):
        court.world.actors.owner.annotate(item, reboot_requested_at=value)
        announces(court, item, value)
        sends(court)
        court.passes(60)
    assert court.oracles == []


def test_a_call_that_no_status_announces(court):
    requested(court)
    sends(court)
    assert court.oracles == ["host"]


def test_a_call_that_nobody_has_requested(court):
    announces(court, requested(court), LATER)
    sends(court)
    assert court.oracles == ["host"]


@pytest.mark.parametrize(("seconds", "found"), [(100, []), (120, ["host"])])
def test_a_call_while_the_object_is_paused(court, seconds, found):
    item = requested(court)
    announces(court, item)
    court.world.actors.owner.annotate(item, paused="true")
    court.passes(seconds)
    sends(court)
    assert court.oracles == found


def test_what_etcd_has_lost_may_be_sent_again(court):
    announces(court, requested(court))
    sends(court)
    court.passes(10)
    court.judge.restored()
    sends(court)
    assert court.oracles == []


@pytest.mark.parametrize(("outcome", "unmet"), [("Announced", 1), ("InProgress", 1), ("Done", 0), ("Unclear", 0)])
def test_at_the_end_nothing_is_under_way(court, outcome, unmet):
    announces(court, requested(court), outcome=outcome)
    assert len(list(court.judge.hosts.unmet())) == unmet
