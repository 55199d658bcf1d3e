"""Which Helm the tests get: one of the right major version, from PATH, the cache or a build."""

from __future__ import annotations

import pytest

from controlplane.versions import HELM
from helmcli.obtain import cached, obtain_helm, why_unfit

FITS = [
    ("v4.3.1+gabc", None, "the pinned one"),
    ("v4.0.0", None, "an older one of the same major version"),
    ("v4.9.2+g1", None, "a newer one"),
    ("v3.19.0+g1", "it is version 3.19", "Helm 3 waits and applies otherwise"),
    ("v5.0.0", "it is version 5.0", "one that nobody has tried"),
    ("", "it names no version", "something else of that name"),
]
GO = """#!/bin/sh
if [ "$1" = version ]; then echo go version go1.26.8 linux/amd64; exit 0; fi
while [ "$1" != -o ]; do shift; done
echo built > "$2"
"""


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def helm(path, version):
    return program(path, f"#!/bin/sh\necho {version}\n")


@pytest.fixture
def environ(tmp_path):
    return {"PATH": f"{tmp_path / 'path'}:/usr/bin:/bin", "XDG_CACHE_HOME": str(tmp_path / "cache")}


@pytest.mark.parametrize(("said", "why_not", "why"), FITS, ids=[row[2] for row in FITS])
def test_which_version_is_taken(said, why_not, why):
    found = why_unfit(said)
    assert (found is None) is (why_not is None), why
    assert (why_not or "") in (found or "")


def test_an_older_major_version_is_passed_over_for_the_cache(tmp_path, environ, capsys):
    helm(tmp_path / "path" / "helm", "v3.19.0+g1")
    expected = helm(cached(environ) / "helm", f"v{HELM}")
    assert obtain_helm(environ) == expected
    said = capsys.readouterr().err
    assert "helm on PATH is not used here: it is version 3.19" in said
    assert "Others are used in their place: you need to do nothing." in said


def test_without_any_it_is_built_once_and_says_how_long_that_takes(tmp_path, environ, capsys):
    program(tmp_path / "path" / "go", GO)
    built = obtain_helm(environ)
    first = capsys.readouterr().err.splitlines()[0]
    assert (
        first
        == "helm: building helm from source. This happens once; on two cores it takes 3-5 min, twice that on a busy machine."
    )
    assert built == cached(environ) / "helm"
    assert built.read_text() == "built\n"
    program(tmp_path / "path" / "go", "#!/bin/sh\nexit 1\n")
    assert obtain_helm(environ) == built
