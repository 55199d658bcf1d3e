"""Alerts and dashboard as Prometheus reads them: promtool parses and tries them; they speak of what the operator exports."""

from __future__ import annotations

import json
import os
import re
import subprocess

import pytest
import yaml

from chartfiles.places import CHART, ROOT
from gpucloud.cloud.errors import ErrorKind
from gpucloud.engine.kinds.gpusnapshot import GpuSnapshotReconciler
from gpucloud.engine.kinds.gpuvm import GpuVMReconciler
from gpucloud.engine.kinds.gpuvpc import GpuVpcReconciler
from gpucloud.engine.kinds.quota_usage import quotas_of
from gpucloud.engine.telemetry.queue import QUEUE
from gpucloud.engine.telemetry.reconciles import controller_name
from gpucloud.kinds.definitions import DEFINITIONS
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.settings import Settings
from promtool import PromtoolError, obtain_promtool
from support.chart import NAME
from support.exportedmetrics import all_metrics
from support.promql import OF_TARGETS, spoken_of, values_of

RULE = {"metrics": {"prometheusRule": {"enabled": True, "runbookUrl": "https://runbooks.example"}}}
CASES = yaml.safe_load((ROOT / "tests" / "chart" / "rules.test.yaml").read_text())["tests"]
DASHBOARD = json.loads((CHART / "files" / "dashboard.json").read_text())
PANELS = DASHBOARD["panels"]
CHARTS = [panel for panel in PANELS if panel["type"] != "row"]
TARGETS = [(panel["title"], target) for panel in CHARTS for target in panel["targets"]]
VARIABLES = {one["name"]: one for one in DASHBOARD["templating"]["list"]}
GRAFANAS_OWN = {"__range": "6h", "__interval_ms": "60000", "__interval": "1m"}  # variables, and a value of each
RULES = [rule for group in yaml.safe_load((CHART / "files" / "rules.yaml").read_text())["groups"] for rule in group["rules"]]
# How seldom the cloud is listed, the minutes up to the next listing, the minute of an outage in which it is told.
PACES = [
    ({}, 9, 16, "by default after ten minutes, and five"),
    ({"pollSteadySeconds": 5}, 9, 16, "often: no sooner than by default"),
    ({"pollSteadySeconds": 1800}, 30, 96, "every half hour: after three that did not come"),
    ({"pollSteadySeconds": 250.5}, 12, 18, "a fraction: after 751.5 seconds"),
]
# What somebody on call looks for, and a metric that answers it.
ASKED = {
    "cloud calls by operation and code": "gpucloud_cloud_requests_total",
    "time from apply to Ready": "gpucloud_time_to_ready_seconds_bucket",
    "conditions": "operator_gpuvm_status_condition_count",
    "cost per hour": "gpucloud_price_dollars_per_hour",
    "cost so far": "gpucloud_accrued_cost_dollars",
    "the limit on spend": "gpucloud_price_limit_dollars_per_hour",
    "GPUs by state": "gpucloud_gpus",
    "watch age": "gpucloud_watch_age_seconds",
    "budget left": "gpucloud_cloud_budget_requests",
    "who leads": "leader_election_master_status",
    "orphans": "gpucloud_orphans",
    "the deletion guard": "gpucloud_deletions_held",
    "what --observe-only keeps back": "gpucloud_withheld_actions",
}


@pytest.fixture(scope="module")
def promtool(tmp_path_factory):
    """A function that runs promtool in a folder of its own; without a promtool the test is skipped, and says what to do."""
    try:
        program = obtain_promtool(os.environ)
    except PromtoolError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("promtool")

    def run(files, *words):
        for name, content in files.items():
            (folder / name).write_text(yaml.safe_dump(content))
        return subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=250)  # noqa: S603

    return run


@pytest.fixture(scope="module")
def rules(chart):
    """The rules in the form of a file of Prometheus, as the chart renders them."""
    return chart.render(RULE).one("PrometheusRule")["spec"]


def told(done):
    return f"{done.stdout}{done.stderr}"


def alert_of(case):
    return case["name"].partition(":")[0]


def test_promtool_reads_the_rules(promtool, rules):
    done = promtool({"rules.yaml": rules}, "check", "rules", "rules.yaml")
    assert done.returncode == 0, told(done)
    assert f"{len(RULES)} rules found" in done.stdout


def test_promtool_tries_every_case(promtool, rules):
    cases = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": CASES}
    done = promtool({"rules.yaml": rules, "cases.yaml": cases}, "test", "rules", "cases.yaml")
    assert done.returncode == 0, told(done)


