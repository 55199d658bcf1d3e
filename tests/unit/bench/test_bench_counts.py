"""What the audit log, the ledger and the metrics say is counted as it was written."""

from __future__ import annotations

import json

from bench import counts

ME = "gpucloud-operator"


def audited(verb, resource="", subresource="", user=ME):
    target = {name: value for name, value in (("resource", resource), ("subresource", subresource)) if value}
    return json.dumps({"user": {"username": user}, "verb": verb, "objectRef": target}) + "\n"


LINES = [
    audited("list", "gpuvms"),
    audited("patch", "gpuvms"),
    audited("update", "gpuvms", "status"),
    audited("update", "gpuvms", "status"),
    audited("create", "events"),
    audited("create", "gpuvms", user="admin"),
    json.dumps({"user": {"username": ME}, "verb": "get"}) + "\n",
]


def test_only_the_operators_requests_are_counted_by_verb_and_resource():
    assert counts.api_requests(LINES, ME) == {
        "list gpuvms": 1,
        "patch gpuvms": 1,
        "update gpuvms/status": 2,
        "create events": 1,
        "get other": 1,
    }


def test_a_half_written_last_line_waits_for_the_next_reader():
    assert counts.api_requests([LINES[0], LINES[1].rstrip("\n")], ME) == {"list gpuvms": 1}
    assert counts.api_requests([LINES[0], LINES[1][:20]], ME) == {"list gpuvms": 1}


def test_events_are_no_writes_of_objects_and_lists_are_reads():
    found = counts.api_requests(LINES, ME)
    assert (counts.writes(found, events=False), counts.writes(found, events=True), counts.reads(found)) == (3, 1, 2)


def entry(operation, at, **parameters):
    return {"operation": operation, "received": at, "parameters": parameters}


LEDGER = [
    entry("GetServers", 1.0, Cluster="Msc1"),
    entry("StopServer", 2.0, id="a", cluster="Msc1"),
    entry("StopServer", 3.0, id="a", cluster="Msc1"),
    entry("StartServer", 4.0, id="b", cluster="Msc1"),
]


def test_calls_are_counted_by_operation_and_found_by_vm():
    assert counts.cloud_calls(LEDGER) == {"GetServers": 1, "StopServer": 2, "StartServer": 1}
    assert counts.first_calls(LEDGER, "StopServer") == {"a": 2.0}, "a repeated call was caused by the first edit, too"


SCRAPE = """
# TYPE controller_runtime_reconcile_total counter
controller_runtime_reconcile_total{{controller="{controller}",result="success"}} {success}
controller_runtime_reconcile_total{{controller="{controller}",result="unchanged"}} {unchanged}
controller_runtime_reconcile_total{{controller="GpuVpc",result="success"}} 99
# TYPE gpucloud_event_loop_lag_seconds histogram
gpucloud_event_loop_lag_seconds_bucket{{le="0.1"}} {lags}
gpucloud_event_loop_lag_seconds_bucket{{le="+Inf"}} {lags}
"""


def test_what_two_scrapes_differ_by_happened_in_between():
    before = counts.Metrics(SCRAPE.format(controller="GpuVM", success=3, unchanged=1, lags=10))
    after = counts.Metrics(SCRAPE.format(controller="GpuVM", success=8, unchanged=1, lags=14))
    assert after.minus(before).passes == {"success": 5, "unchanged": 0}
    assert after.minus(before).lag == {0.1: 4, float("inf"): 4}
    assert after.minus(counts.Metrics()).passes == {"success": 8, "unchanged": 1}, "a new process begins at 0"


def test_controller_runtime_writes_the_kind_in_small_letters():
    assert counts.Metrics(SCRAPE.format(controller="gpuvm", success=3, unchanged=0, lags=0)).passes["success"] == 3


def test_a_question_about_rights_is_no_write():
    asked = {
        "create selfsubjectaccessreviews": 1,
        "create tokenreviews": 1,
        "list gpuvms": 3,
        "create events": 2,
        "patch gpuvms": 1,
    }
    assert (counts.writes(asked, events=False), counts.writes(asked, events=True), counts.reads(asked)) == (1, 2, 5)
