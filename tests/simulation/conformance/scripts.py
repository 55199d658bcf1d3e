"""The scripts: each is one claim about how an apiserver behaves, as requests and the statuses that answer them."""

from __future__ import annotations

from typing import Any

from simulation.conformance.playing import Ask, Step, Watch

METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
A, STATUS = "gpuvpcs/a", "gpuvpcs/a/status"
MINE, THEIRS = "fieldManager=mine", "fieldManager=theirs"
HELD = ["example.org/held"]
AT = "2026-01-01T00:00:00Z"


def vpc(name: str = "a", *, spec: dict[str, Any] | None = None, status: Any = None, **meta: Any) -> dict[str, Any]:
    """A GpuVpc."""
    wanted = {"cluster": "c", "name": "acme"} if spec is None else spec
    body = {"apiVersion": "gpucloud.dev/v1alpha1", "kind": "GpuVpc", "metadata": {"name": name, **meta}, "spec": wanted}
    return body if status is None else body | {"status": status}


def status_of(status: Any, **meta: Any) -> dict[str, Any]:
    """What is applied to /status."""
    return {name: value for name, value in vpc(status=status, **meta).items() if name != "spec"}


def condition(kind: str = "Ready", **fields: Any) -> dict[str, Any]:
    """A condition."""
    return {"type": kind, "status": "True", "reason": "Done", "message": "m", "lastTransitionTime": AT, **fields}


def test(path: str, value: Any) -> dict[str, Any]:
    """The test of a JSON patch."""
    return {"op": "test", "path": path, "value": value}


def put(body: Any) -> dict[str, Any]:
    """The operation of a JSON patch that sets the finalizers."""
    return {"op": "add", "path": "/metadata/finalizers", "value": body}


def made(**meta: Any) -> Ask:
    """Create ``a`` and keep it."""
    return Ask(201, "POST", "gpuvpcs", vpc(**meta), save="a")


CREATE: list[Step] = [
    Ask(201, "POST", "gpuvpcs", vpc(status={"vpcId": "x"}, labels={"l": "v"}, annotations=None, ownerReferences=[])),
    Ask(200, "GET", A),
    Ask(409, "POST", "gpuvpcs", vpc()),
    Ask(201, "POST", "gpuvpcs", vpc("b", uid="mine", generation=7, deletionTimestamp=AT, creationTimestamp=AT)),
    Ask(201, "POST", "gpuvpcs", vpc("c") | {"junk": 1}),
    Ask(201, "POST", "gpuvpcs", vpc("e", spec={"cluster": "c", "name": "n", "junk": 1, "deletion": {"junk": 1}})),
    Ask(500, "POST", "gpuvpcs", vpc("d", resourceVersion="5")),
    Ask(400, "POST", "gpuvpcs", vpc("d", namespace="other")),
    Ask(422, "POST", "gpuvpcs", vpc("A b")),
    Ask(422, "POST", "gpuvpcs", vpc("")),
    Ask(400, "POST", "gpuvpcs", vpc("d") | {"apiVersion": "gpucloud.dev/v9"}),
    Ask(400, "POST", "gpuvpcs", "{"),
    Ask(400, "POST", "gpuvpcs", []),
    Ask(400, "POST", "gpuvpcs", {}),
    Ask(422, "POST", "gpuvpcs", vpc("d", spec={"cluster": "c"})),
    Ask(422, "POST", "gpuvpcs", vpc("d", spec={"cluster": "c", "name": "n", "adoption": "Sometimes"})),
    Ask(201, "POST", "gpuvpcs", vpc("f", spec={"cluster": "c", "name": "n", "progressDeadlineSeconds": None})),
    Ask(422, "POST", "gpuvpcs", vpc("g", labels={"a b": "x y"}, finalizers=["a b"])),
    Ask(400, "POST", "gpuvpcs", vpc("g", labels={"l": 5})),
    Ask(400, "POST", "gpuvpcs", vpc("g", finalizers="x")),
    Ask(400, "POST", "gpuvpcs", vpc("g") | {"metadata": "x"}),
    Ask(400, "POST", "secrets", {"metadata": {"name": "s", "labels": {"l": 5}}}),
    Ask(404, "GET", "gpuvpcs/none"),
    Ask(404, "DELETE", "gpuvpcs/none"),
]

