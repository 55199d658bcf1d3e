"""``make mutants``: a sample of mutants of each room, or all with MUTANTS=all; CHAOS_SEED repeats a sample."""

from __future__ import annotations

import os
import random
import sys

from mutation.campaign import Campaign, held, table

CAMPAIGNS = (Campaign("reconcile", 400, least=0.8), Campaign("cloud", 200))


def main() -> int:
    """Run them; 1 when one finds less than it must."""
    whole = os.environ.get("MUTANTS") == "all"
    seed = int(os.environ.get("CHAOS_SEED") or random.randrange(2**31))  # noqa: S311 - chooses a sample
    wanted = os.environ.get("MUTANTS_OF")
    status = 0
    for campaign in CAMPAIGNS:
        if wanted in {None, "", campaign.room}:
            status = max(status, judged(campaign, seed, whole=whole))
    return status


def judged(campaign: Campaign, seed: int, *, whole: bool) -> int:
    """One campaign, told as it goes."""
    campaign.prepare()
    names = campaign.chosen(seed, whole=whole)
    print(
        f"==> {campaign.room}: {len(names)} mutants (CHAOS_SEED={seed}); log: {campaign.folder.with_suffix('.log')}", flush=True
    )
    outcomes = campaign.run(names)
    for outcome in outcomes:
        if not outcome.found:
            print(f"\n--- {outcome.name}: {outcome.status}\n{outcome.diff}")
    print("\n".join([f"==> {campaign.room}: mutants found", *table(outcomes)]), flush=True)
    if held(outcomes, campaign.least):
        return 0
    print(
        f"Too few of {campaign.room} are found: at least {campaign.least:.0%} must be. The diffs above show what no test sees."
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
