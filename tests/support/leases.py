"""Leases in tests: the documented right in a namespace of the test's own, who holds one, and a Lease in memory."""

from __future__ import annotations

import asyncio
from typing import Any

import yaml

from gpucloud.engine.kube.errors import KubeError
from support.operatorproc import RBAC, USER

NAME = "gpucloud-operator"


def lease_rights(namespace: str, user: str = USER) -> list[dict[str, Any]]:
    """The Role of the example, and its binding to the user of the tests, for a Lease in this namespace."""
    (role,) = [item for item in yaml.safe_load_all(RBAC.read_text()) if item["kind"] == "Role"]
    meta = {"name": role["metadata"]["name"], "namespace": namespace}
    group = "rbac.authorization.k8s.io"
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": "RoleBinding",
        "metadata": meta,
        "roleRef": {"apiGroup": group, "kind": "Role", "name": meta["name"]},
        "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
    }
    return [{**role, "metadata": meta}, binding]


def process_of(holder: str | None, processes: list[Any]) -> Any:
    """The operator among these whose identity this is, by what it has said itself; None when it is nobody's."""
    for process in processes:
        said = [record for record in process.logs() if record.get("event") == "leading"]
        if said and said[-1]["identity"] == holder:
            return process
    return None


class MemoryLeases:
    """One Lease, as an apiserver keeps it: versions, conflicts, and every fault that a link may have."""

    def __init__(self) -> None:
        self.body: dict[str, Any] | None = None
        self.version = 0
        self.writes: list[tuple[float, str]] = []  # when, and in whose name
        self.down = False  # nothing is answered
        self.refuses: KubeError | None = None  # of writes
        self.takes = 0.01
        self.closed = False

    @property
    def holder(self) -> str | None:
        return None if self.body is None else self.body["spec"]["holderIdentity"]

    def take(self, holder: str) -> None:
        """Somebody takes it by force."""
        assert self.body is not None
        self._put({**self.body, "spec": {**self.body["spec"], "holderIdentity": holder, "renewTime": f"by {holder}"}})

    async def lease(self, _namespace: str, _name: str) -> dict[str, Any] | None:
        await self._answer()
        return self.body

    async def create_lease(self, lease: dict[str, Any]) -> dict[str, Any]:
        await self._answer(writes=True)
        if self.body is not None:
            raise KubeError(409, "AlreadyExists", "there is one already")
        return self._put(lease)

    async def replace_lease(self, lease: dict[str, Any]) -> dict[str, Any]:
        await self._answer(writes=True)
        if self.body is None:
            raise KubeError(404, "NotFound", "there is none")
        if lease["metadata"]["resourceVersion"] != str(self.version):
            raise KubeError(409, "Conflict", "it has changed")
        return self._put(lease)

    async def aclose(self) -> None:
        self.closed = True

    def _put(self, lease: dict[str, Any]) -> dict[str, Any]:
        self.version += 1
        self.body = {**lease, "metadata": {**lease["metadata"], "resourceVersion": str(self.version)}}
        self.writes.append((asyncio.get_running_loop().time(), lease["spec"]["holderIdentity"]))
        return self.body

    async def _answer(self, *, writes: bool = False) -> None:
        await asyncio.sleep(self.takes)
        if self.down:
            await asyncio.sleep(30.0)
            raise KubeError(0, "TimeoutError", "got no answer")
        if writes and self.refuses is not None:
            raise self.refuses
