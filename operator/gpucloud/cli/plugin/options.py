"""The options that several verbs share, as data."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gpucloud.cli import variables
from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.plugin.grammar import Group, Parameter
from gpucloud.cli.terminal.printing import Output

if TYPE_CHECKING:
    from collections.abc import Callable

SYSTEM = "gpucloud-system"
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


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
        raise PluginError(f"--timeout: {text!r} is not a duration.", ExitCode.MISUSED, do="Use for example 90s, 30m or 2h.")
    return value


def whole(least: int, most: int) -> Callable[[str], int]:
    """From text to a whole number in this range."""

    def converted(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise ValueError(f"expected a number from {least} to {most}, not {text!r}")
        return int(text)

    return converted


def environment(name: str, given: str | None) -> str | None:
    """What an option says, else its environment variable."""
    return given if given is not None else os.environ.get(name) or None


NAMESPACE = Parameter(
    key="namespace",
    names=("--namespace", "-n"),
    help="Namespace; the context's own when not given.",
    candidates="namespaces",
)
CONTEXT = Parameter(
    key="context",
    names=("--context",),
    help="Context of the kubeconfig; the current one when not given.",
    candidates="contexts",
)
KUBECONFIG = Parameter(
    key="kubeconfig",
    names=("--kubeconfig",),
    metavar="FILE",
    convert=Path,
    help="Path of the kubeconfig; KUBECONFIG, else ~/.kube/config, when not given.",
)
AS_USER = Parameter(key="as_user", names=("--as",), metavar="USER", help="User to act as, if you may impersonate.")
AS_GROUP = Parameter(
    key="as_groups", names=("--as-group",), metavar="GROUP", many=True, help="Group to act as, repeatable; with --as."
)
CLUSTER = (NAMESPACE, CONTEXT, KUBECONFIG, AS_USER, AS_GROUP)  # these make an ``At``
ALL_NAMESPACES = Parameter(
    key="all_namespaces", names=("--all-namespaces", "-A"), takes_value=False, default=False, help="All namespaces."
)


def output(default: Output = Output.TEXT, *, wide: bool = False) -> Parameter:
    """The option for the form of the answer."""
    more = "wide shows more of each object; " if wide else ""
    return Parameter(
        key="output",
        names=("--output", "-o"),
        default=default,
        convert=Output,
        choices=tuple(item.value for item in Output if wide or item is not Output.WIDE),
        help=f"Form of the answer; {more}json and yaml have a stable shape.",
    )


def in_cluster(help_text: str) -> Parameter:
    """The option for a cluster of the cloud."""
    return Parameter(
        key="in_cluster", names=("--cluster",), metavar="CLUSTER", default="", help=help_text, candidates="clusters"
    )


WAIT = Parameter(
    key="wait_for_it",
    names=("--wait",),
    takes_value=False,
    default=False,
    help="Wait until it is done; stops at once when the object is Stalled (after 90 seconds if it needs a valid account or "
    "Secret). A paused VM is refused.",
)
TIMEOUT = Parameter(
    key="timeout",
    names=("--timeout",),
    default="30m",
    convert=seconds,
    help="How long to wait: 90s, 30m, 2h, or seconds. On its end the exit code is 4.",
)
ONE_VM = Parameter(
    key="vm",
    metavar="VM",
    required=True,
    help="Name of a GpuVM: train, or gvm/train.",
    names_objects=True,
    candidates="vms",
)
ACCOUNT = Parameter(
    key="account",
    names=("--account",),
    help="GpuCloudAccount to ask through; 'default', or the only one, when not given.",
    candidates="accounts",
)
ENDPOINT = Parameter(
    key="endpoint",
    names=("--endpoint",),
    metavar="NAME=URL",
    many=True,
    help="A cloud API under the name that the administrator gave it, repeatable; else GPUCLOUD_ENDPOINT.",
)
CONSOLE = Parameter(
    key="console_url",
    names=("--console",),
    metavar="URL",
    help="Address of the operator's console, if it is forwarded already; else GPUCLOUD_CONSOLE_URL.",
)
OPERATOR_NAMESPACE = Parameter(
    key="operator_namespace",
    names=("--operator-namespace",),
    metavar="NAMESPACE",
    default=SYSTEM,
    help="Namespace of the operator, where its console and its Lease are.",
    candidates="namespaces",
)
CLOUD = (ENDPOINT, CONSOLE, OPERATOR_NAMESPACE)  # these make ``CloudOptions``, with ``ACCOUNT`` where a verb has it
BY_ACCOUNT = (ACCOUNT, *CLOUD, *CLUSTER)  # of a verb that asks the cloud through an account of the cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudOptions:
    """How the cloud is asked: through which account, at which endpoints, or by which console of the operator."""

    endpoint: tuple[str, ...] = ()
    console_url: str | None = None
    operator_namespace: str = SYSTEM
    account: str | None = None

    @property
    def console(self) -> str | None:
        """The address of a console that is forwarded already, if one is known."""
        return environment(variables.CONSOLE_URL, self.console_url)


ASKED = Group(key="cloud", make=CloudOptions, members=(*CLOUD, ACCOUNT))
