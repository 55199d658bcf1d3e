"""What the tests of the engine share: kept logs, and reconcilers over accounts and inventories that a test fills by hand."""

import re
from functools import partial

import pytest
from structlog.testing import capture_logs

from gpucloud.cloud import connection as connection_module
from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import CreateServer, SnapshotRecord, VmRecord, VpcRecord
from gpucloud.cloud.options import ApiKey, ClientOptions
from gpucloud.engine.cache.entries import Entries
from gpucloud.engine.cache.references import References
from gpucloud.engine.cloud.account_session import Learned, SessionDeps
from gpucloud.engine.cloud.accounts import Account, Accounts
from gpucloud.engine.cloud.cluster_records import EVERYTHING, Contents
from gpucloud.engine.cloud.gates import GateDeps, gated
from gpucloud.engine.cloud.listing_spacing import Intervals
from gpucloud.engine.kinds.default_accounts import DefaultAccounts, Seen
from gpucloud.engine.kinds.deletion_guard import DeletionGuard
from gpucloud.engine.kinds.deps import ReconcilerDeps
from gpucloud.engine.kinds.quota_usage import QuotaUsage
from gpucloud.engine.kinds.registry import new_listers, owned_reconcilers
from gpucloud.engine.kube.namespaces import Namespaces
from gpucloud.engine.runtime.entropy import SystemEntropy
from gpucloud.engine.runtime.workqueue import Key
from gpucloud.engine.telemetry.metrics import Metrics
from gpucloud.kinds.common import OWN_ACCOUNT, OrderState
from gpucloud.reconcile.deletion_guard import Rule
from gpucloud.reconcile.facts import Absent, Limits, ListingPace, Present
from gpucloud.reconcile.naming import FINGERPRINT_LENGTH
from gpucloud.reconcile.ownership import record_id
from gpucloud.reconcile.quota import Quota
from gpucloud.reconcile.waiting_line import Line
from support.builders import TAG, an_order
from support.fakes import FakeCloud, FakeKube, HandClock, LoopClock, a_resource
from support.orderrig import MakingCloud, history_over

NOW = 1000.0
URL = "https://cloud.example"
OFF, NO_QUOTAS = Rule(), (Quota("account"), Quota("namespace"))


@pytest.fixture(autouse=True)
def logs():
    """What is logged is kept instead of printed: printing a traceback takes longer than the test."""
    with capture_logs() as lines:
        yield lines


class FakeInventory:
    """Shows records by identity, absent unless a test says otherwise; what is in a VPC by ``inside``."""

    def __init__(self):
        self.seen, self.watched, self.pending, self.looks, self.listed, self.inside = {}, {}, {}, [], [], {}
        self.stands = NOW  # when the last listing began, or why it is not believed
        self.accepted, self.as_of, self.coming = [], NOW, True
        self.expected, self.wanted, self.ending = None, [], []

    def shown_now(self):
        seen = dict(self.seen)
        return lambda identity: identity in seen

    def shows(self, identity):
        return isinstance(self.seen.get(identity), Present)

    def watch(self, uid, identity):
        self.watched[uid] = identity

    def unwatch(self, uid):
        del self.watched[uid]

    def observe(self, identity, accepted_until=float("-inf")):
        assert identity.name != EVERYTHING
        self.accepted.append(accepted_until)
        return self.seen.get(identity, Absent(NOW, NOW))

    def standing(self, _cluster):
        return self.stands

    def within(self, cluster, vpc):
        return self.inside.get((cluster, vpc), Contents((), NOW, NOW))

    def names(self, cluster, vpc, base):
        named = (name for place, name in self.listed if place == (cluster, vpc))
        return [name for name in named if name.startswith(base) and len(name) == len(base) + FINGERPRINT_LENGTH]

    def locations_of(self, name):
        return [here for here, seen in self.seen.items() if here.name == name and isinstance(seen, Present)]

    def has_listed_since(self, _uid, not_before):
        return self.as_of >= not_before

    def awaits_listing(self, _uid, not_before):
        return self.coming and self.as_of < not_before

    def refresh_after(self, uid, not_before):
        self.looks.append((uid, not_before))

    def list_after(self, uid, not_before):
        self.wanted.append((uid, not_before))

    def expect_end(self, uid):
        self.ending.append(uid)

    def expect_change(self, uid, pending):
        self.pending[uid] = pending


