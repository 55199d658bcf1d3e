"""Sequences drawn by Hypothesis: what several clients do to two objects, in any order."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from simulation.conformance.playing import Ask
from simulation.conformance.scripts import HELD, MINE, THEIRS, condition, vpc

NAMES = st.sampled_from(["a", "b"])
FINALIZERS = st.sampled_from([None, [], HELD, ["example.org/other"], [*HELD, "example.org/other"]])
LABELS = st.sampled_from([{}, {"l": "v"}, {"l": "w", "m": "v"}])
SPECS = st.fixed_dictionaries(
    {"cluster": st.just("c"), "name": st.just("acme")},
    optional={
        "adoption": st.sampled_from(["Required", "IfExists"]),
        "progressDeadlineSeconds": st.sampled_from([1, 60, 0, "x", None]),
        "deletion": st.sampled_from([{}, {"policy": "Retain"}, {"policy": "Odd"}]),
    },
)
CONDITIONS = st.lists(
    st.builds(condition, st.sampled_from(["Ready", "Stalled", "Paused"]), message=st.sampled_from(["m", "o"])),
    max_size=3,
    unique_by=lambda item: item["type"],
)
STATUSES = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["n", "\U0001f600", 5, None]),
        "vpcId": st.sampled_from(["1", "2"]),
        "observedGeneration": st.sampled_from([1, 2, -7]),
        "conditions": CONDITIONS,
    },
)
GUARDS = st.sampled_from(["none", "version", "uid", "both", "stale"])
QUERIES = st.sampled_from([MINE, THEIRS, f"{MINE}&force=true", f"{THEIRS}&force=true"])


def _guard(name: str, kind: str) -> dict[str, Any]:
    found = {"uid": f"${name}.metadata.uid", "resourceVersion": f"${name}.metadata.resourceVersion"}
    match kind:
        case "none":
            return {}
        case "version":
            return {"resourceVersion": found["resourceVersion"]}
        case "uid":
            return {"uid": found["uid"]}
        case "stale":
            return {"resourceVersion": "1"}
    return found


@st.composite
def requests(draw: st.DrawFn) -> Ask:
    """One request. What an object was when it was read last guards it, or not."""
    name = draw(NAMES)
    path = f"gpuvpcs/{name}"
    guard = _guard(name, draw(GUARDS))
    match draw(st.integers(0, 9)):
        case 0 | 1:
            return Ask(0, "POST", "gpuvpcs", vpc(name, spec=draw(SPECS), finalizers=draw(FINALIZERS)), save=name)
        case 2:
            return Ask(0, "GET", path, save=name)
        case 3:
            return Ask(0, "PUT", path, {"$from": name, "spec": draw(SPECS), "metadata": {"labels": draw(LABELS)}}, save=name)
        case 4:
            change = {"metadata": {"finalizers": draw(FINALIZERS), **guard}, "spec": draw(SPECS)}
            return Ask(0, "PATCH", path, change, "merge", draw(st.sampled_from(["", name])))
        case 5:
            finalizers = {"op": "add", "path": "/metadata/finalizers", "value": draw(FINALIZERS) or []}
            tests = [{"op": "test", "path": f"/metadata/{field}", "value": value} for field, value in guard.items()]
            return Ask(0, "PATCH", path, [*tests, finalizers], "json")
        case 6:
            options = {"preconditions": guard, "propagationPolicy": draw(st.sampled_from(["Background", "Foreground"]))}
            return Ask(0, "DELETE", path, draw(st.sampled_from([None, options])))
        case 7:
            return Ask(0, "PUT", f"{path}/status", {"$from": name, "status": draw(STATUSES)}, save=name)
        case 8:
            meta = {"finalizers": draw(FINALIZERS), "labels": draw(LABELS)}
            given = {field: value for field, value in meta.items() if value}  # who owns an empty field is no matter of ours
            body = vpc(name, spec=draw(SPECS), **given, **guard)
            return Ask(0, "PATCH", f"{path}?{draw(QUERIES)}", body, "apply")
    status = {"name": name, **guard}, draw(STATUSES)
    body = {"apiVersion": "gpucloud.dev/v1alpha1", "kind": "GpuVpc", "metadata": status[0], "status": status[1]}
    return Ask(0, "PATCH", f"{path}/status?{draw(QUERIES)}", body, "apply")


SEQUENCES = st.lists(requests(), min_size=1, max_size=25)
