"""Objects of all kinds whose names and references meet by chance."""

import random

from gpucloud.engine.kinds.registry import new_listers
from gpucloud.kinds.common import OWN_ACCOUNT, OrderState
from gpucloud.reconcile.naming import external_name
from support.builders import TAG, an_order
from support.fakes import GOING, a_resource

SPACES, NAMES, CLUSTERS = ("team", "others"), ("a", "b"), ("Msc1", "Msc1", "MSC1")
VPCS, CLOUD_NAMES, STATES = ("acme", "beta"), ("x", "y"), (*OrderState, *[OrderState.SEEN] * 9)
OWN_NAMES = tuple(external_name("a", f"u-{kind}-{space}-a", TAG) for kind in ("GpuVM", "GpuSnapshot") for space in SPACES)


class Dice:
    """The objects as the operator has them in its caches; ``bodies`` are the same as the apiserver shows them, by UID."""

    def __init__(self, seed):
        self._random, self.version = random.Random(seed), 0
        self.objects, self.bodies = new_listers(TAG), {}

    def any(self, *of):
        return self._random.choice(of)

    def change(self, adjusted=lambda _kind, body: body):
        """One object comes, changes or goes; ``adjusted`` makes the object that comes another one."""
        kind, space, name = self.any("GpuVM", "GpuVpc", "GpuSnapshot"), self.any(*SPACES), self.any(*NAMES)
        store = {"GpuVM": self.objects.vms, "GpuVpc": self.objects.vpcs, "GpuSnapshot": self.objects.snapshots}[kind]
        uid = f"u-{kind}-{space}-{name}"
        if self.any(*range(8)) == 0:
            store.drop(uid)
            self.bodies.pop(uid, None)
            return
        self.version += 1
        spec, status = getattr(self, kind)(), self.status(kind, name, uid)
        meta = self.any({}, {}, GOING) | {"namespace": space}
        body = a_resource(kind, name, space, uid, self.version, spec=spec, status=status, meta=meta)
        self.bodies[uid] = kind, adjusted(kind, body)
        store.put(self.bodies[uid][1])

    def GpuVM(self):  # noqa: N802 - named by kind
        image = self.any(
            None, None, {"snapshotRef": {"name": self.any(*NAMES)}}, {"snapshot": self.any(*CLOUD_NAMES, *OWN_NAMES)}
        )
        place = self.any({"vpc": self.any(*VPCS)}, {"vpc": None, "vpcRef": {"name": self.any(*NAMES)}})
        return place | {"cluster": self.any(*CLUSTERS), "vmName": self.any(None, *CLOUD_NAMES), "image": image}

    def GpuVpc(self):  # noqa: N802
        return {"cluster": self.any(*CLUSTERS), "name": self.any(*VPCS)}

    def GpuSnapshot(self):  # noqa: N802
        place = {"cluster": self.any(*CLUSTERS), "vpc": self.any(*VPCS), "name": self.any(*CLOUD_NAMES, *OWN_NAMES)}
        of = self.any({"vmRef": {"name": self.any(*NAMES)}}, {"vmRef": None, "vm": place})
        return of | {"snapshotName": self.any(None, *CLOUD_NAMES)}

    def status(self, kind, name, uid):
        if self.any(True, False, False):
            return {}
        own = external_name(name, uid, TAG)
        ordered = self.any(own, own, own, external_name("other", "u-other", TAG), *CLOUD_NAMES)
        order = an_order(ordered, self.any(*STATES), self.any(*VPCS), self.any(*CLUSTERS))
        order = order.model_copy(update={"id": None, "cloud_id": self.any(None, *CLOUD_NAMES)})
        id_field = {"GpuVM": "vmId", "GpuVpc": "vpcId", "GpuSnapshot": "snapshotId"}[kind]
        found = {"order": order.model_dump(mode="json", by_alias=True, exclude_none=True), "account": OWN_ACCOUNT}
        return found | {id_field: self.any("x", ordered)}
