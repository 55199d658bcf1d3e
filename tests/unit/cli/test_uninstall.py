"""What ``gpucloud uninstall`` and ``gpucloud check`` say, and how they end."""

from __future__ import annotations

import pytest

from gpucloud.cli import check, uninstall
from gpucloud.cli.main import main
from gpucloud.cli.operations.check import CheckResult
from gpucloud.cli.operations.uninstall import Left, Policy
from support.fakeapiserver import PREFIX, FakeApiServer
from support.manifests import gpuvm

VM = Left("GpuVM", "team", "train", "Running", "It runs.")
NOT_ONE = "--namespace: expected lower-case letters, digits and '-', as namespaces in Kubernetes have them"
HELD = Left("GpuVM", "team", "held", "DeletionHeld", "The guard\nholds it.")


@pytest.fixture
def api(tmp_path, monkeypatch):
    """The apiserver of KUBECONFIG."""
    with FakeApiServer() as server:
        monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig(tmp_path)))
        yield server


def test_nothing_left_is_the_only_way_to_zero(capsys):
    assert uninstall.report((), "Refuse", "any namespace") == 0
    assert "Nothing of ours lives" in capsys.readouterr().out


@pytest.mark.parametrize("policy", uninstall.POLICIES)
def test_whatever_lives_is_listed_with_what_to_do(policy, capsys):
    assert uninstall.report((VM, HELD), policy, "any namespace") == 1
    said = capsys.readouterr().err
    assert "2 objects of gpucloud.dev still live" in said
    assert "GpuVM team/train Running" in said
    assert "GpuVM team/held DeletionHeld" in said
    assert "helm uninstall" in said


def test_a_refusal_names_every_way_out(capsys):
    uninstall.report((VM,), "Refuse", "any namespace")
    said = capsys.readouterr().err
    assert "1 object of gpucloud.dev still lives, and nothing is uninstalled" in said
    for word in ("kubectl delete gpucloud --all", "uninstall.policy=Drain", "uninstall.policy=Retain", "--no-hooks"):
        assert word in said
    assert "--set uninstall.policy=…" in said


def test_after_a_wait_it_says_how_to_wait_longer(capsys):
    """The guard is stored with the release: only an upgrade changes it, and a release that is uninstalling has none."""
    uninstall.report((VM,), "Drain", "any namespace")
    said = capsys.readouterr().err
    steps = ["helm rollback RELEASE", "helm upgrade RELEASE", "--set uninstall.timeoutSeconds=…"]
    places = [said.index(step) for step in steps]
    assert places == sorted(places)


def test_after_a_wait_each_object_says_why_on_one_line(capsys):
    uninstall.report((HELD,), "Drain", "any namespace")
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if "team/held" in line] == ["  GpuVM team/held DeletionHeld: The guard holds it."]


def test_a_thousand_objects_are_no_thousand_lines(capsys):
    uninstall.report([VM] * 1000, "Refuse", "any namespace")
    said = capsys.readouterr().err
    assert "… and 980 more" in said
    assert len(said.splitlines()) < 40


@pytest.mark.parametrize(
    ("argv", "path", "said", "why"),
    [
        (["--policy=Refuse"], f"{PREFIX}/gpuvms", "gpuvms could not be listed: 403", "nobody knows what lives"),
        (["--policy=Drain"], f"{PREFIX}/namespaces", "GpuVM team/train could not be deleted: 403", "it is seen, and stays"),
        (["--policy=Retain"], f"{PREFIX}/namespaces", "GpuVM team/train could not be set to Retain: 403", "the first of two"),
    ],
    ids=["list", "delete", "patch"],
)
def test_a_right_that_is_missing_is_told_by_what_it_is_for(argv, path, said, why, api, capsys):
    api.add({**gpuvm("train"), "metadata": {"name": "train", "namespace": "team", "uid": "u-1"}})
    api.refused = {path: 403}
    assert main(["uninstall", *argv]) == 1
    told = capsys.readouterr().err
    assert f"gpucloud uninstall: {said} Forbidden: refused: {path}" in told, why
    assert "cannot be seen" not in told


