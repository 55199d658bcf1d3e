"""A Secret in use that is being deleted: `doctor` sees it before the operator tells of it, and asks for no value."""

import pytest

from support.pluginworld import a_body


@pytest.mark.parametrize(
    ("metadata", "status", "found", "why"),
    [
        ({"deletionTimestamp": "2026-01-01T00:00:00Z"}, None, True, "the Secret says so before the account does"),
        ({}, None, False, "it stays"),
        ({"deletionTimestamp": "2026-01-01T00:00:00Z"}, 403, False, "who may not read it sees what the account says"),
    ],
)
def test_doctor_sees_a_secret_in_use_that_is_being_deleted(api, plugin, metadata, status, found, why):
    api.add(a_body("GpuCloudAccount", "default", "Ready", spec={"secretRef": {"name": "s"}}))
    path = "/api/v1/namespaces/team/secrets/s"
    api.canned[path] = {"metadata": {"name": "s", **metadata}, "data": {"apikey": "bWFkZS11cA=="}}
    if status:
        api.refused[path] = status
    _, out, _ = plugin("doctor")
    assert ("SecretDeleting" in out) == found, why
    asked = [dict(headers)["Accept"] for (_, at, *_), headers in zip(api.calls, api.headers, strict=True) if at == path]
    assert [accept for accept in asked if "as=PartialObjectMetadata;" not in accept] == [], "no value is asked for"
