"""The publisher of GpuOffers between an apiserver that keeps objects, a fake cloud, and accounts with their sessions."""

from __future__ import annotations

from gpucloud.engine.kinds.gpuoffer import OfferPublisher, PublisherDeps
from gpucloud.engine.kube.errors import KubeError
from support.accountrig import Rig as AccountRig
from support.fakes import LoopClock

INTERVAL = 300.0
GPUS = {"brand": "NVIDIA A100", "gpus": 1, "vcpus": 14, "memory": 112, "storage": 1700, "price": 2.05}
CATALOGUE = [{"name": "A100_1x", **GPUS}, {"name": "A100_2x", **GPUS, "gpus": 2}]


def place(configuration="A100_1x", pool="on-demand", **more):
    return {"configuration": configuration, "cluster": "Msc1", "rpool": pool, "available": True} | more


class OfferServer:
    """An apiserver that keeps GpuOffers by namespace and name, as far as the publisher uses one. It notes every write."""

    def __init__(self):
        self.objects, self.writes, self.lists, self.version, self.refuses = {}, [], 0, 0, None

    async def resources(self, plural, namespaces):
        assert plural == "gpuoffers"
        self.lists += 1
        self._may_refuse("GET")
        for (namespace, _), body in sorted(self.objects.items()):
            if namespace in namespaces:
                yield body

    async def call(self, method, path, body=None, **_):
        self._may_refuse(method)
        parts = path.partition("?")[0].split("/namespaces/")[1].split("/")
        key = (parts[0], parts[2] if len(parts) > 2 else body["metadata"]["name"])
        getattr(self, f"_{method.lower()}")(key, body)
        self.writes.append((method, *key))

    def put(self, name, namespace="team", **body):
        """An object that somebody else made, or edited."""
        self.version += 1
        meta = {"name": name, "uid": f"uid-{self.version}", **body.pop("metadata", {}), "resourceVersion": str(self.version)}
        self.objects[namespace, name] = {**body, "metadata": meta}

    def edit(self, name, **fields):
        self.put(name, **{**self.objects["team", name], **fields})

    def _post(self, key, body):
        if key in self.objects:
            raise KubeError(409, "AlreadyExists", "it exists")
        self.put(key[1], key[0], **body)

    def _patch(self, key, patch):
        meta = dict(patch["metadata"])
        self._guard(key, {name: meta.pop(name) for name in ("uid", "resourceVersion")})
        body = {**self.objects[key], **patch, "metadata": {**self.objects[key]["metadata"], **meta}}
        self.put(key[1], key[0], **{name: value for name, value in body.items() if value is not None})

    def _delete(self, key, options):
        self._guard(key, options["preconditions"])
        del self.objects[key]

    def _guard(self, key, expected):
        found = self.objects.get(key, {}).get("metadata", {})
        if {name: found.get(name) for name in ("uid", "resourceVersion")} != expected:
            raise KubeError(409, "Conflict", "it has changed")

    def _may_refuse(self, method):
        if self.refuses is not None and self.refuses[0] in {method, "all"}:
            raise self.refuses[1]


class Rig:
    """Accounts by name, each with the session of its key; what the cloud offers, and what the apiserver keeps."""

    def __init__(self, reconcilers, around, cloud):
        self.accounts, self.cloud, self.server, self.dying = AccountRig(reconcilers, around), cloud, OfferServer(), set()
        self.told = []  # Events: account and note
        for key in ("a", "b"):
            cloud.world(key)
        self.objects = reconcilers.objects.accounts
        self.publisher = self.restarted()

    def restarted(self):
        """A publisher that remembers nothing."""
        self.publisher = OfferPublisher(
            PublisherDeps(
                sessions=self.accounts.sessions,
                accounts=self.accounts.reconcilers.accounts,
                objects=self.objects,
                kube=self.server,
                terminating=self._terminating,
                record=lambda meta, event: self.told.append((meta.name, event.note)),
                clock=LoopClock(),
            ),
            INTERVAL,
        )
        return self.publisher

    async def _terminating(self, namespace):
        return namespace in self.dying

    async def account(self, name="default", key="a", clusters=("Msc1",), **more):
        """An account that is up."""
        self.accounts.put(name, **more).holds(key)
        await self.accounts.facts(name)
        session = self.accounts.account(name).session
        session.learned.clusters = self.cloud.worlds[key]["GetAll"] = clusters
        return session

    def offers(self, *places, key="a", catalogue=CATALOGUE):
        self.cloud.worlds[key] |= {"GetConfigurations": list(catalogue), "GetAvailability": list(places)}

    def standing(self):
        """What stands, as people read it: account, configuration, pool, price, whether it can be had."""
        fields = ("account", "configuration", "resourcePool", "pricePerHour", "available")
        return [tuple(body.get(name) for name in fields) for _, body in sorted(self.server.objects.items())]

    def asked(self):
        return [operation for _, operation, _ in self.cloud.calls if operation in {"GetConfigurations", "GetAvailability"}]
