"""``kubectl gpucloud``: gather (cluster, cloud) -> decide (pure functions of frozen data) -> show (rich, JSON, YAML).

The two commands start here. What they need comes with the extra ``cli``; without it they say so in one sentence.
"""

from __future__ import annotations

import sys

MISSING = "kubectl gpucloud: {name} is not installed: install the plugin with its extra, gpucloud-operator[cli]."


def main() -> int:
    """``kubectl-gpucloud``, which kubectl finds as its plugin ``gpucloud``."""
    try:
        from gpucloud.cli.plugin import entry  # noqa: PLC0415 - only now is it known whether the extra is there
    except ModuleNotFoundError as error:
        print(MISSING.format(name=error.name), file=sys.stderr)
        return 1
    return entry.main(sys.argv[1:])


def complete() -> int:
    """``kubectl_complete-gpucloud``, which kubectl asks for completions."""
    try:
        from gpucloud.cli.plugin import completion  # noqa: PLC0415 - as above
    except ModuleNotFoundError:
        return 1
    return completion.main(sys.argv[1:])