GROUPS = {"kind": "APIGroupList", "groups": [{"name": "apps", "versions": [{"version": "v1"}]}]}
OURS = {"kind": "APIGroupList", "groups": [{"name": "gpucloud.dev", "versions": [{"version": "v1alpha1"}]}]}
SERVED = {"kind": "APIResourceList", "resources": [{"name": "gpuvms"}]}


@pytest.mark.parametrize(
    ("canned", "code", "why"),
    [
        ({"/apis": GROUPS}, 0, "none of our definitions is installed"),
        ({"/apis": OURS, PREFIX: {**SERVED, "resources": []}}, 0, "the definition of this kind is missing"),
        ({"/apis": OURS, PREFIX: SERVED}, 1, "it is served, so the 404 says nothing of the objects"),
        ({"/apis": OURS}, 1, "the server of our group answers nothing"),
        ({}, 1, "the path of the server in the kubeconfig is wrong"),
        ({"/apis": {"some": "page"}}, 1, "what answers is no apiserver"),
    ],
)
def test_only_a_missing_definition_makes_a_404_mean_none_left(canned, code, why, api, capsys):
    api.refused = {f"{PREFIX}/": 404}
    api.canned = canned
    assert main(["uninstall", "--policy=Refuse"]) == code, why
    assert ("gpuvms could not be listed" in capsys.readouterr().err) is bool(code), why


@pytest.mark.parametrize(
    ("canned", "said", "why"),
    [
        ({"/apis": GROUPS}, ": install the custom resource definitions", "none of our definitions is installed"),
        ({"/apis": OURS, PREFIX: SERVED}, ": the server has such objects; try again", "the 404 is of something else"),
        ({}, ": nor does /apis tell whether", "the path of the server in the kubeconfig is wrong"),
        ({"/apis": {"some": "page"}}, ": nor does /apis tell whether", "what answers is no apiserver"),
    ],
)
def test_a_check_advises_to_install_definitions_only_where_discovery_lacks_them(canned, said, why, api, capsys):
    api.refused = {f"{PREFIX}/": 404}
    api.canned = canned
    assert main(["check", "--endpoint=own=http://127.0.0.1:1"]) == 1, why
    line = next(line for line in capsys.readouterr().out.splitlines() if " GpuVM: " in line)
    rest = line.partition(f"cannot be listed (404 Forbidden: refused: {PREFIX}/gpuvms)")[2]
    assert rest.startswith(said), (why, line)


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (401, "use a kubeconfig, or a service account, that the apiserver accepts"),
        (403, "grant the operator its rights, as https://gpucloud.dev/docs/latest/how-to/run-the-operator/ lists them"),
        (400, "update the older one of the operator and the CRDs; these: kubectl apply --server-side -f crds/"),
        (500, "check that the apiserver answers at the server of the kubeconfig, and try again"),
    ],
)
def test_a_check_says_what_to_do_where_objects_cannot_be_listed(status, says, api, capsys):
    api.refused = {f"{PREFIX}/": status}
    assert main(["check", "--endpoint=own=http://127.0.0.1:1"]) == 1
    line = next(line for line in capsys.readouterr().out.splitlines() if " GpuVM: " in line)
    assert line.endswith(f"): {says}")


@pytest.mark.parametrize(
    ("status", "starts", "says", "why"),
    [
        (200, "ok     namespace team: ", "exists", "it is there, and empty"),
        (
            404,
            "FAILED namespace team: ",
            "does not exist: correct --namespace, or run: kubectl create namespace team",
            "a slip",
        ),
        (403, "note   namespace team: ", "grant the right to get namespaces", "a Role gives no right to read it"),
        (401, "FAILED namespace team: ", "use a kubeconfig, or a service account, that the apiserver accepts", "not let in"),
        (500, "FAILED namespace team: ", "and try again", "no answer"),
    ],
)
def test_a_check_sees_whether_a_namespace_exists(status, starts, says, why, api, capsys):
    """In one that does not exist every list is empty."""
    if status != 200:
        api.refused = {"/api/v1/namespaces/team": status}
    code = main(["check", "--endpoint=own=http://127.0.0.1:1", "--namespace=team"])
    first, *kinds = capsys.readouterr().out.splitlines()
    assert (first.startswith(starts), first.endswith(says)) == (True, True), (why, first)
    assert code == (1 if starts.startswith("FAILED") else 0), why
    assert kinds[0] == "ok     GpuVM: defined and readable, 0 objects"