def test_promtool_sees_a_case_fail(promtool, rules):
    """Else all of the above could be read and not tried."""
    (case, *_) = [case for case in CASES if any(one.get("exp_alerts") for one in case["alert_rule_test"])]
    without = [{**one, "exp_alerts": []} for one in case["alert_rule_test"]]
    wrong = {"rule_files": ["rules.yaml"], "tests": [{**case, "alert_rule_test": without}]}
    done = promtool({"rules.yaml": rules, "wrong.yaml": wrong}, "test", "rules", "wrong.yaml")
    assert done.returncode == 1
    assert "FAILED" in told(done)


@pytest.mark.parametrize(("settings", "age", "fires", "why"), PACES, ids=[row[3] for row in PACES])
def test_the_cloud_is_seen_however_seldom_it_is_listed(chart, promtool, settings, age, fires, why):
    """Listings that come in time, for five hours, and an outage."""
    series = 'gpucloud_cloud_listing_age_seconds{account="team/default", kind="vms", cluster="Msc1"}'
    firing = 'count(ALERTS{alertname="GpucloudCloudBlind", alertstate="firing"})'
    seen = [{"expr": firing, "eval_time": f"{minute}m", "exp_samples": []} for minute in range(300)]
    blind = [
        {"expr": firing, "eval_time": f"{fires - 1}m", "exp_samples": []},
        {"expr": firing, "eval_time": f"{fires}m", "exp_samples": [{"labels": "{}", "value": 1}]},
    ]
    cases = [
        {"input_series": [{"series": series, "values": f"0+60x{age} " * 60}], "promql_expr_test": seen},
        {"input_series": [{"series": series, "values": "0+60x300"}], "promql_expr_test": blind},
    ]
    tests = {"rule_files": ["paced.yaml"], "tests": [{"interval": "1m", **case} for case in cases]}
    rules = chart.render({**RULE, "settings": settings}).one("PrometheusRule")["spec"]
    done = promtool({"paced.yaml": rules, "paces.yaml": tests}, "test", "rules", "paces.yaml")
    assert done.returncode == 0, f"{why}: {told(done)}"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_every_alert_fires_in_a_case_and_is_silent_in_another(rule):
    firing = [
        bool(one.get("exp_alerts")) for case in CASES if alert_of(case) == rule["alert"] for one in case["alert_rule_test"]
    ]
    silent = [
        case
        for case in CASES
        if alert_of(case) == rule["alert"] and not any(one.get("exp_alerts") for one in case["alert_rule_test"])
    ]
    assert any(firing)
    assert silent, "a case in which something near it happens, and it says nothing"


def test_no_case_is_of_an_alert_that_does_not_exist():
    named = {one["alertname"] for case in CASES for one in case["alert_rule_test"]} | {alert_of(case) for case in CASES}
    assert named - {rule["alert"] for rule in RULES} == set()
    assert all({one["alertname"] for one in case["alert_rule_test"]} == {alert_of(case)} for case in CASES)


def filled(expression):
    """As Grafana asks it of Prometheus."""
    for name, value in GRAFANAS_OWN.items():
        expression = expression.replace(f"${name}", value)
    return expression


def test_promtool_reads_every_panel_and_page(promtool):
    asked = [filled(target["expr"]) for _, target in TARGETS] + [expression for _, expression in WRITTEN]
    rules = [{"record": f"panel:{number}", "expr": expression} for number, expression in enumerate(asked)]
    done = promtool({"panels.yaml": {"groups": [{"name": "panels", "rules": rules}]}}, "check", "rules", "panels.yaml")
    assert done.returncode == 0, told(done)


# ---- what they speak of


def exported():
    """The labels of each sample that the operator can export, by its name."""
    found = {}
    for family in all_metrics(["Msc1"]).registry.collect():
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    for name in [name for name in found if "_gpuvm_" in name]:  # one family a kind, all alike
        found |= {name.replace("gpuvm", item.kind.lower()): found[name] for item in DEFINITIONS}
    return found


EXPORTED = exported()
PAGES = sorted((ROOT / "docs").rglob("*.md"))
WRITTEN = [(page.name, one) for page in PAGES for one in re.findall(r"```promql\n(.*?)\n```", page.read_text(), re.DOTALL)]
EXPRESSIONS = [
    *((rule["alert"], rule["expr"]) for rule in RULES),
    *((title, filled(target["expr"])) for title, target in TARGETS),
    *WRITTEN,
]


