"""An inventory over a made-up listing call; time is the loop's, which looptime moves."""

from gpucloud.cloud.errors import CloudError
from gpucloud.cloud.models import VmRecord
from gpucloud.engine.cloud.cluster_records import ANYWHERE, EVERYTHING
from gpucloud.engine.cloud.inventory import Inventory
from gpucloud.engine.cloud.listing_spacing import Intervals
from gpucloud.engine.cloud.listings import vm_identity
from gpucloud.reconcile.naming import Identity
from support.fakes import Fetch, LoopClock, NoMeter

FAST, SLOW = 2.0, 60.0


def here(name="x", vpc="acme", cluster="Msc1"):
    return Identity(cluster, vpc, name)


def record(name="x", vpc="acme", cluster="Msc1", status="ONLINE"):
    return VmRecord(id=name, namespace=vpc, cluster=cluster, status=status)


def broken(kind, message="the cloud's own words"):
    return CloudError(kind, message)


class Rig:
    def __init__(self, *answers, takes=0.01):
        self.fetch = Fetch(*answers, takes=takes)
        self.meter = NoMeter()
        self.woken = []
        given = {"clock": LoopClock(), "intervals": Intervals(FAST, SLOW), "meter": self.meter, "wake": self.woken.append}
        given["host"] = "cloud.example"
        self.inventory = Inventory(self.fetch, vm_identity, **given)

    def sees(self, name="x", **more):
        return self.inventory.observe(here(name), **more)

    @property
    def count(self):
        return len(self.fetch.began)


INSIDE, SOMEWHERE = here(EVERYTHING), here("x", vpc=ANYWHERE)
