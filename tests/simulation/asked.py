"""What a request is about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpucloud.sim.messages import Request


def asked_name(request: Request) -> str:
    """The name that a changing request is about."""
    if request.body and request.method != "GET":
        said = json.loads(request.body)
        return str(said.get("name") or said.get("id") or "")
    return next((value for name, value in request.query if name.lower() == "id"), "")


def asked_place(request: Request, tenant: str) -> tuple[str, str, str]:
    """The VPC (empty of a VPC), the cluster and the tenant in which something is ordered."""
    said = json.loads(request.body) if request.body else {}
    return str(said.get("vpc") or said.get("namespace") or ""), str(said.get("cluster") or ""), tenant