@pytest.mark.parametrize(("name", "expression"), EXPRESSIONS, ids=[name for name, _ in EXPRESSIONS])
def test_it_speaks_of_metrics_and_labels_that_are_exported(name, expression):
    spoken = spoken_of(expression)
    assert spoken.metrics
    assert spoken.metrics - EXPORTED.keys() == set(), name
    known = set().union(*(EXPORTED[metric] for metric in spoken.metrics)) | OF_TARGETS | spoken.made
    assert spoken.labels - known == set(), name


KINDS = {item.kind for item in DEFINITIONS}
# The values that the operator can give to a label, from where it takes them.
VALUES = {
    "reason": set(Reason),
    "type": set(ConditionType),
    "ready": {"True", "False", "Unknown"},
    "status": {"True", "False", "Unknown"},
    "kind": KINDS | {reconciler.inventory_name for reconciler in (GpuVMReconciler, GpuVpcReconciler, GpuSnapshotReconciler)},
    "controller": {controller_name(kind) for kind in KINDS},
    "name": {QUEUE},
    "scope": {quota.scope for quota in quotas_of(Settings(endpoint=("default=https://cloud.example",)))},
    "code": {str(number) for number in range(100, 600)} | set(ErrorKind),
}
COMPARED = sorted({one for _, expression in EXPRESSIONS for one in values_of(expression) if not one[1].startswith("$")})
SERIES = sorted({one["series"] for case in CASES for one in case["input_series"]})


@pytest.mark.parametrize(("label", "value", "pattern"), COMPARED)
def test_a_label_is_compared_with_what_it_can_be(label, value, pattern):
    """A word that is misspelt, or that the code no longer knows, makes an alert that never fires."""
    assert any(re.fullmatch(value, known) if pattern else value == known for known in VALUES[label])


@pytest.mark.parametrize("series", SERIES)
def test_a_series_of_a_case_is_one_that_the_operator_exports(series):
    """Else promtool shows that an alert fires on what never comes. ``name`` and ``controller`` may be somebody else's."""
    spoken = spoken_of(series)
    (metric,) = spoken.metrics
    assert spoken.labels - EXPORTED[metric] - OF_TARGETS == set()
    for label, value, _ in values_of(series):
        assert label in {"name", "controller"} or value in VALUES.get(label, {value})


def test_whatever_needs_a_person_is_told_once():
    """Stalled of all kinds and for all reasons, but for those of which another alert speaks."""
    (stalled,) = (rule["expr"] for rule in RULES if rule["alert"] == "GpucloudObjectsStalled")
    assert spoken_of(stalled).metrics == {f"operator_{kind.lower()}_status_condition_count" for kind in KINDS}
    left_out = {value for label, value, _ in values_of(stalled) if label == "reason"}
    assert left_out == {Reason.CREDENTIALS_REFUSED, Reason.DELETION_HELD}
    others = [rule["expr"] for rule in RULES if rule["expr"] != stalled]
    assert any(("reason", Reason.CREDENTIALS_REFUSED, False) in values_of(other) for other in others)
    assert any("gpucloud_deletions_held" in spoken_of(other).metrics for other in others)


@pytest.mark.parametrize(
    ("alert", "metric"),
    [
        ("GpucloudObjectsWaiting", "operator_{}_status_condition_current_status_seconds"),
        ("GpucloudDeletionsWaiting", "operator_{}_termination_current_time_seconds"),
    ],
)
def test_what_waits_is_told_of_whatever_its_kind(alert, metric):
    (waits,) = (rule["expr"] for rule in RULES if rule["alert"] == alert)
    assert spoken_of(waits).metrics == {metric.format(kind.lower()) for kind in KINDS}


@pytest.mark.parametrize(("title", "target"), TARGETS, ids=[title for title, _ in TARGETS])
def test_a_legend_names_labels_that_the_expression_keeps(title, target):
    shown = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
    assert shown - spoken_of(target["expr"]).labels == set(), title


OF_WHOM = {"namespace": "exported_namespace", "account": "account"}  # a label of ours, and its name in Prometheus


@pytest.mark.parametrize(("question", "metric"), ASKED.items(), ids=list(ASKED))
def test_the_dashboard_answers_what_is_asked(question, metric):
    assert any(metric in spoken_of(target["expr"]).metrics for _, target in TARGETS), question