TWICE: list[Step] = [
    made(),
    Ask(200, "PUT", A, {"$from": "a"}, save="a"),  # the defaults of status are stored only now
    Ask(200, "PUT", A, {"$from": "a"}, save="a"),
    Ask(200, "PUT", STATUS, {"$from": "a"}, save="a"),
    Ask(200, "PATCH", A, {}, "merge"),
    Ask(200, "PATCH", A, [], "json"),
    Ask(200, "PATCH", STATUS, {"status": {"observedGeneration": -1}}, "merge"),
    Ask(200, "PATCH", A, {"metadata": {"labels": {"none": None}}}, "merge"),
    Ask(200, "PATCH", A, {"metadata": {"generation": 17, "creationTimestamp": AT, "selfLink": "x", "junk": 1}}, "merge"),
    Ask(201, "POST", "gpuvpcs", vpc("b"), save="b"),
    Ask(200, "PUT", "gpuvpcs/b/status", {"$from": "b"}, save="b"),
    Ask(200, "PUT", "gpuvpcs/b/status", {"$from": "b"}),
    Ask(201, "POST", "gpuvpcs", vpc("c")),
    Ask(200, "PATCH", "gpuvpcs/c", {}, "merge"),
]

BOTH: list[Step] = [
    made(),
    Ask(
        200,
        "PUT",
        STATUS,
        {"$from": "a", "spec": {"adoption": "Required"}, "metadata": {"labels": {"l": "v"}}, "status": {"vpcId": "x"}},
        save="a",
    ),
    Ask(
        200,
        "PUT",
        A,
        {"$from": "a", "spec": {"adoption": "Required"}, "metadata": {"labels": {"l": "v"}}, "status": {"vpcId": "y"}},
        save="a",
    ),
    Ask(
        200,
        "PATCH",
        STATUS,
        {"metadata": {"finalizers": HELD, "annotations": {"a": "b"}}, "status": {"name": "n"}},
        "merge",
        save="a",
    ),
    Ask(200, "PATCH", A, {"metadata": {"annotations": {"a": "b"}}, "status": {"name": "other"}}, "merge", save="a"),
    Ask(200, "PUT", STATUS, {"$from": "a", "status": None}, save="a"),
    Ask(200, "GET", STATUS),
    Ask(200, "PATCH", STATUS, [{"op": "add", "path": "/status/name", "value": "p"}], "json"),
    Ask(
        200,
        "PATCH",
        STATUS,
        {"status": {"junk": 1, "conditions": [{**condition(), "junk": 2}]}},
        "merge",
    ),
    Ask(200, "PATCH", STATUS, {"status": None}, "merge"),
    Ask(200, "PATCH", STATUS, [{"op": "add", "path": "/status/name", "value": None}], "json"),
    Ask(200, "PATCH", STATUS, [{"op": "add", "path": "/status/observedGeneration", "value": None}], "json"),
]

