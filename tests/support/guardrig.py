"""GpuVMs that are being deleted, before a deletion guard."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from gpucloud.reconcile.deletion_guard import Rule
from gpucloud.reconcile.facts import Verb
from gpucloud.reconcile.naming import external_name
from gpucloud.reconcile.plan import Plan
from support.builders import TAG, an_order

T0 = datetime(2026, 1, 1, tzinfo=UTC)
THREE = Rule(vms=3)


def ours(name):
    return external_name(name, f"u-{name}", TAG)


def bought(name, price="2.05", reason="Running"):
    condition = {
        "type": "Ready",
        "status": "True",
        "reason": reason,
        "message": "M.",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    order = an_order(ours(name)).model_dump(mode="json", by_alias=True)
    found = {"order": order, "vmId": ours(name), "conditions": [condition], "observedGeneration": 1}
    return found | ({"pricePerHour": price} if price else {})


def held(name, reason="DeletionHeld"):
    """The status of one that was held, whatever it says of itself by now."""
    return bought(name, reason=reason) | {"deletionHeldAt": "2026-01-01T00:00:00Z"}


class Rig:
    """GpuVMs that are being deleted, and the guard before them."""

    def __init__(self, reconcilers):
        self.reconcilers, self.guard, self.reconciler = reconcilers, reconcilers.guard, reconcilers.vms
        self._left = {}  # by name: how the watch reported it

    def leave(self, name, at=0, namespace="team", annotations=None, policy="Delete", **more):
        """The watch reports it as being deleted."""
        meta = {
            "namespace": namespace,
            "deletionTimestamp": (T0 + timedelta(seconds=at)).isoformat(),
            "annotations": annotations or {},
        }
        self._left[name] = {"at": at, "namespace": namespace, "annotations": annotations, "policy": policy} | more
        status = more.pop("status", bought(name))
        meta |= more.pop("meta", {})
        return self.reconcilers.put("GpuVM", name, meta=meta, spec={"deletion": {"policy": policy}} | more, status=status)

    def leave_many(self, count, **more):
        """The watch reports vm-0, vm-1 and so on."""
        for number in range(count):
            self.leave(f"vm-{number}", **more)

    async def facts(self, name):
        return await self.reconcilers.facts("GpuVM", name)

    async def message(self, name):
        return self.reconciler.decide(await self.facts(name)).status.conditions[0].message

    async def writes(self, *names):
        """Passes that write what they decide, so that what is held is recorded."""
        for name in names:
            status = self.reconciler.decide(await self.facts(name)).status
            if status is not None:
                document = status.model_dump(mode="json", by_alias=True, exclude_none=True)
                self.leave(name, **self._left[name] | {"status": document})

    async def destroy(self, name):
        """A pass that wants to destroy; answers whether the call was sent."""
        await self.writes(name)
        return await self.reconciler.act(await self.facts(name), Plan(action=Verb.DESTROY)) is not None

    @property
    def destroyed(self):
        return [where["id"] for call, where in self.reconcilers.session.client.calls if call == "destroy_server"]

    def held(self):
        return {stored.meta.name for stored in self.reconciler.store if self.guard.hold(stored.meta.uid) is not None}


async def crowded(make, **more):
    it = make(**more)
    for number in range(4):
        it.leave(f"vm-{number}", namespace="ab"[number % 2])
    assert it.held() == {"vm-0", "vm-1", "vm-2", "vm-3"}
    for number in range(4):  # each status has told so
        it.leave(f"vm-{number}", namespace="ab"[number % 2], status=held(f"vm-{number}"))
    return it
