"""``snapshot``: a GpuSnapshot of a GpuVM."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin.cluster import writing
from gpucloud.cli.plugin.cluster.rights import right_to
from gpucloud.cli.plugin.cluster.writing import NameTakenError
from gpucloud.cli.plugin.creation.vm_manifest import checked_name
from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.plugin.model.health import Standing, standing
from gpucloud.cli.plugin.model.objects import SNAPSHOT, VM, Key, target
from gpucloud.cli.plugin.model.verdicts import Aim, Goal
from gpucloud.cli.plugin.targets import cluster, kept, mind_pause
from gpucloud.cli.plugin.waiting.waits import reader, wait
from gpucloud.kinds.names import OWN_ACCOUNT

if TYPE_CHECKING:
    from gpucloud.cli.plugin.kube.access import At
    from gpucloud.cli.plugin.model.objects import Thing


def snapshot(at: At, *, vm: str, name: str | None, wait_for_it: bool, timeout: float) -> int:
    """Create a GpuSnapshot that refers to the VM."""
    called = checked_name(target(name, SNAPSHOT)[1], SNAPSHOT) if name else ""
    waits = (right_to("get", SNAPSHOT),) if wait_for_it else ()
    here = cluster(at, right_to("get", VM), right_to("create", SNAPSHOT), *waits)
    source = kept(here, vm)
    if not source.text("vmId"):  # one that is there may be paused: that is no change of it
        mind_pause(source, refuse=wait_for_it)
    called = called or f"{source.key.name[:200]}-{_stamp()}"
    again = f"with '{source.key.command('snapshot', f'--name={called}')}'"
    try:
        made, is_new = writing.create(here, Key(here.namespace, SNAPSHOT, called), snapshot_spec(source), again)
    except NameTakenError:
        there = f"{SNAPSHOT}/{called} exists already in namespace {here.namespace!r}."
        raise PluginError(there, do=f"Take one of another name: {_another(source, called)}") from None
    if is_new:
        print(f"{made.key}: created, of {source.key}")
    else:
        _check_same_request(made, source)
        print(f"{made.key}: exists already, as it was asked for, of {source.key}; it is not taken yet")
    if not wait_for_it:
        return ExitCode.OK
    return wait(reader(here, (made.key,)), Aim(Goal.READY, {made.key: made.uid}), timeout)


def _check_same_request(found: Thing, source: Thing) -> None:
    """Refuse a snapshot that is there already, unless this request is the one that it was made for.

    One that was taken before shows an older state of the VM: who asks now, for example before an upgrade, would rely on it.

    Raises:
        PluginError: it was taken before, or is Stalled.
    """
    there, how = f"{found.key} exists already in namespace {found.key.namespace!r}", standing(found)
    taken = found.text("creationDate")
    if taken or how is Standing.READY:
        when = f" at {taken}" if taken else ""
        other = _another(source, found.key.name)
        raise PluginError(f"{there}: an earlier call had it taken of {source.key}{when}.", do=f"Take another one: {other}")
    if how is Standing.STALLED:
        raise PluginError(f"{there}, as it was asked for, and is Stalled.", do=f"See why: {found.key.command('status')}")


def _another(source: Thing, called: str) -> str:
    """The command that takes a snapshot of another name."""
    return source.key.command("snapshot", f"--name={called[:200]}-{_stamp()}")


def _stamp() -> str:
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}"


def snapshot_spec(source: Thing) -> dict[str, Any]:
    """The snapshot uses the account that its VM uses, which an object without accountRef need not do."""
    frozen = source.text("account")
    account = source.spec.get("accountRef") or ({"name": frozen} if frozen and frozen != OWN_ACCOUNT else None)
    return {"vmRef": {"name": source.key.name}} | ({"accountRef": account} if account else {})
