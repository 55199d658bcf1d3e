"""``explain`` and ``version``: what needs no object."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import gpucloud
from gpucloud.cli.plugin import entry
from gpucloud.cli.plugin.model.explanations import explanations
from gpucloud.cli.plugin.model.health import Standing
from gpucloud.kinds.explained.conditions import CONDITIONS
from gpucloud.kinds.meta import ConditionType

LEASES = "/apis/coordination.k8s.io/v1/namespaces/gpucloud-system/leases"
PODS = "/api/v1/namespaces/gpucloud-system/pods"


@pytest.mark.parametrize("word", ["Rejected", "rejected", "REJECTED"])
def test_a_reason_is_explained_in_any_case_of_letters(capsys, monkeypatch, word):
    monkeypatch.setenv("KUBECONFIG", "/nonexistent")
    assert entry.main(["explain", word]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Rejected\n")
    assert "The cloud refuses the request" in out
    assert "What to do:" in out
    assert "Conditions:\n  Ready False with Stalled\n" in out


@pytest.mark.parametrize("word", ["WaitingForCapacty", "Waiting"], ids=["a slip", "its beginning"])
def test_a_reason_that_is_nearly_known_is_answered_by_that(capsys, word):
    assert entry.main(["explain", word]) == 2
    err = capsys.readouterr().err
    assert "Did you mean 'WaitingForCapacity'?\nSee all:\nkubectl gpucloud explain\n" in err


@pytest.mark.parametrize("how", Standing)
def test_a_word_that_status_shows_is_explained(capsys, how):
    """Some of them stand where other objects have a reason."""
    assert entry.main(["explain", how.value.lower()]) == 0
    assert capsys.readouterr().out.startswith(f"{how.value}\n")


@pytest.fixture(autouse=True)
def unwrapped(monkeypatch):
    """A pipe of no width, as ``grep`` reads: whoever runs the tests may have said one."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.mark.parametrize("word", ConditionType)
