"""Once all is as wanted it is quiet: nothing is written, nor called for."""

import pytest

from simulation import ending
from simulation.process import PROCESS

STALLED = {"type": "Stalled", "status": "True"}


@pytest.mark.parametrize(
    ("before", "after", "quiet"),
    [
        ("True/Running", "True/Running", False),
        ("True/Running", "False/Restarting", False),
        ("False/Conflict", "False/Conflict", False),
        ("False/NotFound", "False/Creating", True),  # seed 110267: the order was sent again after some minutes
        ("False/ProgressDeadlineExceeded", "False/ProgressDeadlineExceeded", True),  # seed 110015: the work went on
        ("False/LimitReached", "False/LimitReached", True),  # seed 501064: the catalogue had a price by then
    ],
)
def test_nothing_is_written_once_all_is_as_wanted_but_what_was_stalled_may_go_on(court, before, after, quiet):
    item = court.bought()

    def says(ready):
        condition = {"type": "Ready", "message": "-", "observedGeneration": 1, "lastTransitionTime": "2026-01-01T00:00:00Z"}
        condition["status"], condition["reason"] = ready.split("/")
        stalled = [condition | STALLED] if ready.startswith("False/") else []
        court.writes(item, conditions=[condition, *stalled])

    says(before)
    resting = ending._at_rest(court.judge)
    assert list(ending._restless(court.judge, resting)) == []
    court.writes(item, ip="10.0.0.1")
    says(after)
    assert (list(ending._restless(court.judge, resting)) == []) == quiet


@pytest.mark.parametrize(
    ("reason", "fault", "final", "excused", "why"),
    [
        ("DeletionBlocked", "cloud-403", False, True, "seed 110575: the cloud refuses a destroying call, which is sent again"),
        ("DeletionBlocked", "", False, False, "the cloud accepted it: nothing is sent again for minutes"),
        ("ApiError", "cloud-500", False, True, "what failed five times is sent again every five minutes"),
        ("Rejected", "cloud-403", True, False, "an order whose refusal is final for its spec is not sent again"),
        ("Rejected", "cloud-403", False, True, "a power call out of turn is sent again"),
        ("Conflict", "cloud-403", False, False, "a person must free the name, whatever was refused before"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_what_was_refused_and_is_sent_again_need_not_be_quiet(court, reason, fault, final, excused, why):
    item = court.bought()
    refused = {"refusedGeneration": 1} if final else {}
    court.records(item, "a-x", state="Seen", **refused)
    court.sends("DestroyServer", fault, Id="a-x", Namespace="acme", Cluster="Msc1")
    condition = {"type": "Ready", "status": "False", "reason": reason, "observedGeneration": 1, "message": "-"}
    condition |= {"lastTransitionTime": "2026-01-01T00:00:00Z"}
    court.writes(item, conditions=[condition, condition | STALLED])
    resting = ending._at_rest(court.judge)
    court.writes(item, ip="10.0.0.1")
    assert (list(ending._restless(court.judge, resting)) == []) is excused, why


def test_what_waits_for_a_credential_need_not_be_quiet(court):
    """Seed 971081: it is read again within a minute, and a login may be good by then."""
    item = court.bought()
    court.deletes_secret()
    condition = {"type": "Ready", "status": "False", "reason": "CredentialsRefused", "observedGeneration": 1, "message": "-"}
    condition |= {"lastTransitionTime": "2026-01-01T00:00:00Z"}
    court.writes(item, conditions=[condition, condition | STALLED])
    resting = ending._at_rest(court.judge)
    court.writes(item, ip="10.0.0.1")
    assert list(ending._restless(court.judge, resting)) == []


@pytest.mark.parametrize(
    ("prices", "quiet"),
    [(("2.05",), True), (("2.05", "2.05"), False), ((None,), False)],
    ids=["the price", "more than the price", "something else"],
)
def test_what_calls_a_person_is_written_once_more_for_its_price(court, prices, quiet):
    """Seed 92000411: the catalogue could not be read, and the message about a failed VM named its price a minute later."""
    item = court.bought()
    condition = {
        "message": "-",
        "observedGeneration": 1,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
        "reason": "CreateFailed",
    }
    said = [condition | {"type": "Ready", "status": "False"}, condition | {"type": "Stalled", "status": "True"}]
    court.writes(item, conditions=said, vmId="a-x")
    resting = ending._at_rest(court.judge)
    for number, price in enumerate(prices):
        court.writes(item, ip=f"10.0.0.{number}", **({"pricePerHour": price} if price else {}))
    assert (list(ending._restless(court.judge, resting)) == []) is quiet


@pytest.mark.parametrize(("writes_after", "found"), [(1.0, []), (300.0, ["quiet"])])
def test_a_process_that_is_yet_to_begin_first_says_what_it_finds(court, writes_after, found):
    """Seed 92280110: a killed process was followed by the next one 90 s later, while it was to be quiet."""
    item, world, starts = court.bought(), court.world, 60.0
    condition = {"type": "Ready", "status": "True", "reason": "Running", "message": "-", "observedGeneration": 1}
    court.writes(item, conditions=[condition | {"lastTransitionTime": "2026-01-01T00:00:00Z"}])

    def start():
        world.replicas[0].process = court.operator
        court.judge.collecting.began(court.operator)

    async def end():
        PROCESS.set(world.loop.world)
        await ending._quiet(world, court.judge)

    world.later(starts, start)
    world.later(starts + writes_after, lambda: court.writes(item, ip="10.0.0.1"))
    world.loop.run_until_complete(end())
    assert court.oracles == found
