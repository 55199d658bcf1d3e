"""Who answers questions about the cloud: the account's Secret, if the user may read it, else the operator's console.

A credential is only ever read from the Secret and sent to the endpoint whose URL the administrator told the user
(``--endpoint`` or GPUCLOUD_ENDPOINT): never to a URL that stands in the cluster. Nobody is asked for a key.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from gpucloud.cli import variables
from gpucloud.cli.plugin.cloud import endpoints
from gpucloud.cli.plugin.errors import ExitCode, PluginError, TransientError
from gpucloud.cli.plugin.model.objects import ACCOUNT, Key
from gpucloud.cli.terminal.marks import paste
from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.reader import CloudReader, open_reader
from gpucloud.engine.cloud import queries
from gpucloud.engine.cloud.configuration import client_options
from gpucloud.engine.cloud.credentials import CredentialError, parse
from gpucloud.kinds.meta import Reason
from gpucloud.kinds.names import DEFAULT_ACCOUNT, OWN_ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from gpucloud.cli.plugin.cluster import Cluster
    from gpucloud.cli.plugin.model.objects import Thing
    from gpucloud.cli.plugin.usage.options import CloudOptions
    from gpucloud.cloud.options import ApiKey, Login
    from gpucloud.settings import Settings

T = TypeVar("T")
TRANSIENT = frozenset(
    {ErrorKind.THROTTLED, ErrorKind.UNAVAILABLE, ErrorKind.SERVER, ErrorKind.OUTCOME_UNKNOWN, ErrorKind.NOT_SENT}
)


class Source(Protocol):
    """Who answers. Each raises PluginError when it cannot."""

    def boot_log(self, vm: Thing, limit: int) -> str:
        """The boot log of a VM."""

    def offers(self, cluster: str) -> queries.Offers:
        """What can be bought."""

    def vpcs(self, cluster: str) -> frozenset[str] | None:
        """The names of the VPCs in one cluster; None where the list may lack some."""

    def records(self, *, hosts: bool = False) -> queries.Records:
        """All that the account sees; bare metal hosts only where they are asked for."""


ADDRESS = "Correct the address in --endpoint or GPUCLOUD_ENDPOINT"
CREDENTIAL = "or the credential in the account's Secret"


@dataclass(frozen=True, slots=True)
class Direct:
    """The user's own way to the cloud, with the account's credential."""

    url: str
    credential: ApiKey | Login
    chosen: Settings

    def boot_log(self, vm: Thing, limit: int) -> str:
        """The boot log of the VM that the object's status names."""
        where = {"id": vm.text("vmId"), "namespace": vm.text("vpc"), "cluster": vm.text("cluster")}
        if not all(where.values()):
            raise PluginError(
                f"{vm.key} has no VM in the cloud yet, and so no boot log.", do=f"See it: {vm.key.command('status')}"
            )
        record = self._ask(lambda client: client.get_boot_logs(**where, limit=limit))
        return record.boot_logs or ""

    def offers(self, cluster: str) -> queries.Offers:
        """What can be bought."""
        return self._ask(lambda client: queries.offers(client, cluster))

    def vpcs(self, cluster: str) -> frozenset[str] | None:
        """The names of the VPCs in one cluster; None where the list may lack some."""
        return self._ask(lambda client: queries.vpc_names(client, cluster))

    def records(self, *, hosts: bool = False) -> queries.Records:
        """All that the account sees; bare metal hosts only where they are asked for."""
        return self._ask(lambda client: queries.records(client, hosts=hosts))

    def _ask(self, question: Callable[[CloudReader], Awaitable[T]]) -> T:
        async def asked() -> T:
            async with open_reader(self.url, self.credential, options=client_options(self.chosen)) as client:
                return await question(client)

        try:
            return asyncio.run(asked())
        except CloudError as error:
            raise self._failure(error) from None
        except ValueError as error:
            raise PluginError(f"the endpoint cannot be used ({error}).", ExitCode.MISUSED, do="Correct --endpoint.") from None

    def _failure(self, error: CloudError) -> PluginError:
        """Say what to correct: where nothing was sent, the address alone can be wrong."""
        what, do = f"the cloud at {self.url} refused or did not answer ({error}).", f"{ADDRESS}, {CREDENTIAL}, or try again."
        if error.kind is ErrorKind.NOT_SENT:
            what, do = f"the cloud at {self.url} cannot be reached ({error}).", f"{ADDRESS}, or try again."
        if error.kind in TRANSIENT:
            return TransientError(what, error.retry_after or 0.0, do=do)
        return PluginError(what, do=do)


