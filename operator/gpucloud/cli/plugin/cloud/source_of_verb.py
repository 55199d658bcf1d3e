"""The way by which a verb asks the cloud: which source it is, the same command again, and what could not be looked at."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from gpucloud.cli.plugin import show
from gpucloud.cli.plugin.cloud.console import console
from gpucloud.cli.plugin.cloud.sources import NoWay, direct
from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.plugin.kube.client import KubeApi
from gpucloud.cli.plugin.usage.options import SYSTEM
from gpucloud.cli.terminal.marks import paste, plain

if TYPE_CHECKING:
    from gpucloud.cli.plugin.cloud.sources import Source
    from gpucloud.cli.plugin.cluster import Cluster
    from gpucloud.cli.plugin.model.objects import Thing
    from gpucloud.cli.plugin.usage.options import CloudOptions


class NoSourceError(PluginError):
    """There is no way to ask the cloud."""


def source_of(here: Cluster, account: Thing | None, cloud: CloudOptions) -> Source:
    """The Secret, if it can be used, else the operator's console.

    Raises:
        NoSourceError: neither can be used; both reasons.
        PluginError: what stands in the Secret or the options is wrong.
    """
    found = direct(here, account, cloud)
    if not isinstance(found, NoWay):
        return found
    why = found.why
    if not isinstance(here.api, KubeApi):
        raise NoSourceError(f"{why}.", do=found.do or "Give --endpoint NAME=URL, or ask your administrator for it.")
    try:
        return console(here, here.api, account, cloud)
    except PluginError as error:
        raise NoSourceError(
            f"the cloud cannot be asked: {why}; and {error.what}", error.code, do=found.do or error.do
        ) from None


def command_again(here: Cluster, cloud: CloudOptions, *words: str) -> str:
    """A command of the plugin that asks the cloud through the same account, endpoints and console, to paste."""
    elsewhere = "" if cloud.operator_namespace == SYSTEM else cloud.operator_namespace
    given = [
        ("account", cloud.account),
        *(("endpoint", one) for one in cloud.endpoint),
        ("console", cloud.console_url),
        ("operator-namespace", elsewhere),
        ("namespace", here.namespace),
    ]
    options = [f"--{name}={value}" for name, value in given if value]
    return paste(shlex.join(["kubectl", "gpucloud", *words, *options]))


def complete(failures: tuple[str, ...], code: ExitCode) -> ExitCode:
    """What could not be looked at outweighs what was found."""
    for failure in failures:
        show.tell(f"{plain(failure).rstrip('.')}.")
    return ExitCode.FAILED if failures else code
