"""What to export in a terminal that uses a control plane: kubeconfig, programs, and a place for kubectl's cache.

All of it is in a folder that goes with the control plane.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def exports(folder: Path, kubeconfig: Path, programs: Mapping[str, Path]) -> dict[str, str]:
    """Return the variables by name. ``programs`` are linked, so that nothing else comes before the reader's own programs."""
    links = folder / "bin"
    links.mkdir(exist_ok=True)
    for name, program in programs.items():
        (links / name).symlink_to(program)
    return {"KUBECONFIG": str(kubeconfig), "KUBECACHEDIR": str(folder / "cache"), "PATH": f"{links}:$PATH"}
