"""The prose linter finds what its styles name, in pages and not in code; its module is the pinned one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from controlplane import ControlPlaneError
from prose import obtain

ROOT = obtain.TARGET.modules.parents[2]
LONG = " ".join(["one", "other"] * 23)
needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, obtain.COMPILERS)), reason="Vale cannot be built without a C compiler"
)


@needs_compiler
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The operator releases the finalizer.", []),
        ("The finaliser is releesed.", ["'finaliser'", "'releesed'"]),
        ("`releesed` is code, and so is virtualMachineId.", []),
        ("<code>releesed &#124; virtualMachineId</code> is code of a printed table.", []),
        ("The object is let go.", ["is released"]),
        (f"The {LONG}.", ["more than 45 words"]),
        ("The the VM is Ready.", ["is repeated"]),
    ],
    ids=["plain", "misspelt", "code", "code with a bar", "a wording of ours", "a long sentence", "a word twice"],
)
def test_a_page_is_checked_for_spelling_wording_and_length(tmp_path, text, found):
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n\n{text}\n")
    done = subprocess.run([sys.executable, "-m", "prose", str(page)], capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert done.returncode == (1 if found else 0), done.stdout
    assert len(done.stdout.splitlines()) == len(found)
    assert [words for words in found if words not in done.stdout] == []


def test_the_module_pins_the_version_that_names_the_cache():
    assert f"github.com/vale-cli/vale/v3 v{obtain.VERSION}" in (obtain.TARGET.modules / "vale" / "go.mod").read_text()


def test_without_a_compiler_the_error_names_the_way_out(tmp_path):
    environ = {**os.environ, "PATH": "", "XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    with pytest.raises(ControlPlaneError, match=r"Install gcc, or name a Vale 3\.20\.0 in TEST_ASSET_VALE"):
        obtain.obtain_vale(environ)
