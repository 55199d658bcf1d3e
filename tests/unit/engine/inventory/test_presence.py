"""The presence of one identity after each of a row of listings."""

import pytest

from gpucloud.engine.cloud.presence import after_failure, after_listing
from gpucloud.reconcile.facts import Presence

SHOWN, LACKS, DOUBTED, DOUBTED_SHOWN, FAILED = (
    "shown",
    "lacks",
    "lacks, and is implausible",
    "shown, and is implausible",
    "failed",
)


def after(*listings):
    """The presence after these listings. The first begins at 1 s, the second at 2 s."""
    presence, before = Presence(), 0.0
    for began, listing in enumerate(listings, 1):
        if listing == FAILED:
            presence = after_failure(presence)
            continue
        shown, doubted = listing in {SHOWN, DOUBTED_SHOWN}, listing in {DOUBTED, DOUBTED_SHOWN}
        presence = after_listing(presence, shown=shown, began=float(began), before=before, doubted=doubted)
        before = None if doubted else float(began)
    return presence


@pytest.mark.parametrize(
    ("listings", "presence"),
    [
        ((SHOWN,), Presence(shown_since=1)),
        ((SHOWN, SHOWN), Presence(shown_since=1)),
        ((LACKS,), Presence(lacked_since=1, times_lacked=1)),
        ((SHOWN, LACKS), Presence(lacked_since=2, times_lacked=1)),
        ((LACKS, LACKS), Presence(lacked_since=1, times_lacked=2, confirmed=1)),
        ((LACKS, LACKS, LACKS), Presence(lacked_since=1, times_lacked=3, confirmed=2)),
        ((LACKS, SHOWN), Presence(shown_since=2, lacked_until=2)),
        ((LACKS, SHOWN, SHOWN), Presence(shown_since=2, lacked_until=2)),
        ((LACKS, LACKS, SHOWN), Presence(shown_since=3, lacked_until=3, away_until=3, confirmed=1)),
        ((LACKS, LACKS, SHOWN, LACKS), Presence(lacked_since=4, times_lacked=1, lacked_until=3, away_until=3, confirmed=1)),
        ((LACKS, LACKS, SHOWN, LACKS, SHOWN), Presence(shown_since=5, lacked_until=5, away_until=3, confirmed=1)),
        ((DOUBTED,), Presence(lacked_since=1)),
        ((DOUBTED, DOUBTED, SHOWN), Presence(shown_since=3, lacked_until=3)),
        ((LACKS, DOUBTED, SHOWN), Presence(shown_since=3, lacked_until=3)),
        ((LACKS, DOUBTED, LACKS, SHOWN), Presence(shown_since=4, lacked_until=4, away_until=4)),
        ((LACKS, DOUBTED, LACKS, LACKS), Presence(lacked_since=1, times_lacked=3, confirmed=3)),
        ((LACKS, DOUBTED_SHOWN), Presence(shown_since=2, lacked_until=2)),
        ((SHOWN, FAILED), Presence()),
        ((SHOWN, FAILED, SHOWN), Presence(shown_since=3)),
        ((LACKS, FAILED), Presence(lacked_since=1, times_lacked=1)),
        ((LACKS, FAILED, LACKS), Presence(lacked_since=1, times_lacked=2, confirmed=1)),
        ((LACKS, FAILED, SHOWN), Presence(shown_since=3, lacked_until=3)),
        ((LACKS, LACKS, SHOWN, FAILED), Presence(lacked_until=3, away_until=3, confirmed=1)),
    ],
)
def test_presence_after_listings(listings, presence):
    assert after(*listings) == presence
