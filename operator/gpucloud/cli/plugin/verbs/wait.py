"""``wait``: until objects are ready, or gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.cli.plugin.cluster import rights
from gpucloud.cli.plugin.model.verdicts import Aim, Goal
from gpucloud.cli.plugin.targets import cluster, keys_of
from gpucloud.cli.plugin.waiting.waits import look_seconds, reader, wait

if TYPE_CHECKING:
    from gpucloud.cli.plugin.kube.access import At


def wait_for(at: At, *, objects: tuple[str, ...], goal: str, timeout: float) -> int:
    """Wait until all are ready, or gone."""
    here = cluster(at)
    keys = keys_of(here, objects)
    kinds = sorted({key.kind for key in keys})
    here = here.needing(*(rights.right_to("get" if len(keys) == 1 else "list", kind) for kind in kinds))
    read = reader(here, keys)
    seen = read(look_seconds(timeout))
    found = {key: seen[key] for key in keys}
    if goal == Goal.READY:
        for key in keys:
            if found[key] is None:
                here.need(key)
    elif not any(found.values()):  # a slip in the namespace must not read as gone: what was meant may live, and cost money
        here.within(look_seconds(timeout)).check_namespace(here.namespace)
    uids = {key: "" if item is None else item.uid for key, item in found.items()}
    suggested = {key: f".{asked}" for key, item in found.items() if item is None and (asked := here.suggested(key))}
    return wait(read, Aim(Goal(goal), uids), timeout, suggested)
