"""The reconciler of GpuVMs among the others, over the operator's own account."""

from gpucloud.kinds.common import OrderState
from gpucloud.reconcile.facts import Verb
from gpucloud.reconcile.naming import Identity, external_name
from gpucloud.reconcile.plan import Plan
from support.builders import TAG, an_order

NOW = 1000.0


class Rig:
    """The reconciler of GpuVMs, with short words for what tests do with it."""

    def __init__(self, reconcilers):
        self.reconcilers, self.reconciler = reconcilers, reconcilers.vms
        self.clock, self.kube, self.client, self.inventory = (
            reconcilers.clock,
            reconcilers.kube,
            reconcilers.session.client,
            reconcilers.session.vms,
        )

    def put(self, uid="u1", name="train", **more):
        return self.reconcilers.put("GpuVM", name, uid=uid, **more)

    def drop(self, uid, name):
        self.reconcilers.drop("GpuVM", name, uid=uid)

    async def facts(self, uid="u1"):
        return await self.reconcilers.facts("GpuVM", uid=uid)

    async def act(self, verb, uid="u1", targets=()):
        facts = await (self.intend(uid) if verb is Verb.CREATE else self.facts(uid))
        return await self.reconciler.act(facts, Plan(action=verb, targets=targets))

    async def intend(self, uid="u1"):
        return await self.reconcilers.intend("GpuVM", uid=uid)


def ours(name="train", uid="u1"):
    return Identity("Msc1", "acme", external_name(name, uid, TAG))


def bought(name, vm_id=None, state=OrderState.SEEN):
    found = {"order": an_order(name, state).model_dump(mode="json", by_alias=True), "observedGeneration": 1}
    return found | ({"vmId": vm_id} if vm_id else {})


def named(name="shared"):
    return {"vmName": name}


SHARED = Identity("Msc1", "acme", "shared")
