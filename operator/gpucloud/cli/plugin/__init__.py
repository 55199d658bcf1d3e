"""``kubectl gpucloud``: gather (cluster, cloud) -> decide (pure functions of frozen data) -> show (lines, JSON, YAML).

The two commands start here. What they need comes with the extra ``cli``; without it they say so in one sentence.
"""

from __future__ import annotations

import sys

MISSING = (
    "kubectl gpucloud: the Python package {name} is not installed. Install the extra cli: "
    "pip install 'gpucloud-operator[cli]', or in a checkout pip install '.[cli]'"
)


def main() -> int:
    """``kubectl-gpucloud``, which kubectl finds as its plugin ``gpucloud``."""
    if sys.argv[1:] == ["--version"]:
        from gpucloud import __version__  # noqa: PLC0415 - nothing more is loaded for this answer

        print(f"kubectl gpucloud {__version__}")
        return 0
    if sys.argv[1:2] == ["__complete"]:  # as programs on cobra are asked, by the script that lies in the plugin's archive
        return _complete(sys.argv[2:])
    try:
        from gpucloud.cli.plugin import entry  # noqa: PLC0415 - as above

        return entry.main(sys.argv[1:])
    except ModuleNotFoundError as error:
        print(MISSING.format(name=error.name), file=sys.stderr)
        return 1


def complete() -> int:
    """``kubectl_complete-gpucloud``, which kubectl asks for completions."""
    return _complete(sys.argv[1:])


def _complete(words: list[str]) -> int:
    from gpucloud.cli.plugin.usage import completion  # noqa: PLC0415 - nothing of it is loaded for a verb

    return completion.main(words)
