"""What a refusal of the apiserver means to a person, and what to do. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.cli.plugin.cluster import rights
from gpucloud.cli.plugin.errors import ExitCode, ForbiddenError, NotServedError, PluginError, TransientError
from gpucloud.cli.terminal import marks
from gpucloud.cli.terminal.text import clean
from gpucloud.kinds.meta import APPLY_CRDS

if TYPE_CHECKING:
    from gpucloud.cli.plugin.cluster.rights import Right
    from gpucloud.cli.plugin.kube.access import RefusedError
    from gpucloud.cli.plugin.model.objects import Key


def no_selector(selector: str, error: RefusedError) -> PluginError:
    """What a selector looks like; the apiserver only says at which character it stopped to read."""
    return PluginError(
        f"--selector: {clean(selector)!r} is not a label selector ({str(error).rstrip('.')}).",
        ExitCode.MISUSED,
        do="Use for example team=vision, 'team in (vision, audio)' or '!team'.",
    )


def busy(error: RefusedError, what: str) -> TransientError:
    """The apiserver cannot answer now."""
    return TransientError(f"cannot {what}: {str(error).rstrip('.')}.", error.pause, do="Try again.")


def refusal(
    error: RefusedError, what: str, namespace: str | None, lacking: tuple[Right, ...], key: Key | None = None
) -> PluginError:
    """The apiserver's refusal, in its own words, and what to do about it.

    ``what`` was refused, with the place; ``key``: of one object.

    ``lacking``: the right that it needs, and those that the verb needs after it.
    """
    if error.is_unserved:
        return NotServedError(
            f"cannot {what}: its CRD is not installed in this cluster.",
            do=f"Install the CRDs of gpucloud-operator: {marks.paste(APPLY_CRDS)}",
        )
    words = f"cannot {what}: {str(error).rstrip('.')}."
    if error.status == 403:
        return ForbiddenError(words, do=rights.request(namespace, lacking))
    if error.is_transient:
        return TransientError(words, error.pause, do="Try again.")
    return PluginError(words, do=_way_out(error.status, lacking[0], namespace, key))


def _way_out(status: int, right: Right, namespace: str | None, key: Key | None) -> str:
    """What to do about a refusal that is no missing right; about a wrong object, with the command that shows what is right."""
    if status in {400, 422} and right.verb in {"create", "patch"}:
        return f"Correct what it says. To see the fields: {marks.paste(f'kubectl explain {right.resource}.spec --recursive')}"
    if status in {400, 422}:
        served = marks.paste(f"kubectl explain {right.resource}")
        return f"Update the older one of plugin and CRDs. To see what is served: {served}"
    see = _status(namespace) if key is None else key.command("status")
    return {
        401: "Log in to the cluster again.",
        404: f"It may have been deleted meanwhile. See what is there: {see}",
        409: f"Somebody changed it at the same time. See what is there, then try again: {see}",
    }.get(status, "Try again.")


def _status(namespace: str | None) -> str:
    if namespace is None:
        return marks.paste("kubectl gpucloud status --all-namespaces")
    return marks.paste(f"kubectl gpucloud status --namespace={namespace}")
