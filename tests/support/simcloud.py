"""The simulated cloud as a server of its own process, with its control API."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import TYPE_CHECKING, Any, Self

import product
from support.processes import ChildProcess
from support.warm import warm

if TYPE_CHECKING:
    from pathlib import Path

_READY = "gpucloud sim listening on "
API_KEY = "made-up-key-of-the-tests"


class SimCloud:
    """A running simulator. Keywords become flags: ``provision_seconds=1`` is ``--provision-seconds 1``."""

    def __init__(self, folder: Path, **flags: object) -> None:
        self.api_key_file = folder / "api-key"
        self.api_key_file.touch(mode=0o600)
        self.api_key_file.write_text(API_KEY)
        flags = {"host": "127.0.0.1", "port": 0, "api_key_file": self.api_key_file, **flags}
        self.process = ChildProcess([*product.command("sim"), *as_flags(flags)], name="gpucloud-sim", start=warm)
        try:
            self.url = self.process.wait_for_line(_READY).split(_READY, 1)[1].split()[0]
        except BaseException:
            self.process.close()
            raise

    def calls(self, operation: str = "") -> list[dict[str, Any]]:
        """Return what the cloud was asked, in order: one operation, or all of them."""
        return self.control(f"ledger?operation={operation}")["entries"]

    def vms(self) -> list[str]:
        """Return the names of the VMs that truly exist, whatever a listing says; those that are going count."""
        return [vm["order"]["name"] for vm in self.control("world")["vms"]]

    def snapshots(self) -> list[str]:
        """Return the names of the snapshots that truly exist."""
        return [snapshot["name"] for snapshot in self.control("world")["snapshots"]]

    def vpcs(self) -> list[str]:
        """Return the names of the VPCs that truly exist, without the default ones that every tenant has."""
        return [vpc["name"] for vpc in self.control("world")["vpcs"] if not vpc["is_default"]]

    def assert_empty(self) -> None:
        """Nothing is left but what was there at the beginning."""
        assert (self.vms(), self.snapshots(), self.vpcs()) == ([], [], [])

    def committed(self, operation: str) -> list[dict[str, Any]]:
        """Return the calls of this operation that changed the cloud."""
        return [call for call in self.calls(operation) if call["committed"] is not None]

    def behind(self) -> float:
        """How far the times in the ledger lie behind the wall clock, which the audit log goes by."""
        now: float = self.control("clock")["now"]
        return time.time() - now  # asked first: what the request takes must not be taken off

    def mutations(self) -> list[str]:
        """Return the operations that changed the cloud, in order."""
        return [call["operation"] for call in self.control("ledger?mutating=true")["entries"] if call["committed"] is not None]

    def turn(self, **knobs: object) -> None:
        """Turn knobs."""
        self.control("knobs", knobs)

    def fault(self, **fault: object) -> None:
        """Add a fault."""
        self.control("faults", fault)

    def clear_faults(self) -> None:
        """Let everything work again."""
        self.control("faults", method="DELETE")

    def force(self, name: str, status: str, vpc: str = "acme") -> None:
        """Put a VM into a state, as if somebody else had done it."""
        self.control("vms/force", {**_where(name, vpc), "status": status})

    def create_vm(self, name: str, vpc: str = "acme", **more: str) -> None:
        """Make a VM as somebody else."""
        self.control("vms/create", {"name": name, "cluster": "Msc1", "vpc": vpc, **more})

    def destroy_vm(self, name: str, vpc: str = "acme") -> None:
        """Destroy a VM as somebody else, at once."""
        self.control("vms/destroy", {**_where(name, vpc), "at_once": True})

    def key(self, owner: str = "ann", **chosen: object) -> dict[str, Any]:
        """Make an API key; its ``value`` is in the answer, its ``id`` in the ledger."""
        return self.control("keys", {"owner": owner, "description": "made by a test", **chosen})

    def revoke(self, key: dict[str, Any]) -> None:
        """Make a key invalid at once."""
        self.control(f"keys/{key['id']}?owner={key['owner']}", method="DELETE")

    def ask(self, method: str, path: str, key: str = API_KEY, *, body: object = None, **query: str) -> Any:
        """Call the cloud's own API as a user with this key; these calls stand in the ledger, too."""
        url = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        headers = {"Authorization": f"ApiKey {key}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        return _answer(urllib.request.Request(url, data, headers, method=method))  # noqa: S310  # http on loopback

    def create_vpc(self, name: str, key: str = API_KEY, **more: object) -> dict[str, Any]:
        """Make a VPC as a person with this key."""
        return self.ask("POST", "vpcs/CreateVpc", key, body={"name": name, "cluster": "Msc1", **more})

    def destroy_vpc(self, vpc_id: str, key: str = API_KEY) -> None:
        """Destroy a VPC as a person with this key."""
        self.ask("DELETE", "vpcs/DestroyVpc", key, Id=vpc_id, Cluster="Msc1")

    def create_snapshot(self, name: str, source: str, vpc: str = "acme", key: str = API_KEY) -> None:
        """Take a snapshot as a person with this key."""
        body = {"name": name, "cluster": "Msc1", "namespace": vpc, "sourceVMName": source}
        self.ask("POST", "servers/snapshots/CreateSnapshot", key, body=body)

    def delete_snapshot(self, name: str, vpc: str = "acme", key: str = API_KEY) -> None:
        """Delete a snapshot as a person with this key."""
        self.ask("DELETE", "servers/snapshots/DeleteSnapshot", key, Id=name, Namespace=vpc, Cluster="Msc1")

    def control(self, path: str, body: object = None, *, method: str | None = None) -> Any:
        """Call ``/_sim/<path>``: with a body it is a POST, without one a GET, unless said otherwise."""
        data = None if body is None else json.dumps(body).encode()
        url = f"{self.url}/_sim/{path}"  # http on loopback, as the simulator's ready line says
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)  # noqa: S310
        return _answer(request)

    def close(self) -> None:
        self.process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _answer(request: urllib.request.Request) -> Any:
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
            text = answer.read()
    except urllib.error.HTTPError as error:
        with error:
            raise AssertionError(f"{request.get_method()} {request.full_url}: {error.code} {error.read().decode()}") from None
    return json.loads(text) if text else None


def _where(name: str, vpc: str = "acme") -> dict[str, str]:
    return {"id": name, "namespace": vpc, "cluster": "Msc1"}


def as_flags(values: dict[str, object]) -> list[str]:
    """Turn keywords into flags: True stands alone, False and None are left out, a list repeats its flag."""
    words: list[str] = []
    for name, value in values.items():
        flag = f"--{name.replace('_', '-')}"
        match value:
            case None | False:
                pass
            case True:
                words.append(flag)
            case list() | tuple():
                words += [word for item in value for word in (flag, str(item))]
            case _:
                words += [flag, str(value)]
    return words
