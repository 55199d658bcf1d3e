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

from gpucloud.kinds import names
from gpucloud.kinds.meta import Annotation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpucloud.cli.plugin.kube.access import At
    from gpucloud.cli.plugin.page import Line

KUBECTL = ("annotate", "apply", "auth", "create", "delete", "describe", "edit", "get", "label", "patch", "wait")
GRANT = re.compile(r" (cluster)?role(binding)?\b")  # created for the user that ``--as`` names, by an administrator
CLUSTERLESS = ("explain",)  # of our own verbs: they ask no cluster, and take no such option
_OURS = rf"(?P<ours>gpucloud (?!(?:{'|'.join(CLUSTERLESS)})\b)[a-z]+)"
_COMMAND = re.compile(rf"(?<![\w-])kubectl (?:{_OURS}|{'|'.join(KUBECTL)})(?![\w-])(?=(?P<rest>[^'\n]*))")
_AGAIN = re.compile(  # a verb of ours does what the operator asks for without it
    rf"kubectl annotate (?P<kind>[a-z]+) (?P<name>\S+) --namespace=(?P<namespace>\S+) --overwrite "
    rf"{re.escape(Annotation.RECONCILE_REQUESTED_AT)}=\$\([^)]*\)"
)
_SHORT = {item.kind.lower(): item.short for item in names.KINDS}
_NAMESPACED = re.compile(r" (?:--namespace\b|-n\b|--all-namespaces\b|-A\b)")
_AT: ContextVar[At | None] = ContextVar("at", default=None)


def remember(at: At) -> None:
    """From now on commands are printed with these options."""
    _AT.set(at)


def pasteable(text: str) -> str:
    """Return a text with the options that were given in each of its commands; where a verb of ours does the same, with that.

    The namespace is added to our own verbs only, where the command names none: kubectl's commands that need one have it.
    """
    at = _AT.get()
    if at is None or "kubectl " not in text:
        return text
    text = _AGAIN.sub(_retry, text)
    cluster = _options(("kubeconfig", at.kubeconfig), ("context", at.context))
    user = _options(("as", at.as_user), *(("as-group", group) for group in at.as_groups))
    namespace = f" --namespace={shlex.quote(at.namespace)}" if at.namespace else ""

    def with_options(found: re.Match[str]) -> str:
        lacks = found["ours"] and not _NAMESPACED.search(found["rest"])
        grants = found[0] == "kubectl create" and GRANT.match(found["rest"])
        return found[0] + (cluster if grants else cluster + user) + (namespace if lacks else "")

    return _COMMAND.sub(with_options, text)


def pasteable_lines(lines: Iterable[Line]) -> Iterator[Line]:
    """Return lines of which the same is true."""
    return (replace(line, text=pasteable(line.text)) for line in lines)


def _retry(found: re.Match[str]) -> str:
    short = _SHORT.get(found["kind"])
    return found[0] if short is None else f"kubectl gpucloud retry {short}/{found['name']} --namespace={found['namespace']}"


def _options(*given: tuple[str, object]) -> str:
    """Return options as text, each behind a space; what is empty counts as not given, as for kubectl."""
    return "".join(f" --{name}={shlex.quote(str(value))}" for name, value in given if value)
