"""Verbs that ask something of the operator through an object: ``start``, ``stop``, ``restart``, ``snapshot``; and ``ssh``."""

import ipaddress
import os
import shlex
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from gpucloud.cli.plugin import show
from gpucloud.cli.plugin.cluster import Cluster
from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.plugin.objects import SNAPSHOT, Key, Thing, target
from gpucloud.cli.plugin.standing import Standing, message, standing
from gpucloud.cli.plugin.verbs.options import (
    Context,
    Kubeconfig,
    Namespace,
    OneVM,
    Seconds,
    Wait,
    cluster,
    environment,
    seconds,
    vm_key,
)
from gpucloud.cli.plugin.verbs.reading import looking
from gpucloud.cli.plugin.waiting import Aim, Goal, wait
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.kinds.gpuvm import PowerState
from gpucloud.kinds.meta import Annotation

VMs = Annotated[list[str], typer.Argument(metavar="VM...", help="Names of GpuVMs: train, or gvm/train.")]
SnapshotName = Annotated[
    str | None, typer.Option("--name", help="Name of the GpuSnapshot; the VM's name and the time when not given.")
]
Login = Annotated[
    str | None, typer.Option("--login", "-l", metavar="USER", help="User to log in as; GPUCLOUD_SSH_USER, else ubuntu.")
]
Private = Annotated[bool, typer.Option("--private", help="Use the private address, from inside the VPC.")]
Print = Annotated[bool, typer.Option("--print", help="Print the command instead of running it.")]
Rest = Annotated[list[str] | None, typer.Argument(metavar="[-- ARGS]...", help="Options and a command for ssh, after --.")]

# Who writes the manifest again at its next look, and by which mark that is known.
KEEPERS = {
    "Argo CD": ("argocd.argoproj.io/tracking-id",),
    "Flux": ("kustomize.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/name"),
    "Helm": ("meta.helm.sh/release-name",),
}


