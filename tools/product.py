"""The product as its users have it: an environment with what it depends upon and nothing else.

``make setup`` makes it beside that of the tools. An operator that starts there shows that its dependencies are all declared,
and starts in a third of the time: some libraries load more when they find it.
"""

from __future__ import annotations

import os
from pathlib import Path

PYTHON = Path(__file__).parents[1] / ".venv" / "product" / "bin" / "python"


def command(verb: str) -> list[str]:
    """The first words of ``gpucloud <verb>``.

    Raises:
        FileNotFoundError: the environment has not been made.
    """
    if not os.access(PYTHON, os.X_OK):
        raise FileNotFoundError(f"{PYTHON} is missing: run `make setup`")
    return [str(PYTHON), "-m", "gpucloud", verb]
