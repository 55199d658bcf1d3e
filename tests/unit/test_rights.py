"""The comparison of rights granted and rights used notices both kinds of difference."""

from __future__ import annotations

import json

import pytest

from support.operatorproc import USER
from support.rights import Asked, differences, documented, granted

RULES = [
    {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "patch"]},
    {"apiGroups": ["gpucloud.dev"], "resources": ["gpuvms/status"], "verbs": ["update"]},
]


def entry(verb, resource, *, group="", subresource="", code=200, user=USER, namespace="team", decision="allow"):
    target = {"resource": resource, "apiGroup": group, "subresource": subresource, "namespace": namespace}
    return {
        "user": {"username": user},
        "verb": verb,
        "objectRef": {name: value for name, value in target.items() if value},
        "requestURI": "/",
        "annotations": {"authorization.k8s.io/decision": decision},
        "responseStatus": {"code": code},
        "stageTimestamp": "2026-01-01T00:00:00.000000Z",
    }


def denied(verb, resource, **of):
    return entry(verb, resource, code=403, decision="forbid", **of)


ALL = (
    entry("get", "secrets"),
    entry("patch", "secrets"),
    entry("update", "gpuvms", group="gpucloud.dev", subresource="status", code=409),
)


@pytest.mark.parametrize(
    ("entries", "told"),
    {
        "all that is granted was used": (ALL, []),
        "what others do does not count": ((*ALL, denied("list", "pods", user="somebody")), []),
        "a denial": ((*ALL, denied("list", "secrets")), ["denied: list secrets"]),
        "a denial that a test means": ((*ALL, denied("list", "secrets", namespace="meant")), []),
        "a right used where the namespace ends": ((ALL[0], entry("patch", "secrets", code=403), ALL[2]), []),
        "a right that was never used": (ALL[:1] + ALL[2:], ["granted and never used: patch secrets"]),
        "a right to a subresource": (ALL[:2], ["granted and never used: update gpuvms/status.gpucloud.dev"]),
    }.values(),
)
def test_differences(entries, told, tmp_path):
    log = tmp_path / "audit.log"
    log.write_text("".join(json.dumps(item) + "\n" for item in entries))
    asked = Asked()
    asked.read(log, {"meant"})
    assert differences(granted(RULES), asked) == told


def test_the_documented_rules_are_read():
    assert {("create", "coordination.k8s.io", "leases"), ("get", "", "secrets")} <= documented()