def start(
    vms: VMs,
    *,
    wait_for_it: Wait = False,
    timeout: Seconds = "30m",
    namespace: Namespace = None,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> int:
    """Power VMs on: sets spec.powerState to Running."""
    here = cluster(namespace, context, kubeconfig)
    return _switch(here, vms, PowerState.RUNNING, seconds(timeout) if wait_for_it else None)


def stop(
    vms: VMs,
    *,
    wait_for_it: Wait = False,
    timeout: Seconds = "30m",
    namespace: Namespace = None,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> int:
    """Power VMs off: sets spec.powerState to Stopped. The GPU is freed; the disk stays, and is billed."""
    here = cluster(namespace, context, kubeconfig)
    return _switch(here, vms, PowerState.STOPPED, seconds(timeout) if wait_for_it else None)


def _switch(here: Cluster, names: list[str], wanted: PowerState, timeout: float | None) -> int:
    keys = tuple(dict.fromkeys(vm_key(here, name) for name in names))
    before = [here.need(key) for key in keys]  # all of them, before the first is changed
    for item in before:
        if item.spec.get("powerState", PowerState.RUNNING) == wanted:
            print(f"{item.key}: spec.powerState is {wanted} already")
            continue
        here.patch(item.key, {"spec": {"powerState": wanted.value}})
        print(f"{item.key}: asked for {wanted} (spec.powerState)")
        _warn_of_keepers(item)
    if timeout is None:
        return ExitCode.OK
    return wait(looking(here, keys), Aim(Goal.READY, {item.key: item.uid for item in before}), timeout)


def _warn_of_keepers(item: Thing) -> None:
    marks = {*item.annotations, *item.labels}
    keeper = next((name for name, known in KEEPERS.items() if marks.intersection(known)), None)
    if keeper is not None:
        show.tell(
            f"{item.key} comes from {keeper}, which sets it back if the manifest has spec.powerState: change it there, too."
        )


def restart(
    vm: OneVM,
    *,
    wait_for_it: Wait = False,
    timeout: Seconds = "30m",
    namespace: Namespace = None,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> int:
    """Stop a VM and start it again: sets the annotation gpucloud.dev/restart-requested-at, which the status answers."""
    here = cluster(namespace, context, kubeconfig)
    item = here.need(vm_key(here, vm))
    if item.spec.get("powerState") == PowerState.STOPPED:
        raise PluginError(f"{item.key} is to be stopped (spec.powerState), so there is nothing to restart: use start.")
    if item.paused:
        raise PluginError(f"{item.key} is paused: remove the annotation {Annotation.PAUSED} first.")
    asked = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")  # two in one second are two requests
    here.patch(item.key, {"metadata": {"annotations": {Annotation.RESTART_REQUESTED_AT.value: asked}}})
    print(f"{item.key}: asked for a restart ({Annotation.RESTART_REQUESTED_AT}={asked})")
    if not wait_for_it:
        return ExitCode.OK
    aim = Aim(Goal.READY, {item.key: item.uid}, answered=("lastHandledRestartAt", asked))
    return wait(looking(here, (item.key,)), aim, seconds(timeout))


def snapshot(
    vm: OneVM,
    *,
    name: SnapshotName = None,
    wait_for_it: Wait = False,
    timeout: Seconds = "30m",
    namespace: Namespace = None,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> int:
    """Take a snapshot of a VM: creates a GpuSnapshot that refers to it."""
    here = cluster(namespace, context, kubeconfig)
    source = here.need(vm_key(here, vm))
    called = target(name, SNAPSHOT)[1] if name else f"{source.key.name[:200]}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    made = here.create(Key(here.namespace, SNAPSHOT, called), snapshot_spec(source))
    print(f"{made.key}: created, of {source.key}")
    if not wait_for_it:
        return ExitCode.OK
    return wait(looking(here, (made.key,)), Aim(Goal.READY, {made.key: made.uid}), seconds(timeout))


def snapshot_spec(source: Thing) -> dict[str, Any]:
    """The snapshot uses the account that its VM uses, which an object without accountRef need not do."""
    frozen = source.text("account")
    account = source.spec.get("accountRef") or ({"name": frozen} if frozen and frozen != OWN_ACCOUNT else None)
    return {"vmRef": {"name": source.key.name}} | ({"accountRef": account} if account else {})


def ssh(
    vm: OneVM,
    args: Rest = None,
    *,
    login: Login = None,
    private: Private = False,
    print_only: Print = False,
    namespace: Namespace = None,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> int:
    """Log in to a VM with the ssh of this machine, at the address in the VM's status.

    The exit code is ssh's own.
    """
    here = cluster(namespace, context, kubeconfig)
    item = here.need(vm_key(here, vm))
    command = ssh_command(item, environment("GPUCLOUD_SSH_USER", login) or "ubuntu", args or [], private=private)
    if print_only:
        print(shlex.join(command))
        return ExitCode.OK
    if standing(item) is not Standing.READY:
        show.tell(f"{item.key} is not ready ({message(item).rstrip('.')}); trying all the same.")
    try:
        os.execvp(command[0], command)  # noqa: S606 - no shell; the address was checked
    except FileNotFoundError:
        raise PluginError("there is no ssh on this machine: install an OpenSSH client, or use --print.") from None


def ssh_command(item: Thing, login: str, args: list[str], *, private: bool) -> list[str]:
    """The command line. A status is text that others may write, so only an address passes: no option, no host name.

    Raises:
        PluginError: there is no address yet, or no usable one.
    """
    which = "private" if private else "public"
    address = item.text("privateIp" if private else "ip")
    if not address:
        raise PluginError(f"{item.key} has no {which} address yet: {message(item) or 'wait until it is ready.'}")
    try:
        ipaddress.ip_address(address)
    except ValueError:
        raise PluginError(
            f"the status of {item.key} holds {address!r}, which is no IP address: look at it with status."
        ) from None
    if login.startswith("-") or not login.isprintable() or " " in login:
        raise PluginError(f"--login: {login!r} is no name of a user.", ExitCode.MISUSED)
    return ["ssh", "-l", login, address, *args]
