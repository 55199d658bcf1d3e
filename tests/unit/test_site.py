"""The documents as a site: every page is reached, every link and anchor leads somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
OUTWARD = re.compile(r"blob/main/([^\"#]+)")


def test_the_site_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path)]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert (done.returncode, done.stderr) == (0, "")
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 30
    assert "Keep a Changelog" in (tmp_path / "changelog" / "index.html").read_text()
    outward = {path for page in pages for path in OUTWARD.findall(page.read_text())}
    assert outward, "some pages speak of files beside the documents"
    assert [path for path in sorted(outward) if not (ROOT / path).exists()] == []
