"""Wordings that readers had to read twice do not come back into messages, help and pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GONE = {
    "by our hand": "deleted outside Kubernetes",
    "what was adopted stays": "an adopted VM is retained",
    "unasked": "not recreated automatically; the operator does not destroy it",
    "taken up by itself": "the operator reads it again within a minute",
    "watched for": "the operator keeps looking",
    "goes on asking": "the operator keeps trying",
    "before believing": "the operator checks again",
    "cannot be asked about": "cannot be looked up in the cloud",
    "our finalizer is off": "the operator's finalizer is off",
    "names no object": "unknown kind 'pod': use gpuvm (gvm), …",
    "told to stop": "stopped by a signal; spec.powerState is Stopped",
    "told to go": "destruction requested",
    "only a new one can go on": "restart required",
    "this is no ": "not a …",
    "lives in one vpc": "set exactly one of spec.vpc and spec.vpcRef",
    "before destruction pauses": "maximum deletions within the window; 0: unlimited",
    "fixed for life": "immutable",
    "the cloud's affair": "depends on the cloud",
    "bear no hold": "have no duplicate protection",
    "not told of": "series of deleted accounts are removed",
    "last event has come": "tombstones: late watch events for deleted UIDs are ignored",
    "roll call": "resync: drop cached objects that a fresh list no longer contains",
    "one listing for everybody": "one list call per cluster and interval",
    "the watch tells": "wait for the DELETED event",
    "asked again by itself": "the operator keeps trying",
    "not made again": "not recreated automatically",
    "five sins": "five mistakes are easy to make",
    "hold against duplicates": "duplicate protection",
    "has one owner only": "is already used by GpuVM 'x'",
    "correct what refers to it": "delete the objects that wait for it and create them again",
    "is told at once": "is reported at once",
    "is told once": "is reported once",
    "is told the time": "the time is an argument",
    "is let go": "is released",
    "made or let go": "created or released",
    "lets nothing go": "releases no object",
    "nothing told that": "nothing shows that",
    "no record told of": "no record names",
    "not done after": "Not Ready after 1800 s",
    "it is still watched": "the operator keeps trying",
    "there is no account for it": "the operator's own account, which is missing",
    "happened 5 times in a row": "failed 5 times or more",
}
READ = [  # not the report, which also tells of names in the tests
    *(ROOT / "operator").rglob("*.py"),
    *(page for page in (ROOT / "docs").glob("*.md") if page.name != "reliability.md"),
    *(ROOT / "docs" / "how-to").glob("*.md"),
    *(ROOT / "docs" / "reference").glob("*.md"),
    *(ROOT / "docs" / "explanation").glob("*.md"),
    *(ROOT / "docs" / "adr").glob("*.md"),
    *(path for path in (ROOT / "deploy").rglob("*") if path.suffix in {".md", ".yaml", ".json", ".txt"}),
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
]


@pytest.mark.parametrize("words", GONE)
def test_a_wording_that_was_replaced_is_used_nowhere(words):
    found = [path.relative_to(ROOT) for path in READ if words in " ".join(_prose(path).split()).casefold()]
    assert found == [], f"write instead: {GONE[words]}"


def _prose(path):
    """The text; of a decision without the names of code and of rules of the tests, such as `unasked`."""
    text = path.read_text()
    return re.sub(r"`[^`\n]*`", "`…`", text) if path.parent.name == "adr" else text
