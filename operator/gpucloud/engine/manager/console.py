"""The console: read-only queries of the cloud for ``kubectl gpucloud``, authorized by the apiserver.

It listens on loopback only, so that it is reached only by a forwarded port, which needs a right in the cluster. A request
carries the user's bearer token; the apiserver authenticates it (TokenReview) and checks the user's rights
(SubjectAccessReview). Tokens are neither stored, logged nor sent to anyone else. Few requests run at a time, within the
account's request budget.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import structlog
from aiohttp import web

from gpucloud.cloud.errors import CloudError
from gpucloud.engine.cloud import queries
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.manager.listening import listen
from gpucloud.kinds import gpucloudaccount, gpuvm
from gpucloud.kinds.common import CloudSpec, CloudStatus, OrderState
from gpucloud.kinds.meta import GROUP
from gpucloud.reconcile.facts import ObjectFacts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from gpucloud.cloud.reader import CloudReader
    from gpucloud.engine.cloud.accounts import Accounts
    from gpucloud.engine.kinds.listers import Listers

log = structlog.get_logger("gpucloud.console")

NAME_ANOTHER = "name another, or ask whether the operator watches that namespace."
AT_ONCE = 2  # requests; further ones are refused, so that they cannot use up the account's budget
REVIEW_SECONDS = 10.0
LONGEST_TOKEN = 16 * 1024
MOST_ENTRIES = 10_000  # service-api: GetVirtualMachineBootLogs, Limit
DEFAULT_ENTRIES = 2000


class Reviewer(Protocol):
    """Authenticates users and checks their rights; the apiserver."""

    async def review(self, group: str, resource: str, kind: str, spec: Mapping[str, Any]) -> dict[str, Any]:
        """Return the status of a review."""


class ConsoleRefusedError(Exception):
    """The request is refused, with this HTTP status and message."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


@dataclass(frozen=True, slots=True)
class ConsoleDeps:
    """The stores and accounts that the console reads."""

    objects: Listers
    accounts: Accounts


@dataclass(frozen=True, slots=True)
class Right:
    """The right that a user needs for a request."""

    verb: str
    resource: str
    name: str = ""
    group: str = GROUP


