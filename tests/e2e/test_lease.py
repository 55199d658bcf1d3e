"""Two operators and one Lease on the real apiserver: one acts, the other is ready to, and they take turns (F1, F2)."""

from __future__ import annotations

import os
import signal
import time
import urllib.request

import pytest

from support.leases import NAME, lease_rights, process_of
from support.manifests import gpuvm
from support.operatorproc import USER
from support.waiting import eventually, reach

LASTS = {"lease_duration_seconds": 15, "lease_renew_deadline_seconds": 10, "lease_retry_period_seconds": 2}  # the defaults
PATIENT = {"lease_duration_seconds": 600, "lease_renew_deadline_seconds": 400, "lease_retry_period_seconds": 1}
FLAGS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.5, "create_grace_seconds": 2, "orphan_scan_seconds": 0}


@pytest.fixture
def replicas(here, operator, rights):  # noqa: ARG001  # the Lease's right comes beside the others
    """A function that starts so many operators; the first to be started leads."""
    granted(here)

    def start(count=2, **flags):
        place = {"namespace": [here.namespace], "install_tag": "lease", "lease_namespace": here.namespace, "leader_elect": True}
        given = {**FLAGS, **LASTS, **place}
        made = [operator(**{**given, **flags})]
        made[0].wait_for_line('"leading"')
        made += [operator(**{**given, **flags}) for _ in range(count - 1)]
        for process in made[1:]:
            process.wait_for_line('"standing by"')
            process.wait_for_line('"synced"')
        return made

    return start


def granted(here):
    """The right to a Lease in the test's namespace, once the apiserver knows it."""
    here.apply(lease_rights(here.namespace))
    eventually(lambda: here.may(USER, "create", "leases", group="coordination.k8s.io"), what="the right to be in force")


def lease(here):
    return here.get("lease", NAME)


def holder(here):
    return lease(here)["spec"].get("holderIdentity")


def said(process, event):
    return [record for record in process.logs() if record.get("event") == event]


def port(process, which):
    return said(process, "listening")[0][f"{which}_port"]


