"""How a command ends that could not do its work: a line on standard error, and an exit code."""

from __future__ import annotations

import sys

FAILED, MISUSED = 1, 2


def refused(command: str, words: object, code: int) -> int:
    """Say on standard error why a command ends, and answer its exit code."""
    print(f"gpucloud {command}: {words}", file=sys.stderr)
    return code
