"""Preparation of an uninstall: reports the objects that exist, and deletes them while the operator still runs.

Nothing here touches the cloud or a finalizer: objects are deleted as people delete them, and the running operator does
the rest, with all its proofs. The operator itself never deletes an object, so its own client knows no such call.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from gpucloud.engine.kube.discovery import DiscoveryClient
from gpucloud.engine.kube.errors import KubeError
from gpucloud.kinds.common import DeletionPolicy
from gpucloud.kinds.definitions import DEFINITIONS
from gpucloud.kinds.meta import FINAL_SNAPSHOT_OF, GROUP, VERSION, ConditionType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from gpucloud.engine.runtime.clock import Clock

POLL_SECONDS = 2.0
RETAINABLE = frozenset(one.plural for one in DEFINITIONS if "deletion" in one.spec.model_fields)
STAYING = "What these stand for stays in the cloud, running and billed, by their deletion policy or since they were adopted:"


class Policy(StrEnum):
    """What to do with existing objects."""

    REFUSE = "Refuse"
    DRAIN = "Drain"
    RETAIN = "Retain"


@dataclass(frozen=True, slots=True)
class Left:
    """An existing object, with reason and message of its Ready condition."""

    kind: str
    namespace: str
    name: str
    reason: str
    message: str


class NotDoneError(KubeError):
    """A call failed: what could not be done, what the apiserver said, and the command that shows what it was about."""

    def __init__(self, what: str, said: KubeError, command: str) -> None:
        super().__init__(said.status, said.reason, "")
        self._text = f"{what}: {said}. Correct that, then run it again. To look: {command}"

    def __str__(self) -> str:
        return self._text


class UninstallClient(DiscoveryClient):
    """The calls of an uninstall beside those of the operator."""

    async def delete(self, plural: str, meta: Mapping[str, Any]) -> None:
        """Delete an object, with its UID as precondition.

        Raises:
            KubeError: ``gone`` or ``conflict`` when it is another by now; or the apiserver did not answer.
        """
        await self.call("DELETE", _path(plural, meta), {"preconditions": {"uid": meta["uid"]}})

    async def retain(self, plural: str, meta: Mapping[str, Any]) -> None:
        """Set the deletion policy to Retain, so that the operator keeps the object's resource in the cloud.

        Raises:
            KubeError: as ``delete``.
        """
        change = {"metadata": {"uid": meta["uid"]}, "spec": {"deletion": {"policy": DeletionPolicy.RETAIN.value}}}
        await self.call("PATCH", _path(plural, meta), change, content_type="application/merge-patch+json")


class Uninstall:
    """Lists the existing objects once, or deletes them until none is left."""

    def __init__(self, kube: UninstallClient, namespaces: tuple[str, ...], clock: Clock) -> None:
        self._kube = kube
        self._namespaces = namespaces
        self._clock = clock

    async def missing_namespaces(self) -> list[str]:
        """Return the named namespaces that do not exist: that nothing lives where a slip leads to proves nothing.

        One that may not be read counts as existing.
        """
        missing = []
        for name in self._namespaces:
            with suppress(KubeError):
                missing += [name] if await self._kube.namespace(name) is None else []
        return missing

    async def left(self) -> tuple[Left, ...]:
        """Return all existing objects of our kinds; none if our CRDs are not installed.

        Raises:
            NotDoneError: the apiserver did not answer, or does not let us list.
        """
        return tuple(_left(body) for _, body in await self._bodies())

    async def clear(self, policy: Policy, seconds: float, say: Callable[[str], None]) -> tuple[Left, ...]:
        """Delete all objects, repeatedly, until none is left or the time is over; return those that are left.

        What a drain leaves in the cloud all the same is printed before its object is deleted: afterwards nothing here knows it.
        What takes the final snapshot of a VM is deleted after the VM: else the operator would have to take it again and again.

        Raises:
            NotDoneError: the apiserver does not let us. That it does not answer is waited out.
        """
        deadline, reported = self._clock.mono() + seconds, -1
        staying: set[str] = set()  # by UID, what was printed
        while True:
            try:
                bodies = await self._bodies()
                if policy == Policy.DRAIN:
                    staying |= _report_staying([item for item in bodies if item[1]["metadata"]["uid"] not in staying], say)
                for plural, body in _unneeded(bodies):
                    await self._delete(plural, body, policy)
                if not bodies or self._clock.mono() >= deadline:
                    return tuple(_left(body) for _, body in bodies)
                if len(bodies) != reported:
                    reported = len(bodies)
                    say(f"{reported} still there")
            except KubeError as error:
                if not _passing(error) or self._clock.mono() >= deadline:
                    raise
            await asyncio.sleep(POLL_SECONDS)

    async def _bodies(self) -> list[tuple[str, dict[str, Any]]]:
        found: list[tuple[str, dict[str, Any]]] = []
        for definition in DEFINITIONS:
            try:
                bodies = [body async for body in self._kube.resources(definition.plural, self._namespaces)]
            except KubeError as error:
                if error.status != 404 or await self._is_served(definition.plural):
                    command = self._listing(definition.plural)
                    raise NotDoneError(f"{definition.plural} could not be listed", error, command) from error
                bodies = []
            found.extend((definition.plural, {"kind": definition.kind, **body}) for body in bodies)
        return found

    async def _is_served(self, plural: str) -> bool:
        try:
            return await self._kube.serves(plural)
        except KubeError as error:
            what = f"{plural} could not be listed, and /apis does not tell whether the server has such objects"
            raise NotDoneError(what, error, "kubectl get --raw=/apis") from error

    def _listing(self, plural: str) -> str:
        """The command that lists what the call would have listed; of several namespaces the first."""
        scope = f"--namespace={self._namespaces[0]}" if self._namespaces else "--all-namespaces"
        return f"kubectl get {plural}.{GROUP} {scope}"

    async def _delete(self, plural: str, body: Mapping[str, Any], policy: Policy) -> None:
        meta = body["metadata"]
        doing = "set to Retain"
        try:
            if policy == Policy.RETAIN and plural in RETAINABLE and not _retained(body):
                await self._kube.retain(plural, meta)
            doing = "deleted"
            if "deletionTimestamp" not in meta:
                await self._kube.delete(plural, meta)
        except KubeError as error:
            if not (error.gone or error.undefined or error.conflict):  # what is there by now is seen at the next look
                command = f"kubectl get {plural}.{GROUP}/{meta['name']} --namespace={meta['namespace']} --output=yaml"
                raise NotDoneError(f"{_called(body)} could not be {doing}", error, command) from error


def _unneeded(bodies: Iterable[tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    """Return the objects without those that take the final snapshot of another one of them."""
    found = list(bodies)
    uids = {body["metadata"]["uid"] for _, body in found}
    return [item for item in found if (item[1]["metadata"].get("annotations") or {}).get(FINAL_SNAPSHOT_OF) not in uids]


def _report_staying(bodies: Iterable[tuple[str, Mapping[str, Any]]], say: Callable[[str], None]) -> set[str]:
    """Print every object whose deletion destroys nothing; return their UIDs."""
    found = {body["metadata"]["uid"]: _called(body) for _, body in bodies if _stays(body)}
    if found:
        say("\n  ".join([STAYING, *found.values()]))
    return set(found)


def _stays(body: Mapping[str, Any]) -> bool:
    """Whether the operator retains the object's resource when the object is deleted."""
    adopted = (body.get("status") or {}).get("adopted") is True
    return _retained(body) or (adopted and _policy(body) is None)


def _retained(body: Mapping[str, Any]) -> bool:
    return bool(_policy(body) == DeletionPolicy.RETAIN)


def _policy(body: Mapping[str, Any]) -> Any:
    return ((body.get("spec") or {}).get("deletion") or {}).get("policy")


def _called(body: Mapping[str, Any]) -> str:
    return f"{body['kind']} {body['metadata']['namespace']}/{body['metadata']['name']}"


def _left(body: Mapping[str, Any]) -> Left:
    conditions = (body.get("status") or {}).get("conditions") or ()
    ready: Mapping[str, Any] = next((item for item in conditions if item.get("type") == ConditionType.READY), {})
    meta = body["metadata"]
    return Left(body["kind"], meta["namespace"], meta["name"], str(ready.get("reason", "")), str(ready.get("message", "")))


def _passing(error: KubeError) -> bool:
    return error.status in {0, 429} or error.status >= 500


def _path(plural: str, meta: Mapping[str, Any]) -> str:
    return f"/apis/{GROUP}/{VERSION}/namespaces/{meta['namespace']}/{plural}/{meta['name']}"
