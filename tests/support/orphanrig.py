"""The orphan collector over a fake apiserver and a fake cloud: alone (Rig), and within a whole engine (Whole)."""

import asyncio

from gpucloud.cloud.options import ApiKey
from gpucloud.engine.cloud.accounts import AccountSessions
from gpucloud.engine.kinds.registry import new_listers
from gpucloud.engine.manager.manager import Engine
from gpucloud.engine.orphans.collector import CollectorDeps, OrphanCollector
from gpucloud.engine.telemetry import collectors
from gpucloud.engine.telemetry.metrics import Metrics
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.reconcile.naming import external_name
from gpucloud.reconcile.orphans import Rules
from gpucloud.settings import Credentials, Settings
from support.builders import TAG, an_order
from support.fakes import GOING, FakeKube, LoopClock, a_resource, at

KEY, OTHER_KEY, URL = "made-up-key", "other-made-up-key", "https://cloud.example"
LEFT = external_name("train", "u-gone", TAG)
PRICES = [{"name": "A100_40GB_PCIe_1x", "price": 2.05}]


def vm(name=LEFT, **more):
    configuration = "A100_40GB_PCIe_1x"
    record = {"id": name, "namespace": "acme", "cluster": "Msc1", "tenancy_name": "acme", "status": "ONLINE"}
    return record | {"configuration": configuration} | more


class Rig:
    """One look, with the accounts that a test gives it."""

    def __init__(self, cloud, around, **rules):
        self.cloud, self.kube, self.told = cloud, FakeKube(), []
        self.sessions = AccountSessions(around)
        self.objects = new_listers(TAG)
        self.orphans = OrphanCollector(
            CollectorDeps(
                sessions=self.sessions,
                objects=self.objects,
                kube=self.kube,
                clock=LoopClock(),
                synced=lambda: True,
                record=self.record,
                namespaces=(),
                rules=Rules(**rules),
                interval=600.0,
            )
        )
        self.metrics = Metrics()
        self.metrics.export(collectors.Orphans(self.orphans.counts, self.orphans.refusals))
        self.loses, self.lost = 0, []  # so many Events are not recorded; who is to hear of it

    def record(self, session, kind, event, lost):
        if self.loses:
            self.loses -= 1
            self.lost.append(lost)
            return
        self.told.append((min(self.sessions.users(session)), kind, event))

    async def scan(self):
        """Scan once; Events are posted, or lost, some time later."""
        await self.orphans.scan()
        while self.lost:
            self.lost.pop()()

    def account(self, key=KEY, label=OWN_ACCOUNT):
        return self.sessions.open(URL, ApiKey(key), label)

    def owner(self, name="train", uid="u-train", **more):
        """An object that the apiserver lists and the watch has shown."""
        self.objects.vms.put(a_resource("GpuVM", name, uid=uid, **more))
        self.kube.known.setdefault("gpuvms", set()).add(uid)

    def gauge(self, name="gpucloud_orphans", account=OWN_ACCOUNT, kind="vms", cluster="Msc1"):
        labels = {"account": account} if name.endswith("refused") else {"account": account, "kind": kind, "cluster": cluster}
        return self.metrics.registry.get_sample_value(name, labels)


class Whole:
    """An engine that has bought or found a VM for each of these objects."""

    def __init__(self, cloud, kube, *names, **settings):
        self.cloud, self.kube, self.names = cloud, kube, names
        chosen = {"orphan_scan_seconds": 100.0, "orphan_age_seconds": 1000.0, "collect_orphans": True} | settings
        given = {"endpoint": (f"prod={URL}",), "install_tag": TAG, "workers": 4, "credentials": Credentials(api_key=KEY)}
        self.engine = Engine(Settings(**given | chosen), lambda: None, LoopClock(), at(kube))
        kube.known = {"gpuvms": {f"u-{name}" for name in names}}
        cloud.world(KEY, GetServers=[vm(self.thing(name)) for name in names], GetConfigurations=PRICES)

    @staticmethod
    def thing(name):
        return external_name(name, f"u-{name}", TAG)

    def show(self, name, event="ADDED", meta=None, **spec):
        self.kube.version += 1
        order = an_order(self.thing(name)).model_dump(mode="json", by_alias=True)
        status = {"vmId": self.thing(name), "order": order, "observedGeneration": 1, "tenancy": "acme"}
        body = a_resource("GpuVM", name, uid=f"u-{name}", version=self.kube.version, status=status, meta=meta or {}, spec=spec)
        self.kube.bodies[f"u-{name}"] = body
        self.engine.on_event("GpuVM", event, body)

    async def start(self):
        await self.engine.start()
        for name in self.names:
            self.show(name)
        await asyncio.sleep(20)

    def strip(self, *names, **spec):
        """Deleted, and its finalizer taken off by force: the last view still bears it."""
        for name in names:
            self.kube.known["gpuvms"].discard(f"u-{name}")
            self.show(name, "DELETED", GOING, **spec)

    @property
    def destroyed(self):
        return [call["Id"] for _, _, call in self.cloud.asked("DestroyServer")]
