"""The figures of docs/reliability.md on the simulated world are the sums of tests/simulation/RECORD.md."""

import re
from pathlib import Path

from simulation.defects import DEFECTS

TESTS = Path(__file__).parents[2]
RECORD = (TESTS / "simulation" / "RECORD.md").read_text()
PAGE = (TESTS.parent / "docs" / "reliability.md").read_text()
CAMPAIGN = re.compile(r"^\| \d.* \| ([\d,]+) \| (\d+) \| (\d+) \| (\d+)(?:; (\d+) open)? \|$", re.MULTILINE)
PLANTED = re.compile(r"^\| (.+) \| [\w' ]+ \| [\d,]+ \| \d+ \|$", re.MULTILINE)


def number(text):
    return int(text.replace(",", ""))


def test_the_page_adds_the_campaigns_up():
    rows = CAMPAIGN.findall(RECORD)
    histories, broken, product, judge = (sum(number(row[at]) for row in rows) for at in range(4))
    still_open = sum(number(row[4] or "0") for row in rows)
    assert len(rows) > 10
    assert broken == product + judge + still_open
    assert f"made {histories:,} histories. In {broken} of them a rule was broken: {product} times the product" in PAGE
    assert f"{judge} times the judge" in PAGE


def test_the_page_counts_the_planted_defects_of_the_record():
    names = PLANTED.findall(RECORD.partition("## Planted defects")[2])
    assert set(names) <= set(DEFECTS), "the record names what is planted"
    assert len(names) == len(set(names))
    assert f"| {len(names)} defects in the process of the simulated world" in PAGE
