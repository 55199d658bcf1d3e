"""What a bug report may hold: known fields only, and of text neither credentials nor what a URL hides. Pure."""

from __future__ import annotations

import io
import json
import re
import tarfile
from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin.tokens import without_tokens
from gpucloud.kinds.meta import GROUP

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

HIDDEN = "[removed]"
# Up to the last @ of a URL is taken for user and password: to remove too much is harmless. A scheme is tried where a word
# begins only: tried at each letter, a log with a word of 200,000 letters takes minutes.
_URL = re.compile(r"""((?<![a-z0-9+.-])[a-z0-9+.-]*://)(?:[^\s"'<>\\]*@)?([^\s"'<>\\?#]*)([?#][^\s"'<>\\]*)?""", re.IGNORECASE)
# The scheme of the service, in its own spelling, is never followed by prose; in another, and a name without a mark, by what
# holds a digit only.
_LOGIN = re.compile(r"\b((?i:bearer|basic)|ApiKey)\s+[^\s\"',]+")
_DIGIT = r"""(?=[^\s"',}\\]{0,256}\d)"""
_TOLD = re.compile(
    rf"""((?:api[-_ ]?key|password|passwd|passphrase|pwd|token)\s(?:is\s)?["']?){_DIGIT}[^\s"',}}\\]{{4,}}"""
    r"""|((?:password|passphrase|token)\sis\s(["'])).*?(?=\3|$)""",
    re.IGNORECASE | re.MULTILINE,
)
_PRIVATE = re.compile(
    r"""-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^"']*?(?:-----END [A-Z0-9 ]{0,40}-----|(?=\\?["'])|\Z)"""
)
# User and password before a host, without a scheme; the digest of an image stands behind an @, too.
_USER = re.compile(r"""(?<![^\s"'<>\\=,(])[^\s"'<>\\=,(@:/]{1,256}:[^\s"'<>\\]{1,256}@(?!sha\d+:)(?=[\w\[])""")
# Such a header's value goes to the end of the line, and the argument that follows a flag in a list to its closing quote.
_HEADER = re.compile(r"\b((?:authorization|cookie|x-api-key)\s*[:=]\s*)[^\s\"'][^\n\"']*", re.IGNORECASE)
_ARGUMENT = re.compile(r"""("-{1,2}[\w-]*(?:credential|key|login|pass\w*|pwd|secret|token)"\s*,\s*")[^"\n]*""", re.IGNORECASE)
# A value in quotes goes to its closing quote, or to the end of the line; any other to the next space or mark.
_NAMED = re.compile(
    r"""((?:(?:access|api|encryption|private|signing)[-_ ]?key|authorization|credential|passphrase|password|passwd|\bpwd"""
    r"""|secret|\bsig|signature|token)\\?["']?(?:\sis)?\s*(?:=>|[:=]|%3[ad])\s*)(\\?["'])?(?(2).*?(?=(?<!\\)\2|$)|[^\s"',}\\]+)""",
    re.IGNORECASE | re.MULTILINE,
)


def scrubbed(text: str) -> str:
    """Text without private keys, user and password of a host, query of a URL, and what looks or is named like a credential."""
    text = without_tokens(_PRIVATE.sub(HIDDEN, text), HIDDEN)
    text = _URL.sub(lambda url: f"{url[1]}{url[2]}{f'?{HIDDEN}' if url[3] else ''}", text)
    text = _USER.sub(f"{HIDDEN}@", text)
    text = _ARGUMENT.sub(rf"\1{HIDDEN}", _HEADER.sub(rf"\1{HIDDEN}", text))
    text = _NAMED.sub(rf"\1\2{HIDDEN}", _LOGIN.sub(rf"\1 {HIDDEN}", text))
    return _TOLD.sub(lambda told: f"{told[1] or told[2]}{HIDDEN}", text)


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
    """A pod of the operator: images, arguments and state; of the environment the names only."""
    spec, status = body.get("spec") or {}, body.get("status") or {}
    return {
        "name": (body.get("metadata") or {}).get("name"),
        "phase": status.get("phase"),
        "containers": [
            {
                "name": one.get("name"),
                "image": one.get("image"),
                "args": one.get("args") or [],
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


def of_event(body: Mapping[str, Any]) -> dict[str, Any]:
    """An event of one of our objects."""
    about = body.get("involvedObject") or {}
    names = ("type", "reason", "message", "count", "firstTimestamp", "lastTimestamp", "eventTime")
    return {"object": f"{about.get('kind')}/{about.get('name')}"} | {name: body.get(name) for name in names}


def archive(files: Mapping[str, Any], folder: str, at: datetime) -> bytes:
    """A tar archive, compressed: text as it is, all else as JSON; each file is scrubbed."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, content in files.items():
            text = content if isinstance(content, str) else json.dumps(content, indent=1, ensure_ascii=False, default=str)
            data = scrubbed(text).encode()
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mtime = len(data), int(at.timestamp())
            tar.addfile(entry, io.BytesIO(data))
    return packed.getvalue()