class FakeClient:
    """Takes every call by its name, if it is meant still; fails in turn when told."""

    def __init__(self):
        self.calls, self.fails = [], []
        self.answers = {"create_vpc": VpcRecord(id="7"), "create_server": VmRecord(), "create_snapshot": SnapshotRecord()}

    async def send(self, change):
        """As the real one does, ask for the precondition in the instant of sending."""
        if change.unmet() is not None:
            raise CloudError(ErrorKind.WITHDRAWN, "the caller took it back")
        name, body = snake(change.call.operation), change.call.json or change.call.params
        given = {snake(key): value == "true" if key == "DeleteSnapshots" else value for key, value in body.items()}
        self.calls.append((name, CreateServer(**given)) if name == "create_server" else (name, given))
        error = self.fails.pop(0) if self.fails else None
        if error is not None:
            raise error
        return self.answers.get(name)


def snake(word):
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word.replace("VM", "Vm")).lower()


class NoGuard:
    """A deletion guard that admits everything."""

    def check(self, _uid):
        return None

    def admit(self, _uid):
        return False

    def roll_back(self, _uid):
        return None


class Prices:
    refreshed = 0

    def refresh(self):
        """Nothing is asked."""
        self.refreshed += 1

    def offered(self, _cluster):
        return ()

    def clusters_of(self, _configuration):
        return ()

    def name_of(self, word):
        return {"7": "H100_80GB_SXM_8x"}.get(word)

    def price_per_hour(self, configuration):
        return {"A100_40GB_PCIe_1x": "2.05"}.get(configuration)


class ClusterSearch:
    """Knows at once where records of a name are; remembers who looks for one."""

    def __init__(self, inventory):
        self.inventory, self.searching, self.unlisted = inventory, set(), {}

    def search(self, uid, _name, _not_before, _named=frozenset(), **_only):
        self.searching.add(uid)

    def locations_of(self, name, _not_before, named=frozenset(), *, only_named=False):
        if not only_named:
            return tuple(self.inventory.locations_of(name)), next(iter(self.unlisted.values()), None)
        found = tuple(here for here in self.inventory.locations_of(name) if here.cluster in named)
        return found, next((self.unlisted[cluster] for cluster in named if cluster in self.unlisted), None)

    def end_search(self, uid):
        self.searching.remove(uid)


class FakeLines:
    """The waiting lines of a session: who joined, by UID, and what the line says of each; nothing, unless a test sets it."""

    def __init__(self):
        self.joined, self.says, self.told = {}, {}, []

    def accepted(self, cluster, offer):
        self.told.append((cluster, offer, "accepted"))

    def refused(self, cluster, offer, uid):
        self.told.append((cluster, offer, uid))

    def join(self, cluster, waiter):
        self.joined[waiter.uid] = (cluster, waiter)

    def leave(self, _cluster, uid):
        self.joined.pop(uid, None)

    def line(self, _cluster, place):
        return self.says.get(place.uid, Line())


class FakeSession:
    """The session of one credential, as reconcilers see it."""

    def __init__(self, url=URL, *tenants):
        self.url, self.client, self.catalogue, self.began = url, FakeClient(), Prices(), 0.0
        self.vms, self.snapshots, self.vpcs = FakeInventory(), FakeInventory(), FakeInventory()
        self.capacity = FakeLines()
        self.inventories = {"vms": self.vms, "snapshots": self.snapshots, "vpcs": self.vpcs}
        self.cluster_searches = {"vms": ClusterSearch(self.vms), "snapshots": ClusterSearch(self.snapshots)}
        self.learned = Learned(tenants=frozenset(tenants))
        self.credential = ApiKey("made-up-key")
        self.proofs, self.proves, self.proving = 0, True, False

    def listing_pace(self, _cluster):
        return ListingPace()

    def learn_clusters(self):
        self.learned.clusters = ("Hou1", "Msc1")

    def learn_tenant(self):
        self.proofs += 1
        self.proving = self.proves and not self.learned.tenants


