"""Resolves the account of an object: its accountRef, else its namespace's account named ``default``, else the operator's own.

The first order records the account in status, and it stays the object's account. A reference names an account of the
object's own namespace. The operator's own account serves only the namespaces that the administrator allows.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from gpucloud.engine.cloud.account_session import AccountSession
from gpucloud.kinds.common import DEFAULT_ACCOUNT, OWN_ACCOUNT
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.facts import AccountFacts, Dependency, Readiness, Unknown, UnknownReason
from gpucloud.reconcile.text import misnamed
from gpucloud.spelling import nearest_of_few, question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpucloud.cloud.options import ApiKey, Login
    from gpucloud.engine.cloud.account_session import SessionDeps
    from gpucloud.kinds.common import AccountedStatus, CloudSpec
    from gpucloud.kinds.gpucloudaccount import AccountDefaults
    from gpucloud.reconcile.facts import NamedSecret, ObjectFacts

CLOSE_AFTER_SECONDS = 60.0  # calls under way with a replaced credential may end first
SPENT_SECONDS = 1.0  # between two looks whether the request budget of a session without users is full again


@dataclass(frozen=True, slots=True)
class Account:
    """A named account and its session. Without a session, ``trouble`` says why; it is empty until the first reconcile."""

    name: str
    session: AccountSession | None = None
    trouble: str = ""
    deleting: bool = False
    defaults: AccountDefaults | None = None
    tenant: str | None = None  # tenant of the account's objects, as status records it
    uid: str = ""  # of the GpuCloudAccount
    endpoint: str | None = None  # name of the one that the session is at
    names_endpoint: bool = False  # spec.endpoint is set; else it is the first --endpoint
    blocker: Dependency | None = None  # why nothing may be created with its credential
    secret: NamedSecret | None = None  # None: of the operator's own account
    since: float = field(default=0.0, compare=False)  # when it began to use this session (mono)


@dataclass(frozen=True, slots=True)
class ResolvedAccount:
    """The account of an object: its facts, and a session or the reason why there is none."""

    facts: AccountFacts
    session: AccountSession | None = None
    unknown: Unknown | None = None
    deleting: bool = False
    defaults: AccountDefaults | None = None
    tenant: str | None = None
    blocker: Dependency | None = None  # why nothing may be created with its credential
    since: float = 0.0  # when the account began to use this session (mono)

    def blockers(self, *, ends_a_vm: bool = False) -> Iterator[Dependency]:
        """Yield why nothing may be created with it: it is being deleted, or so is its Secret, or there is no credential.

        ``ends_a_vm``: the final snapshot of a VM in deletion is taken with what is being deleted. That stays until the VM is
        gone, which waits for the snapshot.
        """
        if self.deleting and not ends_a_vm:
            yield Dependency(f"GpuCloudAccount {self.facts.name!r}", Readiness.DELETING, account=True)
        if self.blocker is not None and not (ends_a_vm and self.blocker.readiness is Readiness.DELETING):
            yield self.blocker


class AccountSessions:
    """One session per credential and endpoint, open as long as an account uses it."""

    def __init__(self, deps: SessionDeps) -> None:
        self._deps = deps
        self._sessions: dict[tuple[str, ApiKey | Login], AccountSession] = {}
        self._users: dict[AccountSession, set[str]] = {}
        self._closing: dict[AccountSession, asyncio.Task[None]] = {}

    def __iter__(self) -> Iterator[tuple[str, AccountSession]]:
        """Iterate over the sessions in use, each with the name of one account that uses it, for metrics."""
        return iter([(min(users), session) for session, users in self._users.items() if users])

    def users(self, session: AccountSession) -> set[str]:
        """Return the accounts that use this session."""
        return self._users.get(session, set())

    def open(self, url: str, credential: ApiKey | Login, user: str) -> AccountSession:
        """Return the session of this credential for this account; keep it open if it was about to close."""
        session = self._sessions.get((url, credential))
        if session is None:
            session = self._sessions[url, credential] = AccountSession(url, credential, user, self._deps)
            self._users[session] = set()
        closing = self._closing.pop(session, None)
        if closing is not None:
            closing.cancel()
        self._users[session].add(user)
        return session

    def leave(self, session: AccountSession, user: str) -> None:
        """Remove this account from the session's users; close the session a while after its last user left."""
        self._users[session].discard(user)
        if not self._users[session]:
            self._closing[session] = self._deps.tasks.spawn("close-session", partial(self._close_later, session), may_end=True)

    async def aclose(self) -> None:
        """Close all sessions now."""
        for task in self._closing.values():
            task.cancel()
        await asyncio.gather(*self._closing.values(), return_exceptions=True)
        for session in self._users:
            await session.aclose()

    async def _close_later(self, session: AccountSession) -> None:
        await asyncio.sleep(CLOSE_AFTER_SECONDS)
        # A new session of this credential would not know a Retry-After, nor what was spent.
        while session.client.budget_left < self._deps.options.burst:  # noqa: ASYNC110 - a budget fills with time, by no event
            await asyncio.sleep(SPENT_SECONDS)
        self._sessions = {key: value for key, value in self._sessions.items() if value is not session}
        await session.aclose()
        self._closing.pop(session, None)
        self._users.pop(session, None)


