"""Checks that an operator with these settings can work: its namespaces exist, it can list our kinds, and the cloud answers."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from gpucloud import website
from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.reader import open_reader
from gpucloud.engine.cloud.configuration import client_options, credential
from gpucloud.engine.kube.discovery import DiscoveryClient
from gpucloud.engine.kube.errors import KubeError
from gpucloud.kinds.definitions import DEFINITIONS
from gpucloud.kinds.meta import APPLY_CRDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpucloud.engine.kube.transport import Connection
    from gpucloud.settings import Settings

_RETRY = "check that the apiserver answers at the server of the kubeconfig, and try again"
_OLDER = f"update the older one of the operator and the CRDs; these: {APPLY_CRDS}"
_WAYS_OUT: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: "use a kubeconfig, or a service account, that the apiserver accepts",
    HTTPStatus.FORBIDDEN: f"grant the operator its rights, as {website.RUN} lists them",
    HTTPStatus.BAD_REQUEST: _OLDER,
    HTTPStatus.UNPROCESSABLE_ENTITY: _OLDER,
}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of one check: its subject, whether it passed, and a message. ``looked``: whether there was anything to look at."""

    what: str
    well: bool
    words: str
    looked: bool = True


def failed_check(what: str, words: str) -> CheckResult:
    """Return the result of a check that did not pass."""
    return CheckResult(what, well=False, words=words)


async def run_checks(settings: Settings, login: Callable[[], Connection]) -> list[CheckResult]:
    """Run all checks; a failed one does not skip the others."""
    kube = DiscoveryClient(login)
    try:
        found = [await _namespace(kube, name) for name in settings.namespace]
        found += [await _kind(kube, item.kind, item.plural, settings.namespace) for item in DEFINITIONS]
    finally:
        await kube.aclose()
    return [*found, await _cloud(settings)]


async def _namespace(kube: DiscoveryClient, name: str) -> CheckResult:
    """See whether a namespace exists: in one that does not, every list is empty, as if all were well."""
    what = f"namespace {name}"
    try:
        found = await kube.namespace(name)
    except KubeError as error:
        if error.status == HTTPStatus.FORBIDDEN:
            words = f"nobody knows whether it exists ({error}); to have it looked at, grant the right to get namespaces"
            return CheckResult(what, well=True, words=words, looked=False)
        return failed_check(what, f"cannot be read ({error}): {_WAYS_OUT.get(error.status, _RETRY)}")
    if found is None:
        return failed_check(what, f"does not exist: correct --namespace, or run: kubectl create namespace {name}")
    return CheckResult(what, well=True, words="exists")


async def _kind(kube: DiscoveryClient, kind: str, plural: str, namespaces: tuple[str, ...]) -> CheckResult:
    try:
        count = len(await kube.uids(plural, namespaces))
    except KubeError as error:
        way_out = await _missing(kube, plural) if error.status == HTTPStatus.NOT_FOUND else _WAYS_OUT.get(error.status, _RETRY)
        return failed_check(kind, f"cannot be listed ({error}): {way_out}")
    return CheckResult(kind, well=True, words=f"defined and readable, {count} object{'' if count == 1 else 's'}")


async def _missing(kube: DiscoveryClient, plural: str) -> str:
    """Return what to do about a 404; where the apiserver serves the kind, it is of something else."""
    try:
        is_served = await kube.serves(plural)
    except KubeError as error:
        return f"nor does /apis tell whether the server has such objects ({error}); check the server of the kubeconfig"
    return "the server has such objects; try again" if is_served else f"install the custom resource definitions: {APPLY_CRDS}"


async def _cloud(settings: Settings) -> CheckResult:
    """Send, with the operator's own account, the one read that every credential should be allowed."""
    own = credential(settings.credentials)
    if own is None:
        words = "not asked: the operator has no account of its own; to have it asked, set GPUCLOUD_API_KEY_FILE=FILE"
        return CheckResult("cloud", well=True, words=words, looked=False)
    try:
        async with open_reader(settings.own_endpoint, own, options=client_options(settings)) as client:
            clusters = await client.get_all_clusters()
    except CloudError as error:
        words = f"{settings.own_endpoint} does not serve the operator's own account: {error}. {_of_the_cloud(error)}"
        return failed_check("cloud", words)
    return CheckResult("cloud", well=True, words=f"{settings.own_endpoint} answers, with {len(clusters)} clusters")


def _of_the_cloud(error: CloudError) -> str:
    """Return what to do when the cloud does not answer as it should."""
    if error.kind in {ErrorKind.UNAUTHORIZED, ErrorKind.LOGIN}:
        return "Put a valid key into the file of GPUCLOUD_API_KEY_FILE, or a valid login"
    if error.kind is ErrorKind.FORBIDDEN:
        return "Grant this to the credential in the cloud"
    return "Check the URL in --endpoint, and whether the cloud answers there; then try again"
