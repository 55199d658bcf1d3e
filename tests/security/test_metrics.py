"""Metrics hold no text of tenants but the names of their accounts, and not without bound (S18, S20)."""

from __future__ import annotations

import re

from prometheus_client.exposition import generate_latest

from support.exportedmetrics import all_metrics

# Each label that there is, and where its values come from. Names, ids and addresses of what tenants have are in none.
LABELS = {
    "action",  # what --observe-only keeps back
    "account",  # namespace/name of a GpuCloudAccount, or (operator): whom a stale listing concerns
    "cluster",  # spec.cluster: text of a tenant's, bounded below
    "code",  # HTTP status, or the kind of a failure
    "controller",  # a kind
    "kind",  # a kind, or a kind of record
    "le",  # the histogram's own
    "name",  # of the queue
    "method",  # of HTTP
    "namespace",  # of objects: bounded by what administrators let people make
    "operation",  # of the specification
    "outcome",  # of a listing
    "task",  # a background task of the operator, of a fixed list
    "python_version",  # of the build
    "ready",  # True, False, Unknown
    "reason",  # of a condition
    "result",  # of a pass or a write
    "scope",  # of a limit: account or namespace
    "state",  # the cloud's word for a VM, of those its documents list
    "status",  # of a condition
    "type",  # of a condition
    "verb",  # a method of HTTP
    "version",  # of the build
}
HOSTILE = 'x"} 1\ngpucloud_forged{a="b"} 1\n\r\x1b[31m\\'
SERIES_OF_A_LABEL = 400  # a few metrics, each for a bounded number of clusters


def text_of(metrics):
    return generate_latest(metrics.registry).decode()


def test_every_label_is_known():
    found = set(re.findall(r"[{,]([a-z_]+)=\"", text_of(all_metrics(["Msc1"]))))
    assert found <= LABELS


def test_no_value_of_a_label_forges_a_line():
    honest, hostile = text_of(all_metrics(["Msc1"])), text_of(all_metrics([HOSTILE]))
    assert hostile.count("\n") == honest.count("\n")
    assert not re.search(r"^gpucloud_forged", hostile, re.MULTILINE)


def test_made_up_clusters_make_no_series_without_bound():
    """The name of a cluster is free text in a spec, and the metrics are everybody's."""
    many = [
        line
        for line in text_of(all_metrics([f"made-up-{number}" for number in range(5000)])).splitlines()
        if "cluster=" in line
    ]
    assert len(many) <= 5 * SERIES_OF_A_LABEL