def fetch(where, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{where}{path}", timeout=60) as answer:
        return answer.read().decode()


def is_leader(process):
    text = fetch(port(process, "metrics"), "/metrics")
    return f'leader_election_master_status{{name="{NAME}"}} 1.0' in text


def test_killed_while_a_vm_is_pending_the_other_goes_on(here, sim, replicas, figure):
    """With the times that are the default: the next call to the cloud comes within 20 s, and one VM is bought."""
    leader, _ = replicas()
    sim.turn(provision_seconds=3600)
    here.apply(gpuvm())
    eventually(lambda: sim.committed("CreateServer"), what="the order")
    leader.kill9()
    died, seen = time.time(), len(sim.calls())
    here.apply(gpuvm("late"))  # while nobody leads
    eventually(lambda: len(sim.calls()) > seen, 40, "the other to act")
    took = time.time() - died
    figure(f"takeover after kill -9, to the next call to the cloud: {took:.1f} s")
    eventually(lambda: len(sim.vms()) == 2, what="the second order")
    for name in sim.vms():
        sim.force(name, "ONLINE")
    for name in ("train", "late"):
        reach(here, "gpuvm", name, "True/Running")
    assert len(sim.committed("CreateServer")) == 2, "one each"
    for name in ("train", "late"):
        here.delete("gpuvm", name)
    assert sim.vms() == []


def test_sigterm_hands_over(here, sim, replicas):
    """What was sent is answered and saved by the one that sent it, however long that takes; then the other begins."""
    leader, other = replicas()
    first = holder(here)
    sim.fault(kind="delay_answer", operation="CreateServer", seconds=8)
    here.apply(gpuvm())
    eventually(lambda: sim.calls("CreateServer"), what="the order")
    assert leader.stop(40) == 0
    assert [record["outcome"] for record in said(leader, "call")] == ["Created"]
    assert said(leader, "released the Lease")
    reach(here, "gpuvm", "train", "True/Running", 30)
    assert process_of(holder(here), [other]) is other
    assert holder(here) != first
    assert len(sim.committed("CreateServer")) == 1
    assert lease(here)["spec"]["leaseTransitions"] >= 2


def test_the_standby_is_alive_and_writes_nothing(here, sim, replicas, audit):
    """While the leader is stopped, whatever is written or asked of the cloud would be the standby's."""
    leader, other = replicas(**PATIENT)
    os.kill(leader.pid, signal.SIGSTOP)
    window, asked = audit.since_now(), len(sim.calls())
    here.apply(gpuvm())
    for path in ("/healthz", "/readyz"):
        assert fetch(port(other, "health"), path) == "ok\n", "nobody need restart it, nor wait for it"
    assert not is_leader(other)
    reads = [one for one in window.requests(user=USER, namespace=here.namespace) if one.resource == "leases"]
    eventually(
        lambda: len(window.requests(user=USER, namespace=here.namespace)) > len(reads) + 2, what="some looks at the Lease"
    )
    written = window.requests(user=USER, namespace=here.namespace, reads=False)
    assert [one for one in written if one.resource != "leases"] == []  # a renewal may have been under way
    assert process_of(holder(here), [leader]) is leader, "the Lease is as it was"
    assert len(sim.calls()) == asked
    assert said(leader, "leading")
    assert not said(other, "leading")
    os.kill(leader.pid, signal.SIGCONT)
    reach(here, "gpuvm", "train", "True/Running")
    assert len(sim.committed("CreateServer")) == 1


def test_stopped_and_woken_it_does_nothing_more(here, sim, replicas):
    """A leader that slept past its time finds the Lease another's: it ends, and what it meant to do is done by the other."""
    leader, other = replicas()
    here.apply(gpuvm())
    reach(here, "gpuvm", "train", "True/Running")
    os.kill(leader.pid, signal.SIGSTOP)
    other.wait_for_line('"leading"', 90)
    here.delete("gpuvm", "train", wait=False)
    os.kill(leader.pid, signal.SIGCONT)
    assert leader.process.wait(30) == 1
    assert said(leader, "the Lease is lost: nothing more is sent, and this process ends")
    eventually(lambda: here.get("gpuvm", "train") is None, 60, "the other to destroy it")
    assert len(sim.committed("DestroyServer")) == 1
    assert not [record for record in said(leader, "calling") if record["verb"] == "DestroyServer"]


@pytest.mark.parametrize("how", ["taken", "deleted"])
def test_who_loses_the_lease_ends(here, sim, replicas, how):
    (leader,) = replicas(1, **PATIENT)
    here.apply(gpuvm())
    reach(here, "gpuvm", "train", "True/Running")
    if how == "taken":
        here.patch("lease", NAME, {"spec": {"holderIdentity": "somebody", "leaseDurationSeconds": 3600}})
    else:
        here.delete("lease", NAME)
    assert leader.process.wait(30) == 1
    assert (how == "deleted") == (lease(here) is None), "it neither took it back nor released it"
    assert len(sim.vms()) == 1


def test_whose_renewals_are_refused_ends_before_another_can_act(here, replicas, denials_meant):
    """Without the right it cannot renew, nor can the other take over: so nobody acts, until the right is back."""
    denials_meant(here.namespace)
    leader, other = replicas()
    here.ok("delete", "rolebinding", "gpucloud-operator-lease")
    assert leader.process.wait(90) == 1
    assert not said(other, "leading")
    assert holder(here), "it could not release it"
    granted(here)
    other.wait_for_line('"leading"', 90)


def test_the_documented_rights_and_names_are_enough(here, kubectl, operator, rights):  # noqa: ARG001
    """As on the page: the Role in gpucloud-system, and the Lease's own name."""
    namespace = "gpucloud-system"
    process = operator(**FLAGS, leader_elect=True, namespace=[here.namespace], install_tag="lease", lease_namespace=namespace)
    process.wait_for_line('"leading"', 60)
    here.apply(gpuvm())
    reach(here, "gpuvm", "train", "True/Running")
    assert is_leader(process)
    table = kubectl.ok("get", "lease", NAME, ns=namespace)
    assert os.uname().nodename in table, "the holder is shown, by the name of its host or pod"
    assert process.stop() == 0
    left = kubectl.get("lease", NAME, ns=namespace)
    assert not left["spec"].get("holderIdentity")
    assert left["metadata"]["labels"] == {"app.kubernetes.io/part-of": "gpucloud-operator"}, "by which doctor knows it"
    kubectl.ok("delete", "lease", NAME, ns=namespace)  # a Lease that nobody holds is a finding of the plugin's doctor


def test_outside_a_pod_the_namespace_must_be_said(operator, rights):  # noqa: ARG001
    process = operator(**FLAGS, leader_elect=True, install_tag="lease")
    assert process.process.wait(30) == 1
    assert "--lease-namespace" in str(said(process, "cannot start"))
