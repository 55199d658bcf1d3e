"""A namespace of the real apiserver for each module of these tests, and the example of a GpuVM."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from gpucloud.kinds.meta import API_VERSION
from support.crdcases.kinds import ALL


@pytest.fixture
def example_file():
    """The manifest of a GpuVM in deploy/examples."""
    return Path(__file__).parents[3] / "deploy" / "examples" / "gpuvm.yaml"


@pytest.fixture(scope="module")
def namespaced(kubectl, crds):
    """A kubectl in a namespace of this module. No operator runs: what stands here is the apiserver's work alone."""
    assert {f"{cases.definition.plural}.gpucloud.dev" for cases in ALL} <= set(crds)
    name = f"admission-{secrets.token_hex(4)}"
    kubectl.ok("create", "namespace", name)
    yield kubectl.in_namespace(name)
    for cases in ALL:
        kubectl.ok("delete", "--raw", f"/apis/{API_VERSION}/namespaces/{name}/{cases.definition.plural}")
    kubectl.ok("delete", "namespace", name, "--wait=false")
