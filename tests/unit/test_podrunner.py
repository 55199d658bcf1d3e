"""What runs the chart's pods in tests: how it reads a pod, what it refuses, and what it says of it."""

import json
from pathlib import Path

import pytest

from support.podrunner import volumes
from support.podrunner.reading import ACCOUNT, NotRunnableError, NotYetError, Place, behind, container_of, find_image, start_of
from support.podrunner.status import Facts, phase, status

PLACE = Place("127.20.30.40", Path("/somewhere/pod"))
NOW, LATER = "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"
MOUNTS = [
    {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108
    {"name": "key", "mountPath": "/var/run/gpucloud"},
    {"name": "account", "mountPath": ACCOUNT, "readOnly": True},
]


def container(**more):
    return {"name": "operator", "image": "registry.example/gpucloud-operator:1", "args": ["operator"], "env": [], **more}


def pod(**spec):
    meta = {"name": "op-1", "namespace": "here", "uid": "u1", "labels": {"app": "op", "pod-template-hash": "x"}}
    meta["creationTimestamp"] = NOW
    return {"metadata": meta, "spec": {"containers": [container()], "serviceAccountName": "op", **spec}}


@pytest.mark.parametrize(
    ("word", "wanted", "why"),
    [
        ("/var/run/gpucloud/api-key", "/somewhere/pod/volumes/key/api-key", "a file of a volume"),
        ("--file=/var/run/gpucloud/api-key", "--file=/somewhere/pod/volumes/key/api-key", "within a word"),
        ("/var/run/gpucloud-other/api-key", "/var/run/gpucloud-other/api-key", "another folder"),
        ("/etc/tmp", "/etc/tmp", "the end of another path"),
        ("0.0.0.0", "127.20.30.40", "nothing may listen on all addresses of this machine"),  # noqa: S104
        ("--host=0.0.0.0", "--host=127.20.30.40", "within a word"),
        ("10.0.0.0", "10.0.0.0", "an address that only ends like it"),
        ("sim=http://cloud.here.svc:8080", "sim=http://127.1.2.3:8080", "a Service by its name"),
        ("http://cloud.here.svc.cluster.local/", "http://127.1.2.3/", "by its whole name"),
    ],
)
def test_words_mean_the_same_on_this_machine(word, wanted, why):
    start = start_of(
        container(args=["operator", word], volumeMounts=MOUNTS), PLACE, {"SAME": word}, {"cloud.here": "127.1.2.3"}
    )
    assert start.args == ("operator", wanted), why
    assert start.env["SAME"] == wanted, why


def test_a_pod_without_a_token_speaks_to_no_cluster():
    with_token, without = (start_of(container(volumeMounts=mounts), PLACE, {}, {}).env for mounts in (MOUNTS, MOUNTS[:2]))
    assert with_token["KUBECONFIG"] == "/somewhere/pod/kubeconfig"
    assert "KUBECONFIG" not in without


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        ({"initContainers": []}, "initContainers"),
        ({"hostNetwork": True}, "hostNetwork"),
        ({"containers": [container(), container()]}, "several"),
        ({"containers": [container(lifecycle={})]}, "lifecycle"),
        ({"containers": [container(command=["sh"])]}, "command"),
        ({"containers": [container(envFrom=[])]}, "envFrom"),
        ({"containers": [container(volumeMounts=[{**MOUNTS[0], "subPath": "x"}])]}, "subPath"),
    ],
)
def test_what_it_does_not_do_it_refuses(spec, what):
    with pytest.raises(NotRunnableError, match=what):
        container_of(pod(**spec))


@pytest.mark.parametrize(
    ("image", "found"),
    [
        ("registry.example/gpucloud-operator:0.1.0", True),
        ("registry.example:5000/gpucloud-operator", True),
        ("gpucloud-operator@sha256:0123", True),
        ("registry.example/gpucloud-operator:1@sha256:0123", True),
        ("registry.example/kubectl:1", False),
    ],
)
def test_there_is_one_image(image, found):
    if found:
        find_image(container(image=image))
    else:
        with pytest.raises(NotYetError, match="kubectl"):
            find_image(container(image=image))


def service(**more):
    port = {"port": 8080, "targetPort": "http", **more}
    return {"metadata": {"name": "cloud", "namespace": "here"}, "spec": {"selector": {"app": "op"}, "ports": [port]}}


def test_behind_a_service_is_the_newest_living_pod_that_it_selects():
    ports = {"containers": [container(ports=[{"name": "http", "containerPort": 8080}])]}
    old, new, going, strange, elsewhere = (pod(**ports) for _ in range(5))
    new["metadata"] |= {"uid": "new", "creationTimestamp": LATER}
    going["metadata"] |= {"uid": "going", "creationTimestamp": LATER, "deletionTimestamp": LATER}
    strange["metadata"] |= {"uid": "strange", "creationTimestamp": LATER, "labels": {"app": "another"}}
    elsewhere["metadata"] |= {"uid": "elsewhere", "creationTimestamp": LATER, "namespace": "there"}
    assert behind(service(), [new, old, going, strange, elsewhere]) == "new"
    assert behind(service(), [going, strange, elsewhere]) is None
    with pytest.raises(NotRunnableError, match="80"):
        behind(service(port=80), [new])


