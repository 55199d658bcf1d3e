"""How ``doctor`` shows who leads, and an operator that is no pod."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest

SYSTEM = "namespaces/gpucloud-system"
OUTSIDE = (
    "That is no pod of an operator in namespace 'gpucloud-system': it may run outside of the cluster, for example in a "
    "terminal."
)


def shown(api, plugin, holder, pods, ago=3):
    renewed = (datetime.now(UTC) - timedelta(seconds=ago)).isoformat()
    lease = {"name": "gpucloud-operator", "annotations": {"app.kubernetes.io/version": "9.9.9"}}
    spec = {"holderIdentity": holder, "renewTime": renewed}
    api.canned[f"/apis/coordination.k8s.io/v1/{SYSTEM}/leases"] = {"items": [{"metadata": lease, "spec": spec}]}
    if pods is None:
        api.refused[f"/api/v1/{SYSTEM}/pods"] = 403
    else:
        api.canned[f"/api/v1/{SYSTEM}/pods"] = {"items": [{"metadata": {"name": name}} for name in pods]}
    return " ".join(plugin("doctor")[1].split()), json.loads(plugin("doctor", "-o", "json")[1])["leases"][0]


@pytest.mark.parametrize(
    ("holder", "pods", "outside", "why"),
    [
        ("laptop_1234", (), True, "no pod at all"),
        ("laptop_1234", ("op-1",), True, "the pods are another operator's"),
        ("op-1_1234", ("op-0", "op-1"), False, "a pod holds it"),
        ("laptop_1234", None, None, "the pods may not be seen"),
    ],
)
def test_an_operator_that_is_no_pod_is_told_as_one(api, plugin, holder, pods, outside, why):
    text, lease = shown(api, plugin, holder, pods)
    held = rf"The Lease gpucloud-operator is held by {holder}, renewed \d+ s ago\. Its operator is of version 9\.9\.9\."
    assert re.search(held, text), why
    assert (OUTSIDE in text) is bool(outside), why
    assert (lease["version"], lease["isPod"]) == ("9.9.9", None if outside is None else not outside), why


@pytest.mark.parametrize(("holder", "ago", "says"), [("laptop_1", 600, "renewed 10 min ago"), ("", 3, "is held by nobody.")])
def test_an_operator_that_has_gone_is_said_to_run_nowhere(api, plugin, holder, ago, says):
    text, _ = shown(api, plugin, holder, (), ago)
    assert says in text
    assert OUTSIDE not in text