def account_of(here: Cluster, wanted: str | None) -> Thing | None:
    """The account to ask through; None for the operator's own, where the namespace has none.

    Raises:
        PluginError: it does not exist, or there are several to choose from.
    """
    if wanted is not None:
        return here.need(Key(here.namespace, ACCOUNT, wanted))
    found = {item.key.name: item for item in here.things(here.namespace, (ACCOUNT,))}
    if DEFAULT_ACCOUNT in found or len(found) < 2:
        return found.get(DEFAULT_ACCOUNT) or next(iter(found.values()), None)
    what = f"there are several accounts: {', '.join(sorted(found))}."
    raise PluginError(what, ExitCode.MISUSED, do="Choose one with --account.")


class NoWay(NamedTuple):
    """Why the user has no own way to the cloud; ``do``, where that is a slip that the user can correct."""

    why: str
    do: str = ""


def direct(here: Cluster, account: Thing | None, cloud: CloudOptions) -> Direct | NoWay:
    """The user's own way, or the reason why there is none.

    Raises:
        PluginError: there is a way, but what stands on it cannot be used.
    """
    if account is None:
        without = f"the namespace has no GpuCloudAccount (kubectl gpucloud explain {Reason.NO_ACCOUNT} shows how to make one)"
        return NoWay(f"{without}, and only the operator can read its own credential")
    chosen = endpoints.settings(cloud.endpoint)
    name = account.spec.get("endpoint") or account.text("endpoint")
    if chosen is None:
        value = f"{name or 'NAME'}=URL"
        give = f"ask your administrator for its URL, then give --endpoint {value} or set GPUCLOUD_ENDPOINT={value}"
        return NoWay(f"nothing says where the cloud is: {give}")
    if name and name not in chosen.endpoints:
        return _misnamed(account.key, name, chosen, cloud)
    reference = account.spec.get("secretRef")
    secret = str(reference.get("name", "")) if isinstance(reference, dict) else ""
    data: Mapping[str, str] | None = here.secret(account.key.namespace, secret)
    if data is None:
        return _no_secret(here, account.key.namespace, secret)
    try:
        credential = parse(data)
    except CredentialError as error:
        raise PluginError(f"the Secret {secret!r} of {account.key} cannot be used ({error}).", do="Correct it.") from None
    return Direct(chosen.endpoints[name] if name else chosen.own_endpoint, credential, chosen)


def _misnamed(account: Key, name: str, chosen: Settings, cloud: CloudOptions) -> NoWay:
    """The endpoint was given under another name than the account uses; the way out is where it was given."""
    way, give = ("--endpoint", "Give --endpoint ") if cloud.endpoint else (variables.ENDPOINT, f"Set {variables.ENDPOINT}=")
    urls = list(chosen.endpoints.values())
    url = urls[0] if len(urls) == 1 else "URL"
    why = f"{account} uses the endpoint {name!r}, and {way} names only {', '.join(chosen.endpoints)}"
    return NoWay(why, f"{give}{name}={url} instead.")


def _no_secret(here: Cluster, namespace: str, secret: str) -> NoWay:
    if not here.lacks_secret(namespace, secret):
        return NoWay(f"you may not read the Secret {secret!r}")
    create = paste(f"kubectl create secret generic {secret} --namespace={namespace} --from-file=apikey=FILE")
    return NoWay(f"there is no Secret {secret!r}", f"Create it: {create}")


def own_account(vm: Thing) -> bool:
    """Whether a VM was bought with the operator's own credential."""
    return vm.text("account") == OWN_ACCOUNT
