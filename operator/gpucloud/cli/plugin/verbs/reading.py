"""Verbs that only look: ``status`` (also ``tree``) and ``wait``."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated

import typer

from gpucloud.cli.plugin import candidates, overview, show
from gpucloud.cli.plugin.cluster import Cluster
from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.plugin.objects import Event, Key, Thing, target
from gpucloud.cli.plugin.show import Output
from gpucloud.cli.plugin.standing import Standing
from gpucloud.cli.plugin.verbs.options import AllNamespaces, Context, Form, Kubeconfig, Namespace, Seconds, cluster, seconds
from gpucloud.cli.plugin.waiting import Aim, Goal, wait
from gpucloud.cli.plugin.world import World, causes

Objects = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[KIND/NAME]...",
        help="Objects, as gvm/train; all of the namespace when not given.",
        autocompletion=candidates.objects,
    ),
]
Targets = Annotated[
    list[str],
    typer.Argument(metavar="KIND/NAME...", help="Objects to wait for, as gvm/train.", autocompletion=candidates.objects),
]
For = Annotated[Goal, typer.Option("--for", help="ready: as the spec asks. gone: deleted, and proven gone in the cloud.")]


def status(
    objects: Objects = None,
    *,
    output: Form = Output.TEXT,
    namespace: Namespace = None,
    all_namespaces: AllNamespaces = False,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> int:
    """Show what there is, what is wrong first, and who waits for whom.

    All GPU cloud objects of a namespace as a tree: account, VPC, VM, snapshot. Above it stand the root causes: the objects
    that are not as asked and wait for no other, with their whole message and with those that wait for them. Named objects
    come with their events.
    """
    here = cluster(namespace, context, kubeconfig)
    only = tuple(Key(here.namespace, *target(item)) for item in objects or ())
    if only and all_namespaces:
        raise PluginError("say objects or -A, not both: an object's name says nothing without its namespace.", ExitCode.MISUSED)
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


def wait_for(
    objects: Targets,
    *,
    goal: For = Goal.READY,
    timeout: Seconds = "30m",
    namespace: Namespace = None,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> int:
    """Wait until objects are ready, or gone; stop at once when one of them is Stalled.

    Progress is shown on standard error, the outcome of each object on standard output. The exit code is 0 when all are as
    wanted, 3 when one will not get there without a person, 4 when the time is over.
    """
    here = cluster(namespace, context, kubeconfig)
    keys = tuple(dict.fromkeys(Key(here.namespace, *target(item)) for item in objects))
    found = look(here, keys)
    if goal is Goal.READY:
        for key in keys:
            if found[key] is None:
                here.need(key)
    uids = {key: item.uid for key, item in found.items() if item is not None}
    return wait(looking(here, keys), Aim(goal, uids), seconds(timeout))


def look(here: Cluster, keys: tuple[Key, ...]) -> Mapping[Key, Thing | None]:
    """These objects as they are now: one read for one, else one list a kind."""
    if len(keys) == 1:
        return {keys[0]: here.find(keys[0])}
    found = {item.key: item for item in here.things(here.namespace, sorted({key.kind for key in keys}))}
    return {key: found.get(key) for key in keys}


def looking(here: Cluster, keys: tuple[Key, ...]) -> Callable[[], Mapping[Key, Thing | None]]:
    """The same, to be called again and again."""
    return partial(look, here, keys)
