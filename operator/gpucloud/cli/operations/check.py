"""Checks that an operator with these settings can work: our resources can be listed, and the cloud answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpucloud.cloud.errors import CloudError
from gpucloud.cloud.reader import open_reader
from gpucloud.engine.cloud.configuration import client_options, credential
from gpucloud.engine.kube.client import KubeClient, KubeError
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
    kube = KubeClient(login)
    try:
        found = [await _kind(kube, item.kind, item.plural, settings.namespace) for item in DEFINITIONS]
    finally:
        await kube.aclose()
    return [*found, await _cloud(settings)]


async def _kind(kube: KubeClient, kind: str, plural: str, namespaces: tuple[str, ...]) -> Finding:
    try:
        count = len(await kube.uids(plural, namespaces))
    except KubeError as error:
        hint = ": install the custom resource definitions" if error.status == 404 else ""
        return Finding(kind, well=False, words=f"cannot be listed ({error}){hint}")
    return Finding(kind, well=True, words=f"{count} there")


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
