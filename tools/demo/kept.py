"""What is printed when the demo stays up: what to export in another terminal, and what to try there. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demo import layout

if TYPE_CHECKING:
    from collections.abc import Mapping

_INDENT = "  "  # of a command, in the text and as it is printed
_TEXT = """
Everything runs until Ctrl-C. Type these lines in a second terminal. There kubectl and its plugin talk to the demo's cluster; \
your other terminals are unchanged. Close it at the end.

{exports}

To try:

  kubectl gpucloud status
  kubectl get gpucloud
  kubectl describe gpuvm worker
  kubectl gpucloud stop worker --wait
  kubectl gpucloud start worker --wait
  kubectl gpucloud offers --available

Delete all of it in one go. Then ask the cloud whether a VM or snapshot of the operator is left:

  kubectl delete gpucloud --all
  GPUCLOUD_API_KEY_FILE={key} gpucloud orphans --endpoint default={cloud}

Bring it all back:

  kubectl apply {manifests}
  kubectl wait gpucloud --all --for=condition=Ready --timeout=3m

The Secret stays. If you delete it, too, this makes it again:

  {secret}

The operator's log:

  less {log}"""


def text(width: int, exports: Mapping[str, str], folder: str, **names: str) -> str:
    """Return it for a terminal of this width: prose is wrapped, and commands can be pasted. ``names`` fill its gaps."""
    typed = [f"cd {folder}", *(f"export {name}={value}" for name, value in exports.items())]
    filled = _TEXT.format(exports="\n".join(f"{_INDENT}{line}" for line in typed), **names)
    return "\n".join(part for line in filled.split("\n") for part in _laid_out(line, width))


def _laid_out(line: str, width: int) -> list[str]:
    if line.startswith(_INDENT):
        return layout.command(line.removeprefix(_INDENT), width, _INDENT)
    return layout.prose(line, width) or [""]
