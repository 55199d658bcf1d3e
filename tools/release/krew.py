"""krew's manifest of a version: where its archives are, and their checksums."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import yaml

from release.errors import ReleaseError

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST = "deploy/krew/gpucloud.yaml"
_UNSET = "0" * 64


def manifest(template: str, version: str, base: str, archives: Path) -> str:
    """Return the template with version, addresses and the checksum of each archive, which lie in one folder.

    Raises:
        ReleaseError: an archive is missing, or one is there that the template does not name.
    """
    lines = []
    for line in template.splitlines():
        changed = re.sub(r"(version: )v\S+", rf"\g<1>v{version}", line)
        changed = re.sub(r"(uri: )\S+/([^/\s]+)", rf"\g<1>{base}/\g<2>", changed)
        lines.append(changed)
    named = [platform["uri"].rpartition("/")[2] for platform in yaml.safe_load("\n".join(lines))["spec"]["platforms"]]
    there = sorted(path.name for path in archives.glob("*.tar.gz"))
    if sorted(named) != there:
        raise ReleaseError(f"{MANIFEST} names the archives {sorted(named)}; in the folder are {there}")
    checksums = iter([hashlib.sha256((archives / name).read_bytes()).hexdigest() for name in named])
    return "\n".join(line.replace(_UNSET, next(checksums)) if _UNSET in line else line for line in lines) + "\n"
