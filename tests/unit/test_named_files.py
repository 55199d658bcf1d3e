"""Files that the pages for developers name are there: a module is moved more easily than the words about it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("operator", "tests", "tools", "deploy", "docs", "crds", "schemas")
FILES = {file.relative_to(ROOT).as_posix() for folder in FOLDERS for file in (ROOT / folder).rglob("*.*")}


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/ARCHITECTURE.md"])
def test_each_file_that_it_names_is_there(page):
    named = set(re.findall(r"`([\w./-]+\.(?:py|yaml|json))`", (ROOT / page).read_text()))
    assert len(named) >= 5, "they are still read"
    assert [one for one in sorted(named) if not any(f"/{file}".endswith(f"/{one}") for file in FILES)] == []


def test_each_folder_that_contributing_names_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = set(re.findall(r"`((?:cli|engine|kinds|reconcile|cloud|sim|tests|tools|deploy)/[\w/-]+)/?`", text))
    assert len(named) >= 3, "they are still read"
    assert [one for one in sorted(named) if not any((ROOT / base / one).is_dir() for base in ("operator/gpucloud", ""))] == []
