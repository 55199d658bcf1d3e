"""Which namespaces an operator watches, as its pods show it to doctor."""

import pytest

from gpucloud.cli.plugin.doctor.operator_findings import watched


def a_pod(args=("operator",), **env):
    container = {"args": list(args), "env": [{"name": name, **value} for name, value in env.items()]}
    return {"spec": {"containers": [container]}}


BY_VARIABLE = a_pod(GPUCLOUD_NAMESPACE={"value": "team, ml"})


@pytest.mark.parametrize(
    ("pods", "found", "why"),
    [
        ((a_pod(),), {"*"}, "all, when nothing is said"),
        ((a_pod(["operator", "--namespace", "team", "--namespace=ml"]),), {"team", "ml"}, "flags, in both forms"),
        ((BY_VARIABLE,), {"team", "ml"}, "the chart's watchNamespaces"),
        ((a_pod(["--namespace=web"], GPUCLOUD_NAMESPACE={"value": "team"}),), {"web"}, "a flag wins over the variable"),
        ((BY_VARIABLE, a_pod(["--namespace=web"])), {"team", "ml", "web"}, "two operators"),
        ((BY_VARIABLE, a_pod(["--config", "x.yaml"])), None, "a file may say something else"),
        ((a_pod(GPUCLOUD_CONFIG={"value": "x.yaml"}),), None, "so may this one"),
        ((a_pod(GPUCLOUD_NAMESPACE={"valueFrom": {}}),), None, "the value stands elsewhere"),
        ((), None, "no pod is to be seen"),
        (({"spec": None},), None, "nor a container"),
    ],
)
def test_which_namespaces_operators_watch(pods, found, why):
    assert watched(pods) == (None if found is None else frozenset(found)), why
