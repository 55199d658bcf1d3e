"""What a refusal of the apiserver means to a person, and what to do. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin import lost, marks
from gpucloud.cli.plugin.errors import ExitCode, ForbiddenError, NotServedError, PluginError, TransientError
from gpucloud.cli.plugin.text import clean
from gpucloud.kinds.meta import APPLY_CRDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpucloud.cli.plugin.kube.access import RefusedError
    from gpucloud.cli.plugin.objects import Key, Thing
    from gpucloud.cli.plugin.rights import Right


def name_taken(key: Key, found: Thing | None, sent: Mapping[str, Any]) -> str:
    """The name is taken: by what was sent before, or by something else."""
    there = f"{key} exists already in namespace {key.namespace!r}"
    if found is not None and lost.stands_for(found, sent):
        return (
            f"{there}, just as it was sent now: an earlier call may have made it, so nothing is to be made. See "
            f"'{key.command('status')}'."
        )
    return f"{there}: choose another name, or see '{key.command('status')}'."


def no_selector(selector: str, error: RefusedError) -> PluginError:
    """What a selector looks like; the apiserver only says at which character it stopped to read."""
    words = str(error).rstrip(".")
    return PluginError(
        f"--selector: {clean(selector)!r} is not a label selector ({words}): use for example team=vision, 'team in (vision, "
        "audio)' or '!team'.",
        ExitCode.MISUSED,
    )


def busy(error: RefusedError, what: str) -> TransientError:
    """The apiserver cannot answer now."""
    return TransientError(f"cannot {what}: {str(error).rstrip('.')}: try again.", error.pause)


def refusal(error: RefusedError, what: str, namespace: str | None, right: Right) -> PluginError:
    """The apiserver's refusal of what needs this right, and what to do about it."""
    where = "in all namespaces" if namespace is None else f"in namespace {namespace!r}"
    if error.is_unserved:
        return NotServedError(
            f"cannot {what} {where}: its CRD is not installed in this cluster. Install the CRDs of gpucloud-operator: "
            f"{marks.paste(APPLY_CRDS)}"
        )
    action = f"{right.verb} {right.resource}" + (f".{right.group}" if right.group else "")
    scope = "--all-namespaces" if namespace is None else f"--namespace={namespace}"
    can_i = marks.paste(f"kubectl auth can-i {action} {scope}")
    everything = "kubectl gpucloud status --all-namespaces"
    shown = everything if namespace is None else f"kubectl gpucloud status --namespace={namespace}"
    advice = {
        400: "correct what it says",
        401: "log in to the cluster again",
        403: f"ask for the right to {action} ({can_i} shows whether you have it), or name a namespace of yours with -n",
        404: f"it may have been deleted meanwhile; see {marks.paste(shown)}",
        409: "somebody changed it at the same time; look, then try again",
        422: "correct what it says",
    }.get(error.status, "try again")
    words = f"cannot {what} {where}: {str(error).rstrip('.')}: {advice}."
    if error.status == 403:
        return ForbiddenError(words)
    if error.is_transient:
        return TransientError(words, error.pause)
    return PluginError(words)
