"""Checks that an operator with these settings can work: our resources can be listed, and the cloud answers."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from gpucloud.cloud.errors import CloudError
from gpucloud.cloud.reader import open_reader
from gpucloud.engine.cloud.configuration import client_options, credential
from gpucloud.engine.kube.discovery import DiscoveryClient
from gpucloud.engine.kube.errors import KubeError
from gpucloud.kinds.definitions import DEFINITIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.engine.kube.transport import Connection
    from gpucloud.settings import Settings


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one check: its subject, whether it passed, and a message. ``looked``: whether there was anything to look at."""

    what: str
    well: bool
    words: str
    looked: bool = True


async def run_checks(settings: Settings, login: Callable[[], Connection]) -> list[Finding]:
    """Run all checks; a failed one does not skip the others."""
    kube = DiscoveryClient(login)
    try:
        found = [await _kind(kube, item.kind, item.plural, settings.namespace) for item in DEFINITIONS]
    finally:
        await kube.aclose()
    return [*found, await _cloud(settings)]


async def _kind(kube: DiscoveryClient, kind: str, plural: str, namespaces: tuple[str, ...]) -> Finding:
    try:
        count = len(await kube.uids(plural, namespaces))
    except KubeError as error:
        hint = await _hint(kube, plural) if error.status == HTTPStatus.NOT_FOUND else ""
        return Finding(kind, well=False, words=f"cannot be listed ({error}){hint}")
    return Finding(kind, well=True, words=f"{count} there")


async def _hint(kube: DiscoveryClient, plural: str) -> str:
    """Return what to do about a 404; nothing where the apiserver serves the kind, so that the 404 is of something else."""
    try:
        return "" if await kube.serves(plural) else ": install the custom resource definitions"
    except KubeError as error:
        return f"; nor does /apis tell whether the server has such objects ({error}): check the server of the kubeconfig"


async def _cloud(settings: Settings) -> Finding:
    """Send, with the operator's own account, the one read that every credential should be allowed."""
    own = credential(settings.credentials)
    if own is None:
        words = "not asked: the operator has no account of its own; to have it asked, set GPUCLOUD_API_KEY_FILE=FILE"
        return Finding("cloud", well=True, words=words, looked=False)
    try:
        async with open_reader(settings.own_endpoint, own, options=client_options(settings)) as client:
            clusters = await client.get_all_clusters()
    except CloudError as error:
        return Finding("cloud", well=False, words=f"{settings.own_endpoint} does not serve the operator's own account: {error}")
    return Finding("cloud", well=True, words=f"{settings.own_endpoint} answers, with {len(clusters)} clusters")
