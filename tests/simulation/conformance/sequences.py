"""Sequences drawn by Hypothesis: what several clients do to two objects, in any order."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from simulation.conformance.playing import Ask
from simulation.conformance.steps import HELD, MINE, THEIRS, condition, vpc

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
POLICIES = st.sampled_from(["Background", "Foreground"])
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


def _owners(draw: st.DrawFn, name: str) -> Ask:
    """What owners and controllers do to the object itself."""
    path, guard = f"gpuvpcs/{name}", _guard(name, draw(GUARDS))
    match draw(st.integers(0, 3)):
        case 0:
            return Ask(0, "PUT", path, {"$from": name, "spec": draw(SPECS), "metadata": {"labels": draw(LABELS)}}, save=name)
        case 1:
            change = {"metadata": {"finalizers": draw(FINALIZERS), **guard}, "spec": draw(SPECS)}
            return Ask(0, "PATCH", path, change, "merge", draw(st.sampled_from(["", name])))
        case 2:
            finalizers = {"op": "add", "path": "/metadata/finalizers", "value": draw(FINALIZERS) or []}
            tests = [{"op": "test", "path": f"/metadata/{field}", "value": value} for field, value in guard.items()]
            return Ask(0, "PATCH", path, [*tests, finalizers], "json")
    meta = {"finalizers": draw(FINALIZERS), "labels": draw(LABELS)}
    given = {field: value for field, value in meta.items() if value}  # who owns an empty field is no matter of ours
    return Ask(0, "PATCH", f"{path}?{draw(QUERIES)}", vpc(name, spec=draw(SPECS), **given, **guard), "apply")


def _status(draw: st.DrawFn, name: str) -> Ask:
    """What controllers do to the status."""
    path = f"gpuvpcs/{name}/status"
    if draw(st.booleans()):
        return Ask(0, "PUT", path, {"$from": name, "status": draw(STATUSES)}, save=name)
    body = {**vpc(name, status=draw(STATUSES)), "metadata": {"name": name, **_guard(name, draw(GUARDS))}}
    return Ask(0, "PATCH", f"{path}?{draw(QUERIES)}", body, "apply")


@st.composite
def requests(draw: st.DrawFn) -> Ask:
    """One request. What an object was when it was read last guards it, or not."""
    name = draw(NAMES)
    match draw(st.integers(0, 9)):
        case 0 | 1:
            return Ask(0, "POST", "gpuvpcs", vpc(name, spec=draw(SPECS), finalizers=draw(FINALIZERS)), save=name)
        case 2:
            return Ask(0, "GET", f"gpuvpcs/{name}", save=name)
        case 3:
            options = {"preconditions": _guard(name, draw(GUARDS)), "propagationPolicy": draw(POLICIES)}
            return Ask(0, "DELETE", f"gpuvpcs/{name}", draw(st.sampled_from([None, options])))
        case 4 | 5:
            return _status(draw, name)
    return _owners(draw, name)


SEQUENCES = st.lists(requests(), min_size=1, max_size=25)
