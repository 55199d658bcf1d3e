"""What must not stand anywhere in the product's code, and what every locked package must have (S14, S15, S22)."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TREES = {path: ast.parse(path.read_text()) for path in sorted((ROOT / "operator").rglob("*.py"))}

# A keyword with this value, wherever it stands, is a hole.
FORBIDDEN = {
    ("verify", False): "TLS without trust",
    ("ssl", False): "TLS without trust",
    ("check_hostname", False): "trust in any host",
    ("follow_redirects", True): "a redirect followed",
    ("allow_redirects", True): "a redirect followed",
    ("trust_env", True): "proxies and authorities of the environment",
    ("shell", True): "a shell",
}
MODULES = {"pickle", "marshal", "shelve", "subprocess", "ctypes", "telnetlib", "ftplib"}
CALLS = {"eval", "exec", "compile", "__import__", "yaml.load", "yaml.unsafe_load", "yaml.full_load", "os.system", "os.popen"}
OPENERS = {"open", "read_text", "read_bytes", "write_text", "write_bytes"}


def found(judge, *kinds):
    """What ``judge`` says of every node of these kinds in the product's code, with the place."""
    return [
        f"{path.relative_to(ROOT)}:{node.lineno}: {said}"
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, kinds) and (said := judge(node))
    ]


def switch(node):
    value = node.value.value if isinstance(node.value, ast.Constant) else None
    return FORBIDDEN.get((node.arg, value))


def setting(node):
    names = {target.attr for target in node.targets if isinstance(target, ast.Attribute)}
    return ", ".join(names & {"verify_mode", "check_hostname", "trust_env"})


def module(node):
    name = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
    return name if (name or "").split(".")[0] in MODULES else None


def call(node):
    name = ast.unparse(node.func)
    return name if name in CALLS else None


KINDS = {switch: ast.keyword, setting: ast.Assign, module: (ast.Import, ast.ImportFrom), call: ast.Call}


def test_no_switch_is_off():
    assert not found(switch, ast.keyword)
    assert not found(setting, ast.Assign)


def files(places):
    return [place.partition(":")[0] for place in places]


# yaml.load with a safe loader that is named beside it: CSafeLoader where there is one, else SafeLoader.
SAFE_LOADER = "operator/gpucloud/cli/plugin/kube/kubeconfig.py"
# The command that a user's own kubeconfig names for a token, as kubectl runs it; never a shell (``setting`` above).
EXEC_PLUGIN = "operator/gpucloud/cli/plugin/kube/credentials.py"


def test_nothing_is_run_or_unpacked_that_came_from_outside():
    assert files(found(module, ast.Import, ast.ImportFrom)) == [EXEC_PLUGIN]
    assert files(found(call, ast.Call)) == [SAFE_LOADER]


def opened(node):
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return ast.unparse(node.func) if name in OPENERS else None


KINDS[opened] = ast.Call


def test_the_packages_that_see_custom_resources_open_no_file():
    """So no field of one can be a path, whatever stands in it (S13)."""
    openers = {line.rpartition(": ")[2] for line in found(opened, ast.Call) if "/cli/" not in line}
    assert openers == {
        "Path(path).read_text",  # settings: the files of the operator's own credentials
        "Path(path.strip()).expanduser().read_text",  # the operator's own kubeconfig, as KUBECONFIG names it
        "deps.sessions.open",  # a session of the engine, no file
        "self._sessions.open",  # the same
        "self.entries.open",  # the engine's entry of an object
    }


@pytest.mark.parametrize(
    ("judge", "code"),
    [
        (switch, "httpx.Client(verify=False)"),
        (switch, "client.get(url, follow_redirects=True)"),
        (setting, "context.check_hostname = wanted"),
        (module, "from pickle import loads"),
        (module, "import subprocess"),
        (call, "eval(text)"),
        (call, "yaml.load(text)"),
        (opened, "open(spec.path)"),
        (opened, "Path(spec.path).read_bytes()"),
    ],
)
def test_each_judge_sees_what_it_is_for(judge, code):
    assert any(judge(node) for node in ast.walk(ast.parse(code)) if isinstance(node, KINDS[judge]))


LOCKED = tomllib.loads((ROOT / "uv.lock").read_text())["package"]


def test_every_locked_package_is_known_by_its_hash():
    assert len(LOCKED) > 40
    for package in LOCKED:
        if package["source"] == {"editable": "."}:
            continue  # ourselves
        assert "registry" in package["source"], f"{package['name']}: from a registry, and no branch of anybody's"
        files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
        assert files, package["name"]
        assert all(file["hash"].startswith("sha256:") and len(file["hash"]) == 71 for file in files), package["name"]


def test_the_linter_looks_for_holes():
    """``select = ["ALL"]`` holds the S rules; none is taken out again for the product's code."""
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]["lint"]
    assert lint["select"] == ["ALL"]
    product = {code for where, codes in lint["per-file-ignores"].items() if not where.startswith("tests") for code in codes}
    assert not [code for code in {*lint["ignore"], *product} if code.startswith("S") and code[1:2].isdigit()]
