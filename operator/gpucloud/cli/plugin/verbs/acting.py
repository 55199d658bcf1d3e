"""Verbs that ask something of the operator through an object: ``start``, ``stop``, ``restart``, ``snapshot``; and ``ssh``."""

import ipaddress
import os
import shlex
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from gpucloud.cli.plugin import candidates, show
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

VMs = Annotated[
    list[str], typer.Argument(metavar="VM...", help="Names of GpuVMs: train, or gvm/train.", autocompletion=candidates.vms)
]
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
    before = {item.key: item for item in (_kept(here, name) for name in names)}  # all of them, before the first is changed
    for item in before.values():
        if _power(item) != wanted or standing(item) is not Standing.READY:
            _mind_pause(item, refuse=timeout is not None)
    for item in before.values():
        if _power(item) == wanted:
            print(f"{item.key}: spec.powerState is {wanted} already")
            continue
        here.patch(item.key, {"spec": {"powerState": wanted.value}})
        print(f"{item.key}: asked for {wanted} (spec.powerState)")
        _warn_of_keepers(item)
    if timeout is None:
        return ExitCode.OK
    return wait(looking(here, tuple(before)), Aim(Goal.READY, {key: item.uid for key, item in before.items()}), timeout)


def _kept(here: Cluster, name: str) -> Thing:
    """The VM, which must be there and stay.

    Raises:
        PluginError: it is not there, or being deleted: whatever is asked of it would come to nothing.
    """
    item = here.need(vm_key(here, name))
    if item.deleting is not None:
        raise PluginError(
            f"{item.key} is being deleted, which cannot be taken back: when it is gone, create it again if it is still wanted."
        )
    return item


def _mind_pause(item: Thing, *, refuse: bool) -> None:
    """Tell that a pause holds back what is asked; or refuse it, since it would be waited for in vain, or come unforeseen.

    Raises:
        PluginError: it is paused, and that is to be refused.
    """
    if not item.paused:
        return
    if refuse:
        raise PluginError(f"{item.key} is paused: remove the annotation {Annotation.PAUSED} first.")
    show.tell(f"{item.key} is paused: what is asked of it is done once the annotation {Annotation.PAUSED} is removed.")


def _power(item: Thing) -> str:
    return str(item.spec.get("powerState", PowerState.RUNNING.value))


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
    item = _kept(here, vm)
    if _power(item) == PowerState.STOPPED:
        raise PluginError(f"{item.key} is to be stopped (spec.powerState), so there is nothing to restart: use start.")
    _mind_pause(item, refuse=True)
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
    source = _kept(here, vm)
    if not source.text("vmId"):  # one that is there may be paused: that is no change of it
        _mind_pause(source, refuse=wait_for_it)
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
