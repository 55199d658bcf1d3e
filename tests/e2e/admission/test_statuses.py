"""Which statuses a real apiserver keeps and refuses."""

from __future__ import annotations

import pytest

from support.crdcases.gpucloudaccount import ACCOUNT
from support.crdcases.kinds import ALL, each_kind
from support.crdschema import fields, whole


@each_kind
def test_a_whole_status_is_kept_as_it_was_written(namespaced, cases):
    model = cases.definition.status.model_validate(whole(cases.schema["status"]))
    status = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert {path for path, _ in fields(cases.schema["status"])} == set(paths(status))
    namespaced.apply(cases.manifest("reported"))
    namespaced.patch(cases.short_name, "reported", {"status": status}, subresource="status")
    assert namespaced.get(cases.short_name, "reported")["status"] == status


def paths(value, path=""):
    """Every name below ``value``, in the form of ``support.crdschema.fields``."""
    for name, inner in value.items() if isinstance(value, dict) else ():
        here = f"{path}.{name}" if path else name
        yield here
        yield from paths(inner[0], f"{here}[]") if isinstance(inner, list) else paths(inner, here)


CONDITION = {"type": "Ready", "status": "True", "reason": "A", "message": "", "lastTransitionTime": "2026-01-02T03:04:05Z"}
OPERATION = {"name": "CreateVpc", "access": "Forbidden"}
BAD_STATUS = [
    *(
        row
        for cases in ALL
        for row in (
            ("a reason with a hyphen", cases, {"conditions": [CONDITION | {"reason": "not-camel"}]}, "conditions[0].reason"),
            ("a status that is none", cases, {"conditions": [CONDITION | {"status": "Maybe"}]}, "conditions[0].status"),
            ("one type twice", cases, {"conditions": [CONDITION, CONDITION]}, "conditions[1]"),
            (
                "no time",
                cases,
                {"conditions": [{**CONDITION, "lastTransitionTime": "now"}]},
                "conditions[0].lastTransitionTime",
            ),
            ("a text for a generation, which hangs Helm", cases, {"observedGeneration": "1"}, "status.observedGeneration"),
        )
    ),
    ("an operation twice", ACCOUNT, {"operations": [OPERATION, OPERATION]}, "operations[1]"),
    ("an access that is none", ACCOUNT, {"operations": [OPERATION | {"access": "Maybe"}]}, "operations[0].access"),
    ("a cluster twice", ACCOUNT, {"clusters": ["Msc1", "Msc1"]}, "clusters[1]"),
    ("a credential of a third kind", ACCOUNT, {"credentialKind": "Token"}, "status.credentialKind"),
]


@pytest.mark.parametrize(
    ("cases", "status", "blamed"), [pytest.param(*row, id=f"{row[0].kind}: {why}") for why, *row in BAD_STATUS]
)
def test_a_status_that_tools_would_trip_over_is_refused(namespaced, cases, status, blamed):
    namespaced.apply(cases.manifest("misreported"))
    refused = namespaced.patch(cases.short_name, "misreported", {"status": status}, subresource="status", expect_error=True)
    assert blamed in refused