GUARDS: list[Step] = [
    made(),
    Ask(422, "PUT", A, {"$from": "a", "metadata": {"resourceVersion": None}}),
    Ask(409, "PUT", A, {"$from": "a", "metadata": {"resourceVersion": "1"}}),
    Ask(409, "PUT", A, {"$from": "a", "metadata": {"uid": "nope"}}),
    Ask(200, "PUT", A, {"$from": "a", "metadata": {"uid": None}}, save="a"),
    Ask(400, "PUT", A, {"$from": "a", "metadata": {"name": "b"}}),
    Ask(422, "PUT", STATUS, {"$from": "a", "metadata": {"resourceVersion": None}}),
    Ask(409, "PUT", STATUS, {"$from": "a", "metadata": {"resourceVersion": "1"}}),
    Ask(409, "PUT", STATUS, {"$from": "a", "metadata": {"uid": "nope"}}),
    Ask(404, "PUT", "gpuvpcs/none", {"$from": "a", "metadata": {"name": "none"}}),
    Ask(422, "PATCH", A, {"metadata": {"uid": "nope"}}, "merge"),
    Ask(409, "PATCH", A, {"metadata": {"resourceVersion": "1"}}, "merge"),
    Ask(
        200,
        "PATCH",
        A,
        {"metadata": {"uid": "$a.metadata.uid", "resourceVersion": "$a.metadata.resourceVersion", "labels": {"x": "y"}}},
        "merge",
        save="a",
    ),
    Ask(200, "PATCH", STATUS, {"metadata": {"uid": "nope"}, "status": {"name": "x"}}, "merge"),
    Ask(409, "PATCH", STATUS, {"metadata": {"resourceVersion": "1"}, "status": {"name": "y"}}, "merge"),
    Ask(422, "PATCH", A, [test("/metadata/uid", "nope"), put(HELD)], "json"),
    Ask(422, "PATCH", A, [test("/metadata/resourceVersion", "1"), put(HELD)], "json"),
    Ask(422, "PATCH", A, [test("/metadata/finalizers", HELD)], "json"),
    Ask(200, "PATCH", A, [test("/metadata/finalizers", None), put(HELD)], "json"),
    Ask(200, "PATCH", A, [{"op": "replace", "path": "/metadata/finalizers", "value": HELD}], "json"),
    Ask(200, "PATCH", A, [{"op": "remove", "path": "/metadata/finalizers/0"}], "json"),
    Ask(422, "PATCH", A, [{"op": "remove", "path": "/metadata/finalizers"}], "json"),
    Ask(422, "PATCH", A, [{"op": "add", "path": "/metadata/finalizers/-", "value": "a/b"}], "json"),
    Ask(422, "PATCH", A, [{"op": "replace", "path": "/nope/nope", "value": 1}], "json"),
    Ask(422, "PATCH", A, [{"op": "nonsense", "path": "/spec"}], "json"),
    Ask(400, "PATCH", A, {"metadata": {"name": "other"}}, "merge"),
    Ask(400, "PATCH", A, "{", "merge"),
    Ask(404, "PATCH", "gpuvpcs/none", {}, "merge"),
    Ask(409, "DELETE", A, {"preconditions": {"uid": "nope"}}),
    Ask(409, "DELETE", A, {"preconditions": {"resourceVersion": "1"}}),
    Ask(200, "DELETE", A, {"preconditions": {"uid": "$a.metadata.uid"}}),
    Ask(201, "POST", "gpuvpcs", vpc()),
    Ask(200, "PATCH", A, {"metadata": {"labels": {"of": "the-namesake"}}}, "merge"),
    Ask(409, "PUT", A, {"$from": "a"}),
    Ask(409, "DELETE", A, {"preconditions": {"uid": "$a.metadata.uid"}}),
]

