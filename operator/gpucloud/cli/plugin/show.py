"""What the plugin says beside its answer."""

from __future__ import annotations

import sys

from gpucloud.cli.terminal.marks import pasteable_pieces
from gpucloud.cli.terminal.text import printable


def tell(text: str) -> None:
    """One sentence on what happens, beside the answer: on standard error, each command to paste on a line of its own."""
    for line in pasteable_pieces(f"kubectl gpucloud: {text}"):
        print(printable(line), file=sys.stderr)
