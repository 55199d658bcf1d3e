"""What is counted at a scrape and as it happens, and that the reference names all of it."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from pathlib import Path

import pytest

from gpucloud.cloud import connection
from gpucloud.cloud.limits import TokenBucket
from gpucloud.engine.telemetry import collectors
from gpucloud.engine.telemetry.collectors import FleetVM, ListingStatus
from gpucloud.engine.telemetry.metrics import MOST_CLUSTERS, OTHER_CLUSTERS, Metrics
from gpucloud.engine.telemetry.reconciles import ReconcileResult, StatusWriteResult
from gpucloud.kinds.common import Order, OrderState
from gpucloud.kinds.definitions import DEFINITIONS
from gpucloud.kinds.gpuvm import GpuVMStatus
from gpucloud.reconcile.ownership import record_id
from support import metricspage
from support.builders import an_order
from support.enginerig import OWN, Rig
from support.exportedmetrics import ACCOUNT, NOON, a_condition, a_status, all_metrics
from support.fakes import FakeCloud

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "metrics.md"


def value(metrics, name, **labels):
    return metrics.registry.get_sample_value(name, labels)


def fleet(*statuses, account=ACCOUNT, namespace="a"):
    return [FleetVM(namespace, account, "u-train", status) for status in statuses]


def test_the_fleet_is_counted_by_namespace_and_the_clouds_word():
    metrics = Metrics()
    vms = fleet(a_status(), a_status(gpus=1, price="2.05"), a_status("OFFLINE")) + fleet(a_status(price=None), namespace="b")
    vms += fleet(a_status(price="1.00"), account="a/second")
    metrics.export(collectors.Fleet(lambda: vms, lambda: NOON))
    assert value(metrics, "gpucloud_vms", namespace="a", state="ONLINE") == 3
    assert value(metrics, "gpucloud_gpus", namespace="a", state="ONLINE") == 17

    def price(namespace="a", account=ACCOUNT, state="ONLINE"):
        return value(metrics, "gpucloud_price_dollars_per_hour", namespace=namespace, account=account, state=state)

    assert price() == 22.55
    assert price(account="a/second") == 1.00
    assert price(state="OFFLINE") == 0, "its disk is billed"
    assert price("b") == 0, "a price nobody knows"


HOUR_AGO = NOON - timedelta(hours=1)
COSTS = [
    ({"billed_since": HOUR_AGO}, 20.5, "an hour"),
    ({"billed_seconds": 7200}, 41, "off, after two hours"),
    ({"billed_since": HOUR_AGO, "billed_seconds": 7200}, 61.5, "the third hour"),
    ({}, 0, "never seen in a billed state"),
    ({"billed_since": NOON + timedelta(hours=1)}, 0, "another clock"),
    ({"billed_since": HOUR_AGO, "price_per_hour": None}, 0, "a price nobody knows"),
    ({"billed_since": HOUR_AGO, "vm_id": None}, None, "never started"),
    ({"billed_since": HOUR_AGO, "order": Order(state=OrderState.LOST)}, None, "lost"),
    ({"billed_since": HOUR_AGO, "order": an_order("prod", id=record_id("n", "u-train", "prod"))}, 20.5, "of its own record"),
    (
        {"billed_since": HOUR_AGO, "order": an_order("prod", id=record_id("n", "u-before", "prod"))},
        None,
        "restored from an object of another UID",
    ),
]


@pytest.mark.parametrize(("status", "expected", "why"), COSTS, ids=[row[2] for row in COSTS])
def test_the_cost_so_far(status, expected, why):
    metrics = Metrics()
    metrics.export(collectors.Fleet(lambda: fleet(a_status().model_copy(update=status)), lambda: NOON))
    assert value(metrics, "gpucloud_accrued_cost_dollars", namespace="a", account=ACCOUNT) == expected, why


@pytest.mark.parametrize(
    ("status", "wanted", "why"),
    [
        (a_status("REBALANCING"), {"(other)"}, "a word that no document lists would be a series of its own"),
        (a_status("online"), {"ONLINE"}, "a word in small letters means the same to the operator"),
        (a_status(" Offline "), {"OFFLINE"}, "and one with blanks"),
        (a_status(None), {"(other)"}, "a record without a word is a VM all the same"),
        (GpuVMStatus(price_per_hour="20.50"), set(), "what was never seen costs nothing"),
        (a_status(price="a forged price"), {"ONLINE"}, "statuses can be edited"),
        (a_status(gpus=None), {"ONLINE"}, "every field of an answer may be missing"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_odd_statuses(status, wanted, why):
    (vms, *_) = collectors.Fleet(lambda: fleet(status), lambda: NOON).collect()
    assert {sample.labels["state"] for sample in vms.samples} == wanted, why


def test_conditions_are_counted_by_kind():
    metrics = Metrics()
    ready, conflict = a_condition(), a_condition("Stalled", reason="Conflict")
    standing = [("GpuVM", "a", ready), ("GpuVM", "a", ready), ("GpuVM", "b", ready), ("GpuVpc", "a", conflict)]
    metrics.export(collectors.Conditions(lambda: standing, lambda: NOON))
    for kind, namespace, labels, count in [
        ("gpuvm", "a", {"type": "Ready", "status": "True", "reason": "Running"}, 2),
        ("gpuvm", "b", {"type": "Ready", "status": "True", "reason": "Running"}, 1),
        ("gpuvpc", "a", {"type": "Stalled", "status": "True", "reason": "Conflict"}, 1),
    ]:
        assert value(metrics, f"operator_{kind}_status_condition_count", namespace=namespace, **labels) == count


@pytest.mark.parametrize(
    ("stood", "told", "why"),
    [
        ([], None, "a series goes with the last object"),
        ([90], 90, "since its status flipped"),
        ([90, 86400, 7], 86400, "of those alike the oldest"),
        ([0], 0, "now"),
        ([-30], 0, "a clock that goes ahead of ours"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_how_long_conditions_and_deletions_have_lasted(stood, told, why):
    metrics = Metrics()
    since = [NOON - timedelta(seconds=age) for age in stood]
    reason = "SSHKeysNotFound"
    waits = [("GpuVM", f"ns-{at:%j%H}", a_condition("Reconciling", reason=reason, at=at)) for at in since]  # each in its own
    going = [("GpuVpc", ("Reconciling", "DeletionBlocked"), moment) for moment in since]
    # Beside them, what is older and something else.
    old = NOON - timedelta(days=9)
    other = a_condition("Reconciling", reason=reason, at=old)
    waits += [("GpuVM", "a", a_condition(at=old)), ("GpuSnapshot", "a", other)]
    going += [("GpuVpc", ("Stalled", "DeletionBlocked"), old), ("GpuVM", ("Reconciling", "DeletionBlocked"), old)]
    metrics.export(collectors.Conditions(lambda: waits, lambda: NOON), collectors.Deletions(lambda: going, lambda: NOON))
    labels = {"type": "Reconciling", "status": "True", "reason": reason}
    assert value(metrics, "operator_gpuvm_status_condition_current_status_seconds", **labels) == told, why
    labels = {"type": "Reconciling", "reason": "DeletionBlocked"}
    assert value(metrics, "operator_gpuvpc_termination_current_time_seconds", **labels) == told, why


def test_how_long_a_condition_stood_is_told_when_it_flips():
    metrics = Metrics()
    later = NOON + timedelta(seconds=90)
    before = [a_condition(status="False", reason="Creating"), a_condition("Reconciling", reason="Creating")]
    metrics.changed("GpuVM", before, [a_condition(at=later)])
    metrics.changed("GpuVM", [a_condition(at=later)], [a_condition(reason="PoweredOff", at=later)])
    name = "operator_gpuvm_status_condition_transition_seconds"
    assert value(metrics, f"{name}_sum", type="Ready", status="True") == 90
    assert value(metrics, f"{name}_count", type="Ready", status="True") == 1, "another reason is no flip"


def test_how_long_deletions_take():
    metrics = Metrics()
    metrics.ended("GpuVM", timedelta(seconds=12))
    metrics.ended("GpuVM", timedelta(seconds=3))
    assert value(metrics, "operator_gpuvm_termination_duration_seconds_sum") == 15


@pytest.mark.looptime
async def test_what_is_left_of_a_budget():
    bucket = TokenBucket(qps=2.0, burst=5)
    metrics = Metrics()
    metrics.export(collectors.Budgets(lambda: [("team/default", bucket.left)]))
    left = lambda: value(metrics, "gpucloud_cloud_budget_requests", account="team/default")  # noqa: E731
    assert left() == 5
    for _ in range(4):
        await bucket.acquire(1e9)
    assert left() == pytest.approx(1)
    bucket.pause(10)
    assert left() == 0, "the cloud asked for a pause"


def test_what_is_seen_of_the_cloud_is_told_and_goes_when_nobody_needs_it():
    metrics, seen = (
        Metrics(),
        {
            ("team/a", "vms", "Msc1"): ListingStatus(7.0, 5, doubted=True),
            ("team/a", "vms", "Hou1"): ListingStatus(9.0, None, False),
        },
    )
    metrics.export(collectors.ListingStatuses(lambda: seen, metrics.cluster))
    names = ("gpucloud_cloud_listing_age_seconds", "gpucloud_cloud_objects", "gpucloud_cloud_listing_implausible")
    told = lambda cluster: [value(metrics, name, account="team/a", kind="vms", cluster=cluster) for name in names]  # noqa: E731
    assert told("Msc1") == [7, 5, 1]
    assert told("Hou1") == [9, None, None], "never seen: how much there is nobody knows"
    seen.clear()
    assert told("Msc1") == [None, None, None]


def test_clusters_that_share_a_label_are_told_of_together():
    metrics = Metrics()
    for number in range(MOST_CLUSTERS):
        metrics.cluster(f"c{number}")
    listing_statuses = {
        "x": ListingStatus(7.0, 5, doubted=True),
        "y": ListingStatus(9.0, 2, doubted=False),
        "z": ListingStatus(1.0, None, doubted=False),
    }
    seen = {("team/a", "vms", cluster): listing_status for cluster, listing_status in listing_statuses.items()}
    metrics.export(collectors.ListingStatuses(lambda: seen, metrics.cluster))
    labels = {"account": "team/a", "kind": "vms", "cluster": OTHER_CLUSTERS}
    assert value(metrics, "gpucloud_cloud_listing_age_seconds", **labels) == 9, "the oldest"
    assert value(metrics, "gpucloud_cloud_objects", **labels) == 7, "all"
    assert value(metrics, "gpucloud_cloud_listing_implausible", **labels) == 1, "any doubt"


@pytest.mark.parametrize("kind", [item.kind for item in DEFINITIONS])
def test_what_is_counted_by_kind_stands_at_0_from_the_start(kind):
    """``rate()`` sees no growth in a series that comes with its first event."""
    metrics = Metrics()
    assert value(metrics, "gpucloud_time_to_ready_seconds_count", kind=kind) == 0
    assert value(metrics, "gpucloud_time_to_ready_seconds_bucket", kind=kind, le="60.0") == 0
    assert value(metrics, f"operator_{kind.lower()}_termination_duration_seconds_count") == 0
    assert value(metrics, "controller_runtime_reconcile_errors_total", controller=kind.lower()) == 0
    for result in ReconcileResult:
        assert value(metrics, "controller_runtime_reconcile_total", controller=kind.lower(), result=result) == 0
    for result in StatusWriteResult:
        assert value(metrics, "gpucloud_status_writes_total", kind=kind, result=result) == 0
    assert metrics.registry.get_sample_value("workqueue_retries_total", {"name": "gpucloud"}) == 0


@pytest.mark.looptime
async def test_what_an_engine_exports_is_among_the_metrics_that_the_tests_look_at(monkeypatch):
    """Else the pages, the alerts and the check of labels would be compared with less than there is."""
    cloud = FakeCloud()
    cloud.world(OWN, GetAll=["Msc1"])
    monkeypatch.setattr(connection, "real_transport", lambda _options: cloud)
    rig = Rig(cloud)
    await rig.engine.start()
    rig.show("GpuVM")
    await asyncio.sleep(60)
    await rig.engine.stop(1.0)
    exported = {family.name for family in rig.engine.metrics.registry.collect()}
    assert len(exported) > 40
    assert exported - {family.name for family in all_metrics(["Msc1"]).registry.collect()} == set()


def test_the_reference_names_every_metric_and_no_other():
    families = {family.name: family.type for family in all_metrics(["Msc1"]).registry.collect()}
    exported = {name + ("_total" if kind == "counter" else "") for name, kind in families.items()}
    kinds = "|".join(item.kind.lower() for item in DEFINITIONS)
    exported = {re.sub(rf"^operator_({kinds})_", "operator_<kind>_", name) for name in exported}
    told = set(re.findall(r"^\| `([a-z_<>]+)", REFERENCE.read_text(), re.MULTILINE))
    assert told == exported


def test_the_reference_names_the_labels_of_every_metric():
    exported = {
        sample.name.removesuffix("_count"): set(sample.labels) - {"le"}
        for family in all_metrics(["Msc1"]).registry.collect()
        for sample in family.samples
        if not sample.name.endswith(("_sum", "_bucket")) or family.type != "histogram"
    }
    rows = re.findall(r"^\| `([a-z_<>]+)` \| \w+ \| ([a-z_, ]*)\|", REFERENCE.read_text(), re.MULTILINE)
    assert len(rows) > 40
    told = {name.replace("<kind>", "gpuvm"): set(labels.replace(",", " ").split()) for name, labels in rows}
    assert {name: exported[name.removesuffix("_count")] for name in told} == told


def test_the_reference_is_as_the_code_prints_it():
    page = REFERENCE.read_text()
    assert metricspage.printed_into(page, metricspage.metrics()) == page, "run: make metrics"


def test_the_reference_changes_with_what_a_scrape_shows():
    """Else a stale page would pass."""
    shown = [item._replace(help="Another meaning.") for item in metricspage.metrics()]
    assert metricspage.printed_into(REFERENCE.read_text(), shown).count("Another meaning.") == len(shown)


def test_a_metric_without_a_table_is_refused():
    stray = metricspage.Metric("stray_total", "counter", (), "Nobody shows it.")
    with pytest.raises(ValueError, match="shows stray_total"):
        metricspage.printed_into(REFERENCE.read_text(), [stray])
