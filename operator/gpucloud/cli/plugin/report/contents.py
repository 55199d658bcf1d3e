"""What a bug report may hold: known fields only, each text without credentials. Pure."""

from __future__ import annotations

import io
import json
import tarfile
from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin.report.scrubbing import HIDDEN, scrubbed
from gpucloud.kinds.meta import GROUP

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime


def of_object(body: Mapping[str, Any]) -> dict[str, Any]:
    """One of our objects: spec and status without the SSH keys; of the annotations those of ours."""
    meta = body.get("metadata") or {}
    kept = ("name", "namespace", "uid", "generation", "creationTimestamp", "deletionTimestamp", "finalizers", "labels")
    annotations = {name: value for name, value in (meta.get("annotations") or {}).items() if GROUP in name.partition("/")[0]}
    spec = {name: HIDDEN if name == "sshKeys" else value for name, value in (body.get("spec") or {}).items()}
    return {
        "kind": body.get("kind"),
        "metadata": {name: meta[name] for name in kept if name in meta} | {"annotations": annotations},
        "spec": spec,
        "status": body.get("status") or {},
    }


def of_pod(body: Mapping[str, Any]) -> dict[str, Any]:
    """A pod of the operator: images, its arguments and state; of the environment, and of other containers, no values."""
    spec, status = body.get("spec") or {}, body.get("status") or {}
    return {
        "name": (body.get("metadata") or {}).get("name"),
        "phase": status.get("phase"),
        "containers": [
            {
                "name": one.get("name"),
                "image": one.get("image"),
                "args": _args(one),
                "env": [str(variable.get("name")) for variable in one.get("env") or ()],
                "resources": one.get("resources") or {},
            }
            for one in spec.get("containers") or ()
        ],
        "states": [
            {name: one.get(name) for name in ("name", "ready", "restartCount", "state", "lastState")}
            for one in status.get("containerStatuses") or ()
        ],
    }


def _args(container: Mapping[str, Any]) -> list[str] | str:
    """The arguments of the operator. Those of a container that was put beside it are not ours to judge: their number."""
    args = [str(word) for word in container.get("args") or ()]
    return args if args[:1] == ["operator"] else f"{len(args)}, which are not shown"


def of_event(body: Mapping[str, Any]) -> dict[str, Any]:
    """An event of one of our objects."""
    about = body.get("involvedObject") or {}
    names = ("type", "reason", "message", "count", "firstTimestamp", "lastTimestamp", "eventTime")
    return {"object": f"{about.get('kind')}/{about.get('name')}"} | {name: body.get(name) for name in names}


# Under these, and under what ends with Name or Id, an object is named; beside a name, a key is that of a Secret or ConfigMap.
_NAMES = frozenset(
    "name namespace uid id object kind holder cluster clusters vpc image configuration resourcePool tenant".split()  # noqa: SIM905
)


def names_in(content: Any) -> Iterator[str]:
    """The names of objects, and of what they stand for, wherever a document has them as such."""
    if isinstance(content, dict):
        for field, value in content.items():
            known = field in _NAMES or str(field).endswith(("Name", "Id")) or (field == "key" and "name" in content)
            for name in value if isinstance(value, list | tuple) else [value]:
                if known and isinstance(name, str):
                    yield from (name, *name.split("/"))
            yield from names_in(value)
    elif isinstance(content, list | tuple):
        for item in content:
            yield from names_in(item)


def archive(files: Mapping[str, Any], folder: str, at: datetime) -> bytes:
    """A tar archive, compressed: text as it is, all else as JSON; each file is scrubbed."""
    packed, names = io.BytesIO(), frozenset(name for content in files.values() for name in names_in(content))
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, content in files.items():
            text = content if isinstance(content, str) else json.dumps(content, indent=1, ensure_ascii=False, default=str)
            data = scrubbed(text, names).encode()
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mtime = len(data), int(at.timestamp())
            tar.addfile(entry, io.BytesIO(data))
    return packed.getvalue()