def test_every_panel_has_a_place_of_its_own_and_says_what_it_shows():
    taken = [
        (x, y)
        for panel in PANELS
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(taken) == len(set(taken))
    assert max(x for x, _ in taken) < 24
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    assert all(panel["title"] and panel["description"] for panel in CHARTS)


# What the panels of each row are filtered by, as its title says: all of these, or at least one of them, or nothing.
OF_ROWS = {
    "Spend": ({"namespace", "account"}, all),
    "Objects, by namespace": ({"namespace"}, all),  # that is in the metric of each kind; few kinds know an account
    "The cloud, by account": ({"account"}, all),  # a listing is of all namespaces that use it
    "Orphans, and deletions that are held": ({"namespace", "account"}, any),  # an orphan has no namespace
    "The operator, over all namespaces and accounts": (set(), all),  # histograms by namespace would be too many series
}


def targets_of_rows():
    """The query of each panel, with the title of its row."""
    row = None
    for panel in PANELS:
        row = panel["title"] if panel["type"] == "row" else row
        yield from ((row, panel["title"], target["expr"]) for target in panel.get("targets", ()))


@pytest.mark.parametrize(("row", "title", "expression"), list(targets_of_rows()))
def test_every_panel_is_filtered_as_its_row_says(row, title, expression):
    """Somebody who chose a namespace takes whatever stands beside for that namespace's."""
    wanted, how = OF_ROWS[row]
    used = set(re.findall(r"\$(\w+)", expression)) & set(OF_WHOM)
    assert used <= wanted, title
    assert how(name in used for name in sorted(wanted)), title


def test_every_panel_stands_in_a_row():
    """Grafana takes what follows a row, down to the next one, for its panels."""
    rows = [panel for panel in PANELS if panel["type"] == "row"]
    assert [row["title"] for row in rows] == list(OF_ROWS)
    assert PANELS[0] in rows
    assert [panel["gridPos"]["y"] for panel in PANELS] == sorted(panel["gridPos"]["y"] for panel in PANELS)
    assert {panel["type"] for panel in CHARTS} == {"stat", "timeseries"}
    assert all(PANELS[PANELS.index(row) + 1] in CHARTS for row in rows), "none is empty"


@pytest.mark.parametrize("name", ["namespace", "account"])
def test_a_variable_lists_the_values_of_a_label_that_is_exported(name):
    variable = VARIABLES[name]
    metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]).groups()
    assert label in EXPORTED[metric] | OF_TARGETS
    assert (variable["multi"], variable["includeAll"], variable["allValue"]) == (True, True, ".*")


@pytest.mark.parametrize(("title", "target"), TARGETS, ids=[title for title, _ in TARGETS])
def test_what_is_of_a_namespace_or_an_account_is_filtered_by_it(title, target):
    """A filter that some panels do not obey shows one team's spend beside another's."""
    used = set(re.findall(r"\$(\w+)", target["expr"]))
    assert used <= VARIABLES.keys() | GRAFANAS_OWN.keys()
    for metric in spoken_of(filled(target["expr"])).metrics:
        wanted = {(one, f"${name}", True) for name, one in OF_WHOM.items() if name in EXPORTED[metric]}
        for matchers in re.findall(rf"\b{metric}\b({{[^}}]*}})?", target["expr"]):
            assert wanted <= values_of(matchers), title


PARTS = [
    ('sum by (a) (rate(m_total{b!~"x{y}z,w"}[5m])) / n > 0.25', {"m_total", "n"}, {"a", "b"}, "matchers, ranges, numbers"),
    ("histogram_quantile(0.5, sum by (le, k) (rate(h_bucket[1h])))", {"h_bucket"}, {"le", "k"}, "functions"),
    ('sum by (n) (m and on (i) d{name="g"}) != 1', {"m", "d"}, {"n", "i", "name"}, "operators between vectors"),
    ("max(m) or vector(0)", {"m"}, set(), "a constant"),
    ('max by (k) (label_replace(m{t="x"}, "k", "Y", "", ""))', {"m"}, {"k", "t"}, "a label that is made"),
]


@pytest.mark.parametrize(("expression", "metrics", "labels", "why"), PARTS, ids=[row[3] for row in PARTS])
def test_an_expression_is_read(expression, metrics, labels, why):
    found = spoken_of(expression)
    assert (set(found.metrics), set(found.labels)) == (metrics, labels), why
    assert set(found.made) == ({"k"} if "label_replace" in expression else set()), why


def test_the_values_in_an_expression_are_read():
    found = values_of('m{a="b|c", d!~"2..|Gpu.*"} or label_replace(n{e!="f"}, "k", "Y", "", "")')
    assert found == {("a", "b|c", False), ("d", "2..", True), ("d", "Gpu.*", True), ("e", "f", False)}


def test_the_chart_delivers_these_very_panels(chart):
    config = chart.render({"metrics": {"dashboard": {"enabled": True}}}).one("ConfigMap", f"{NAME}-dashboard")
    assert json.loads(config["data"]["gpucloud-operator.json"])["panels"] == PANELS
