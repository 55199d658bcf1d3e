"""Defects that others had in production, planted one at a time: the suite must find each.

A green suite says nothing about the suite; that it turns red when it should, does. ``simulation/defects/production_*.py`` say
where each defect is from and what it would do; the simulated world hunts the same ones. It is planted in a process of its own
(``support/planted.py``), and the tests named here for it, in the cheapest layer that knows of it, must fail there. All of them
run the product in their own process. On the product as it is they all pass.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from simulation.defects import IN_PRODUCTION

ROOT = Path(__file__).parents[2]
CHILD_SECONDS = 60  # a defect may also show as a test that never ends
FAILED = re.compile(r"^FAILED (\S+?::\w+)", re.MULTILINE)

CLIENT, LIMITS, SECRETS = (
    "tests/unit/cloud/test_client.py",
    "tests/unit/cloud/test_limits.py",
    "tests/unit/cloud/test_secrets.py",
)
DECISIONS = "tests/unit/reconcile/test_decisions.py::test_decision"
NAMING, TENANCY = "tests/unit/reconcile/test_naming.py", "tests/unit/reconcile/test_tenancy.py"
ACCOUNTS, CLAIMS, CALLS, IMPLAUSIBLE, SIGHTINGS, WAKEUPS, SCANS, STORE = (
    f"tests/unit/engine/{module}.py"
    for module in (
        "gpucloudaccount/test_credentials",
        "gpuvm/test_claims",
        "controller/test_calls",
        "inventory/test_implausible",
        "inventory/test_sightings",
        "inventory/test_wakeups",
        "orphans/test_scans",
        "test_store",
    )
)

# Which tests must find which defect. Whether the end-to-end tests find it too is another question, of another hour.
FOUND_BY = {
    "01-order-before-its-intent": (DECISIONS,),
    "02-act-though-the-status-was-refused": (f"{CALLS}::test_what_was_refused_by_the_apiserver_is_not_acted_on",),
    "03-name-without-uid": (f"{NAMING}::test_the_name_is_the_objects_own_and_always_the_same",),
    "04-after-a-restart-nothing-was-asked-for": (DECISIONS,),
    "05-lagging-listing-believed": (DECISIONS,),
    "06-deleted-before-the-id-is-known": (DECISIONS,),
    "07-vanished-and-nobody-woken": (f"{WAKEUPS}::test_an_object_is_woken_when_its_record_vanishes_and_when_it_comes_back",),
    "08-claims-not-unique": (f"{CLAIMS}::test_which_of_two_claimants_owns",),
    "09-second-claimant-destroys": (DECISIONS,),
    "10-mass-disappearance-believed": (f"{IMPLAUSIBLE}::test_how_much_may_vanish_at_once",),
    "11-woken-and-acting-on-old-facts": (f"{CALLS}::test_stale_facts_are_not_acted_upon",),
    "12-failed-means-not-done": (DECISIONS,),
    "13-client-repeats-what-changes": (f"{CLIENT}::test_a_reading_call_is_repeated_and_a_changing_one_is_not",),
    "14-credential-goes-before-its-users": (DECISIONS,),
    "15-endpoint-named-by-the-tenant": (f"{ACCOUNTS}::test_an_account_chooses_among_the_declared_endpoints_only",),
    "16-no-total-deadline": (f"{CLIENT}::test_the_deadline_covers_everything_and_an_unanswered_change_is_unknown",),
    "17-older-view-put-over-the-newer": (f"{STORE}::test_an_older_or_equal_view_is_ignored",),
    "18-finalizer-goes-on-a-refusal": (DECISIONS,),
    "19-failed-listing-read-as-empty": (f"{SIGHTINGS}::test_a_listing_that_failed_makes_nothing_absent",),
    "20-partial-listing-believed": (f"{SIGHTINGS}::test_a_listing_that_failed_makes_nothing_absent",),
    "21-another-tenants-key-believed": (f"{TENANCY}::test_what_another_tenant_shows_or_lacks_is_unknown",),
    "22-retry-after-ignored": (f"{LIMITS}::test_an_answer_pauses_the_budget",),
    "23-secret-in-an-error": (f"{SECRETS}::test_a_failure_shows_no_secret",),
    "24-status-believed": (f"{NAMING}::test_which_vm_an_object_stands_for",),
    "25-failed-list-of-objects-read-as-empty": (f"{SCANS}::test_without_a_list_of_objects_nothing_is_said",),
}


def outcome_of(tests, *plant):
    """Run tests in a process of their own."""
    flags = ("-q", "-rfE", "--tb=no", f"--timeout={CHILD_SECONDS}", "-p", "no:cacheprovider", "-p", "no:xdist", *plant)
    return subprocess.run(  # noqa: S603 - our own tests
        [sys.executable, "-m", "pytest", *flags, *tests],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests"), "PYTEST_ADDOPTS": "", "COLUMNS": "500"},
        capture_output=True,
        text=True,
        timeout=4 * CHILD_SECONDS,
        check=False,
    )


def test_every_defect_has_its_tests():
    assert IN_PRODUCTION.keys() == FOUND_BY.keys()
    assert len(IN_PRODUCTION) >= 20


def test_the_product_as_it_is_passes_them_all():
    result = outcome_of(sorted({test for tests in FOUND_BY.values() for test in tests}))
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("name", FOUND_BY)
def test_a_planted_defect_is_found(name):
    result = outcome_of(FOUND_BY[name], "-p", "support.planted", "--plant", name)
    assert result.returncode == 1, f"not found, or not by a failing test:\n{result.stdout}{result.stderr}"
    assert not re.search(r"^ERROR ", result.stdout, re.MULTILINE), result.stdout
    assert set(FAILED.findall(result.stdout)) == set(FOUND_BY[name]), result.stdout
