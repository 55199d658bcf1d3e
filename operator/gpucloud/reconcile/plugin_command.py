"""Commands of kubectl and of its plugin that a message names."""

from __future__ import annotations

from gpucloud.kinds.names import KINDS

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
