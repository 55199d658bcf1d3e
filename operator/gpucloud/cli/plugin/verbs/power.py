"""``start``, ``stop`` and ``restart``: what they ask of the operator through a GpuVM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.cli.plugin.cluster import writing
from gpucloud.cli.plugin.cluster.rights import right_to
from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.plugin.model.health import Standing, standing
from gpucloud.cli.plugin.model.objects import VM
from gpucloud.cli.plugin.model.verdicts import Aim, Goal, Request
from gpucloud.cli.plugin.targets import cluster, kept, mind_pause, request_time, warn_of_keepers
from gpucloud.cli.plugin.waiting.waits import reader, wait
from gpucloud.kinds.choices import PowerState
from gpucloud.kinds.meta import Annotation

if TYPE_CHECKING:
    from gpucloud.cli.plugin.cluster import Cluster
    from gpucloud.cli.plugin.kube.access import At
    from gpucloud.cli.plugin.model.objects import Thing


NEEDS = (right_to("get", VM), right_to("patch", VM))


def start(at: At, *, vms: tuple[str, ...], wait_for_it: bool, timeout: float) -> int:
    """Set spec.powerState to Running."""
    return _switch(cluster(at, *NEEDS), vms, PowerState.RUNNING, timeout if wait_for_it else None)


def stop(at: At, *, vms: tuple[str, ...], wait_for_it: bool, timeout: float) -> int:
    """Set spec.powerState to Stopped."""
    return _switch(cluster(at, *NEEDS), vms, PowerState.STOPPED, timeout if wait_for_it else None)


def _switch(here: Cluster, names: tuple[str, ...], wanted: PowerState, timeout: float | None) -> int:
    before = {item.key: item for item in (kept(here, name) for name in names)}  # all of them, before the first is changed
    for item in before.values():
        if _power(item) != wanted or standing(item) is not Standing.READY:
            mind_pause(item, refuse=timeout is not None)
    for item in before.values():
        if _power(item) == wanted:
            print(f"{item.key}: spec.powerState is {wanted} already")
            continue
        writing.patch(here, item, {"spec": {"powerState": wanted.value}})
        print(f"{item.key}: asked for {wanted} (spec.powerState)")
        warn_of_keepers(item, "spec.powerState")
    if timeout is None:
        return ExitCode.OK
    return wait(reader(here, tuple(before)), Aim(Goal.READY, {key: item.uid for key, item in before.items()}), timeout)


def _power(item: Thing) -> str:
    return str(item.spec.get("powerState", PowerState.RUNNING.value))


def restart(at: At, *, vm: str, wait_for_it: bool, timeout: float) -> int:
    """Set the annotation that asks for a restart, and wait for the answer to this very request."""
    here = cluster(at, *NEEDS)
    item = kept(here, vm)
    if _power(item) == PowerState.STOPPED:
        raise PluginError(
            f"{item.key} is to be stopped (spec.powerState), so there is nothing to restart.",
            do=f"Start it: {item.key.command('start')}",
        )
    mind_pause(item, refuse=True)
    asked = request_time()
    writing.patch(here, item, {"metadata": {"annotations": {Annotation.RESTART_REQUESTED_AT.value: asked}}})
    print(f"{item.key}: asked for a restart ({Annotation.RESTART_REQUESTED_AT}={asked})")
    if not wait_for_it:
        return ExitCode.OK
    aim = Aim(Goal.READY, {item.key: item.uid}, request=Request("lastHandledRestartAt", asked, Annotation.RESTART_REQUESTED_AT))
    return wait(reader(here, (item.key,)), aim, timeout)
