"""The whole engine between a fake apiserver and a fake cloud."""

from gpucloud.engine.manager.manager import Engine
from gpucloud.reconcile.naming import external_name
from gpucloud.settings import Credentials, Settings
from support.builders import TAG
from support.fakes import FakeKube, LoopClock, a_resource, at

OWN, KEY = "own-made-up-key", "made-up-key"
URLS = ("prod=https://prod.example", "staging=https://staging.example")
PLURALS = {
    "GpuVM": "gpuvms",
    "GpuVpc": "gpuvpcs",
    "GpuSnapshot": "gpusnapshots",
    "GpuHost": "gpuhosts",
    "GpuCloudAccount": "gpucloudaccounts",
}
OURS = external_name("train", "u-train", TAG)


def vm(name, vpc="acme", **more):
    return {"id": name, "namespace": vpc, "cluster": "Msc1", "tenancy_name": "acme", "status": "ONLINE"} | more


class Rig:
    def __init__(self, cloud, *, tracer=None, **settings):
        self.cloud, self.kube, self.clock = cloud, FakeKube(), LoopClock()
        own = {"credentials": Credentials(api_key=OWN), "offer_seconds": 0}
        given = {"endpoint": URLS, "install_tag": TAG, "workers": 4} | own | settings
        self.engine = Engine(Settings(**given), lambda: None, self.clock, at(self.kube, tracer))
        self.uids = {plural: set() for plural in PLURALS.values()}
        self.kube.known = self.uids
        self.kube.release = self.release

    def show(self, kind, name="train", event="ADDED", **more):
        """One event of the watch."""
        self.kube.version += 1
        uid = more.pop("uid", f"u-{name}")
        body = self.kube.bodies[uid] = a_resource(kind, name, uid=uid, version=self.kube.version, **more)
        self.uids[PLURALS[kind]].add(uid)
        self.engine.on_event(kind, event, body)

    async def release(self, plural, owner):
        """Nobody else holds it: the DELETED event comes at once."""
        self.kube.released.append(owner["uid"])
        kind = next(kind for kind, name in PLURALS.items() if name == plural)
        self.engine.on_event(kind, "DELETED", self.kube.bodies[owner["uid"]])

    def status(self, name="train"):
        return self.kube.bodies[f"u-{name}"].get("status", {})

    def ready(self, name="train"):
        return next((it["reason"] for it in self.status(name).get("conditions", ()) if it["type"] == "Ready"), None)

    def passes(self, kind):
        totals = [
            self.engine.metrics.registry.get_sample_value(
                "controller_runtime_reconcile_total", {"controller": kind.lower(), "result": result}
            )
            or 0
            for result in ("success", "requeue", "error")
        ]
        return sum(totals)
