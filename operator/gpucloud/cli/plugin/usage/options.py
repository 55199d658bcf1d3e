"""What a verb takes, as data: read by the parser, the help, the completion and the reference page. Nothing is loaded for it.

The options that several verbs share are here, too.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpucloud.cli import variables
from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.terminal.printing import Output

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SYSTEM = "gpucloud-system"
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """An option or an argument of a verb, and under which name its function takes the value."""

    key: str
    help: str
    names: tuple[str, ...] = ()  # empty for an argument
    metavar: str = ""
    default: Any = None
    convert: Callable[[str], Any] = str  # raises PluginError, or ValueError with what is wrong
    choices: tuple[str, ...] = ()
    habits: tuple[tuple[str, str], ...] = ()  # what people type here by the habit of kubectl, and the choice for it
    takes_value: bool = True
    many: bool = False
    required: bool = False
    names_objects: bool = False  # KIND/NAME stands here, or a name alone
    candidates: str = ""  # function of ``candidates`` that completes it

    @property
    def shown(self) -> str:
        """What stands for its value in a usage line."""
        return "|".join(self.choices) or self.metavar or self.key.upper()


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Parameters that a verb's function takes as one value. A verb that takes the first of them takes the group."""

    key: str
    make: Callable[..., Any]  # takes each of them by its key; those that a verb lacks have a default
    members: tuple[Parameter, ...]

    def composed(self, verb: Verb, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of a verb's parameters, with those of the group made one."""
        if self.members[0] not in verb.takes:
            return dict(given)
        own = {item.key: given[item.key] for item in self.members if item in verb.takes}
        return {key: value for key, value in given.items() if key not in own} | {self.key: self.make(**own)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """A verb: the function ``function`` of the module ``module`` in ``verbs``, which is loaded when it is called."""

    module: str
    function: str
    summary: str
    about: str = ""  # further paragraphs
    takes: tuple[Parameter, ...] = ()
    examples: tuple[str, ...] = field(default=())
    waits_for: str = ""  # what takes so long; said on a terminal, if it does

    @property
    def arguments(self) -> tuple[Parameter, ...]:
        """Those without a name, in their order."""
        return tuple(item for item in self.takes if not item.names)

    @property
    def options(self) -> tuple[Parameter, ...]:
        """Those with a name."""
        return tuple(item for item in self.takes if item.names)

    def option(self, name: str) -> Parameter | None:
        """The option of this name."""
        return next((item for item in self.options if name in item.names), None)


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
