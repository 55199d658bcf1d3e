"""What a list of configurations says: names, prices, and where each is offered. Pure, so that the plugin loads no engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.engine.cloud.seen_names import MOST_NAMES, SeenNames, is_shown
from gpucloud.reconcile.price import ABSURD_PRICE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpucloud.cloud.models import ConfigurationRecord


def prices(configurations: Iterable[ConfigurationRecord]) -> dict[str, str]:
    """Return dollars per hour by configuration, as text. Leaves out records without a name or with an impossible price."""
    return {
        item.name: f"{item.price:.2f}"
        for item in configurations
        if item.name is not None and item.price is not None and 0 <= item.price < ABSURD_PRICE
    }


def offered(configurations: Iterable[ConfigurationRecord]) -> SeenNames:
    """Return the names of configurations by cluster. A record without clusters leaves unknown where it is offered."""
    found = SeenNames()
    for item in configurations:
        for cluster in item.clusters:
            found.add(cluster, (item.name,))
    return found


def clusters(configurations: Iterable[ConfigurationRecord]) -> dict[str, tuple[str, ...]]:
    """Return the clusters of each configuration, as the cloud spells them; those that no message could show are left out."""
    shown = {item.name: [one for one in item.clusters if is_shown(one)] for item in configurations if item.name is not None}
    return {name: tuple(sorted(places)[:MOST_NAMES]) for name, places in shown.items() if places}


def names(configurations: Iterable[ConfigurationRecord]) -> dict[str, str]:
    """Return the names of configurations by what a VM's record may say: the name, or the number as text (field notes)."""
    named = [item for item in configurations if item.name is not None]
    numbers = {str(item.id): str(item.name) for item in named if item.id is not None}
    return numbers | {str(item.name): str(item.name) for item in named}