class Reconcilers:
    """The reconcilers of VMs, VPCs and snapshots with real accounts and references, over fakes of cloud and apiserver."""

    def __init__(self, own=None, own_namespaces=(), *, synced=True, rule=OFF, quotas=NO_QUOTAS, shares_own=True):
        self.clock, self.kube = HandClock(NOW), FakeKube()
        self.accounts, self.references = Accounts(own_namespaces, self.clock.mono), References()
        self.objects = new_listers(
            TAG,
            endpoint_of=lambda stored: self.accounts.endpoint(stored.meta, stored.spec, stored.status),
            shares_own=shares_own,
        )
        self.woken, self.queued, self.shown, self.version = [], [], [], 0
        namespaces = Namespaces(self.kube, self.clock)
        self.guard = DeletionGuard(rule, namespaces, self.clock, self.woken.append)
        self.tools = ReconcilerDeps(
            accounts=self.accounts,
            default_accounts=DefaultAccounts(self.accounts, self.kube, Seen(self.clock, Entries()), self.shown.append),
            objects=self.objects,
            references=self.references,
            kube=self.kube,
            namespaces=namespaces,
            clock=self.clock,
            limits=Limits(),
            synced=lambda: synced,
            wake=self.woken.append,
            queue=self.queued.append,
            entropy=SystemEntropy(),
            deletion_guard=self.guard,
            quota_usage=QuotaUsage(quotas),
        )
        self.by_kind = owned_reconcilers(self.tools)
        self.vms, self.vpcs, self.snapshots = (self.by_kind[kind] for kind in ("GpuVM", "GpuVpc", "GpuSnapshot"))
        self.session = own or FakeSession()
        self.accounts.own = Account(OWN_ACCOUNT, self.attached(self.session))

    def attached(self, session):
        session.writes = gated(session.client, GateDeps(lambda: True, self.guard, Metrics().changes), "cloud.example")
        for reconciler in self.by_kind.values():
            session.inventories[reconciler.inventory_name].expected = partial(reconciler.expected, session)
        return session

    def account(self, name="default", *, namespace="team", session=None, **more):
        """An account with a session of its own, or with the one given."""
        found = None if "trouble" in more else self.attached(session or FakeSession())
        self.accounts.put(namespace, Account(name, found, **more))
        return found

    def put(self, kind, name="train", *, uid=None, **more):
        """A new view of an object, as the watch brings it."""
        reconciler, self.version = self.by_kind[kind], self.version + 1
        uid = uid or f"u-{name}"
        reconciler.store.put(a_resource(kind, name, uid=uid, version=self.version, **more))
        stored = reconciler.store.get(uid)
        reconciler.on_update(stored)
        return stored

    def seen(self, kind, name="train", *, uid=None, **more):
        """The same, and nobody has been woken by it."""
        stored = self.put(kind, name, uid=uid, **more)
        self.quiet()
        return stored

    def quiet(self):
        self.woken.clear()
        self.queued.clear()

    def drop(self, kind, name="train", *, uid=None, namespace="team"):
        uid = uid or f"u-{name}"
        self.by_kind[kind].on_delete(Key(kind, namespace, name, uid))
        self.by_kind[kind].store.drop(uid)

    async def facts(self, kind, name="train", *, uid=None):
        reconciler = self.by_kind[kind]
        return await reconciler.gather(reconciler.store.get(uid or f"u-{name}"))

    async def intend(self, kind, name="train", *, uid=None):
        """Facts of an object whose order this process has just recorded."""
        facts, reconciler = await self.facts(kind, name, uid=uid), self.by_kind[kind]
        here = facts.identity
        order = an_order(
            here.name, OrderState.INTENDED, here.vpc, here.cluster, id=record_id(facts.nonce, facts.meta.uid, here.name)
        )
        status = facts.status.model_copy(update={"order": order})
        reconciler.before_recording(facts.meta.uid, status)
        self.version += 1
        stored = reconciler.store.get(facts.meta.uid)
        body = {"metadata": {**stored.raw_meta, "generation": facts.meta.generation, "resourceVersion": str(self.version)}}
        documents = {"spec": stored.spec, "status": status}
        body |= {part: it.model_dump(mode="json", by_alias=True, exclude_none=True) for part, it in documents.items()}
        reconciler.store.put(body)
        return await self.facts(kind, name, uid=uid)

    @property
    def woken_names(self):
        """Names of the objects that were woken, whichever way."""
        by_uid = {stored.meta.uid: stored.meta.name for reconciler in self.by_kind.values() for stored in reconciler.store}
        return sorted([by_uid.get(uid, uid) for uid in self.woken] + [key.name for key in self.queued])


@pytest.fixture
def reconcilers():
    return Reconcilers()


@pytest.fixture
def isolated():
    """The same where the administrator keeps apart the namespaces that share the operator's own account."""
    return Reconcilers(shares_own=False)


@pytest.fixture
def make_reconcilers():
    return Reconcilers


@pytest.fixture
def a_session():
    return FakeSession


@pytest.fixture
def cloud(monkeypatch):
    """A cloud that every client reaches in place of the network."""
    made = FakeCloud()
    monkeypatch.setattr(connection_module, "real_transport", lambda _options: made)
    return made


@pytest.fixture
def around():
    """What sessions work with, on the loop's own time."""
    gates = GateDeps(lambda: True, NoGuard(), Metrics().changes)
    return SessionDeps(ClientOptions(max_retries=0, qps=1000, burst=1000), Intervals(2.0, 60.0), Metrics(), LoopClock(), gates)


it = history_over(MakingCloud)  # unless a module has another