class Console:
    """The server. ``deps`` returns None before the first sync, and while another process leads."""

    def __init__(self, kube: Reviewer, deps: Callable[[], ConsoleDeps | None]) -> None:
        self._kube = kube
        self._deps = deps
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._runner: web.AppRunner | None = None

    async def start(self, port: int) -> int:
        """Listen on loopback; return the port, which matters if the setting is 0.

        Raises:
            PortInUseError: the port is taken.
        """
        app = web.Application(client_max_size=1024)
        place = "/v1/namespaces/{namespace}"
        app.router.add_get(f"{place}/{gpuvm.PLURAL}/{{name}}/boot-log", self._answering(self._boot_log))
        app.router.add_get(f"{place}/{gpucloudaccount.PLURAL}/{{name}}/offers", self._answering(self._offers))
        app.router.add_get(f"{place}/{gpucloudaccount.PLURAL}/{{name}}/records", self._answering(self._records))
        app.router.add_get(f"{place}/offers", self._answering(self._own_offers))
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        return await listen(self._runner, "127.0.0.1", port, "--console-port")

    async def stop(self) -> None:
        """Close the port."""
        if self._runner is not None:
            await self._runner.cleanup()

    def _answering(
        self, ask: Callable[[web.Request, ConsoleDeps], Awaitable[web.Response]]
    ) -> Callable[..., Awaitable[web.Response]]:
        async def answer(request: web.Request) -> web.Response:
            try:
                async with self._slot() as deps:
                    return await ask(request, deps)
            except ConsoleRefusedError as error:
                return web.json_response({"error": str(error)}, status=error.status)
            except CloudError as error:
                return web.json_response({"error": f"the cloud refused or did not answer: {error}."}, status=502)

        return answer

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[ConsoleDeps]:
        deps = self._deps()
        if deps is None:
            raise ConsoleRefusedError(503, "the operator has not read all objects yet, or another one leads: try again soon.")
        if self._slots.locked():
            raise ConsoleRefusedError(503, "the console is busy with other requests: try again in a moment.")
        async with self._slots:
            yield deps

    async def _boot_log(self, request: web.Request, deps: ConsoleDeps) -> web.Response:
        namespace, name = request.match_info["namespace"], request.match_info["name"]
        await self._permit(request, Right("get", gpuvm.PLURAL, name))
        vm = deps.objects.vms.named(namespace, name)
        if vm is None or vm.spec is None:
            raise ConsoleRefusedError(
                404, f"there is no GpuVM {name!r} in namespace {namespace!r} that the operator can read: {NAME_ANOTHER}"
            )
        here, order = deps.objects.vm_identity(vm, vm.spec), vm.order
        # Only the object's own VM: another object's VM of the same name must not be shown.
        if here is None or vm.status.vm_id != here.name or order is None or order.state is not OrderState.SEEN:
            raise ConsoleRefusedError(
                404, f"GpuVM {name!r} has no VM in the cloud yet, and so no boot log: try again when it is Ready."
            )
        client = _client(deps, vm.meta, vm.spec, vm.status)
        record = await client.get_boot_logs(id=here.name, namespace=here.vpc, cluster=here.cluster, limit=_limit(request))
        return web.json_response({"bootLog": record.boot_logs or ""})

    async def _offers(self, request: web.Request, deps: ConsoleDeps) -> web.Response:
        namespace, name = request.match_info["namespace"], request.match_info["name"]
        await self._permit(request, Right("get", gpucloudaccount.PLURAL, name))
        return _document(await queries.offers(_account_client(deps, namespace, name), _cluster(request)))

    async def _own_offers(self, request: web.Request, deps: ConsoleDeps) -> web.Response:
        """Return the offers of the operator's own account, for a namespace that may use it."""
        namespace = request.match_info["namespace"]
        await self._permit(request, Right("list", gpuvm.PLURAL))
        client = _client(deps, _anybody(namespace), CloudSpec(), CloudStatus())
        return _document(await queries.offers(client, _cluster(request)))

    async def _records(self, request: web.Request, deps: ConsoleDeps) -> web.Response:
        """Return all records of an account. It needs the right to read the Secret, which allows the same without us."""
        namespace, name = request.match_info["namespace"], request.match_info["name"]
        await self._permit(request, Right("get", gpucloudaccount.PLURAL, name))
        account = deps.objects.accounts.named(namespace, name)
        if account is None or account.spec is None:
            raise ConsoleRefusedError(
                404,
                f"there is no GpuCloudAccount {name!r} in namespace {namespace!r} that the operator can read: {NAME_ANOTHER}",
            )
        await self._permit(request, Right("get", "secrets", account.spec.secret_ref.name, ""))
        return _document(
            await queries.records(_account_client(deps, namespace, name), hosts=request.query.get(queries.HOSTS) == "true")
        )

    async def _permit(self, request: web.Request, right: Right) -> None:
        """Refuse a user whom the apiserver does not know, or who lacks the right in the namespace."""
        namespace = request.match_info["namespace"]
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token or len(token) > LONGEST_TOKEN:
            raise ConsoleRefusedError(401, "the request has no bearer token: send the one that you show the apiserver.")
        try:
            async with asyncio.timeout(REVIEW_SECONDS):
                user = await self._user(token)
                allowed = await self._allowed(user, right, namespace)
        except (KubeError, TimeoutError) as error:
            log.warning("a user could not be reviewed", error=str(error))
            raise ConsoleRefusedError(
                503, "the apiserver does not tell the operator who you are: it does not answer, or the operator lacks the "
                "rights of deploy/console-rbac.yaml. Ask its administrator."
            ) from None  # fmt: skip
        if not allowed:
            what = f"{right.verb} {right.resource} {right.name}".rstrip()
            raise ConsoleRefusedError(
                403, f"user {user.get('username', '')!r} may not {what} in namespace {namespace!r}: ask for that right."
            )

    async def _user(self, token: str) -> Mapping[str, Any]:
        status = await self._kube.review("authentication.k8s.io", "tokenreviews", "TokenReview", {"token": token})
        user = status.get("user")
        if status.get("authenticated") is not True or not isinstance(user, dict) or not user.get("username"):
            raise ConsoleRefusedError(401, "the apiserver does not know this token: log in again.")
        return user

    async def _allowed(self, user: Mapping[str, Any], right: Right, namespace: str) -> bool:
        attributes = {"verb": right.verb, "group": right.group, "resource": right.resource, "namespace": namespace}
        spec = {
            "user": user["username"],
            **{name: user[name] for name in ("groups", "uid", "extra") if user.get(name)},
            "resourceAttributes": attributes | ({"name": right.name} if right.name else {}),
        }
        status = await self._kube.review("authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview", spec)
        return status.get("allowed") is True and status.get("denied") is not True


def _client(deps: ConsoleDeps, meta: ObjectFacts, spec: CloudSpec, status: CloudStatus) -> CloudReader:
    """Return the client of the object's account, resolved as for a reconcile."""
    account = deps.accounts.resolve(meta, spec, status)
    if account.session is None:
        raise ConsoleRefusedError(
            409, account.unknown.detail if account.unknown is not None else "the account is not ready: try again soon."
        )
    return account.session.client


def _account_client(deps: ConsoleDeps, namespace: str, name: str) -> CloudReader:
    account = deps.accounts.get(namespace, name)
    if account is None or account.session is None:
        trouble = "there is none: create it." if account is None else account.trouble or "its Secret has not been read yet."
        raise ConsoleRefusedError(409, f"the GpuCloudAccount {name!r} in namespace {namespace!r} is not ready: {trouble}")
    return account.session.client


def _anybody(namespace: str) -> ObjectFacts:
    """Return the facts of an imaginary object in this namespace, to resolve its account."""
    return ObjectFacts(namespace, "", "", 0, deleting=False, has_finalizer=False, annotations={})


def _limit(request: web.Request) -> int:
    said = request.query.get("limit", "")
    return max(1, min(int(said), MOST_ENTRIES)) if said.isdecimal() and len(said) < 9 else DEFAULT_ENTRIES


def _cluster(request: web.Request) -> str:
    return request.query.get("cluster", "")[:253]


def _document(answer: queries.Offers | queries.Records) -> web.Response:
    return web.json_response(text=answer.model_dump_json(by_alias=True))
