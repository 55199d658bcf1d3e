"""Orphan report without a running operator: scans every usable account, first the cloud, then the objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from gpucloud.engine.cloud.account_session import SessionDeps
from gpucloud.engine.cloud.accounts import AccountSessions
from gpucloud.engine.cloud.configuration import client_options, credential, intervals
from gpucloud.engine.cloud.credentials import CredentialError, parse
from gpucloud.engine.kinds.registry import OWNED, new_listers
from gpucloud.engine.kube.client import KubeClient
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.orphans import scan
from gpucloud.engine.orphans.collector import price_of
from gpucloud.engine.runtime.clock import SystemClock
from gpucloud.engine.telemetry.metrics import Metrics
from gpucloud.kinds import gpucloudaccount
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.reconcile.naming import installation_tag
from gpucloud.reconcile.orphans import orphans

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.kube.transport import Connection
    from gpucloud.engine.orphans.scan import ScanResult
    from gpucloud.reconcile.orphans import MarkedRecord, Owners
    from gpucloud.settings import Settings


@dataclass(frozen=True, slots=True)
class Found:
    """One orphan, the account that shows it, and its price in dollars per hour; None if unknown."""

    account: str
    marked: MarkedRecord
    price: str | None


@dataclass(frozen=True, slots=True)
class Report:
    """The orphans, the accounts that were scanned completely, and the failures of the others."""

    tag: str
    orphans: tuple[Found, ...]
    accounts: tuple[str, ...]
    failures: tuple[tuple[str, str], ...]  # account, why


class _Inspector:
    def __init__(self, settings: Settings, login: Callable[[], Connection], tell: Callable[[str], None]) -> None:
        self._settings = settings
        self._tell = tell
        self._clock = SystemClock()
        self.kube = KubeClient(login)
        session_deps = SessionDeps(client_options(settings), intervals(settings), Metrics(), self._clock)
        self.sessions = AccountSessions(session_deps)
        self._failures: list[tuple[str, str]] = []

    async def report(self) -> Report:
        """Scan the cloud before the objects, as ``orphans.scan`` requires."""
        tag = self._settings.install_tag or installation_tag(await self.kube.cluster_uid())
        await self._open_sessions()
        sessions = sorted(self.sessions, key=_label)
        scans = [(label, session, await self._first_scan(label, session, tag)) for label, session in sessions]
        self._tell("listing the objects in Kubernetes")
        listed = self._clock.mono()
        owners = await self._owners(tag)
        found: dict[Any, Found] = {}
        for label, session, seen in scans:
            for item in await self._confirmed(label, session, seen, (owners, tag, listed)):
                found.setdefault((session.url, item.marked.key), item)
        broken = {label for label, _ in self._failures}
        well = tuple(label for label, _, _ in scans if label not in broken)
        return Report(tag, tuple(found.values()), well, tuple(self._failures))

    async def _first_scan(self, label: str, session: AccountSession, tag: str) -> ScanResult:
        self._tell(f"listing VMs and snapshots in each cluster of the cloud, as account {label}")
        return await scan.scan_session(session, tag)

    async def _confirmed(
        self, label: str, session: AccountSession, seen: ScanResult, by: tuple[Owners, str, float]
    ) -> tuple[Found, ...]:
        owners, tag, listed = by
        unlisted, suspects = dict(seen.unlisted), {marked.key: marked for marked in orphans(seen.records, owners)}
        still: tuple[MarkedRecord, ...] = ()
        if suspects:
            self._tell(f"listing once more what seems to be left, as account {label}")
            await session.catalogue.learn()
            scopes = sorted({scan.scope_of(marked) for marked in suspects.values()})
            second = await scan.scan_scopes(session, tag, scopes, listed)
            still = tuple(marked for marked in second.records if marked.key in suspects)
            unlisted |= dict(second.unlisted)
        for scope, why in sorted(unlisted.items()):
            where = "the clusters" if scope is scan.CLUSTERS else f"{scope.inventory} in cluster {scope.cluster!r}"
            self._failures.append((label, f"{where} cannot be listed: {why}"))
        return tuple(Found(label, marked, price_of(session, marked)) for marked in still)

    async def _open_sessions(self) -> None:
        """Open a session with the operator's own credential, if it is given, and with that of every GpuCloudAccount."""
        own = credential(self._settings.credentials)
        if own is not None:
            self.sessions.open(self._settings.own_endpoint, own, OWN_ACCOUNT)
        async for body in self.kube.resources(gpucloudaccount.PLURAL, self._settings.namespace):
            label = f"{body['metadata']['namespace']}/{body['metadata']['name']}"
            trouble = await self._open(label, body)
            if trouble:
                self._failures.append((label, trouble))

    async def _open(self, label: str, body: dict[str, Any]) -> str:
        """Open one account's session; return why that is impossible, else an empty text."""
        try:
            spec = gpucloudaccount.GpuCloudAccountSpec.model_validate(body.get("spec") or {})
        except ValidationError:
            return "its spec cannot be read"
        declared, name = self._settings.endpoints, spec.secret_ref.name
        if spec.endpoint is not None and spec.endpoint not in declared:
            return f"its endpoint {spec.endpoint!r} is not declared: give it with --endpoint {spec.endpoint}=URL"
        try:
            secret = await self.kube.secret(body["metadata"]["namespace"], name)
            if secret is None:
                return f"there is no Secret {name!r}"
            url = declared[spec.endpoint] if spec.endpoint is not None else self._settings.own_endpoint
            self.sessions.open(url, parse(secret.get("data") or {}), label)
        except KubeError as error:
            return f"the Secret {name!r} cannot be read: {error}"
        except CredentialError as error:
            return f"the Secret {name!r}: {error}"
        return ""

    async def _owners(self, tag: str) -> Owners:
        objects = new_listers(tag)
        for kind in OWNED:
            async for body in self.kube.resources(kind.plural, self._settings.namespace):
                objects.stores[kind.kind].put(body)
        return scan.owners_in(objects)


async def inspect(settings: Settings, login: Callable[[], Connection], tell: Callable[[str], None]) -> Report:
    """Scan once, and return the report. ``tell`` is called with what is waited for: a scan may take ten seconds.

    Raises:
        KubeError: the apiserver did not answer, or does not let us list.
        SettingsError: the credential given cannot be sent.
    """
    inspector = _Inspector(settings, login, tell)
    try:
        return await inspector.report()
    finally:
        await inspector.sessions.aclose()
        await inspector.kube.aclose()


def _label(item: tuple[str, AccountSession]) -> str:
    return item[0]
