"""Reconciler of GpuCloudAccounts: reads the Secret, opens the session, and collects the account's users."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from gpucloud.cloud.errors import ErrorKind
from gpucloud.engine.cache.references import Target
from gpucloud.engine.cloud.accounts import Account, describe_command
from gpucloud.engine.cloud.credentials import CredentialError, kind_of, parse
from gpucloud.engine.kinds import audit
from gpucloud.engine.kinds.gpucloudaccount.sharing import SecretSharing
from gpucloud.engine.kinds.gpucloudaccount.users import destroys, for_kubectl, is_any, is_not_deleted
from gpucloud.engine.kinds.order_tracking import OrderTracker
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.kube.events import Event
from gpucloud.engine.runtime.clock import reading
from gpucloud.kinds.gpucloudaccount import (
    KIND,
    PLURAL,
    GpuCloudAccountSpec,
    GpuCloudAccountStatus,
    RequestBudget,
    SecretVersion,
)
from gpucloud.kinds.meta import SECRET_FINALIZER, Reason
from gpucloud.reconcile import unreadable
from gpucloud.reconcile.core import steps
from gpucloud.reconcile.existence import needs_credential
from gpucloud.reconcile.facts import Refusal, Verb
from gpucloud.reconcile.gpucloudaccount import AccountStateFacts, Contact, SecretFacts, decide
from gpucloud.reconcile.gpucloudaccount.secret import blocker, may_not_read, named
from gpucloud.reconcile.unreadable import Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpucloud.cloud.options import ApiKey, Login
    from gpucloud.engine.cache.references import References
    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.accounts import Accounts, AccountSessions
    from gpucloud.engine.kinds.listers import Listers
    from gpucloud.engine.kube.client import KubeClient
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.engine.runtime.workqueue import Key
    from gpucloud.kinds.common import Order
    from gpucloud.reconcile.facts import Dependency, Limits, ObjectFacts
    from gpucloud.reconcile.plan import Plan

    GpuCloudAccount = CachedObject[GpuCloudAccountSpec, GpuCloudAccountStatus]

Facts: TypeAlias = AccountStateFacts | Unreadable[GpuCloudAccountStatus]
EVENTS = {
    Verb.HOLD_SECRET: (
        Reason.SECRET_HELD,
        "Added a finalizer to Secret {name}: the Secret stays while VMs, VPCs or snapshots of this account may exist.",
    ),
    Verb.FREE_SECRET: (Reason.SECRET_FREED, "Removed the finalizer from Secret {name}."),
}


@dataclass(frozen=True, slots=True)
class AccountReconcilerDeps:
    """Dependencies of the account reconciler."""

    accounts: Accounts
    sessions: AccountSessions
    objects: Listers
    references: References
    kube: KubeClient
    clock: Clock
    limits: Limits
    endpoints: Mapping[str, str]
    budget: RequestBudget
    secret_finalizer: bool
    synced: Callable[[], bool]
    order_of: Callable[[str, CachedObject[Any, Any]], Order | None]  # of an object of this kind, as its reconciler knows it
    queue: Callable[[Key], None]
    record: Callable[[ObjectFacts, Event], None]


class GpuCloudAccountReconciler:
    """Reconciler of GpuCloudAccounts."""

    kind = KIND
    plural = PLURAL

    def __init__(self, deps: AccountReconcilerDeps) -> None:
        self.store = deps.objects.accounts
        self._deps = deps
        self._tracker = OrderTracker(deps.clock, self.store.entries)
        self._sharing = SecretSharing(self.store, self._has_resources)

    def on_update(self, stored: GpuCloudAccount) -> None:
        """Store a new account before its Secret is read.

        An account that replaces a deleted one of the same name inherits neither its credential nor its endpoint.
        """
        meta, before = stored.meta, self._deps.accounts.get(stored.meta.namespace, stored.meta.name)
        self._tracker.begin(meta.uid)
        if before is not None and (before.uid == meta.uid or not self._is_latest_of_name(meta)):
            return
        if before is not None and before.session is not None:
            self._deps.sessions.leave(before.session, _label(meta.namespace, meta.name))
        self._put(stored, None, "")

    async def gather(self, stored: GpuCloudAccount) -> Facts:
        """Read the Secret, and open a session with its credential.

        Raises:
            KubeError: the apiserver did not answer.
        """
        spec, meta = stored.spec, stored.meta
        if spec is None:
            self._explain(stored, f"its spec cannot be read. What is wrong: {describe_command(meta.namespace, meta.name)}")
            return Unreadable(reading(self._deps.clock), KIND, meta, stored.status, stored.flaw)
        try:
            secret, credential, trouble = await self._secret(stored, spec)
        except KubeError as error:
            why = f"its Secret {spec.secret_ref.name!r} cannot be read ({error.status} {error.reason})"
            self._explain(stored, f"{why}; the operator tries again.")
            raise
        if self.store.get(meta.uid) is None or not self._is_latest_of_name(meta):
            raise KubeError(404, "NotFound", "the account is gone")  # another object of the name may have replaced it
        blocked = blocker(spec.secret_ref.name, secret, trouble)
        session = self._session(stored, self._endpoint(spec), credential, secret, blocked)
        return self._facts(stored, spec, secret, trouble, session)

    def decide(self, facts: Facts) -> Plan[GpuCloudAccountStatus]:
        """Return the pure core's plan."""
        return unreadable.decide(facts) if isinstance(facts, Unreadable) else decide(facts)

    async def act(self, facts: Facts, plan: Plan[GpuCloudAccountStatus]) -> Event:
        """Add our finalizer to a Secret, or remove it."""
        verb = plan.action
        if isinstance(facts, Unreadable) or verb is None:
            raise TypeError("nothing is done for a spec that cannot be read")
        refusal, (name,) = None, plan.targets
        audit.calling(verb, KIND, facts.meta, name)
        try:
            await self._deps.kube.set_secret_finalizer(facts.meta.namespace, name, held=verb is Verb.HOLD_SECRET)
        except KubeError as error:
            refusal = Refusal(ErrorKind.SERVER, str(error), ambiguous=False)
        self._tracker.record_call(facts.meta.uid, verb, facts.asked, refusal, plan.targets)
        if refusal is not None:
            audit.failed(verb, KIND, facts.meta, Reason.SECRET_FAILED, refusal.message)
            return Event(Reason.SECRET_FAILED, f"{verb} failed: {refusal.message}", verb, warning=True)
        reason, note = EVENTS[verb]
        audit.done(verb, KIND, facts.meta, reason)
        return Event(reason, note.format(name=repr(name)), verb)

    def needs_finalizer(self, stored: GpuCloudAccount) -> bool:
        """Whether the account is to be given our finalizer."""
        return steps.awaits_finalizer(stored.meta, self._deps.limits)

    def awaits_first_listing(self, stored: GpuCloudAccount) -> bool:  # noqa: ARG002 - as of other kinds
        """Whether a listing is to wake it: no listing shows an account."""
        return False

    def defer_to_listing(self, stored: GpuCloudAccount) -> None:
        """Do nothing: it awaits none."""

    def has_delayed_effect(self, stored: GpuCloudAccount, verb: Verb) -> bool:  # noqa: ARG002 - as of other kinds
        """Whether a call's effect shows later: an account sends none."""
        return False

    def before_recording(self, uid: str, status: GpuCloudAccountStatus) -> None:
        """Do nothing: an account has no order."""

    def follow_up(self, uid: str, plan: Plan[GpuCloudAccountStatus]) -> float | None:
        """Do nothing, and return None: an account waits for no listing."""

    def on_delete(self, key: Key) -> None:
        """Remove a deleted account and leave its session."""
        known = self.store.named(key.namespace, key.name)
        if known is not None and known.meta.uid != key.uid:
            return  # another object of the name has replaced it
        gone = self._deps.accounts.drop(key.namespace, key.name)
        if gone is not None and gone.session is not None:
            self._deps.sessions.leave(gone.session, _label(key.namespace, key.name))
        self._wake_users(key.namespace, key.name)

    def check(self, namespace: str, name: str) -> None:
        """Check in the background whether the credential still works; a changed answer wakes the account."""
        account = self._deps.accounts.get(namespace, name)
        if account is not None and account.session is not None:
            account.session.check()

    async def _secret(
        self, stored: GpuCloudAccount, spec: GpuCloudAccountSpec
    ) -> tuple[SecretFacts | None, ApiKey | Login | None, str]:
        """Return the Secret's facts, its credential, and why it could not be read."""
        name, namespace = spec.secret_ref.name, stored.meta.namespace
        try:
            found = await self._deps.kube.secret(namespace, name)
        except KubeError as error:
            if error.status != 403:
                raise
            return None, None, may_not_read(name, namespace)
        if found is None:
            return None, None, ""
        meta, credential, flaw = found["metadata"], None, ""
        try:
            credential = parse(found.get("data") or {})
        except CredentialError as error:
            flaw = str(error)
        facts = SecretFacts(
            version=SecretVersion(uid=meta["uid"], resource_version=meta["resourceVersion"]),
            kind=None if credential is None else kind_of(credential),
            flaw=flaw,
            has_finalizer=SECRET_FINALIZER in meta.get("finalizers", ()),
            deleting="deletionTimestamp" in meta,
        )
        return facts, credential, ""

    def _explain(self, stored: GpuCloudAccount, trouble: str) -> None:
        """Tell the users of an account that has no session yet why not; a session that is in use stays in use."""
        before = self._deps.accounts.get(stored.meta.namespace, stored.meta.name)
        if before is not None and before.uid == stored.meta.uid and before.session is None:
            self._put(stored, None, trouble)

    def _is_latest_of_name(self, meta: ObjectFacts) -> bool:
        """Whether the store has no younger object of this name; its ADDED event may precede this object's DELETED event."""
        bearer = self.store.named(meta.namespace, meta.name)
        return bearer is not None and bearer.meta.uid == meta.uid

    def _endpoint(self, spec: GpuCloudAccountSpec) -> str | None:
        declared = self._deps.endpoints
        if spec.endpoint is None:
            return next(iter(declared))
        return spec.endpoint if spec.endpoint in declared else None

    def _session(
        self,
        stored: GpuCloudAccount,
        endpoint: str | None,
        credential: ApiKey | Login | None,
        secret: SecretFacts | None,
        blocker: Dependency | None,
    ) -> AccountSession | None:
        """Return the session of the Secret's credential; while it has no usable one, the session of the last credential."""
        deps, meta = self._deps, stored.meta
        before = deps.accounts.get(meta.namespace, meta.name)
        current = before.session if before is not None else None
        if endpoint is None or credential is None:
            name = stored.spec.secret_ref.name if stored.spec is not None else ""
            describe = describe_command(meta.namespace, meta.name)
            needs = f"it needs Secret {name!r} with a credential that can be used"
            words = f"{needs if endpoint is not None else 'its endpoint is not declared'}. What is wrong: {describe}"
            self._put(stored, current, words, blocker, secret)
            return current
        label = _label(meta.namespace, meta.name)
        session = deps.sessions.open(deps.endpoints[endpoint], credential, label)
        if session is not current:
            self._start_session(stored, session, secret)
            if current is not None:
                deps.sessions.leave(current, label)
                note = "The Secret holds another credential now; it is in use from here on."
                deps.record(meta, Event(Reason.CREDENTIAL_CHANGED, note, "Rotate", always=True))
        self._put(stored, session, "", blocker, secret)
        return session

    def _start_session(self, stored: GpuCloudAccount, session: AccountSession, secret: SecretFacts | None) -> None:
        status = stored.status
        if secret is not None and status.tenant is not None and secret.version == status.proven_secret:
            session.assume_tenant(status.tenant)
        session.check()
        session.learn_tenant()

    def _put(
        self,
        stored: GpuCloudAccount,
        session: AccountSession | None,
        trouble: str,
        blocker: Dependency | None = None,
        secret: SecretFacts | None = None,
    ) -> None:
        meta, spec = stored.meta, stored.spec
        account = Account(
            meta.name,
            session,
            trouble,
            deleting=meta.deleting,
            defaults=None if spec is None else spec.defaults,
            tenant=stored.status.tenant,
            uid=meta.uid,
            blocker=blocker,
            endpoint=None if spec is None else self._endpoint(spec),
            names_endpoint=spec is not None and spec.endpoint is not None,
            secret=None if spec is None else named(spec.secret_ref.name, secret),
        )
        if self._deps.accounts.put(meta.namespace, account):
            self._wake_users(meta.namespace, meta.name)

    def _facts(
        self,
        stored: GpuCloudAccount,
        spec: GpuCloudAccountSpec,
        secret: SecretFacts | None,
        trouble: str,
        session: AccountSession | None,
    ) -> AccountStateFacts:
        deps, now, held = self._deps, reading(self._deps.clock), stored.status.held_secrets
        learned: dict[str, Any] = {} if session is None else _learned(session, now.wall)
        return AccountStateFacts(
            now=now,
            meta=stored.meta,
            spec=spec,
            status=stored.status,
            history=self._tracker.history(stored.meta.uid),
            endpoint=self._endpoint(spec),
            endpoints=tuple(deps.endpoints),
            secret=secret,
            secret_trouble=trouble,
            remembered=session is not None and (secret is None or secret.kind is None),
            budget=deps.budget,
            shared=self._sharing.is_shared(stored, spec.secret_ref.name, secret),
            held_shared=frozenset(name for name in held if self._sharing.is_shared(stored, name, None)),
            held_elsewhere=frozenset(name for name in held if self._sharing.is_held_elsewhere(stored, name)),
            hold_secrets=deps.secret_finalizer,
            synced=deps.synced(),
            limits=deps.limits,
            **learned,
            **self._user_facts(stored, spec),
        )

    def _user_facts(self, stored: GpuCloudAccount, spec: GpuCloudAccountSpec) -> dict[str, Any]:
        """Return the facts about the objects that use the account."""

        def users(which: Callable[[str, CachedObject[Any, Any]], bool]) -> list[Key]:
            return self._users(stored.meta.namespace, stored.meta.name, which)

        def named(which: Callable[[str, CachedObject[Any, Any]], bool]) -> tuple[str, ...]:
            return tuple(f"{key.kind} {key.name!r}" for key in users(which))

        return {
            "users": named(is_any),
            "users_to_delete": for_kubectl(users(is_not_deleted)),
            "users_to_keep": for_kubectl(users(destroys)),
            "users_with_resources": named(self._may_have_resources),
            "users_elsewhere": self._elsewhere(users(self._is_elsewhere(self._endpoint(spec)))),
            "users_of_tenant": named(self._bound_to(stored.status.tenant)),
        }

    def _users(self, namespace: str, name: str, which: Callable[[str, CachedObject[Any, Any]], bool]) -> list[Key]:
        """Return the objects that use this account and satisfy ``which``, by kind and name."""
        deps, found = self._deps, []
        for key in sorted(deps.references.dependents(Target(KIND, namespace, name))):
            stored = deps.objects.find(Target(key.kind, key.namespace, key.name))
            if stored is None or not stored.meta.has_finalizer:
                continue
            used = deps.accounts.name_for(stored.meta, stored.spec, stored.status) if stored.spec else stored.status.account
            if used == name and which(key.kind, stored):
                found.append(key)
        return sorted(found, key=lambda key: (key.kind, key.name))

    def _may_have_resources(self, kind: str, stored: CachedObject[Any, Any]) -> bool:
        """Whether the object has or may have a resource in the cloud, or is about to create one."""
        return needs_credential(self._deps.order_of(kind, stored), stored.status, deleting=stored.meta.deleting)

    def _is_elsewhere(self, endpoint: str | None) -> Callable[[str, CachedObject[Any, Any]], bool]:
        """Return a predicate: whether an object may have a resource at another endpoint, as its status records."""
        return lambda kind, stored: self._may_have_resources(kind, stored) and stored.status.endpoint not in {None, endpoint}

    def _elsewhere(self, users: list[Key]) -> dict[str, str]:
        """Return the endpoint that the status of each of these objects records, by the object's name for messages."""
        found = ((key, self._deps.objects.find(Target(key.kind, key.namespace, key.name))) for key in users)
        return {f"{key.kind} {key.name!r}": stored.status.endpoint for key, stored in found if stored is not None}

    def _bound_to(self, tenant: str | None) -> Callable[[str, CachedObject[Any, Any]], bool]:
        """Return a predicate: whether an object may have a resource of this tenant. An unknown tenant counts as this one."""
        return lambda kind, stored: self._may_have_resources(kind, stored) and stored.status.tenancy in {None, tenant}

    def _has_resources(self, account: GpuCloudAccount) -> bool:
        return bool(self._users(account.meta.namespace, account.meta.name, self._may_have_resources))

    def _wake_users(self, namespace: str, name: str) -> None:
        for key in sorted(self._deps.references.dependents(Target(KIND, namespace, name))):
            self._deps.queue(key)


def _label(namespace: str, name: str) -> str:
    return f"{namespace}/{name}"


def _learned(session: AccountSession, wall: Any) -> dict[str, Any]:
    learned, expires = session.learned, session.client.token_expires_in()
    return {
        "contact": Contact(learned.contact, learned.trouble),
        "clusters": learned.clusters,
        "tenant": learned.tenant,
        "forbidden": dict(learned.forbidden),
        "allowed": frozenset(learned.allowed),
        "token_expires_at": None if expires is None else wall + timedelta(seconds=int(expires)),
    }
