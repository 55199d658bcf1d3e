"""Every rule of the judge is seen to find its breach, and every reason for which it forgives stands where people read it."""

import re
from pathlib import Path

from simulation.forgiving import FORGIVEN

TESTS = Path(__file__).parents[2]
AT_THE_END = {"quiet": "_restless", "uncollected": "left()", "leak": "_leaks", "slow": "_late"}  # who says so, in tests
FOUND = re.compile(r"""found\(\s*f?"([^"{]+)""")


def test_every_rule_has_a_test_that_breaks_it():
    modules = [path for path in (TESTS / "simulation").glob("*.py") if path.name != "fleet.py"]
    rules = {name.strip() for path in modules for name in FOUND.findall(path.read_text())}
    tests = "\n".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    assert len(rules) > 35
    assert sorted(rule for rule in rules if AT_THE_END.get(rule, f'"{rule}') not in tests) == []


def test_every_reason_for_which_the_judge_forgives_is_on_its_page():
    page = (TESTS.parent / "docs/adr/0014-simulated-world.md").read_text()
    assert [f"| {name} | {reason} |" for name, reason in FORGIVEN.items() if f"| {name} | {reason} |" not in page] == []