class Accounts:
    """All accounts by namespace and name, and the operator's own."""

    def __init__(self, own_namespaces: tuple[str, ...], mono: Callable[[], float]) -> None:
        self._own_namespaces = own_namespaces
        self._mono = mono
        self._accounts: dict[tuple[str, str], Account] = {}
        self._unresolved_since: dict[tuple[str, str], float] = {}
        self.own: Account | None = None

    def put(self, namespace: str, account: Account) -> bool:
        """Store an account; return whether it changed."""
        before = self._accounts.get((namespace, account.name))
        same = before is not None and before.session is account.session
        since = before.since if same and before is not None else self._mono()
        self._accounts[namespace, account.name] = replace(account, since=since)
        if account.session is not None:
            self._unresolved_since.pop((namespace, account.name), None)
        return before != account

    def get(self, namespace: str, name: str) -> Account | None:
        """Return the account, or None."""
        return self._accounts.get((namespace, name))

    def drop(self, namespace: str, name: str) -> Account | None:
        """Remove a deleted account and return it."""
        return self._accounts.pop((namespace, name), None)

    def name_for(self, meta: ObjectFacts, spec: CloudSpec, status: AccountedStatus) -> str:
        """Return the name of the object's account: from spec, else as recorded in status, else ``default`` if it exists."""
        if spec.account_ref is not None:
            return spec.account_ref.name
        if status.account is not None:
            return status.account
        return DEFAULT_ACCOUNT if (meta.namespace, DEFAULT_ACCOUNT) in self._accounts else OWN_ACCOUNT

    def resolve(self, meta: ObjectFacts, spec: CloudSpec, status: AccountedStatus) -> ResolvedAccount:
        """Return the account that this object uses. It has no session for an object that was ordered at another endpoint."""
        found = self._resolve(meta, spec, status)
        recorded, used = status.endpoint, found.facts.endpoint
        if found.session is None or None in (recorded, used) or recorded == used:
            return found
        where = _other_endpoint(
            self._accounts.get((meta.namespace, found.facts.name)), str(used), str(recorded), meta.namespace
        )
        words = f"Nothing is done: this object was ordered at endpoint {recorded!r}, and {where}"
        return replace(found, session=None, unknown=Unknown(found.since, UnknownReason.ENDPOINT, words))

    def _resolve(self, meta: ObjectFacts, spec: CloudSpec, status: AccountedStatus) -> ResolvedAccount:
        name = self.name_for(meta, spec, status)
        if name == OWN_ACCOUNT:
            ordered = meta.deleting or orders.may_exist(getattr(status, "order", None))
            return self._resolve_own(meta.namespace, recorded=status.account == OWN_ACCOUNT, ordered=ordered)
        account = self._accounts.get((meta.namespace, name))
        described = f"GpuCloudAccount {name!r} in namespace {meta.namespace!r}"
        if account is None:
            correctable = spec.account_ref is not None and not orders.may_exist(getattr(status, "order", None))
            near = nearest_of_few(name, (other for namespace, other in self._accounts if namespace == meta.namespace))
            way_out = _missing(meta.namespace, name, near, correctable=correctable)
            message = f"Waiting for {described}: there is none.{way_out}"
            return self._unresolved(meta.namespace, name, UnknownReason.ACCOUNT, message)
        if account.session is None:
            cause = UnknownReason.ACCOUNT if account.trouble else UnknownReason.NOT_LISTED
            message = f"Waiting for {described}: {account.trouble or 'its Secret has not been read yet.'}"
            return self._unresolved(meta.namespace, name, cause, message, deleting=account.deleting)
        facts = _facts(account, account.session)
        return ResolvedAccount(
            facts,
            account.session,
            deleting=account.deleting,
            defaults=account.defaults,
            tenant=account.tenant,
            blocker=account.blocker,
            since=account.since,
        )

    def own_beside(self, meta: ObjectFacts, spec: CloudSpec, status: AccountedStatus) -> ResolvedAccount | None:
        """Return the operator's own account if an earlier process may have used it for this object, which uses another now.

        Also if it does not serve the namespace: it may have done so when the object was ordered.
        """
        if spec.account_ref is not None or status.account is not None or self.name_for(meta, spec, status) == OWN_ACCOUNT:
            return None
        own = self._own_in_use()
        same = own is not None and own.session is self.resolve(meta, spec, status).session
        return None if same else own

    def own_serves(self, namespace: str) -> bool:
        """Whether objects of this namespace may use the operator's own account."""
        return not self._own_namespaces or namespace in self._own_namespaces

    def endpoint(self, meta: ObjectFacts, spec: CloudSpec | None, status: AccountedStatus) -> str | None:
        """Return the endpoint URL of this object's account; None while the account has no session."""
        session = None if spec is None else self.resolve(meta, spec, status).session
        return None if session is None else session.url

    def _resolve_own(self, namespace: str, *, recorded: bool, ordered: bool) -> ResolvedAccount:
        """Resolve the operator's own account. ``recorded``: the object's status names it, so no other one is ever used.

        ``ordered``: the object may have ordered something, or is being deleted, so to create it anew is no way out.
        """
        own = self._own_in_use()
        if own is not None and self.own_serves(namespace):
            return own
        message = no_account(namespace, recorded=recorded, ordered=ordered, missing=own is None)
        return self._unresolved(namespace, OWN_ACCOUNT, UnknownReason.NO_ACCOUNT, message)

    def _own_in_use(self) -> ResolvedAccount | None:
        """Return the operator's own account; None while it has no session."""
        own = self.own
        if own is None or own.session is None:
            return None
        return ResolvedAccount(_facts(own, own.session), own.session, since=own.since)

    def _unresolved(
        self, namespace: str, name: str, cause: UnknownReason, message: str, *, deleting: bool = False
    ) -> ResolvedAccount:
        since = self._unresolved_since.setdefault((namespace, name), self._mono())
        return ResolvedAccount(AccountFacts(name), None, Unknown(since, cause, message), deleting)


