"""The charts as they are published: the image stands in them by its digest, so that the chart's own signature covers it."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

from release.errors import ReleaseError
from release.versions import CHART, CRD_CHART

if TYPE_CHECKING:
    from pathlib import Path


def pin(root: Path, target: Path, repository: str, digest: str) -> list[Path]:
    """Copy both charts to ``target``, the operator's with this image, and return where they are.

    Raises:
        ReleaseError: the digest is none, or the values are no longer of the form that this knows.
    """
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", digest):
        raise ReleaseError(f"{digest!r} is not a digest of the form sha256:…")
    charts = []
    for name in (CHART, CRD_CHART):
        charts.append(target / name.rpartition("/")[2])
        shutil.copytree(root / name, charts[-1])
    values, about = charts[0] / "values.yaml", charts[0] / "Chart.yaml"
    found = re.search(r"^  repository: (\S+)$", values.read_text(), re.MULTILINE)
    placeholder = found[1] if found else "none"
    _replace(values, f"\n  repository: {placeholder}\n", f"\n  repository: {repository}\n")
    _replace(values, '\n  digest: ""\n', f"\n  digest: {digest}\n")
    _replace(about, f"image: {placeholder}:", f"image: {repository}:")
    return charts


def _replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    if text.count(old) != 1:
        raise ReleaseError(f"{file.name} holds {old.strip()!r} {text.count(old)} times, and not once")
    file.write_text(text.replace(old, new))
