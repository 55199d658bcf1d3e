"""``snapshot``: a GpuSnapshot of a GpuVM."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin.creating import checked_name
from gpucloud.cli.plugin.errors import ExitCode
from gpucloud.cli.plugin.objects import SNAPSHOT, VM, Key, target
from gpucloud.cli.plugin.rights import right_to
from gpucloud.cli.plugin.targets import cluster, kept, mind_pause
from gpucloud.cli.plugin.verdicts import Aim, Goal
from gpucloud.cli.plugin.waiting import reader, wait
from gpucloud.kinds.names import OWN_ACCOUNT

if TYPE_CHECKING:
    from gpucloud.cli.plugin.kube.access import At
    from gpucloud.cli.plugin.objects import Thing


def snapshot(at: At, *, vm: str, name: str | None, wait_for_it: bool, timeout: float) -> int:
    """Create a GpuSnapshot that refers to the VM."""
    called = checked_name(target(name, SNAPSHOT)[1], SNAPSHOT) if name else ""
    waits = (right_to("get", SNAPSHOT),) if wait_for_it else ()
    here = cluster(at, right_to("get", VM), right_to("create", SNAPSHOT), *waits)
    source = kept(here, vm)
    if not source.text("vmId"):  # one that is there may be paused: that is no change of it
        mind_pause(source, refuse=wait_for_it)
    called = called or f"{source.key.name[:200]}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    again = f"with '{source.key.command('snapshot', f'--name={called}')}'"
    made = here.create(Key(here.namespace, SNAPSHOT, called), snapshot_spec(source), again)
    print(f"{made.key}: created, of {source.key}")
    if not wait_for_it:
        return ExitCode.OK
    return wait(reader(here, (made.key,)), Aim(Goal.READY, {made.key: made.uid}), timeout)


def snapshot_spec(source: Thing) -> dict[str, Any]:
    """The snapshot uses the account that its VM uses, which an object without accountRef need not do."""
    frozen = source.text("account")
    account = source.spec.get("accountRef") or ({"name": frozen} if frozen and frozen != OWN_ACCOUNT else None)
    return {"vmRef": {"name": source.key.name}} | ({"accountRef": account} if account else {})
