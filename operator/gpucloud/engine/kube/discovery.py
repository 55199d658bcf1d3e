"""Client that asks the discovery of the apiserver which of our kinds it serves: a 404 alone may be of anything."""

from __future__ import annotations

from typing import Any

from gpucloud.engine.kube.client import KubeClient
from gpucloud.engine.kube.errors import KubeError
from gpucloud.kinds.meta import GROUP, VERSION


class DiscoveryClient(KubeClient):
    """The calls of a command that must tell a missing definition from a wrong path or an API without an answer."""

    async def serves(self, plural: str) -> bool:
        """Whether the apiserver serves this kind of objects.

        Raises:
            KubeError: it did not answer; or what answers is no apiserver, as under a wrong path.
        """
        groups = await self._discovered("/apis", "APIGroupList", "groups")
        ours = next((group for group in groups if group.get("name") == GROUP), {})
        if VERSION not in {one.get("version") for one in ours.get("versions") or ()}:
            return False
        resources = await self._discovered(f"/apis/{GROUP}/{VERSION}", "APIResourceList", "resources")
        return plural in {resource.get("name") for resource in resources}

    async def _discovered(self, path: str, kind: str, field: str) -> list[dict[str, Any]]:
        document = await self.call("GET", path)
        if document.get("kind") != kind:
            raise KubeError(0, "Malformed", f"the answer at {path} is not of kind {kind}")
        return list(document.get(field) or ())
