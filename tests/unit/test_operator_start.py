"""The operator's process says at its start on which cluster and cloud it acts, as whom, and which other operator is there."""

from datetime import UTC, datetime

import pytest

from support.fakeapiserver import FakeApiServer
from support.operatorproc import OperatorProcess

REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
LEASES = "/apis/coordination.k8s.io/v1/leases"
URL = "https://cloud.example"
WARNING = "another operator holds a Lease in this cluster"


@pytest.fixture
def server():
    with FakeApiServer() as made:
        made.canned["/api/v1/namespaces/kube-system"] = {"metadata": {"name": "kube-system", "uid": "a-cluster"}}
        made.canned[REVIEW] = {"status": {"allowed": True}}
        made.canned[LEASES] = {"items": []}
        yield made


def lease(name="gpucloud-operator", namespace="gpucloud-system", holder="pod-a_1", **more):
    spec = {"holderIdentity": holder, "renewTime": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}", **more}
    return {"metadata": {"name": name, "namespace": namespace}, "spec": spec}


def said(server, tmp_path, **flags):
    """The records of a start, until the operator has taken its settings and looked around."""
    with OperatorProcess(URL, server.kubeconfig(tmp_path), None, **flags) as operator:
        operator.wait_for_line('"starting"', 20.0)
        return operator.logs()


def test_it_says_where_it_acts_and_as_whom(server, tmp_path):
    (found,) = [record for record in said(server, tmp_path) if record.get("event") == "connecting"]
    assert (found["cluster"], found["context"], found["endpoints"]) == (server.url, "fake", [f"default={URL}"])
    assert (found["lease"], found["namespaces"]) == ("none (--leader-elect is off)", "all")
    assert found["identity"]


def test_it_names_the_lease_that_it_takes(server, tmp_path):
    (found,) = [record for record in said(server, tmp_path, leader_elect=True) if record.get("event") == "connecting"]
    assert found["lease"] == "team/gpucloud-operator"


TEAMS = {"namespace": "team"}  # the namespace of the kubeconfig's context
OTHERS = [
    ([{}], {}, 1, "one that acts, while this one takes no Lease"),
    ([{}, {"name": "b", "namespace": "two"}], {}, 2, "each is named"),
    ([{}], {"leader_elect": True}, 1, "one that holds the Lease of another namespace"),
    ([TEAMS], {"leader_elect": True}, 0, "its own Lease: it stands by, and says so"),
    ([TEAMS], {}, 1, "the Lease that it would take with --leader-elect"),
    ([{"holder": ""}], {}, 0, "nobody holds it"),
    ([{"renewTime": "2026-01-01T00:00:00.000000Z"}], {}, 0, "its holder is gone"),
    ([{"renewTime": None}], {}, 0, "no time"),
    ([{"holder": None}], {}, 0, "no holder"),
]


@pytest.mark.parametrize(("leases", "flags", "count", "why"), OTHERS, ids=[row[3] for row in OTHERS])
def test_it_says_which_other_operator_acts_and_what_to_do(server, tmp_path, leases, flags, count, why):
    server.canned[LEASES] = {"items": [lease(**item) for item in leases]}
    records = said(server, tmp_path, **flags)
    found = [record for record in records if WARNING in str(record.get("event"))]
    assert len(found) == count, (why, records)
    assert all(record["level"] == "warning" and record["hint"].startswith("--leader-elect --lease-n") for record in found)


@pytest.mark.parametrize("allowed", [False, None])
def test_it_asks_for_no_list_that_it_would_be_refused(server, tmp_path, allowed):
    server.canned[REVIEW] = {"status": {"allowed": allowed}}
    said(server, tmp_path)
    assert LEASES not in {path for _, path, _, _ in server.calls}


def test_an_apiserver_that_refuses_the_question_stops_nothing(server, tmp_path):
    server.refused[REVIEW] = 403
    assert any(record.get("event") == "starting" for record in said(server, tmp_path))


def test_it_warns_of_a_variable_that_is_misspelt(server, tmp_path):
    found = said(server, tmp_path, env={"GPUCLOUD_POL_STEADY_SECONDS": "9"})
    (warning,) = [record["event"] for record in found if "has no effect" in record["event"]]
    assert "Did you mean 'GPUCLOUD_POLL_STEADY_SECONDS'?" in warning