def test_a_check_counts_the_objects(api, capsys):
    api.add({**gpuvm("train"), "metadata": {"name": "train", "namespace": "team", "uid": "u-1"}})
    assert main(["check", "--endpoint=own=http://127.0.0.1:1"]) == 0
    assert "ok     GpuVM: defined and readable, 1 object\n" in capsys.readouterr().out


def test_the_cause_is_told_where_there_is_no_cluster(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    assert main(["uninstall"]) == 1
    assert "the objects that are left cannot be listed: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("named", "code", "told", "why"),
    [
        ([], 0, "Nothing of ours lives in any namespace of the cluster at {url}", "all of them were looked at"),
        (["team"], 0, "Nothing of ours lives in namespace team of the cluster at {url}", "it is there, and empty"),
        (["taem"], 2, "there is no namespace 'taem' in the cluster at {url}", "a slip is no proof that nothing lives"),
        (["team", "gone"], 2, "there is no namespace 'gone' in the cluster at {url}", "one of two"),
        (["team,other"], 2, f"{NOT_ONE}, not 'team,other'; repeat it for several", "no list"),
        (["*"], 2, f"{NOT_ONE}, not '*'; repeat it for several, or leave it out for all", "no pattern"),
        (["Team"], 2, f"{NOT_ONE}, not 'Team'", "a capital letter"),
        ([""], 2, "--namespace: must not be empty", "an empty variable of a script"),
        (["hidden"], 0, "lives in namespace hidden", "the guard of the chart may not read namespaces"),
    ],
)
def test_it_says_where_nothing_lives(named, code, told, why, api, capsys):
    api.refused = {"/api/v1/namespaces/hidden": 403}
    assert main(["uninstall", *(f"--namespace={name}" for name in named)]) == code, why
    assert told.format(url=api.url) in "".join(capsys.readouterr()), why


def test_nothing_is_deleted_where_one_of_the_namespaces_is_missing(api):
    api.add({**gpuvm("train"), "metadata": {"name": "train", "namespace": "team", "uid": "u-1"}})
    assert main(["uninstall", "--policy=Drain", "--namespace=team", "--namespace=taem"]) == 2
    assert not api.changed("DELETE")


def test_the_policies_of_the_command_are_those_of_the_engine():
    assert tuple(Policy) == uninstall.POLICIES


@pytest.mark.parametrize(
    ("argv", "names"),
    [
        (["uninstall", "--policy", "Force"], "Force"),
        (["uninstall", "--timeout-seconds", "soon"], "soon"),
    ],
)
def test_wrong_usage_ends_at_once(argv, names, capsys):
    assert main(argv) == 2
    assert names in capsys.readouterr().err


@pytest.mark.parametrize(
    ("findings", "code", "why"),
    [
        (
            (CheckResult("GpuVM", True, "defined and readable, 2 objects"), CheckResult("cloud", True, "answers")),
            0,
            "all is well",
        ),
        (
            (CheckResult("GpuVM", True, "defined and readable, 2 objects"), CheckResult("cloud", False, "refuses\nus")),
            1,
            "one is not",
        ),
    ],
    ids=["well", "unwell"],
)
def test_a_check_tells_each_finding_on_one_line(findings, code, why, capsys):
    assert check.show(findings) == code, why
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["ok", "ok" if code == 0 else "FAILED"]
    assert len(lines) == len(findings)


def test_a_check_with_wrong_settings_names_them(capsys, monkeypatch):
    monkeypatch.delenv("GPUCLOUD_ENDPOINT", raising=False)
    assert main(["check"]) == 2
    assert "--endpoint" in capsys.readouterr().err
