"""The options that several verbs share, and the cluster that they lead to."""

import os
from pathlib import Path
from typing import Annotated

import typer

from gpucloud.cli.plugin import candidates
from gpucloud.cli.plugin.cluster import Cluster
from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.plugin.kube import At, KubeApi
from gpucloud.cli.plugin.objects import VM, Key, target
from gpucloud.cli.plugin.show import Output

Namespace = Annotated[
    str | None,
    typer.Option(
        "--namespace", "-n", help="Namespace; the context's own when not given.", autocompletion=candidates.namespaces
    ),
]
AllNamespaces = Annotated[bool, typer.Option("--all-namespaces", "-A", help="All namespaces.")]
Context = Annotated[
    str | None,
    typer.Option(
        "--context", help="Context of the kubeconfig; the current one when not given.", autocompletion=candidates.contexts
    ),
]
Kubeconfig = Annotated[
    Path | None, typer.Option("--kubeconfig", help="Path of the kubeconfig; KUBECONFIG, else ~/.kube/config, when not given.")
]
Form = Annotated[Output, typer.Option("--output", "-o", help="Form of the answer; json and yaml have a stable shape.")]
Wait = Annotated[
    bool,
    typer.Option("--wait", help="Wait until it is done; stops at once when the object is Stalled. A paused VM is refused."),
]
Seconds = Annotated[
    str, typer.Option("--timeout", help="How long to wait: 90s, 30m, 2h, or seconds. On its end the exit code is 4.")
]
OneVM = Annotated[
    str, typer.Argument(metavar="VM", help="Name of a GpuVM: train, or gvm/train.", autocompletion=candidates.vms)
]
Account = Annotated[
    str | None,
    typer.Option(
        "--account",
        help="GpuCloudAccount to ask through; `default`, or the only one, when not given.",
        autocompletion=candidates.accounts,
    ),
]
Endpoint = Annotated[
    list[str] | None,
    typer.Option(
        "--endpoint",
        metavar="NAME=URL",
        help="A cloud API under the name that the administrator gave it, repeatable; else GPUCLOUD_ENDPOINT.",
    ),
]
Console = Annotated[
    str | None,
    typer.Option(
        "--console",
        metavar="URL",
        help="Address of the operator's console, if it is forwarded already; else GPUCLOUD_CONSOLE_URL.",
    ),
]
OperatorNamespace = Annotated[
    str,
    typer.Option(
        "--operator-namespace",
        help="Namespace of the operator, where its console and its Lease are.",
        autocompletion=candidates.namespaces,
    ),
]
SYSTEM = "gpucloud-system"
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def cluster(namespace: str | None, context: str | None, kubeconfig: Path | None) -> Cluster:
    """The cluster that these options lead to."""
    return Cluster(KubeApi(At(kubeconfig, context, namespace)))


def vm_key(here: Cluster, name: str) -> Key:
    """Which GpuVM is meant."""
    return Key(here.namespace, *target(name, VM))


def seconds(text: str) -> float:
    """A length of time as people write it.

    Raises:
        PluginError: it is none.
    """
    number, unit = (text[:-1], text[-1]) if text[-1:] in UNITS else (text, "s")
    try:
        value = float(number) * UNITS[unit]
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise PluginError(f"--timeout: {text!r} is no length of time: say 90s, 30m or 2h.", ExitCode.MISUSED)
    return value


def environment(name: str, given: str | None) -> str | None:
    """What an option says, else its environment variable."""
    return given if given is not None else os.environ.get(name) or None
