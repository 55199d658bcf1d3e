"""The reconciler of GpuCloudAccounts beside those of their users, whose own account is another."""

from gpucloud.engine.cloud.accounts import AccountSessions
from gpucloud.engine.kinds.gpucloudaccount import AccountReconcilerDeps, GpuCloudAccountReconciler
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.runtime.workqueue import Key
from gpucloud.kinds.gpucloudaccount import RequestBudget
from gpucloud.kinds.meta import SECRET_FINALIZER
from gpucloud.reconcile.facts import Limits
from support.fakes import GOING, LoopClock, a_resource, a_secret

ENDPOINTS = {"prod": "https://prod.example", "staging": "https://staging.example"}
FORBIDDEN = KubeError(403, "Forbidden", "secrets is forbidden")
PROVEN = {"tenant": "acme", "provenSecret": {"uid": "s-1", "resourceVersion": "1"}}


class Rig:
    """The reconciler of accounts, and those of their users, whose own account is another."""

    def __init__(self, reconcilers, around):
        self.reconcilers, self.kube, self.told, self.version, self.synced = reconcilers, reconcilers.kube, [], 0, True
        self.known_orders = {}  # by UID, as the reconciler of the kind knows them ahead of the status
        self.sessions = AccountSessions(around)
        self.reconciler = GpuCloudAccountReconciler(
            AccountReconcilerDeps(
                accounts=reconcilers.accounts,
                sessions=self.sessions,
                objects=reconcilers.objects,
                references=reconcilers.references,
                kube=reconcilers.kube,
                clock=LoopClock(),
                limits=Limits(),
                endpoints=ENDPOINTS,
                budget=RequestBudget(requests_per_second="10", burst=20),
                secret_finalizer=True,
                synced=lambda: self.synced,
                order_of=lambda _kind, stored: self.known_orders.get(stored.meta.uid, stored.status.order),
                queue=reconcilers.queued.append,
                record=lambda meta, event: self.told.append((meta.name, event)),
            )
        )

    def put(self, name="default", *, uid=None, **more):
        self.version += 1
        uid = uid or f"u-{name}"
        self.reconciler.store.put(a_resource("GpuCloudAccount", name, uid=uid, version=self.version, **more))
        self.reconciler.on_update(self.reconciler.store.get(uid))
        return self

    def holds(self, key="a", *, name="key", **more):
        self.kube.secrets["team", name] = a_secret(**more, apikey=key)
        return self

    async def facts(self, name="default", *, uid=None):
        return await self.reconciler.gather(self.reconciler.store.get(uid or f"u-{name}"))

    def account(self, name="default"):
        return self.reconcilers.accounts.get("team", name)

    def drop(self, name="default", *, uid=None):
        uid = uid or f"u-{name}"
        self.reconciler.on_delete(Key("GpuCloudAccount", "team", name, uid))
        self.reconciler.store.drop(uid)


DYING = {"meta": GOING | {"finalizers": [SECRET_FINALIZER]}}
