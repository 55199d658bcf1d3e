"""What a process may do, and show: who leads writes, no key is shown, and no task is lost."""

import pytest

from simulation.credentials import KEYS
from simulation.logs import SimulatedLog
from simulation.process import Process
from support.court import Court


def test_a_key_is_shown(court):
    court.judge.show(f"the cloud says no to {KEYS['wrong']}")
    assert court.oracles == ["canary"]


def test_a_task_is_lost(court):
    court.world.loop.failures.append({"message": "Task exception was never retrieved", "exception": ValueError("x")})
    court.judge.rest()
    assert court.oracles == ["lost task"]


def test_a_process_ends_by_an_error(court):
    court.judge.broke(court.operator, KeyError("x"))
    assert court.oracles == ["broken KeyError"]


def test_a_key_in_the_log_is_found_where_logs_are_searched(court, monkeypatch):
    monkeypatch.setattr(SimulatedLog, "world", court.world)
    for searched in (False, True):
        monkeypatch.setattr(SimulatedLog, "searched", searched)
        SimulatedLog(None, None, None).info("refused", words=f"no: {KEYS['good']}")
    assert court.oracles == ["canary"]


def test_what_the_product_calls_an_exception_is_found(court, monkeypatch):
    monkeypatch.setattr(SimulatedLog, "world", court.world)
    SimulatedLog(None, None, None).exception("pass failed", name="a")
    assert court.oracles == ["exception"]


@pytest.mark.parametrize(
    ("who", "after", "found"),
    [("operator-1.1", 3.0, []), ("operator-1.1", 5.0, ["lease"]), ("operator-2.1", 3.0, ["lease"])],
)
def test_who_held_the_lease_before_a_restore_may_act_until_its_next_renewal(who, after, found):
    """Seed 910708: etcd went back to a time when another held the Lease, which the holder learned at its next renewal."""
    lease = {"lease_namespace": "kube-system", "lease_duration_seconds": 6.0, "lease_renew_deadline_seconds": 4.0}
    court = Court(replicas=2, leader_elect=True, lease_retry_period_seconds=1.5, **lease)
    path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    held = {"metadata": {"name": "gpucloud-operator"}, "spec": {"holderIdentity": "operator-0.1"}}
    older = court.hands.call("POST", path, held)
    backup = court.world.api.snapshot()
    assert court.hands.call("PUT", f"{path}/gpucloud-operator", older | {"spec": {"holderIdentity": "operator-1.1"}})
    court.judge.restoring()
    court.world.api.restore(backup)
    court.judge.restored()
    court.passes(after)
    court.judge.writes(Process(who), "PUT", "/apis/gpucloud.dev/v1alpha1/namespaces/team/gpuvms/a/status", "{}")
    assert court.oracles == found
    court.world._bury()


def test_people_write_times_by_the_clock_of_the_operator_that_leads():
    """Seed 130471: the leader's clock was ahead, and each time that its owner accepted an absence was too early for it."""
    court = Court(replicas=2, leader_elect=True, lease_namespace="kube-system")
    first, second = (replica.process for replica in court.world.replicas)
    first.name, second.name, second.skew = "operator-0.1", "operator-1.1", 3600.0
    path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    lease = court.hands.call("POST", path, {"metadata": {"name": "gpucloud-operator"}, "spec": {"holderIdentity": first.name}})
    assert court.world.stamp() == "2026-01-01T00:00:00Z"
    assert court.hands.call("PUT", f"{path}/gpucloud-operator", lease | {"spec": {"holderIdentity": second.name}})
    assert court.world.stamp() == "2026-01-01T01:00:00Z"
    court.world._bury()


@pytest.mark.parametrize(("restored", "found"), [(True, []), (False, ["foreign"])])
def test_a_restored_record_of_an_order_may_be_unsent_again(court, restored, found):
    """Seed 3001384: etcd went back to the record, right after its process had withdrawn the order."""
    item = court.applied(vmName="prod")
    court.records(item, "prod")
    court.world.actors.back_up_etcd()
    court.passes(1)
    court.world.cloud.make_vm("prod", "acme", "Msc1", "stranger")
    court.passes(1)
    order = court.judge.books.lives[item["metadata"]["uid"]].status["order"]
    court.writes(item, order=order | {"state": "Refused"})
    if restored:
        court.world.actors.restore_etcd()
    court.passes(1)
    court.world.kill(court.operator, "by a test")
    court.passes(100)
    court.destroys("prod")
    assert court.oracles == found
