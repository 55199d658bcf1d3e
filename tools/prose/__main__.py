"""``python -m prose [FILE ...]``: check spelling and wording of the documents, or of the named files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from controlplane import ControlPlaneError
from prose.obtain import obtain_vale, say

ROOT = Path(__file__).parents[2]
CONFIG = Path(__file__).with_name("vale.ini")
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs", "deploy")


def main() -> int:
    """Exit code 1: something was found. Without Vale nothing is checked, which is an error in CI only."""
    try:
        vale = obtain_vale(os.environ)
    except ControlPlaneError as error:
        say(f"the documents were not checked: {error}")
        return 1 if os.environ.get("CI") else 0
    pages = sys.argv[1:] or PAGES
    command = [str(vale), f"--config={CONFIG}", "--output=line", *pages]
    return subprocess.run(command, cwd=ROOT, check=False).returncode  # noqa: S603 - Vale, with arguments made here


if __name__ == "__main__":
    sys.exit(main())
