"""Commands of kubectl and of its plugin that a message names: how they are written, and how they are found in it again."""

from __future__ import annotations

import re

from gpucloud.kinds.names import KINDS

# The verbs of kubectl itself that messages name.
KUBECTL = (
    *("annotate", "apply", "auth", "config", "create", "delete", "describe", "edit", "explain", "get", "label", "logs"),
    *("patch", "wait"),
)
# What parts a command from the sentence after it, which begins with a capital letter. Where a message is one line without
# backquotes, as in `kubectl describe`, a reader sees by it where the command ends. A shell ends the command there, too, and
# knows no command "To" or "Or" (but `if` and `until`). A full stop would be a part of the last argument, "--" would make
# arguments of the sentence, and behind a line break `kubectl get -o wide` shows nothing more.
AFTER_COMMAND = "; "
# One to paste stands behind a colon, up to the end of the text or to what parts it from a sentence, which counts only outside
# its quotes; the name of one of ours may stand within a sentence. What stands in quotes is a name or somebody else's words, and
# no command, whatever it says: up to the quote that ends it, which no backslash of ``repr`` stands before; or up to the end of
# one that was cut.
_ALONE = r"""(?:(?<=: )|^)kubectl [a-z](?:'[^']*'|"[^"]*"|(?!;(?: |$))[^'"])*(?=;(?: |$)|$)"""
IN_MESSAGE = re.compile(
    r"""(?<!\w)(?:"(?:[^"\\]|\\.)*(?:"(?!\w)|\\?\Z)|'(?:[^'\\]|\\.)*(?:'(?!\w)|\\?\Z))|"""
    rf"""(?P<alone>{_ALONE})|(?P<within>(?<![\w-])kubectl gpucloud [a-z]+(?![\w-]))""",
    re.DOTALL,
)
_SHORT = {item.kind: item.short for item in KINDS}


def plugin_command(verb: str, kind: str, namespace: str, name: str) -> str:
    """Return the command that gives a verb of the plugin to an object."""
    return f"kubectl gpucloud {verb} {_SHORT[kind]}/{name} --namespace={namespace}"


def delete_command(kind: str, namespace: str, name: str) -> str:
    """Return the command that deletes an object."""
    return f"kubectl delete {_SHORT[kind]}/{name} --namespace={namespace}"


def retain_command(kind: str, namespace: str, name: str) -> str:
    """Return what keeps an object's resource in the cloud: the field to set, and the command that sets it."""
    return f"set spec.deletion.policy: Retain: {plugin_command('retain', kind, namespace, name)}"


def has_command(message: str) -> bool:
    """Whether a message has a command to paste."""
    return "kubectl " in message and any(found["alone"] for found in IN_MESSAGE.finditer(message))


def ends_in_command(message: str) -> bool:
    """Whether a command to paste ends a message, so that nothing may follow it but ``AFTER_COMMAND``."""
    return any(found["alone"] and found.end() == len(message) for found in IN_MESSAGE.finditer(message))
