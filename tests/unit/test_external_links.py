"""Addresses outside the repository, in documents and manifests: well-formed, https, and of a host that is known.

Nothing is fetched: a misspelt host is found here, a page that has moved by the command in CONTRIBUTING.md.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "mkdocs.yml", "pyproject.toml", "Dockerfile")),
    *(ROOT / "docs").rglob("*.md"),
    *(path for path in (ROOT / "deploy").rglob("*") if path.suffix in {".md", ".yaml", ".yml", ".tpl", ".txt"}),
]
KNOWN = {
    "argoproj.github.io": "Helm charts of Argo CD",
    "gpucloud.dev": "the published site",
    "ghcr.io": "container images and charts",
    "github.com": "the repository",
    "keepachangelog.com": "the form of the changelog",
    "raw.githubusercontent.com": "files of repositories",
    "token.actions.githubusercontent.com": "who signs the image",
    "vale.sh": "the checker of prose",
}
# What stands for an address of the reader's, by RFC 2606 or by its form, or is reached on one machine or in one cluster only.
PLACEHOLDER = re.compile(r"(.+\.)?(example|example\.com|invalid|test|svc)|[a-z-]+|[A-Z_]+|127\.0\.0\.1|.*[{}$…].*")
ADDRESS = re.compile(r"\b([a-z][a-z+]*)://(?:[^\s/@]*@)?([\w{$…][\w.{}$…-]*)(?::[\w{}$]+)?([^\s\"'`<>|)\]\\,;]*)")
PATH = re.compile(r"(/[\w.:~%{}@+=-]*)*([?#].*)?")


def fault(scheme, host, path):
    """Why an address cannot be meant; empty for a good one."""
    if PLACEHOLDER.fullmatch(host):
        return ""
    if scheme not in {"https", "oci"}:
        return f"{scheme}://{host}: not https"
    if host.rstrip(".") not in KNOWN:
        return f"{scheme}://{host}: no known host; correct it, or add the host to KNOWN"
    return "" if PATH.fullmatch(path) else f"{scheme}://{host}{path}: no well-formed path"


def outward(path):
    return ADDRESS.findall(path.read_text())


def test_every_address_is_well_formed_and_of_a_known_host():
    assert [f"{path.relative_to(ROOT)}: {wrong}" for path in FILES for found in outward(path) if (wrong := fault(*found))] == []


def test_every_known_host_is_used():
    hosts = {host.rstrip(".") for path in FILES for _, host, _ in outward(path)}
    assert KNOWN.keys() - hosts == set()


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("https://githib.com/gpucloud-dev/gpucloud-operator", "no known host"),
        ("https://vale.sh.", ""),
        ("http://vale.sh", "not https"),
        ("https://github.com/a%20b/^x", "no well-formed path"),
        ("oci://gchr.io/gpucloud-dev", "no known host"),
        ("htps://github.com/gpucloud-dev", "not https"),
        ("https://cloud.example/api", ""),
        ("https://HOST/api", ""),
        ("http://127.0.0.1:8080/_sim", ""),
    ],
)
def test_a_wrong_address_is_found_and_a_right_one_or_a_placeholder_is_not(address, says):
    (found,) = ADDRESS.findall(address)
    wrong = fault(*found)
    assert says in wrong
    assert bool(wrong) is bool(says)
