"""Commands in what the plugin prints, with the options by which the person reached this cluster: each can be pasted.

The operator's messages name commands, too. It knows no kubeconfig, so without this a command would go to whatever cluster the
current context names.
"""

from __future__ import annotations

import re
import shlex
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpucloud.cli.plugin.kube.access import At
    from gpucloud.cli.plugin.page import Line

KUBECTL = ("annotate", "apply", "auth", "create", "delete", "describe", "edit", "get", "label", "patch", "wait")
GRANT = "kubectl create"  # gives a right: for an administrator, who is not the user that ``--as`` names
CLUSTERLESS = ("explain",)  # of our own verbs: they ask no cluster, and take no such option
_OURS = rf"(?P<ours>gpucloud (?!(?:{'|'.join(CLUSTERLESS)})\b)[a-z]+)"
_COMMAND = re.compile(rf"(?<![\w-])kubectl (?:{_OURS}|{'|'.join(KUBECTL)})(?![\w-])(?=(?P<rest>[^'\n]*))")
_NAMESPACED = re.compile(r" (?:--namespace\b|-n\b|--all-namespaces\b|-A\b)")
_AT: ContextVar[At | None] = ContextVar("at", default=None)


def remember(at: At) -> None:
    """From now on commands are printed with these options."""
    _AT.set(at)


def pasteable(text: str) -> str:
    """Return a text with the options that were given in each of its commands.

    The namespace is added to our own verbs only, where the command names none: kubectl's commands that need one have it.
    """
    at = _AT.get()
    if at is None or "kubectl " not in text:
        return text
    cluster = _options(("kubeconfig", at.kubeconfig), ("context", at.context))
    user = _options(("as", at.as_user), *(("as-group", group) for group in at.as_groups))
    namespace = f" --namespace={shlex.quote(at.namespace)}" if at.namespace else ""

    def with_options(found: re.Match[str]) -> str:
        lacks = found["ours"] and not _NAMESPACED.search(found["rest"])
        return found[0] + (cluster if found[0] == GRANT else cluster + user) + (namespace if lacks else "")

    return _COMMAND.sub(with_options, text)


def pasteable_lines(lines: Iterable[Line]) -> Iterator[Line]:
    """Return lines of which the same is true."""
    return (replace(line, text=pasteable(line.text)) for line in lines)


def _options(*given: tuple[str, object]) -> str:
    """Return options as text, each behind a space; what is empty counts as not given, as for kubectl."""
    return "".join(f" --{name}={shlex.quote(str(value))}" for name, value in given if value)