def test_a_condition_is_explained(capsys, word):
    """Paused is a reason as well, and is explained as that."""
    assert entry.main(["explain", word.value.lower()]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{word.value}\n")
    assert "none: a word" not in out
    assert ("The reason beside it says more: kubectl gpucloud explain REASON\n" in out) is (word is not ConditionType.PAUSED)


def test_on_a_terminal_the_command_for_a_condition_has_a_line_of_its_own(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert entry.main(["explain", "Stalled"]) == 0
    assert "  The reason beside it says more:\n  kubectl gpucloud explain REASON\n" in capsys.readouterr().out


WORDS = [*explanations(), *Standing, *ConditionType]


@pytest.mark.parametrize("word", WORDS)
def test_each_command_of_an_explanation_has_a_line_of_its_own_and_nothing_else_on_it(capsys, monkeypatch, word):
    monkeypatch.setenv("COLUMNS", "4000")
    assert entry.main(["explain", word]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert [line for line in lines if re.search(r": kubectl \w", line)] == []
    assert [line for line in lines if line.startswith("kubectl ") and re.search(r"[.,;]( |$)", line)] == []


def test_an_explanation_with_two_commands_has_two_lines_for_them(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "4000")
    assert entry.main(["explain", "Working"]) == 0
    assert capsys.readouterr().out.endswith(
        "  See its reason and message:\n  kubectl gpucloud status\n  More of a reason:\n  kubectl gpucloud explain REASON\n"
    )


def test_a_condition_means_what_the_page_says():
    page = Path("docs/reference/status.md").read_text(encoding="utf-8").partition("## Conditions")[2].partition("\nRules")[0]
    rows = {f"| `{one.type}` | {one.present} | {one.meaning} |" for one in CONDITIONS}
    assert rows == {line for line in page.splitlines() if line.startswith("| `")}
    assert {one.type for one in CONDITIONS} == set(ConditionType)


def test_a_condition_that_is_nearly_known_is_answered_by_that(capsys):
    assert entry.main(["explain", "Reconcilng"]) == 2
    assert "Did you mean 'Reconciling'?" in capsys.readouterr().err


def test_all_reasons_are_listed(capsys):
    assert entry.main(["explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(explanations())
    assert all(len(line) <= 80 for line in lines)
    assert entry.main(["explain", "Rejected", "-o", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["reasons"]
    assert set(found) == {"reason", "conditions", "meaning", "whatToDo"}


def test_no_link_of_the_page_is_left():
    assert [row["reason"] for row in explanations().values() if "](" in row["whatToDo"] + row["meaning"]] == []


def test_no_mark_of_the_page_is_left():
    assert [row["reason"] for row in explanations().values() if "`" in "".join(row.values())] == []


def test_versions_of_plugin_apiserver_and_operators(api, plugin):
    api.canned["/version"] = {"gitVersion": "v1.36.3"}
    label = {"app.kubernetes.io/version": "9.9.9"}
    api.canned[PODS] = {"items": [{"metadata": {"name": "a", "labels": label}}, {"metadata": {"name": "b", "labels": label}}]}
    code, out, _ = plugin("version")
    assert (code, out) == (0, f"Plugin: {gpucloud.__version__}\nKubernetes: v1.36.3\nOperator: 9.9.9\n")
    _, out, _ = plugin("version", "-o", "json")
    assert json.loads(out) == {"plugin": gpucloud.__version__, "kubernetes": "v1.36.3", "operators": ["9.9.9"]}


def a_lease(holder, version="9.9.9", ago=3):
    renewed = (datetime.now(UTC) - timedelta(seconds=ago)).isoformat()
    noted = {"annotations": {"app.kubernetes.io/version": version}} if version else {}
    return {"metadata": {"name": "gpucloud-operator", **noted}, "spec": {"holderIdentity": holder, "renewTime": renewed}}


NOWHERE = "no pod and no Lease of an operator is visible in namespace 'gpucloud-system'"


@pytest.mark.parametrize(
    ("lease", "pods", "says", "why"),
    [
        (
            ("laptop_1",),
            (),
            r"9\.9\.9 \(the Lease gpucloud-operator is held by laptop_1, renewed \d+ s ago\)$",
            "in a terminal",
        ),
        (("laptop_1", ""), (), r"of unknown version \(the Lease gpucloud-operator is held by laptop_1,", "an older one"),
        (("op-1_77",), ("op-1",), r"8\.8\.8$", "its own pod holds it, and is told once"),
        (("op-12_77",), ("op-1",), r"8\.8\.8, 9\.9\.9 \(the Lease", "a name that only begins alike"),
        (("laptop_1", "9.9.9", 600), (), NOWHERE, "it ended long ago"),
        (("",), (), NOWHERE, "nobody leads"),
    ],
)
def test_an_operator_outside_of_the_cluster_is_seen_by_its_lease(api, plugin, lease, pods, says, why):
    """The history: the demo's operator runs in a terminal, and no verb saw it."""
    label = {"app.kubernetes.io/version": "8.8.8"}
    api.canned[PODS] = {"items": [{"metadata": {"name": name, "labels": label}} for name in pods]}
    api.canned[LEASES] = {"items": [a_lease(*lease)]}
    told = plugin("version")[1].splitlines()[-1]
    assert re.match(f"Operator: {says}", told), why
    assert json.loads(plugin("version", "-o", "json")[1])["operators"] == re.findall(r"\d\.\d\.\d", told), why


def test_what_may_not_be_seen_is_said(api, plugin):
    api.refused[PODS] = api.refused[LEASES] = 403
    code, out, _ = plugin("version")
    assert code == 0
    assert "no pod and no Lease of an operator is visible in namespace 'gpucloud-system'; name another with" in out


def test_the_version_of_the_plugin_alone_asks_no_cluster(capsys, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", "/nonexistent")
    assert entry.main(["version", "--client"]) == 0
    assert capsys.readouterr().out == f"Plugin: {gpucloud.__version__}\n"


@pytest.mark.parametrize("reason", ["Rejected", "OrderOverdue"])
def test_a_reason_names_the_command_for_a_new_try_that_its_condition_names(reason):
    assert "kubectl gpucloud retry KIND/NAME" in explanations()[reason]["whatToDo"]


def test_who_does_not_want_a_rejected_object_any_more_finds_the_command():
    assert "kubectl delete KIND/NAME" in explanations()["Rejected"]["whatToDo"]


@pytest.mark.parametrize("text", ["meaning", "whatToDo"])
def test_an_explanation_starts_with_what_holds_of_a_gpuvm(text):
    """A reason that several kinds use is looked up for a GpuVM as a rule: what is of a GpuHost alone comes after it."""
    first = [row["reason"] for row in explanations().values() if row[text].startswith("Of a Gpu")]
    assert first == []