EDIT: list[Step] = [
    made(),
    Ask(200, "PATCH", A, {"metadata": {"labels": {"l": "v"}, "annotations": {"a": "b"}}}, "merge"),
    Ask(200, "PATCH", A, {"spec": {"adoption": "Required"}}, "merge"),
    Ask(200, "PATCH", A, {"spec": {"adoption": None}}, "merge"),  # the default returns
    Ask(200, "PATCH", STATUS, {"status": {"name": "n"}}, "merge"),
    Ask(200, "PATCH", A, {"metadata": {"finalizers": HELD}}, "merge"),
    Ask(200, "PATCH", A, {"spec": {"deletion": {"policy": "Retain"}}}, "merge"),
    Ask(200, "PATCH", A, {"spec": {"deletion": {"policy": None}}}, "merge"),
    Ask(422, "PATCH", A, {"spec": None}, "merge"),
    Ask(422, "PATCH", A, {"spec": {"name": None}}, "merge"),
    Ask(422, "PATCH", A, {"spec": {"progressDeadlineSeconds": 0}}, "merge"),
    Ask(422, "PATCH", A, {"spec": {"progressDeadlineSeconds": 1.5}}, "merge"),
    Ask(422, "PATCH", A, {"spec": {"progressDeadlineSeconds": 2**40}}, "merge"),
    Ask(422, "PATCH", A, {"spec": {"progressDeadlineSeconds": "5"}}, "merge"),
    Ask(422, "PATCH", A, {"metadata": {"labels": {"l": 5}}}, "merge"),
    Ask(200, "DELETE", A),
    Ask(200, "DELETE", A),
    Ask(200, "PATCH", A, {"spec": {"adoption": "Required"}}, "merge"),
]

VALUES: list[Step] = [
    made(),
    Ask(422, "PUT", STATUS, {"$from": "a", "status": {"vpcId": 5}}),
    Ask(422, "PUT", STATUS, {"$from": "a", "status": {"name": "x" * 254}}),
    Ask(422, "PUT", STATUS, {"$from": "a", "status": {"isDefault": "x", "observedGeneration": -7}}),
    Ask(422, "PUT", STATUS, {"$from": "a", "status": "x"}),
    Ask(422, "POST", "gpuvpcs", vpc("b", spec={"cluster": "c", "name": "n", "accountRef": {}})),
    Ask(422, "PUT", STATUS, {"$from": "a", "status": {"progressDeadlineAt": "soon"}}),
    Ask(422, "PUT", STATUS, {"$from": "a", "status": {"conditions": [condition(), condition()]}}),
    Ask(422, "PUT", STATUS, {"$from": "a", "status": {"conditions": [condition(reason="", status="Maybe")]}}),
    Ask(422, "PUT", STATUS, {"$from": "a", "status": {"conditions": [condition("!", reason="a b", lastTransitionTime="x")]}}),
    Ask(422, "PUT", STATUS, {"$from": "a", "status": {"conditions": [{"type": "Ready"}]}}),
    Ask(422, "PUT", STATUS, {"$from": "a", "status": {"conditions": [condition(f"T{number}") for number in range(9)]}}),
    Ask(200, "PUT", STATUS, {"$from": "a", "status": {"name": "x" * 253}}, save="a"),
    Ask(200, "PUT", STATUS, {"$from": "a", "status": {"name": "\u00e9" * 253}}, save="a"),
    Ask(200, "PATCH", STATUS, '{"status":{"name":"\\ud83d\\ude00 \\ud83dx \\udc00"}}', "merge"),
    Ask(200, "PATCH", STATUS, '{"status":{"name":"\\\\ud83d \\u0000 \x7f"}}', "merge", save="a"),
    Ask(200, "PUT", STATUS, {"$from": "a", "status": {"vpcId": None, "conditions": [condition()]}}, save="a"),
]

DYING: list[Step] = [
    made(finalizers=HELD),
    Ask(200, "DELETE", A, {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}),
    Ask(200, "DELETE", A, save="a"),
    Ask(200, "PUT", A, {"$from": "a", "spec": {"adoption": "Required"}}, save="a"),
    Ask(200, "PUT", STATUS, {"$from": "a", "status": {"name": "n"}}, save="a"),
    Ask(422, "PATCH", A, {"metadata": {"finalizers": [*HELD, "example.org/new"]}}, "merge"),
    Ask(200, "PATCH", A, {"metadata": {"deletionTimestamp": None}}, "merge"),
    Ask(409, "POST", "gpuvpcs", vpc()),
    Ask(200, "GET", A, accept=METADATA),
    Ask(201, "POST", "gpuvpcs", vpc("f")),
    Ask(200, "DELETE", "gpuvpcs/f", {"propagationPolicy": "Foreground"}),
    Ask(200, "PATCH", "gpuvpcs/f", {"metadata": {"finalizers": None}}, "merge"),
]

