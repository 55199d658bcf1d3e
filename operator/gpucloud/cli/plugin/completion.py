"""Answers kubectl, which asks ``kubectl_complete-gpucloud`` for completions: candidates and cobra's directive.

Typer completes. It is asked as its own script for bash asks it, and answers a candidate a line, as cobra reads them. It never
fails.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
from typing import TYPE_CHECKING

from gpucloud.cli.plugin.entry import build

if TYPE_CHECKING:
    from collections.abc import Sequence

NO_FILES, FILES = 4, 0  # cobra's ShellCompDirective
TAKES_A_FILE = "--kubeconfig"


def main(argv: Sequence[str]) -> int:
    """Print the candidates for the last word, and whether file names may stand there."""
    words = list(argv) or [""]
    said = io.StringIO()
    with (
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.suppress(Exception, SystemExit),
    ):
        os.environ |= {
            "_GPUCLOUD_COMPLETE": "complete_bash",
            "COMP_WORDS": shlex.join(["gpucloud", *words]),
            "COMP_CWORD": str(len(words)),
        }
        build(completes=True)(prog_name="gpucloud")
    found = sorted(line for line in said.getvalue().splitlines() if line)
    files = not found and ("--" in words[:-1] or words[-2:-1] == [TAKES_A_FILE])
    print("\n".join([*found, f":{FILES if files else NO_FILES}"]))
    return 0