class Stored:
    """An apiserver that holds one Secret and one ConfigMap."""

    server = "https://127.0.0.1:6443"

    def data(self, plural, namespace, name):
        held = {("secrets", "cloud"): {"api-key": b"made-up-p4ssphrase"}, ("configmaps", "root"): {"ca.crt": b"authority"}}
        return held.get((plural, name)) if namespace == "here" else None

    def token(self, item, seconds):
        return f"token of {item['spec']['serviceAccountName']} for {seconds}"


def projected():
    sources = [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
        {"configMap": {"name": "root", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
    ]
    return {"name": "account", "projected": {"sources": sources}}


def test_volumes_become_folders_and_the_account_a_kubeconfig(tmp_path):
    place = Place("127.20.30.40", tmp_path)
    key = {"name": "key", "secret": {"secretName": "cloud", "items": [{"key": "api-key", "path": "renamed"}]}}
    item = pod(volumes=[{"name": "tmp", "emptyDir": {}}, key, projected()])
    volumes.fill(Stored(), item, container(volumeMounts=MOUNTS), place)
    assert (place.volume("key") / "renamed").read_text() == "made-up-p4ssphrase"
    assert list(place.volume("tmp").iterdir()) == []
    config = json.loads((tmp_path / "kubeconfig").read_text())
    assert config["users"][0]["user"] == {"token": "token of op for 3607"}
    assert Path(config["clusters"][0]["cluster"]["certificate-authority"]).read_text() == "authority"
    assert config["contexts"][0]["context"]["namespace"] == "here"


def test_a_pod_waits_for_its_secret(tmp_path):
    item = pod(volumes=[{"name": "key", "secret": {"secretName": "late"}}])
    with pytest.raises(NotYetError, match="late"):
        volumes.fill(Stored(), item, container(), Place("127.20.30.40", tmp_path))


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ({"value": "plain"}, "plain"),
        ({"valueFrom": {"secretKeyRef": {"name": "cloud", "key": "api-key"}}}, "made-up-p4ssphrase"),
        ({"valueFrom": {"configMapKeyRef": {"name": "root", "key": "ca.crt"}}}, "authority"),
        ({"valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}}, "127.20.30.40"),
    ],
)
def test_variables_come_from_where_they_say(source, wanted):
    found = volumes.variables(Stored(), pod(), container(env=[{"name": "IT", **source}]), PLACE)
    assert found == {"IT": wanted}


BEGUN = Facts("127.20.30.40", NOW)
RUNNING = BEGUN.running(NOW)
READY = Facts("127.20.30.40", NOW, waiting=None, started=NOW, ready=True)


@pytest.mark.parametrize(
    ("facts", "wanted", "ready", "state"),
    [
        (BEGUN, "Pending", "False", "waiting"),
        (RUNNING, "Running", "False", "running"),
        (READY, "Running", "True", "running"),
        (READY.restarting(1, LATER), "Running", "False", "waiting"),
        (Facts("127.20.30.40", NOW, waiting=None, started=NOW, ended=(0, "")), "Succeeded", "False", "terminated"),
        (Facts("127.20.30.40", NOW, waiting=None, started=NOW, ready=True, ended=(3, "why")), "Failed", "False", "terminated"),
    ],
    ids=["waits", "runs", "ready", "again", "done", "failed"],
)
def test_the_status_says_how_it_is(facts, wanted, ready, state):
    said = status(container(), facts, LATER)
    conditions = {one["type"]: one["status"] for one in said["conditions"]}
    (told,) = said["containerStatuses"]
    assert (phase(facts), said["phase"]) == (wanted, wanted)
    assert conditions["Ready"] == conditions["ContainersReady"] == ready
    assert [name for name, value in told["state"].items() if value] == [state]


@pytest.mark.parametrize(("code", "shown"), [(0, 0), (3, 3), (-9, 137), (-15, 143)])
def test_a_death_by_signal_is_told_as_kubernetes_does(code, shown):
    ended = Facts("127.20.30.40", NOW, waiting=None, started=NOW, ended=(code, "its last words"))
    (told,) = status(container(), ended, LATER)["containerStatuses"]
    assert told["state"]["terminated"]["exitCode"] == shown
    assert told["state"]["terminated"]["message"] == "its last words"


def test_a_restart_is_counted_and_its_cause_kept():
    again = READY.restarting(1, LATER).running(LATER)
    (told,) = status(container(), again, LATER)["containerStatuses"]
    assert told["restartCount"] == 1
    assert told["lastState"]["terminated"]["exitCode"] == 1