def describe_command(namespace: str, name: str) -> str:
    """Return the command that shows an account's own conditions."""
    return f"kubectl describe gpucloudaccount {name} --namespace={namespace}"


def no_account(namespace: str, *, recorded: bool, ordered: bool, missing: bool) -> str:
    """Return why no account serves an object, and the way out. ``missing``: the operator has none of its own.

    ``recorded`` and ``ordered`` are as above.
    """
    if recorded and missing:
        uses = "This object uses the operator's own account, which is missing."
        return f"{uses} Ask the administrator to set GPUCLOUD_API_KEY or the login again."
    if recorded:
        may_not = f"This object uses the operator's own account; namespace {namespace!r} may not."
        return f"{may_not} Ask the administrator to add {namespace!r} to --own-account-namespace."
    lacks = f"No GpuCloudAccount is named {DEFAULT_ACCOUNT!r} in namespace {namespace!r}"
    why = "the operator has none of its own" if missing else "the operator's own does not serve it"
    if ordered:
        return f"{lacks}, and {why}. Create it (kubectl gpucloud explain {Reason.NO_ACCOUNT})."
    flag = "" if missing else " (--own-account-namespace)"
    anew = f"or recreate this object with spec.accountRef: {_list_command(namespace)}"
    return f"{lacks}, and {why}{flag}. Create it (kubectl gpucloud explain {Reason.NO_ACCOUNT}), {anew}"


def _missing(namespace: str, name: str, near: tuple[str, ...], *, correctable: bool) -> str:
    """Return what to do about an account that does not exist, with a space before it; ``correctable``: nothing was ordered."""
    there = f"The accounts that there are: {_list_command(namespace)}"
    how = f"kubectl gpucloud explain {Reason.ACCOUNT_NOT_READY}"
    if not correctable:
        return f"{question(near)} Create GpuCloudAccount {name!r} ({how}). {there}"
    if near:
        return f"{question(near)} {misnamed(f'GpuCloudAccount {name!r}', 'spec.accountRef', near)} {there}"
    return f" Create it ({how}); or delete this object, and create it with the right spec.accountRef. {there}"


def _list_command(namespace: str) -> str:
    """Return the command that lists the accounts of a namespace."""
    return f"kubectl get gpucloudaccounts --namespace={namespace}"


def _facts(account: Account, session: AccountSession) -> AccountFacts:
    learned = session.learned
    return AccountFacts(account.name, learned.tenants, learned.clusters, account.endpoint, account.secret)


def _other_endpoint(account: Account | None, used: str, recorded: str, namespace: str) -> str:
    """Say where a GpuCloudAccount, or the operator's own account, is now, and what puts it back to the recorded endpoint."""
    first = f"Ask the administrator to make {recorded!r} the first --endpoint again."
    if account is None:
        return f"the operator's own account is at {used!r} now. {first}"
    if account.names_endpoint:  # it waits for its last user before it is deleted, so it says itself what must go first
        describe = describe_command(namespace, account.name)
        return f"spec.endpoint of account {account.name!r} is {used!r}. Do as the account's condition Ready says: {describe}"
    return f"account {account.name!r} is at {used!r} now. {first}"
