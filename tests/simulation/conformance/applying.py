"""Scripts about server-side apply and the managers of fields."""

from __future__ import annotations

from simulation.conformance.playing import Ask, Step
from simulation.conformance.steps import (
    HELD,
    MINE,
    STATUS,
    THEIRS,
    A,
    condition,
    status_of,
    vpc,
)

MANAGERS: list[Step] = [
    Ask(404, "PATCH", f"{STATUS}?{MINE}", status_of({"name": "n"}), "apply"),
    Ask(422, "PATCH", A, vpc(), "apply"),
    Ask(409, "PATCH", f"{A}?{MINE}", vpc(uid="nope"), "apply"),
    Ask(201, "PATCH", f"{A}?{MINE}", vpc(labels={"l": "v"}), "apply", save="a"),
    Ask(200, "PATCH", f"{A}?{MINE}", vpc(labels={"l": "v"}), "apply"),
    Ask(200, "PATCH", f"{A}?{MINE}", vpc(labels={"l": "v"}), "apply", save="a"),
    Ask(200, "PATCH", f"{STATUS}?{MINE}", status_of({"vpcId": "1", "conditions": [condition()]}), "apply"),
    Ask(200, "PATCH", f"{STATUS}?{MINE}", status_of({"vpcId": "1", "conditions": [condition()]}), "apply"),
    Ask(409, "PATCH", f"{STATUS}?{THEIRS}", status_of({"vpcId": "2", "conditions": [condition(message="o")]}), "apply"),
    Ask(200, "PATCH", f"{STATUS}?{THEIRS}", status_of({"vpcId": "1", "conditions": [condition("Stalled")]}), "apply"),
    Ask(409, "PATCH", f"{STATUS}?{MINE}", status_of({"vpcId": "3"}), "apply"),
    Ask(200, "PATCH", f"{STATUS}?{MINE}&force=true", status_of({"vpcId": "3", "name": "n"}), "apply"),  # Stalled stays
    Ask(200, "PATCH", f"{STATUS}?{MINE}", status_of({"name": "n"}), "apply"),
    Ask(200, "PATCH", f"{STATUS}?{MINE}", status_of({}), "apply", save="a"),
    Ask(200, "PATCH", STATUS, {"status": {"name": "by merge patch"}}, "merge"),
    Ask(409, "PATCH", f"{STATUS}?{MINE}", status_of({"name": "mine"}), "apply"),
    Ask(409, "PATCH", f"{STATUS}?{MINE}&force=true", status_of({"name": "m"}, resourceVersion="1"), "apply"),
    Ask(200, "PATCH", f"{STATUS}?{MINE}&force=true", status_of({"name": "m"}, uid="nope"), "apply"),
    Ask(400, "PATCH", f"{STATUS}?{MINE}&force=true", status_of({"name": "\U0001f600"}), "apply"),
    Ask(
        200,
        "PATCH",
        f"{STATUS}?{MINE}&force=true",
        '{"apiVersion":"gpucloud.dev/v1alpha1","kind":"GpuVpc","status":{"name":"\U0001f600"}}',
        "apply",
    ),
    Ask(
        400,
        "PATCH",
        f"{STATUS}?{MINE}&force=true",
        '{"apiVersion":"gpucloud.dev/v1alpha1","kind":"GpuVpc","status":{"name":"\\ud83d"}}',
        "apply",
    ),
    Ask(
        200,
        "PATCH",
        f"{STATUS}?{MINE}&force=true",
        '{"apiVersion":"gpucloud.dev/v1alpha1","kind":"GpuVpc","status":{"name":"\\\\ud83d"}}',
        "apply",
    ),
    Ask(200, "GET", A, save="a"),
    Ask(
        200,
        "PUT",
        STATUS,
        {"$from": "a", "status": {"name": "\U0001f600 by PUT", "conditions": [condition("Paused")]}},
        save="a",
    ),
    Ask(422, "PATCH", f"{STATUS}?{MINE}", status_of({"vpcId": None}), "apply"),
    Ask(200, "PATCH", f"{STATUS}?{MINE}", status_of({"observedGeneration": None}), "apply"),
    Ask(409, "PATCH", f"{STATUS}?{MINE}", status_of({"conditions": [condition("Paused", message="x")]}), "apply"),
]
APPLY: list[Step] = [
    Ask(201, "PATCH", f"{A}?{MINE}", vpc(finalizers=HELD, annotations={"a": "b"}), "apply"),
    Ask(200, "PATCH", f"{A}?{THEIRS}", vpc(spec={"cluster": "c"}, finalizers=["example.org/theirs"]), "apply"),
    Ask(200, "PATCH", f"{A}?{MINE}", vpc(spec={"cluster": "c", "name": "acme", "deletion": {"policy": "Retain"}}), "apply"),
    Ask(200, "PATCH", f"{A}?{MINE}", vpc(), "apply"),
    Ask(422, "PATCH", f"{A}?{MINE}", vpc(uid="nope"), "apply"),
    Ask(409, "PATCH", f"{A}?{MINE}", vpc(resourceVersion="1"), "apply"),
    Ask(201, "PATCH", f"gpuvpcs/none?{MINE}", vpc("none", resourceVersion="1"), "apply"),  # a version guards nothing here
    Ask(200, "PATCH", f"{A}?{MINE}", vpc(spec={"cluster": "c", "name": "acme", "adoption": "Required"}), "apply"),
    Ask(200, "PATCH", f"{A}?{MINE}", vpc(), "apply"),
    Ask(400, "PATCH", f"{A}?{MINE}", vpc("d"), "apply"),
    Ask(500, "PATCH", f"{A}?{MINE}", vpc() | {"junk": 1}, "apply"),
    Ask(500, "PATCH", f"{A}?{MINE}", vpc(spec={"cluster": 5}), "apply"),
    Ask(400, "PATCH", f"{A}?{MINE}", vpc() | {"kind": "Foo"}, "apply"),
    Ask(400, "PATCH", f"{A}?{MINE}", {}, "apply"),
    Ask(400, "PATCH", f"{A}?{MINE}", "{", "apply"),
    Ask(
        200,
        "PATCH",
        f"{A}?{MINE}",
        "apiVersion: gpucloud.dev/v1alpha1\nkind: GpuVpc\nspec: {cluster: c, name: acme}\n",
        "apply",
    ),
    Ask(422, "PATCH", f"gpuvpcs/b?{MINE}", vpc("b", spec={"cluster": "c"}), "apply"),
    Ask(200, "PATCH", f"{STATUS}?{MINE}", status_of({"conditions": [condition()]}), "apply"),
    Ask(200, "PATCH", f"{STATUS}?{MINE}", status_of({"name": "n"}), "apply"),  # the defaults return
    Ask(200, "PATCH", f"{STATUS}?{MINE}", status_of({"conditions": []}), "apply"),
    Ask(200, "DELETE", A),
    Ask(200, "PATCH", f"{A}?{THEIRS}", vpc(spec={"cluster": "c"}), "apply"),
    Ask(404, "GET", A),
    Ask(201, "POST", "gpuvpcs", vpc()),
    Ask(409, "PATCH", f"{A}?{MINE}", vpc(spec={"cluster": "d", "name": "acme"}), "apply"),
    Ask(200, "PATCH", f"{A}?{MINE}", vpc(), "apply"),
]
