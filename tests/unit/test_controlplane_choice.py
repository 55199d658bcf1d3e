"""Which way to a control plane: facts of the surroundings on the left, the ways tried on the right."""

from __future__ import annotations

import pytest

from controlplane.choice import Surroundings, Way, ways, without_borrowed
from controlplane.errors import ControlPlaneError

ALL = ("etcd", "kube-apiserver", "kubectl", "kube-controller-manager")
MANAGER = ("kube-controller-manager",)

CHOSEN = {
    "nothing here: fetch, and build what cannot be fetched": (
        Surroundings(missing=ALL, uncached=ALL),
        (Way.DOWNLOAD, Way.BUILD),
    ),
    "everything is there: nothing is fetched": (Surroundings(), (Way.ASSETS,)),
    "envtest has no controller manager, so that alone is built": (
        Surroundings(missing=MANAGER, uncached=ALL),
        (Way.BUILD,),
    ),
    "a missing kubectl is in the archive": (Surroundings(missing=("kubectl",)), (Way.DOWNLOAD, Way.BUILD)),
    "an existing cluster wins over all that was found": (
        Surroundings(use_existing=True, kubeconfig=True, kind_on_path=True, engine_answers=True),
        (Way.EXISTING,),
    ),
    "a KUBECONFIG alone is no permission to use that cluster": (Surroundings(kubeconfig=True), (Way.ASSETS,)),
    "kind and an engine: kind first, binaries if it fails": (
        Surroundings(kind_on_path=True, engine_answers=True),
        (Way.KIND, Way.ASSETS),
    ),
    "kind fails where there are no binaries either": (
        Surroundings(kind_on_path=True, engine_answers=True, missing=ALL),
        (Way.KIND, Way.DOWNLOAD, Way.BUILD),
    ),
    "kind without an engine is no use": (Surroundings(kind_on_path=True), (Way.ASSETS,)),
    "an engine without kind is no use": (Surroundings(engine_answers=True), (Way.ASSETS,)),
    "forced existing needs no second variable": (Surroundings(forced="existing", kubeconfig=True), (Way.EXISTING,)),
    "a forced way wins over USE_EXISTING_CLUSTER": (
        Surroundings(forced="assets", use_existing=True, kubeconfig=True),
        (Way.ASSETS,),
    ),
    "forced kind has nothing to fall back to": (
        Surroundings(forced="kind", kind_on_path=True, engine_answers=True, missing=ALL),
        (Way.KIND,),
    ),
    "forced assets": (Surroundings(forced="assets", uncached=ALL), (Way.ASSETS,)),
    "forced download ignores what lies elsewhere": (
        Surroundings(forced="download", missing=(), uncached=ALL),
        (Way.DOWNLOAD, Way.BUILD),
    ),
    "forced download, done before": (Surroundings(forced="download", missing=()), (Way.ASSETS,)),
    "forced build ignores what lies elsewhere": (Surroundings(forced="build", uncached=ALL), (Way.BUILD,)),
    "forced build, done before: nobody waits twice": (Surroundings(forced="build"), (Way.ASSETS,)),
}

NEVER_BORROWED = {
    "an existing cluster": (Surroundings(use_existing=True, kubeconfig=True), (Way.ASSETS,)),
    "kind and an engine": (Surroundings(kind_on_path=True, engine_answers=True, missing=ALL), (Way.DOWNLOAD, Way.BUILD)),
    "forced existing": (Surroundings(forced="existing", kubeconfig=True), (Way.ASSETS,)),
    "forced kind": (Surroundings(forced="kind", kind_on_path=True, engine_answers=True), (Way.ASSETS,)),
    "forced build stays forced": (Surroundings(forced="build", uncached=ALL), (Way.BUILD,)),
}


@pytest.mark.parametrize("case", NEVER_BORROWED)
def test_who_needs_a_control_plane_of_its_own_borrows_none(case):
    facts, wanted = NEVER_BORROWED[case]
    assert ways(without_borrowed(facts)) == wanted


REFUSED = {
    "a misspelt way": (Surroundings(forced="minikube"), "minikube is unknown; use one of existing, kind, assets"),
    "existing without a kubeconfig": (Surroundings(use_existing=True), "KUBECONFIG names no readable file"),
    "forced existing without a kubeconfig": (Surroundings(forced="existing"), "KUBECONFIG names no readable file"),
    "forced kind without kind": (Surroundings(forced="kind", engine_answers=True), "no `kind` on PATH"),
    "forced kind without an engine": (Surroundings(forced="kind", kind_on_path=True), "no container engine answers"),
    "forced assets with one missing": (
        Surroundings(forced="assets", missing=("etcd",), rejected=("etcd on PATH is not used here: it is old.",)),
        r"not found: etcd\.\netcd on PATH is not used here: it is old\.\nSet KUBEBUILDER_ASSETS",
    ),
}


@pytest.mark.parametrize("case", CHOSEN)
def test_ways(case):
    facts, expected = CHOSEN[case]
    assert ways(facts) == expected


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_say_why_and_what_to_do(case):
    facts, message = REFUSED[case]
    with pytest.raises(ControlPlaneError, match=message):
        ways(facts)
