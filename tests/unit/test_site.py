"""The documents as a site: every page is reached, every link and anchor leads somewhere."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
OUTWARD = re.compile(r"blob/main/([^\"#]+)")


def built(folder, to):
    """The exit code and the warnings of the command of ``make check``. With --quiet strict would count no warning."""
    command = [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(to)]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    return done.returncode, [line for line in done.stderr.splitlines() if line.startswith(("WARNING", "ERROR"))]


def test_the_site_builds_without_a_warning(tmp_path):
    assert built(ROOT, tmp_path) == (0, [])
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 30
    assert "Keep a Changelog" in (tmp_path / "changelog" / "index.html").read_text()
    found = json.loads((tmp_path / "search" / "search_index.json").read_text())["docs"]
    assert any(one["title"] == "Restart" and one["location"].startswith("how-to/gpuvm/") for one in found), "search"
    assert "/edit/main/docs/tutorial.md" in (tmp_path / "tutorial" / "index.html").read_text(), "a link to edit the page"
    card = (tmp_path / "images" / "card.png").read_bytes()
    assert (card[1:4], int.from_bytes(card[16:20]), int.from_bytes(card[20:24])) == (b"PNG", 1200, 630), "the social card"
    outward = {path for page in pages for path in OUTWARD.findall(page.read_text())}
    assert outward, "some pages speak of files beside the documents"
    assert [path for path in sorted(outward) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("link", ["nowhere.md", "tutorial.md#no-such-heading", "#no-such-heading"])
def test_a_link_that_leads_nowhere_fails_the_build(tmp_path, link):
    for name in ("mkdocs.yml", "CHANGELOG.md", "tools"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    page = tmp_path / "docs" / "faq.md"
    page.write_text(f"{page.read_text()}\n[a link]({link})\n")
    code, warnings = built(tmp_path, tmp_path / "out")
    assert (code != 0, len(warnings)) == (True, 1), warnings
    assert link in warnings[0]


def test_the_commands_that_check_links_are_not_quiet():
    builds = [line for line in (ROOT / "Makefile").read_text().splitlines() if "mkdocs build" in line]
    assert len(builds) == 2, "make check, and make docs"
    assert not [line for line in builds if "--quiet " in line.partition("#")[0]], "strict counts no warning then"


def test_a_version_is_added_to_the_published_site(tmp_path):
    for name in ("mkdocs.yml", "CHANGELOG.md", "docs", "tools"):
        (tmp_path / name).symlink_to(ROOT / name)
    person = {
        f"GIT_{role}_{what}": f"a{at}" for role in ("AUTHOR", "COMMITTER") for what, at in (("NAME", ""), ("EMAIL", "@b.test"))
    }
    programs = Path(sys.executable).parent
    env = {**os.environ, **person, "NO_MKDOCS_2_WARNING": "1", "PATH": f"{programs}:{os.environ['PATH']}"}

    def run(*command):
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True).stdout  # noqa: S603 - our own

    run("git", "init", "--quiet")
    run("git", "commit", "--quiet", "--allow-empty", "--message", "mike names the commit that it builds")
    run(str(programs / "mike"), "deploy", "--update-aliases", "1.2", "latest")
    versions = json.loads(run("git", "show", "gh-pages:versions.json"))
    assert versions == [{"version": "1.2", "title": "1.2", "aliases": ["latest"]}]
    home = run("git", "show", "gh-pages:1.2/index.html")
    assert '<meta property="og:image" content="https://gpucloud.dev/docs/1.2/images/card.png">' in home


def audiences():
    """Each page below "For users" or "For administrators" of the menu, and that heading."""
    menu = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    for part in yaml.safe_load(menu):
        for heading, pages in part.items():
            if heading.startswith("For "):
                yield from ((page, heading) for named in pages for page in named.values())


@pytest.mark.parametrize(("page", "heading"), list(audiences()))
def test_a_page_for_users_or_for_administrators_says_so(page, heading):
    assert (ROOT / "docs" / page).read_text().split("\n\n")[1] == f"*{heading}.*", "begin the page with this line"
