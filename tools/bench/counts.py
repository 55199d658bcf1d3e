"""What others have written down, counted: the apiserver's audit log, the cloud's ledger, metrics. Pure: text and data in."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from prometheus_client.parser import text_string_to_metric_families

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

READS = frozenset({"get", "list", "watch"})
_QUESTION = "reviews"  # as selfsubjectaccessreviews end: they are created, and the apiserver stores nothing
_PASSES = "controller_runtime_reconcile_total"
_LAG = "gpucloud_event_loop_lag_seconds_bucket"


def api_requests(audit_lines: Iterable[str], user: str) -> Counter[str]:
    """Count one user's requests to the apiserver as ``verb resource/subresource``; a last line may be half written."""
    found: Counter[str] = Counter()
    for line in audit_lines:
        if not line.endswith("\n"):
            break
        entry = json.loads(line)
        if entry["user"]["username"] != user:
            continue
        target = entry.get("objectRef", {})
        resource = "/".join(filter(None, (target.get("resource"), target.get("subresource"))))
        found[f"{entry['verb']} {resource or 'other'}"] += 1
    return found


def writes(requests: Mapping[str, int], *, events: bool) -> int:
    """How many of the requests write: either Events, or everything else."""
    parts = ((key, count) for key, count in requests.items() if not _reads(key))
    return sum(count for key, count in parts if (key.split(" ", 1)[1] == "events") is events)


def reads(requests: Mapping[str, int]) -> int:
    """How many of the requests read."""
    return sum(count for key, count in requests.items() if _reads(key))


def _reads(request: str) -> bool:
    verb, resource = request.split(" ", 1)
    return verb in READS or resource.endswith(_QUESTION)


def cloud_calls(entries: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Count the requests that the cloud received, by operation."""
    return Counter(str(entry["operation"]) for entry in entries)


def first_calls(entries: Iterable[Mapping[str, Any]], operation: str) -> dict[str, float]:
    """When the cloud first received this operation for each VM, by the VM's id."""
    found: dict[str, float] = {}
    for entry in entries:
        if entry["operation"] == operation:
            named = {name.lower(): value for name, value in entry["parameters"].items()}
            found.setdefault(str(named["id"]), float(entry["received"]))
    return found


class Metrics:
    """One scrape of an operator. ``minus`` an earlier one it tells what happened in between."""

    def __init__(self, text: str = "") -> None:
        self.passes: dict[str, int] = {}
        self.lag: dict[float, float] = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                if sample.name == _PASSES and sample.labels["controller"].lower() == "gpuvm":
                    self.passes[sample.labels["result"]] = int(sample.value)
                elif sample.name == _LAG:
                    self.lag[float(sample.labels["le"])] = sample.value

    def minus(self, before: Metrics) -> Metrics:
        """What was counted since."""
        found = Metrics()
        found.passes = {result: count - before.passes.get(result, 0) for result, count in self.passes.items()}
        found.lag = {bound: count - before.lag.get(bound, 0.0) for bound, count in self.lag.items()}
        return found
