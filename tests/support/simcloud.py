"""The simulated cloud as a server of its own process, with its control API."""

from __future__ import annotations

import json
import sys
import urllib.request
from typing import TYPE_CHECKING, Any, Self

from support.processes import ChildProcess

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
        self.process = ChildProcess([sys.executable, "-m", "gpucloud", "sim", *as_flags(flags)], name="gpucloud-sim")
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

    def turn(self, **knobs: object) -> None:
        """Turn knobs."""
        self.control("knobs", knobs)

    def fault(self, **fault: object) -> None:
        """Add a fault."""
        self.control("faults", fault)

    def clear_faults(self) -> None:
        """Let everything work again."""
        self.control("faults", method="DELETE")

    def force(self, name: str, status: str) -> None:
        """Put a VM into a state, as if somebody else had done it."""
        self.control("vms/force", {**_where(name), "status": status})

    def create_vm(self, name: str) -> None:
        """Make a VM as somebody else."""
        self.control("vms/create", {"name": name, "cluster": "Msc1", "vpc": "acme"})

    def destroy_vm(self, name: str) -> None:
        """Destroy a VM as somebody else, at once."""
        self.control("vms/destroy", {**_where(name), "at_once": True})

    def control(self, path: str, body: object = None, *, method: str | None = None) -> Any:
        """Call ``/_sim/<path>``: with a body it is a POST, without one a GET, unless said otherwise."""
        data = None if body is None else json.dumps(body).encode()
        url = f"{self.url}/_sim/{path}"  # http on loopback, as the simulator's ready line says
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)  # noqa: S310
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def close(self) -> None:
        self.process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _where(name: str) -> dict[str, str]:
    return {"id": name, "namespace": "acme", "cluster": "Msc1"}


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
