"""``start``, ``stop`` and ``restart``: what they ask of the operator through a GpuVM."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from gpucloud.cli.plugin import show
from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.plugin.standing import Standing, standing
from gpucloud.cli.plugin.verbs.shared import cluster, kept, looking, mind_pause
from gpucloud.cli.plugin.verdicts import Aim, Goal
from gpucloud.cli.plugin.waiting import wait
from gpucloud.kinds.gpuvm import PowerState
from gpucloud.kinds.meta import Annotation

if TYPE_CHECKING:
    from gpucloud.cli.plugin.cluster import Cluster
    from gpucloud.cli.plugin.kube.access import At
    from gpucloud.cli.plugin.objects import Thing

# Who writes the manifest again at its next look, and by which mark that is known.
KEEPERS = {
    "Argo CD": ("argocd.argoproj.io/tracking-id",),
    "Flux": ("kustomize.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/name"),
    "Helm": ("meta.helm.sh/release-name",),
}


def start(at: At, *, vms: tuple[str, ...], wait_for_it: bool, timeout: float) -> int:
    """Set spec.powerState to Running."""
    return _switch(cluster(at), vms, PowerState.RUNNING, timeout if wait_for_it else None)


def stop(at: At, *, vms: tuple[str, ...], wait_for_it: bool, timeout: float) -> int:
    """Set spec.powerState to Stopped."""
    return _switch(cluster(at), vms, PowerState.STOPPED, timeout if wait_for_it else None)


def _switch(here: Cluster, names: tuple[str, ...], wanted: PowerState, timeout: float | None) -> int:
    before = {item.key: item for item in (kept(here, name) for name in names)}  # all of them, before the first is changed
    for item in before.values():
        if _power(item) != wanted or standing(item) is not Standing.READY:
            mind_pause(item, refuse=timeout is not None)
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


def _power(item: Thing) -> str:
    return str(item.spec.get("powerState", PowerState.RUNNING.value))


def _warn_of_keepers(item: Thing) -> None:
    marks = {*item.annotations, *item.labels}
    keeper = next((name for name, known in KEEPERS.items() if marks.intersection(known)), None)
    if keeper is not None:
        show.tell(
            f"{item.key} comes from {keeper}, which sets it back if the manifest has spec.powerState: change it there, too."
        )


def restart(at: At, *, vm: str, wait_for_it: bool, timeout: float) -> int:
    """Set the annotation that asks for a restart, and wait for the answer to this very request."""
    here = cluster(at)
    item = kept(here, vm)
    if _power(item) == PowerState.STOPPED:
        raise PluginError(f"{item.key} is to be stopped (spec.powerState), so there is nothing to restart: use start.")
    mind_pause(item, refuse=True)
    asked = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")  # two in one second are two requests
    here.patch(item.key, {"metadata": {"annotations": {Annotation.RESTART_REQUESTED_AT.value: asked}}})
    print(f"{item.key}: asked for a restart ({Annotation.RESTART_REQUESTED_AT}={asked})")
    if not wait_for_it:
        return ExitCode.OK
    aim = Aim(Goal.READY, {item.key: item.uid}, answered=("lastHandledRestartAt", asked))
    return wait(looking(here, (item.key,)), aim, timeout)
