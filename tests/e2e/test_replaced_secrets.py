"""An account that names another Secret: both are held until the cloud has accepted the new credential."""

from __future__ import annotations

from gpucloud.kinds.meta import SECRET_FINALIZER
from support.manifests import gpucloudaccount, gpuvm, secret
from support.simcloud import API_KEY
from support.waiting import eventually, gone, reach

OWN = {
    "poll_pending_seconds": 0.2,
    "poll_steady_seconds": 0.5,
    "create_grace_seconds": 1,
    "api_key_file": None,  # the operator has no account of its own
}


def held(here, *names):
    return [SECRET_FINALIZER in (here.get("secret", name)["metadata"].get("finalizers") or ()) for name in names]


def test_a_new_key_that_the_cloud_has_not_seen_yet_outlasts_its_namespace(here, kubectl, namespace, sim, operator):
    """The old key is revoked, the cloud is out, all is deleted at once, and the operator dies: the VM goes all the same."""
    old = sim.key(owner="ann")
    running = operator(**OWN)
    here.apply([secret("old", apikey=old["value"]), gpucloudaccount(secretRef={"name": "old"}), gpuvm()])
    reach(here, "gpuvm", "train", "True/Running")
    sim.fault(kind="status", operation="*", status=503)
    sim.revoke(old)
    here.apply([secret("new", apikey=API_KEY), gpucloudaccount(secretRef={"name": "new"})])
    eventually(lambda: held(here, "old", "new") == [True, True], 60, "both Secrets to be held")
    kubectl.ok("delete", "namespace", namespace, "--wait=false")
    here.ok("delete", "gpuvm,gpucloudaccount,secret", "--all", "--wait=false")  # as the namespace controller does
    running.kill9()
    sim.clear_faults()
    operator(**OWN)
    for kind, name in (("gpuvm", "train"), ("gpucloudaccount", "default"), ("secret", "old"), ("secret", "new")):
        gone(here, kind, name)
    sim.assert_empty()
