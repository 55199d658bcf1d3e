"""What ``pip install`` brings for each use of the package: the client alone, and each extra. Declared, needed and enough."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import venv
from importlib import metadata
from pathlib import Path

import grimp
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CLIENT = ""
# What is started or imported by those who install it.
ENTRIES = {
    CLIENT: ["gpucloud.cloud", "gpucloud.cli.main"],
    "operator": [f"gpucloud.cli.{name}" for name in ("operator", "orphans", "check", "uninstall", "crds")],
    "cli": ["gpucloud.cli.plugin"],
    "sim": ["gpucloud.cli.sim"],
    "otel": ["gpucloud.engine.telemetry.opentelemetry"],  # by name, with --tracing: the extra operator works without it
}
HOMES = {module: canonicalize_name(homes[0]) for module, homes in metadata.packages_distributions().items()}
PART_OF = {"pydantic_core": "pydantic"}  # pydantic pins the one version of it that it works with
SHARED = "opentelemetry"  # a package of several distributions
NOT_IMPORTED = {"operator": {"sniffio"}}  # httpcore imports it


def declared(extra):
    """The distributions that ``gpucloud-operator[extra]`` names itself."""
    lines = PROJECT["dependencies"] + (PROJECT["optional-dependencies"][extra] if extra else [])
    return {Requirement(line).name for line in lines}


def installed(names):
    """The names, and all that they need in turn, as they are installed here."""
    found, asked = set(), list(names)
    while asked:
        name = asked.pop()
        if name in found:
            continue
        found.add(name)
        needs = map(Requirement, metadata.requires(name) or ())
        asked += [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    return found


@pytest.fixture(scope="module")
def imports():
    return grimp.build_graph("gpucloud", include_external_packages=True, exclude_type_checking_imports=True)


@pytest.mark.parametrize("extra", ENTRIES)
def test_what_is_imported_is_declared_and_what_is_declared_is_imported(imports, extra):
    own = set().union(*({entry} | imports.find_descendants(entry) for entry in ENTRIES[extra]))
    reached = own.union(*map(imports.find_upstream_modules, own))
    others = {name for name in reached if not name.startswith("gpucloud") and name not in sys.stdlib_module_names}
    needed = {PART_OF.get(name) or HOMES[name] for name in others - {SHARED}}
    needed |= {name for name in declared(extra) if name.startswith(SHARED) and SHARED in others}
    assert needed <= declared(extra)
    assert declared(extra) - declared(CLIENT) - needed == NOT_IMPORTED.get(extra, set())


def environment(folder, extra):
    """A new virtual environment that holds what one installation of the package holds, and returns its Python."""
    venv.create(folder, symlinks=True, with_pip=False)
    (site,) = folder.glob("lib/python3.*/site-packages")
    for name in installed(declared(extra)):
        for file in metadata.files(name):
            top = file.parts[0]
            if top != ".." and not (site / top).exists():
                (site / top).symlink_to(file.locate().parents[len(file.parts) - 2] if len(file.parts) > 1 else file.locate())
    (site / "gpucloud").symlink_to(ROOT / "operator" / "gpucloud")
    return folder / "bin" / "python"


def run(python, *words):
    return subprocess.run([python, "-I", *words], capture_output=True, text=True, check=False)  # noqa: S603 - our own


MODULES = "import importlib, sys; [importlib.import_module(name) for name in sys.argv[1:]]"


@pytest.mark.parametrize("extra", ENTRIES)
def test_each_extra_is_enough_for_what_it_is_for(tmp_path, imports, extra):
    modules = sorted(name for entry in ENTRIES[extra] for name in {entry} | imports.find_descendants(entry))
    done = run(environment(tmp_path, extra), "-c", MODULES, *modules)
    assert (done.returncode, done.stderr) == (0, "")


USE = """
from gpucloud.cloud import ApiKey, CloudClient, SyncCloudClient
import sys
print(*sorted({name.partition(".")[0] for name in sys.modules} & set(sys.argv[1:])))
"""


def test_the_client_alone_imports_nothing_of_the_operator():
    """Not even where everything is installed."""
    others = {name for extra in ("operator", "cli", "sim") for name in installed(declared(extra))} - installed(declared(CLIENT))
    modules = [module for module, home in HOMES.items() if home in others]
    assert {"kopf", "aiohttp", "kubernetes", "yaml"} <= set(modules)
    done = run(sys.executable, "-c", USE, *modules)
    assert (done.returncode, done.stderr) == (0, "")
    optional = {"click", "rich", "pygments", "sniffio"}  # httpx has a program of its own, anyio asks who else has a loop
    assert set(done.stdout.split()) <= optional


COMMANDS = [
    ("operator", "operator"),
    ("orphans", "operator"),
    ("check", "operator"),
    ("uninstall", "operator"),
    ("crds", "operator"),
    ("sim", "sim"),
]


@pytest.mark.parametrize(("command", "extra"), COMMANDS)
def test_a_command_without_its_extra_says_what_to_install(tmp_path, command, extra):
    done = run(environment(tmp_path, CLIENT), "-m", "gpucloud", command)
    assert done.returncode == 1
    said = re.fullmatch(
        rf"gpucloud {command}: the Python package (\w+) is not installed. "
        rf"Install the extra {extra}: pip install 'gpucloud-operator\[{extra}\]', "
        rf"or in a checkout pip install '\.\[{extra}\]'\n",
        done.stderr,
    )
    assert said, done.stderr
    assert HOMES[said[1]] in declared(extra)


def test_the_plugin_without_its_extra_says_what_to_install(tmp_path):
    done = run(environment(tmp_path, CLIENT), "-c", "from gpucloud.cli.plugin import main; raise SystemExit(main())", "offers")
    assert done.returncode == 1
    assert done.stderr.endswith(
        "is not installed. Install the extra cli: pip install 'gpucloud-operator[cli]', or in a checkout pip install '.[cli]'\n"
    )
    assert done.stderr.count("\n") == 1


def test_the_command_itself_needs_no_extra(tmp_path):
    done = run(environment(tmp_path, CLIENT), "-m", "gpucloud", "--version")
    assert (done.returncode, done.stderr) == (0, "")
