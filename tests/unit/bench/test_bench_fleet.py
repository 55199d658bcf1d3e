"""The driver takes an object for reported or Ready only when an operator has written that, for the newest generation."""

from __future__ import annotations

import pytest

from bench.fleet import Fleet


def body(ready="True", observed=1, generation=1, reason="Running"):
    conditions = [{"type": "Ready", "status": ready, "reason": reason}]
    status = {"observedGeneration": observed, "conditions": conditions, "vmId": "x"}
    return {"metadata": {"name": "a", "generation": generation}, "status": status}


@pytest.mark.parametrize(
    ("shown", "reported", "ready", "why"),
    [
        (body("Unknown", observed=-1, reason="Pending"), False, False, "the definition's defaults are nobody's status"),
        ({"metadata": {"name": "a", "generation": 1}}, False, False, "no status at all"),
        (body("False", reason="Creating"), True, False, "a first status"),
        (body(), True, True, "Ready"),
        (body(observed=1, generation=2), True, False, "Ready is said of an older generation"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_an_object_says(shown, reported, ready, why):
    fleet = Fleet()
    fleet.take("MODIFIED", shown, 5.0)
    assert (fleet.first_status, fleet.first_ready) == ({"a": 5.0} if reported else {}, {"a": 5.0} if ready else {}), why
    assert fleet.count(lambda view: view.ready) == int(ready)


def test_the_first_time_counts():
    fleet = Fleet()
    for at in (1.0, 2.0):
        fleet.take("MODIFIED", body(), at)
    fleet.take("DELETED", body(), 3.0)
    assert (fleet.first_ready, fleet.gone, fleet.views) == ({"a": 1.0}, {"a": 3.0}, {})
