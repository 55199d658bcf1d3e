"""``status``, also ``tree``: all objects of a namespace, what is wrong first, and who waits for whom."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from gpucloud.cli.plugin import show
from gpucloud.cli.plugin.cluster import rights
from gpucloud.cli.plugin.errors import ExitCode, ForbiddenError, NotServedError, PluginError
from gpucloud.cli.plugin.model import overview
from gpucloud.cli.plugin.model.dependencies import World, causes
from gpucloud.cli.plugin.model.objects import KINDS
from gpucloud.cli.plugin.targets import cluster, keys_of, listed
from gpucloud.cli.terminal import printing
from gpucloud.cli.terminal.page import Line
from gpucloud.cli.terminal.printing import Output

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpucloud.cli.plugin.cluster import Cluster
    from gpucloud.cli.plugin.kube.access import At
    from gpucloud.cli.plugin.model.objects import Event, Key, Thing


@dataclass(frozen=True, slots=True)
class _Choice:
    """Which objects: those that are named, those with these labels, or all; of one namespace, or of all (None)."""

    namespace: str | None
    named: tuple[Key, ...]
    selector: str

    def place(self) -> str:
        """Where these are, in words."""
        where = "any namespace" if self.namespace is None else f"namespace {self.namespace!r}"
        return where + (f" with the labels {self.selector!r}" if self.selector else "")


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one look has found: ``only`` these objects of the world are asked for; all when it is empty.

    ``lacking``: which kinds may not be listed, and the commands that give the right; empty when all may be.
    """

    world: World
    only: tuple[Key, ...]
    lacking: str = ""


def status(at: At, *, objects: tuple[str, ...], selector: str, watch: bool, output: Output, all_namespaces: bool) -> int:
    """All objects of a namespace, or of all; those with some labels; or those that are named, with their events."""
    here = cluster(at)
    choice = _Choice(None if all_namespaces else here.namespace, keys_of(here, objects), selector)
    _check(choice, output, watch=watch)
    wide = output is Output.WIDE
    seen = _look(here, choice)
    if choice.namespace is not None and not seen.world.things and not seen.lacking:
        here.check_namespace(choice.namespace)
    if watch:
        from gpucloud.cli.plugin.waiting import watching  # noqa: PLC0415 - one module less to load for all who do not watch

        watching.status(lambda: _page(choice, _look(here, choice), {}, wide=wide))
    events = {key: _events(here, seen.world.things[key]) for key in choice.named}
    if output in {Output.TEXT, Output.WIDE}:
        printing.lines(_page(choice, seen, events, wide=wide))
    else:
        printing.document(overview.as_document(seen.world, datetime.now(UTC), seen.only, events), output)
        if seen.lacking:
            show.tell(f"not all kinds are shown. Ask for the right to list them. {seen.lacking}")
    if seen.lacking:
        return ExitCode.FAILED  # what could not be looked at outweighs what was found
    found = overview.concerning(causes(seen.world), seen.only)
    return ExitCode.FOUND if any(cause.calls_a_person for cause in found) else ExitCode.OK


def _check(choice: _Choice, output: Output, *, watch: bool) -> None:
    if choice.named and choice.namespace is None:
        raise PluginError(
            "named objects and -A cannot be combined.",
            ExitCode.MISUSED,
            do="Use -n NAMESPACE with the names, or leave the names out.",
        )
    if choice.named and choice.selector:
        what = "named objects and --selector cannot be combined."
        raise PluginError(what, ExitCode.MISUSED, do="Leave one of the two out.")
    if watch and output not in {Output.TEXT, Output.WIDE}:
        raise PluginError(f"--watch shows text, not {output}.", ExitCode.MISUSED, do="Leave one of the two out.")


def _look(here: Cluster, choice: _Choice) -> _Seen:
    things, forbidden = _visible(here, choice.namespace)
    lacking = " ".join(rights.unlisted(here.whoami(), choice.namespace, forbidden)) if forbidden else ""
    world = World.of(things, forbidden)
    if choice.selector:
        labelled = (item.key for item in _visible(here, choice.namespace, choice.selector)[0])
        only = tuple(key for key in labelled if key in world.things)
        return _Seen(world if only else World.of(()), only, lacking)
    unseen = [here.need(key) for key in choice.named if key not in world.things]  # who may not list may perhaps read one
    return _Seen(World.of((*things, *unseen), forbidden), choice.named, lacking)


def _visible(here: Cluster, namespace: str | None, selector: str = "") -> tuple[tuple[Thing, ...], tuple[str, ...]]:
    """All objects that the user may list, and the plurals of the kinds that the user may not.

    A kind that is not served is left out: the CRDs in the cluster may be older than this plugin.

    Raises:
        PluginError: no kind can be listed, or one cannot for another reason than a missing right.
    """
    things, unread = listed(here, namespace, selector)
    failures = [error for error in unread.values() if not isinstance(error, (ForbiddenError, NotServedError))]
    forbidden = tuple(plural for plural, error in unread.items() if isinstance(error, ForbiddenError))
    if forbidden and not failures and len(unread) == len(KINDS):
        raise rights.none_listed(here.whoami(), namespace, forbidden)
    if failures or len(unread) == len(KINDS):
        raise (failures or list(unread.values()))[0]
    return things, forbidden


def _page(choice: _Choice, seen: _Seen, events: Mapping[Key, tuple[Event, ...]], *, wide: bool) -> list[Line]:
    footer = [Line(""), Line(seen.lacking, style="yellow")] if seen.lacking else []
    if not seen.world.things:
        which = " that you may list" if seen.lacking else ""
        return [Line(f"There are no GPU cloud objects{which} in {choice.place()}."), *footer]
    below = not choice.selector  # labels choose objects one by one; a name stands for what hangs on it, too
    return [*overview.as_lines(seen.world, datetime.now(UTC), seen.only, events, wide=wide, below=below), *footer]


def _events(here: Cluster, item: Thing) -> tuple[Event, ...]:
    """Its events; to be refused them spoils no overview."""
    try:
        return here.events(item)
    except PluginError as error:
        show.tell(str(error))
        return ()
