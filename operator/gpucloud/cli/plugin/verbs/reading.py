"""Verbs that only look: ``status`` (also ``tree``) and ``wait``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.cli.plugin import overview, show
from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.plugin.objects import Event, Key, Thing, target
from gpucloud.cli.plugin.show import Output
from gpucloud.cli.plugin.standing import Standing
from gpucloud.cli.plugin.verbs.shared import cluster, look, looking
from gpucloud.cli.plugin.verdicts import Aim, Goal
from gpucloud.cli.plugin.waiting import wait
from gpucloud.cli.plugin.world import World, causes

if TYPE_CHECKING:
    from gpucloud.cli.plugin.cluster import Cluster
    from gpucloud.cli.plugin.kube.access import At


def status(at: At, *, objects: tuple[str, ...], output: Output, all_namespaces: bool) -> int:
    """All objects of a namespace, or of all; or those that are named, with their events."""
    here = cluster(at)
    only = tuple(Key(here.namespace, *target(item)) for item in objects)
    if only and all_namespaces:
        raise PluginError(
            "objects and -A exclude each other, since a name is of one namespace: use -n NAMESPACE with objects.",
            ExitCode.MISUSED,
        )
    world = World.of(here.things(None if all_namespaces else here.namespace))
    for key in only:
        if key not in world.things:
            here.need(key)  # says that it is not there
    events = {key: _events(here, world.things[key]) for key in only}
    if output is not Output.TEXT:
        show.document(overview.as_document(world, only, events), output)
    elif not world.things:
        where = "any namespace" if all_namespaces else f"namespace {here.namespace!r}"
        print(f"There are no GPU cloud objects in {where}.")
    else:
        show.lines(overview.as_lines(world, only, events))
    wrong = [cause for cause in overview.concerning(causes(world), only) if cause.standing is Standing.STALLED]
    return ExitCode.FOUND if wrong else ExitCode.OK


def _events(here: Cluster, item: Thing) -> tuple[Event, ...]:
    """Its events; to be refused them spoils no overview."""
    try:
        return here.events(item)
    except PluginError as error:
        show.tell(str(error))
        return ()


def wait_for(at: At, *, objects: tuple[str, ...], goal: str, timeout: float) -> int:
    """Wait until all are ready, or gone."""
    here = cluster(at)
    keys = tuple(dict.fromkeys(Key(here.namespace, *target(item)) for item in objects))
    found = look(here, keys)
    if goal == Goal.READY:
        for key in keys:
            if found[key] is None:
                here.need(key)
    uids = {key: item.uid for key, item in found.items() if item is not None}
    return wait(looking(here, keys), Aim(Goal(goal), uids), timeout)
