"""The operator's process before a fake apiserver: what it cannot work without ends it with an error, and it says why."""

import pytest

from support.fakeapiserver import FakeApiServer
from support.operatorproc import OperatorProcess

LEASE = "/apis/coordination.k8s.io/v1/namespaces/team/leases/gpucloud-operator"
URL = "https://cloud.example"


@pytest.fixture
def server():
    with FakeApiServer() as made:
        made.canned["/api/v1/namespaces/kube-system"] = {"metadata": {"name": "kube-system", "uid": "a-cluster"}}
        made.canned |= {"/api": {"versions": []}, "/apis": {"groups": []}}
        yield made


def test_when_the_election_dies_the_process_ends_with_an_error_and_says_why(server, tmp_path):
    meta = {"name": "gpucloud-operator", "namespace": "team", "resourceVersion": "1"}
    lease = {"holderIdentity": "another", "leaseDurationSeconds": 15}
    server.canned[LEASE] = {"metadata": meta, "spec": lease}
    with OperatorProcess(URL, server.kubeconfig(tmp_path), None, leader_elect=True) as operator:
        operator.wait_for_line("standing by", 20.0)
        lease["leaseDurationSeconds"] = "no number"  # as no real apiserver answers
        code = operator.process.wait(20.0)
        said = [record for record in operator.logs() if "leader election failed" in record.get("event", "")]
    assert (code, len(said)) == (1, 1)
    assert "ValueError" in said[0]["exception"]


def test_when_the_watch_dies_the_process_ends_with_an_error_and_says_why(server, tmp_path):
    del server.canned["/apis"]
    with OperatorProcess(URL, server.kubeconfig(tmp_path), None) as operator:
        code = operator.process.wait(20.0)
        said = operator.logs()
    assert code == 1
    assert any("/apis not found" in str(record) for record in said)