RELEASE: list[Step] = [
    made(finalizers=[*HELD, "example.org/other"]),
    Ask(200, "DELETE", A),
    Ask(200, "PATCH", A, {"metadata": {"finalizers": HELD}}, "merge", save="a"),
    Ask(200, "PATCH", A, [test("/metadata/resourceVersion", "$a.metadata.resourceVersion"), put([])], "json"),
    Ask(404, "GET", A),
    Ask(201, "POST", "gpuvpcs", vpc(finalizers=HELD)),
    Ask(200, "DELETE", A, save="a"),
    Ask(
        200, "PUT", A, {"$from": "a", "metadata": {"finalizers": None, "labels": {"x": "y"}}, "spec": {"adoption": "Required"}}
    ),
    Ask(404, "PATCH", A, {"metadata": {"finalizers": None}}, "merge"),
    Ask(201, "POST", "gpuvpcs", vpc(finalizers=HELD)),
    Ask(200, "PATCH", A, {"metadata": {"finalizers": None}}, "merge"),
    Ask(200, "DELETE", A),
]

LEASE = {"holderIdentity": "me", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000000Z"}
EVENT = {
    "eventTime": "2026-01-01T00:00:00.000000Z",
    "reportingController": "gpucloud.dev/operator",
    "reportingInstance": "i",
    "action": "A",
    "reason": "R",
    "note": "n",
    "type": "Normal",
    "regarding": {"kind": "Namespace", "name": "x", "apiVersion": "v1", "namespace": "$ns.metadata.name"},
}

NAMESPACE: list[Step] = [
    Ask(200, "GET", "/api/v1/namespaces/{ns}", save="ns"),
    Ask(409, "POST", "/api/v1/namespaces", {"metadata": {"name": "$ns.metadata.name"}}),
    Ask(200, "GET", "/apis/gpucloud.dev/v1alpha1/namespaces/none/gpuvpcs"),
    Ask(404, "POST", "/apis/gpucloud.dev/v1alpha1/namespaces/none/gpuvpcs", vpc()),
    made(finalizers=HELD),
    Ask(200, "DELETE", "/api/v1/namespaces/{ns}"),
    Ask(200, "DELETE", "/api/v1/namespaces/{ns}"),
    Ask(403, "POST", "gpuvpcs", vpc("b")),
    Ask(403, "POST", "gpuvpcs", vpc("a")),
    Ask(403, "POST", "secrets", {"metadata": {"name": "s"}}),
    Ask(403, "POST", "events", {**EVENT, "metadata": {"name": "e"}}),
    Ask(403, "PATCH", f"gpuvpcs/b?{MINE}", vpc("b"), "apply"),
    Ask(403, "PUT", "leases/l", {"metadata": {"name": "l"}, "spec": LEASE}),
    Ask(200, "PATCH", A, {"spec": {"adoption": "Required"}}, "merge"),
    Ask(200, "PATCH", STATUS, {"status": {"name": "n"}}, "merge"),
    Ask(200, "PATCH", f"{A}?{MINE}", vpc(spec={"adoption": "Required", "cluster": "c", "name": "acme"}), "apply"),
    Ask(409, "POST", "/api/v1/namespaces", {"metadata": {"name": "$ns.metadata.name"}}),
    Ask(200, "DELETE", A),
    Ask(200, "PATCH", A, {"metadata": {"finalizers": None}}, "merge"),
    Ask(404, "GET", "/api/v1/namespaces/none"),
]

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

PAGES: list[Step] = [
    Ask(200, "GET", "gpuvpcs"),
    Ask(200, "GET", "gpuvpcs", accept=METADATA_LIST),
    Ask(200, "GET", "secrets"),
    *(Ask(201, "POST", "gpuvpcs", vpc(name)) for name in ("b", "a", "a-b", "a.b", "c")),
    Ask(200, "GET", "gpuvpcs?limit=2", save="one"),
    Ask(201, "POST", "gpuvpcs", vpc("d")),
    Ask(200, "PATCH", "gpuvpcs/b", {"spec": {"adoption": "Required"}}, "merge"),
    Ask(200, "DELETE", "gpuvpcs/c"),
    Ask(200, "GET", "gpuvpcs?limit=2&continue=$one.metadata.continue", save="two"),
    Ask(200, "GET", "gpuvpcs?limit=2&continue=$two.metadata.continue"),
    Ask(200, "GET", "gpuvpcs?limit=2&continue=$one.metadata.continue", accept=METADATA_LIST),
    Ask(200, "GET", "gpuvpcs?limit=500"),
    Ask(200, "GET", "gpuvpcs/b"),
    Ask(200, "GET", "gpuvpcs?fieldSelector=metadata.name%3Da"),
    Ask(200, "GET", "gpuvpcs?fieldSelector=metadata.name%3Dnone"),
    Ask(200, "GET", "gpuvpcs?fieldSelector=spec.cluster%3Dc&limit=1"),
    Ask(400, "GET", "gpuvpcs?fieldSelector=spec.nothing%3Dc"),
    Ask(400, "GET", "gpuvpcs?continue=x"),
    Ask(400, "GET", "gpuvpcs?limit=x"),
    Ask(504, "GET", "gpuvpcs?resourceVersion=99999999"),
    Ask(200, "GET", "gpuvpcs/a", accept=METADATA),
    Ask(406, "GET", "gpuvpcs/a", accept="text/html"),
]

STREAMS: list[Step] = [
    made(),
    Ask(201, "POST", "gpuvpcs", vpc("b", finalizers=HELD)),
    Ask(200, "PATCH", STATUS, {"status": {"name": "n"}}, "merge"),
    Ask(200, "DELETE", "gpuvpcs/b"),
    Ask(200, "DELETE", A),
    made(),
    Ask(201, "POST", "secrets", {"metadata": {"name": "s"}, "stringData": {"k": "v"}}),
    Ask(200, "DELETE", "secrets/s"),
    Ask(200, "PATCH", "gpuvpcs/b", {"metadata": {"finalizers": None}}, "merge"),
    Watch("gpuvpcs", "1"),
    Watch("gpuvpcs", "99999999"),
    Watch("gpuvpcs", "0"),
]

BUILTIN: list[Step] = [
    Ask(200, "GET", "/api/v1/namespaces/{ns}", save="ns"),
    Ask(201, "POST", "secrets", {"metadata": {"name": "s"}, "stringData": {"a": "b"}, "junk": 1}),
    Ask(200, "PUT", "secrets/s", {"metadata": {"name": "s"}, "data": {"a": "Yw=="}}, save="s"),
    Ask(200, "PUT", "secrets/s", {"$from": "s"}),
    Ask(409, "PUT", "secrets/s", {"metadata": {"name": "s", "resourceVersion": "1"}, "data": {"a": "Yw=="}}),
    Ask(409, "PUT", "secrets/s", {"metadata": {"name": "s", "uid": "x"}, "data": {"a": "Yw=="}}),
    Ask(404, "PUT", "secrets/none", {"metadata": {"name": "none"}}),
    Ask(400, "POST", "secrets", {"metadata": {"name": "t"}, "data": {"a": "!"}}),
    Ask(400, "POST", "secrets", {"metadata": {"name": "t"}, "data": {"a": 5}}),
    Ask(422, "POST", "secrets", {"metadata": {"name": "t"}, "data": {"a b": "Yw=="}}),
    Ask(200, "PATCH", "secrets/s", {"metadata": {"finalizers": HELD}}, "merge", save="s"),
    Ask(409, "PATCH", "secrets/s", {"metadata": {"uid": "$s.metadata.uid", "resourceVersion": "1", "finalizers": []}}, "merge"),
    Ask(200, "PATCH", "secrets/s", {"stringData": {"c": "d"}}, "merge"),
    Ask(200, "DELETE", "secrets/s"),
    Ask(422, "PATCH", "secrets/s", {"metadata": {"finalizers": [*HELD, "example.org/new"]}}, "merge"),
    Ask(200, "PATCH", "secrets/s", {"data": {"a": "ZA=="}}, "merge"),
    Ask(200, "PATCH", "secrets/s", {"metadata": {"finalizers": None}}, "merge"),
    Ask(404, "GET", "secrets/s"),
    Ask(
        201,
        "PATCH",
        f"secrets/t?{MINE}",
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "t"}, "stringData": {"a": "b"}},
        "apply",
    ),
    Ask(201, "POST", "configmaps", {"metadata": {"name": "c"}, "data": {"a": "b"}}),
    Ask(200, "PATCH", "configmaps/c", {"data": {"a": None, "b": "c"}}, "merge"),
    Ask(200, "GET", "configmaps?fieldSelector=metadata.name%3Dc"),
    Ask(200, "DELETE", "configmaps/c"),
    Ask(201, "POST", "leases", {"metadata": {"name": "l"}, "spec": LEASE}, save="l"),
    Ask(409, "POST", "leases", {"metadata": {"name": "l"}, "spec": LEASE}),
    Ask(200, "PUT", "leases/l", {"$from": "l", "spec": {"holderIdentity": "you", "leaseTransitions": 1}}),
    Ask(409, "PUT", "leases/l", {"$from": "l"}),
    Ask(422, "PUT", "leases/l", {"metadata": {"name": "l"}, "spec": LEASE}),
    Ask(201, "PUT", "leases/m", {"metadata": {"name": "m"}, "spec": LEASE}),
    Ask(422, "POST", "leases", {"metadata": {"name": "n"}, "spec": {"leaseDurationSeconds": 0}}),
    Ask(400, "POST", "leases", {"metadata": {"name": "n"}, "spec": {"leaseDurationSeconds": "x"}}),
    Ask(400, "POST", "leases", {"metadata": {"name": "n"}, "spec": {"renewTime": AT}}),
    Ask(200, "DELETE", "leases/l"),
    Ask(201, "POST", "events", {**EVENT, "metadata": {"name": "e"}}),
    Ask(409, "POST", "events", {**EVENT, "metadata": {"name": "e"}}),
    Ask(422, "POST", "events", {**EVENT, "metadata": {"name": "f"}, "note": "x" * 1025}),
    Ask(422, "POST", "events", {**EVENT, "metadata": {"name": "f"}, "type": "Odd"}),
    Ask(422, "POST", "events", {**EVENT, "metadata": {"name": "f"}, "reportingInstance": "", "action": "", "reason": ""}),
    Ask(201, "POST", "events", {**EVENT, "metadata": {"name": "f"}, "regarding": {"namespace": "other"}}),
    Ask(400, "POST", "events", {**EVENT, "metadata": {"name": "f"}, "eventTime": AT}),
    Ask(422, "POST", "events", {"metadata": {"name": "f"}}),
    Ask(200, "GET", "events"),
]

SCRIPTS: dict[str, list[Step]] = {
    "create": CREATE,
    "twice": TWICE,
    "both": BOTH,
    "guards": GUARDS,
    "edit": EDIT,
    "values": VALUES,
    "dying": DYING,
    "release": RELEASE,
    "namespace": NAMESPACE,
    "managers": MANAGERS,
    "apply": APPLY,
    "pages": PAGES,
    "streams": STREAMS,
    "builtin": BUILTIN,
}
