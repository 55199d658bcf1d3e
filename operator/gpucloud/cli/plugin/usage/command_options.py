"""Commands in what the plugin prints, with the options by which the person reached this cluster: each can be pasted.

The operator's messages name commands, too. It knows no kubeconfig, so without this a command would go to whatever cluster the
current context names. What of a text is a command, ``marks`` says.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from gpucloud.cli.terminal import marks
from gpucloud.reconcile.commands import KUBECTL

if TYPE_CHECKING:
    from gpucloud.cli.plugin.kube.access import At

GRANTED = ("role", "rolebinding", "clusterrole", "clusterrolebinding")  # created by an administrator for whom ``--as`` names
LOCAL = ("config",)  # of kubectl's verbs: it is about contexts, and asks none
CLUSTERLESS = ("explain",)  # of our own verbs: they ask no cluster, and take no such option
_NAMESPACED = ("--namespace", "-n", "--all-namespaces", "-A")


def remember(at: At) -> None:
    """From now on commands are printed with these options."""
    marks.show_commands_by(lambda command: _with_options(at, command))


def _with_options(at: At, command: str) -> str:
    """Return a command with the options that were given.

    The namespace is added to our own verbs only, where the command names none: kubectl's commands that need one have it.
    """
    program, _, rest = command.partition(" ")
    ours = rest.startswith("gpucloud ")
    verb, space, rest = rest.removeprefix("gpucloud ").partition(" ")
    if program != "kubectl" or (verb in CLUSTERLESS if ours else verb not in KUBECTL or verb in LOCAL):
        return command
    options = _options(("kubeconfig", at.kubeconfig), ("context", at.context))
    words = rest.split(" ")
    if not (verb == "create" and words[0] in GRANTED):
        options += _options(("as", at.as_user), *(("as-group", group) for group in at.as_groups))
    if ours and at.namespace and not any(word.partition("=")[0] in _NAMESPACED for word in words):
        options += f" --namespace={shlex.quote(at.namespace)}"
    return f"{program} {'gpucloud ' if ours else ''}{verb}{options}{space}{rest}"


def _options(*given: tuple[str, object]) -> str:
    """Return options as text, each behind a space; what is empty counts as not given, as for kubectl."""
    return "".join(f" --{name}={shlex.quote(str(value))}" for name, value in given if value)
