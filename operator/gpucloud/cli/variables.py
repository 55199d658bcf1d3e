"""Environment variables GPUCLOUD_… that have no effect on a command, since it knows none of that name: named when it starts.

Kubernetes gives each container variables for each Service of its namespace, as GPUCLOUD_OPERATOR_SERVICE_HOST: those are no
mistake. A name may be meant for another command of ours, too.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from gpucloud.spelling import nearest, question

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

PREFIX, OF_SIM = "GPUCLOUD_", "GPUCLOUD_SIM_"
ENDPOINT, CONSOLE_URL, SSH_USER, DEBUG = "GPUCLOUD_ENDPOINT", "GPUCLOUD_CONSOLE_URL", "GPUCLOUD_SSH_USER", "GPUCLOUD_DEBUG"
OF_CLOUD = (ENDPOINT, "GPUCLOUD_CA_FILE", "GPUCLOUD_PROXY")  # the operator's own that lead to a cloud API
OF_PLUGIN = (*OF_CLOUD, CONSOLE_URL, SSH_USER, DEBUG)
OTHERS = (*OF_PLUGIN, "GPUCLOUD_CONTROL_PLANE", "GPUCLOUD_URL")  # the last two: of the demo, and of the client's examples
_HOST, _PORT = "_SERVICE_HOST", "_SERVICE_PORT"


def without_effect(environ: Mapping[str, str], known: Collection[str], *, all_of: str = "") -> Iterator[str]:
    """Yield a sentence on each variable that is near one of the known, and is none.

    ``all_of``: and on each that begins so, near or not, since it can be meant for this command only. No value is repeated.
    """
    for name, value in sorted(environ.items()):
        if not value or not name.startswith(PREFIX) or name in known or name in OTHERS or _is_of_service(name, environ):
            continue
        # Without the prefix, which all have in common and which would make any two alike.
        near = nearest(name.removeprefix(PREFIX), (one.removeprefix(PREFIX) for one in known))
        if near or (all_of and name.startswith(all_of)):
            hint = question(PREFIX + one for one in near)
            yield f"The environment variable {name} has no effect: no setting has that name.{hint} Correct it, or unset it."


def of_operator(known: Collection[str]) -> list[str]:
    """Return a sentence on each variable that the operator's settings do not know. ``known``: those that they know."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith(OF_SIM)}
    return list(without_effect(mine, known, all_of=PREFIX))


def warn(command: str, known: Collection[str]) -> None:
    """Print these sentences to standard error: before what may have come of them."""
    for words in of_operator(known):
        print(f"gpucloud {command}: warning: {words}", file=sys.stderr)


def _is_of_service(name: str, environ: Mapping[str, str]) -> bool:
    """Whether Kubernetes has made this variable for a Service: its host and port are always there together."""
    services = (one.removesuffix(_HOST) for one in environ if one.endswith(_HOST))
    return any(f"{one}{_PORT}" in environ and name.startswith((f"{one}_SERVICE_", f"{one}_PORT")) for one in services)
