"""What the status of a GpuCloudAccount says beside Ready, after a restart, and when nothing changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from gpucloud.kinds.gpucloudaccount import Access, GpuCloudAccountStatus
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import CallHistory, UnknownReason
from gpucloud.reconcile.gpucloudaccount import Contact, decide
from support.accounts import (
    FORBIDDEN,
    HELD,
    PAUSED,
    REFUSED,
    SECRET,
    SNAPSHOT,
    V1,
    V2,
    VM,
    WALL,
    a_secret,
    account_facts,
    an_account,
    an_account_status,
    in_trouble,
    stored,
)
from support.builders import NOW


def test_paused_stands_beside_ready_and_goes_with_the_annotation():
    given = {"meta": an_account(annotations=PAUSED), "status": an_account_status(), "secret": HELD}
    standing = decide(account_facts(**given)).status
    assert find(standing.conditions, ConditionType.PAUSED).status == "True"
    assert find(decide(account_facts(secret=HELD, status=standing)).status.conditions, ConditionType.PAUSED) is None


def test_what_is_forbidden_stands_beside_ready():
    forbidden = {"DestroyVpc": "No.", "CreateVpc": FORBIDDEN}
    status = decide(account_facts(forbidden=forbidden, allowed=frozenset({"GetServers", "CreateVpc"}))).status
    restricted = find(status.conditions, ConditionType.RESTRICTED)
    assert restricted.message.startswith(
        'The cloud forbids this credential CreateVpc ("Required permissions are not granted"), DestroyVpc ("No"); '
    )
    assert "the rest works" in restricted.message
    assert [(item.name, item.access, item.message) for item in status.operations] == [
        ("CreateVpc", Access.FORBIDDEN, FORBIDDEN),
        ("DestroyVpc", Access.FORBIDDEN, "No."),
        ("GetServers", Access.ALLOWED, None),
    ]


def test_what_was_seen_is_sorted_and_counted():
    status = decide(account_facts(clusters=("f", "b", "e", "a", "d", "c"), users=(VM, SNAPSHOT))).status
    assert (status.clusters, status.users, status.request_budget.burst) == (("a", "b", "c", "d", "e", "f"), 2, 20)


def test_what_was_seen_before_stands_until_the_cloud_has_answered():
    seen = decide(account_facts(secret=HELD, clusters=("Hou1",), allowed=frozenset({"GetServers"}))).status
    untried = decide(account_facts(status=seen, contact=in_trouble(UnknownReason.UNREACHABLE), secret=HELD)).status
    assert (untried.clusters, untried.operations) == (seen.clusters, seen.operations)
    answered = decide(account_facts(status=seen, secret=HELD)).status
    assert (answered.clusters, answered.operations) == ((), ())


def test_texts_of_any_length_fit_the_schema():
    long = "x" * 5000
    status = decide(
        account_facts(
            tenant=long,
            clusters=tuple(f"{n}{long}" for n in range(300)),
            forbidden={long: long, "CreateVpc": ""},
            allowed=frozenset(f"Get{n}" for n in range(100)),
            contact=replace(REFUSED, trouble=replace(REFUSED.trouble, detail=long * 10)),
        )
    ).status
    assert GpuCloudAccountStatus.model_validate(status.model_dump(mode="json", by_alias=True)) == stored(status)
    assert decide(account_facts(tenant=long, users_of_tenant=(VM,), status=status)).status.tenant == long[:253]


RESTARTED = {
    "contact": Contact(),
    "secret": HELD,
    "status": an_account_status(tenant="acme", proven_secret=V1, held_secrets=(SECRET,)),
    "history": CallHistory(first_seen=NOW - 1),
    "users": (VM,),
}


class TestRestart:
    """A new process has not asked the cloud yet."""

    def test_leaves_what_this_very_secret_has_shown(self):
        plan = decide(account_facts(**RESTARTED))
        assert (plan.status, plan.action, plan.release) == (None, None, None)
        assert NOW < plan.requeue_at <= NOW + 60

    @pytest.mark.parametrize(
        "changed",
        [
            pytest.param(
                {"secret": a_secret(version=V2, has_finalizer=True)}, id="another version of the Secret proves nothing"
            ),
            pytest.param({"status": an_account_status(tenant="acme")}, id="nothing was proven"),
            pytest.param({"status": an_account_status("ApiUnavailable", "Unknown", proven_secret=V1)}, id="it was not well"),
            pytest.param({"meta": an_account(generation=2)}, id="the verdict speaks of another spec"),
            pytest.param({"endpoint": "us"}, id="it was proven elsewhere"),
            pytest.param({"history": CallHistory(first_seen=NOW - 60)}, id="not for ever"),
        ],
    )
    def test_says_that_it_is_untried_otherwise(self, changed):
        status = decide(account_facts(**{**RESTARTED, **changed})).status
        assert find(status.conditions, ConditionType.READY).reason == Reason.PENDING

    def test_hides_no_trouble(self):
        status = decide(account_facts(**{**RESTARTED, "contact": REFUSED})).status
        assert find(status.conditions, ConditionType.READY).reason == Reason.CREDENTIALS_REFUSED


class TestIdle:
    """A healthy account costs no write, though its credential is asked about every minute."""

    def settled(self, **given):
        status = stored(decide(account_facts(secret=HELD, **given)).status)
        return stored(decide(account_facts(secret=HELD, status=status, **given)).status)

    def later(self, status, seconds, **given):
        now = WALL + timedelta(seconds=seconds)
        return decide(account_facts(secret=HELD, status=status, contact=Contact(now), **given)).status

    def test_a_contact_each_minute_is_not_written(self):
        status = self.settled()
        assert stored(self.later(status, 595)) == status
        assert self.later(status, 600).last_contact_at == WALL + timedelta(seconds=600)

    def test_a_contact_is_written_with_anything_else(self):
        assert self.later(self.settled(), 60, users=(VM,)).last_contact_at == WALL + timedelta(seconds=60)

    def test_the_end_of_one_token_is_written_once(self):
        end = WALL + timedelta(days=1)
        status = self.settled(token_expires_at=end)
        assert status.token_expires_at == end
        for seconds in (-59, 59):
            assert self.later(status, 60, token_expires_at=end + timedelta(seconds=seconds)).token_expires_at == end
        renewed = end + timedelta(hours=1)
        assert self.later(status, 60, token_expires_at=renewed).token_expires_at == renewed
        assert self.later(status, 60).token_expires_at is None
