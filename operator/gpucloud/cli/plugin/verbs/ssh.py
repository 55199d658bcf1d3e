"""``ssh``: log in with the ssh of this machine."""

from __future__ import annotations

import ipaddress
import os
import shlex
from typing import TYPE_CHECKING

from gpucloud.cli import variables
from gpucloud.cli.plugin import show
from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.plugin.model.health import Standing, message, standing
from gpucloud.cli.plugin.targets import cluster, vm_key
from gpucloud.cli.plugin.usage.options import environment

if TYPE_CHECKING:
    from gpucloud.cli.plugin.kube.access import At
    from gpucloud.cli.plugin.model.objects import Thing


def ssh(at: At, *, vm: str, args: tuple[str, ...], login: str | None, private: bool, print_only: bool) -> int:
    """Become the ssh of this machine, with the VM's address."""
    here = cluster(at)
    item = here.need(vm_key(here, vm))
    command = ssh_command(item, environment(variables.SSH_USER, login) or "ubuntu", args, private=private)
    if print_only:
        print(shlex.join(command))
        return ExitCode.OK
    if standing(item) is not Standing.READY:
        show.tell(f"{item.key} is not ready, and is tried all the same. {message(item)}")
    try:
        os.execvp(command[0], command)  # noqa: S606 - no shell; the address was checked
    except FileNotFoundError:
        raise PluginError("there is no ssh on this machine.", do="Install an OpenSSH client, or use --print.") from None


def ssh_command(item: Thing, login: str, args: tuple[str, ...], *, private: bool) -> list[str]:
    """The command line. A status is text that others may write, so only an address passes: no option, no host name.

    Raises:
        PluginError: there is no address yet, or no usable one.
    """
    which = "private" if private else "public"
    address = item.text("privateIp" if private else "ip")
    if not address:
        what = f"{item.key} has no {which} address now. {message(item)}".rstrip()
        raise PluginError(what, do=_way_out(item, private=private))
    try:
        ipaddress.ip_address(address.replace("%", " "))  # a zone of IPv6 may be any text, and means nothing elsewhere
    except ValueError:
        raise PluginError(
            f"the status of {item.key} holds {address!r}, which is not an IP address.",
            do=f"See it: {item.key.command('status')}",
        ) from None
    if login.startswith("-") or not login.isprintable() or " " in login:
        raise PluginError(
            f"--login: {login!r} is not a user name.",
            ExitCode.MISUSED,
            do="Use one without spaces that does not start with a dash.",
        )
    return ["ssh", "-l", login, address, *args]


def _way_out(item: Thing, *, private: bool) -> str:
    """How to come to an address: a VM that is Ready without a public one gets none by waiting."""
    if item.spec.get("powerState") == "Stopped":
        return f"Start it: {item.key.command('start', '--wait')}"
    if standing(item) is Standing.READY and not private and item.text("privateIp"):
        return f"From inside its VPC use: {item.key.command('ssh', '--private')}"
    if standing(item) is Standing.STALLED:
        return f"Do what its status says: {item.key.command('status')}"
    return f"Wait for it: {item.key.command('wait')}"
