"""``python -m simulation``: many histories on all cores, or one history told in full."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from simulation import arguments, campaign, exhaustive, fleet, hunt, shards, telling
from simulation.defects import DEFECTS
from simulation.weather import Weather

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

INTERRUPTED = 130  # exit code
MODES: dict[str, Callable[[argparse.Namespace], int]] = {
    arguments.CAMPAIGN: campaign.run,
    "seed": lambda given: telling.one(given.seed, shrink=not given.whole),
    "replay": lambda given: telling.again(given.replay),
    "fleet": lambda given: fleet.run(given.fleet),
    "shards": lambda given: shards.run(given.histories, given.first, rivals=bool(given.rivals)),
    "defects": lambda given: hunt.table(given.histories, given.processes, given.defects),
    "digests": lambda given: campaign.tell_digests(given.digests),
    "exhaustive": lambda given: exhaustive.explore(given.depth, given.minutes, given.processes, given.start),
}


def main(words: list[str] | None = None) -> int:
    """Exit code 0: no violation."""
    mode, given = arguments.parse(__doc__, words)
    if given.plant is not None:
        DEFECTS[given.plant]()
        given.stop = True  # nor are the digests compared with those of another process, which knows of no defect
    Weather.without = given.without
    try:
        return MODES[mode](given)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
