"""``pause``, ``resume``, ``retry`` and ``retain``: what a person asks of the operator through any object of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin import show
from gpucloud.cli.plugin.cluster import writing
from gpucloud.cli.plugin.cluster.rights import right_to
from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.plugin.model.health import Standing, reason, standing
from gpucloud.cli.plugin.model.objects import ACCOUNT, HOST, VM
from gpucloud.cli.plugin.model.reasons import NOT_BY_A_RETRY
from gpucloud.cli.plugin.model.verdicts import Aim, Goal, Request
from gpucloud.cli.plugin.targets import cluster, keys_of, mind_pause, request_time, warn_of_keepers
from gpucloud.cli.plugin.waiting.waits import reader, wait
from gpucloud.cli.terminal.marks import paste
from gpucloud.kinds.choices import DeletionPolicy
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile import pause as pausing
from gpucloud.reconcile import time_annotations

if TYPE_CHECKING:
    from gpucloud.cli.plugin.cluster import Cluster
    from gpucloud.cli.plugin.kube.access import At
    from gpucloud.cli.plugin.model.objects import Thing

OF_HOST = (Annotation.REBOOT_REQUESTED_AT, Annotation.REPROVISION_REQUESTED_AT)


def pause(at: At, *, objects: tuple[str, ...]) -> int:
    """Set the annotation that holds all action back."""
    here, things = _things(at, objects)
    for item in things:
        if item.annotations.get(Annotation.PAUSED) == pausing.ON:
            print(f"{item.key}: paused already")
            continue
        _annotate(here, item, Annotation.PAUSED, pausing.ON)
        print(f"{item.key}: paused ({Annotation.PAUSED}={pausing.ON})")
    return ExitCode.OK


def resume(at: At, *, objects: tuple[str, ...]) -> int:
    """Remove that annotation."""
    here, things = _things(at, objects)
    for item in things:
        if Annotation.PAUSED not in item.annotations:
            print(f"{item.key}: not paused")
            continue
        _annotate(here, item, Annotation.PAUSED, None)
        print(f"{item.key}: resumed ({Annotation.PAUSED} removed)")
        warn_of_keepers(item, f"the annotation {Annotation.PAUSED}")
    return ExitCode.OK


def retry(at: At, *, objects: tuple[str, ...], wait_for_it: bool, timeout: float) -> int:
    """Set the annotation that asks for a new try, and wait for what comes of it."""
    here, things = _things(at, objects)
    for item in things:
        if item.deleting is not None:
            raise PluginError(
                f"{item.key} is being deleted, and the operator tries that again by itself.",
                do=f"See how far it is: {item.key.command('status')}",
            )
        if wait_for_it and item.key.kind == ACCOUNT:
            raise PluginError(
                f"the status of {item.key} does not say when a request is answered.",
                do="Leave --wait out, then use the verb wait.",
            )
        _mind_host(item)
        mind_pause(item, refuse=True)
    asked = request_time()
    for item in things:
        if standing(item) is Standing.READY:
            print(f"{item.key}: is as asked, so there is nothing to try again")
            continue
        _annotate(here, item, Annotation.RECONCILE_REQUESTED_AT, asked)
        print(f"{item.key}: asked for another try ({Annotation.RECONCILE_REQUESTED_AT}={asked})")
        if reason(item) in NOT_BY_A_RETRY:
            show.tell(
                f"{item.key} is {reason(item)}, which a retry does not end: {paste(f'kubectl gpucloud explain {reason(item)}')}"
            )
    if not wait_for_it:
        return ExitCode.OK
    uids = {item.key: item.uid for item in things if standing(item) is not Standing.READY}
    answer = Request("lastHandledReconcileAt", asked, Annotation.RECONCILE_REQUESTED_AT, ends_stalled=True)
    return wait(reader(here, tuple(uids)), Aim(Goal.READY, uids, answer), timeout) if uids else ExitCode.OK


def _mind_host(item: Thing) -> None:
    """Refuse a new try of what is sent at most once.

    Raises:
        PluginError: a host, of which a requested call was refused, or had no clear answer.
    """
    if item.key.kind != HOST or reason(item) not in {Reason.REJECTED, Reason.API_ERROR}:
        return
    asked = [name for name in OF_HOST if name in item.annotations]
    if len(asked) == 1:
        wipes = ", which wipes the host" if asked[0] is Annotation.REPROVISION_REQUESTED_AT else ""
        request = paste(time_annotations.command(HOST, item.key.namespace, item.key.name, asked[0]))
        do = f"Make a new request{wipes}: {request}"
    else:  # not known is which one is meant, and one of them wipes the host
        either = " or ".join(OF_HOST)
        do = f"Set one of them to the present time: {either}."
    raise PluginError(f"a request of {item.key} is never sent again.", do=do)


def retain(at: At, *, objects: tuple[str, ...]) -> int:
    """Set spec.deletion.policy to Retain."""
    here, things = _things(at, objects)
    for item in things:
        if item.key.kind in {ACCOUNT, HOST}:
            what = f"deleting {item.key} destroys nothing in the cloud."
            raise PluginError(what, do="Name a GpuVM, GpuVpc or GpuSnapshot.")
    return max([_retain(here, item) for item in things], default=ExitCode.OK)


def _retain(here: Cluster, item: Thing) -> ExitCode:
    """Set the policy of one of them; it fails when a call that destroys may have left before."""
    from gpucloud.kinds.common import OrderState  # noqa: PLC0415 - it loads pydantic, which no other verb here needs

    deletion, stands = item.spec.get("deletion"), "the VM" if item.key.kind == VM else "what it stands for"
    if isinstance(deletion, dict) and deletion.get("policy") == DeletionPolicy.RETAIN:
        print(f"{item.key}: spec.deletion.policy is {DeletionPolicy.RETAIN} already")
        return ExitCode.OK
    item = writing.patch(here, item, {"spec": {"deletion": {"policy": DeletionPolicy.RETAIN.value}}})
    warn_of_keepers(item, "spec.deletion.policy")
    order = item.status.get("order")
    if item.deleting is not None and isinstance(order, dict) and order.get("state") == OrderState.DESTROYING:
        print(f"{item.key}: spec.deletion.policy is {DeletionPolicy.RETAIN}")
        show.tell(
            f"{item.key}: the call that destroys {stands} was announced before this, so {stands} may be destroyed all the "
            "same: look in the cloud, and in status.order of the object."
        )
        return ExitCode.FAILED
    kept = f"{stands} stays in the cloud{' and is billed' if item.key.kind == VM else ''}"
    print(f"{item.key}: spec.deletion.policy is {DeletionPolicy.RETAIN}: when the object is deleted, {kept}")
    return ExitCode.OK


def _things(at: At, objects: tuple[str, ...]) -> tuple[Cluster, tuple[Thing, ...]]:
    """The cluster, and all of them, before the first is changed."""
    here = cluster(at)
    keys = keys_of(here, objects)
    kinds = tuple(dict.fromkeys(key.kind for key in keys))
    here = here.needing(*(right_to(verb, kind) for verb in ("get", "patch") for kind in kinds))
    return here, tuple(here.need(key) for key in keys)


def _annotate(here: Cluster, item: Thing, name: Annotation, value: str | None) -> None:
    change: dict[str, Any] = {"metadata": {"annotations": {name.value: value}}}
    writing.patch(here, item, change)
