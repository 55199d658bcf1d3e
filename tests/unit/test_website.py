"""Who reads a message in a cluster that somebody else installed has no checkout: pages are named by their address."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from gpucloud.website import SITE

ROOT = Path(__file__).parents[2]
CODE = sorted((ROOT / "operator").rglob("*.py"))
CHART = ROOT / "deploy" / "helm" / "gpucloud-operator"
SHIPPED = [
    *(CHART / "files" / "dashboard.json", CHART / "values.yaml", CHART / "values.schema.json"),
    *(ROOT / "crds").glob("*.yaml"),
]
PATH = re.compile(r"(?<![\w/.])docs/[a-z]+/[\w-]+|\b(?:how-to|reference|explanation|adr)/[\w-]+\.md")
ADDRESS = re.compile(rf"{re.escape(SITE)}([\w/-]*[\w-])/(#[\w-]+)?")


def texts(path):
    """The texts of a module that people may read: all but docstrings."""
    tree = ast.parse(path.read_text())
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def test_no_text_names_a_page_by_its_path_in_the_repository():
    """The explained reasons are Markdown of a page beside the others; ``explain`` makes addresses of their links."""
    found = [(path.name, text) for path in CODE if path.parent.name != "explained" for text in texts(path) if PATH.search(text)]
    assert found == []


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_neither_does_a_file_that_the_cluster_shows(path):
    assert PATH.findall(path.read_text()) == []


def test_each_address_is_that_of_a_page():
    shown = [*(text for path in CODE for text in texts(path)), *(path.read_text() for path in SHIPPED)]
    pages = {page for text in shown for page, _ in ADDRESS.findall(text)}
    assert pages
    assert {page for page in pages if not (ROOT / "docs" / f"{page}.md").is_file()} == set()
    assert {text for text in shown if SITE in text and text != SITE and not ADDRESS.search(text)} == set()


def test_the_site_is_the_one_that_is_built_in_the_version_that_it_shows_first():
    settings = (ROOT / "mkdocs.yml").read_text()
    address = re.search(r"^site_url: (\S+)$", settings, re.MULTILINE)[1]
    version = re.search(r"provider: mike, default: (\w+)", settings)[1]
    assert f"{address}{version}/" == SITE
