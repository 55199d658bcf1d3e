"""``python -m helmcli``: get Helm ready and print where it is."""

from __future__ import annotations

import os
import sys

from controlplane import ControlPlaneError
from helmcli.obtain import obtain_helm


def main() -> int:
    """Print the path; a failure is one clear text and exit code 1."""
    try:
        print(obtain_helm(os.environ))
    except ControlPlaneError as error:
        print(f"helm: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
