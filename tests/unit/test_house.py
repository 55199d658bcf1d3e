"""The rules of the house that no linter checks."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = sorted((ROOT / "operator").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
LONGEST_FUNCTION, LONGEST_FILE = 60, 400


def relative(path):
    return str(path.relative_to(ROOT))


def test_there_is_code_to_look_at():
    assert len(CODE) > 50
    assert len(TESTS) > 10


def test_operator_is_a_source_root_and_no_package():
    """As a package it would shadow the standard library's module of that name."""
    assert not (ROOT / "operator" / "__init__.py").exists()
    assert not [path for path in (ROOT / "tests").rglob("operator") if path.is_dir()]
    assert not list((ROOT / "tests").rglob("operator.py"))


def test_tests_are_no_packages():
    packages = {path.parent.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").rglob("__init__.py")}
    assert packages <= {"simulation"}  # which is a program of its own, run with -m


@pytest.mark.parametrize("path", TESTS, ids=relative)
def test_no_mocks(path):
    """A mock agrees with whatever the code does; a fake has an opinion."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        names = [item.name for item in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        assert not any("mock" in name.split(".") for name in [*names, module]), f"{path}:{node.lineno}"
        assert not (isinstance(node, ast.Name) and node.id == "mocker"), f"{path}:{node.lineno}"


@pytest.mark.parametrize("path", CODE, ids=relative)
def test_every_module_says_what_it_is_for(path):
    assert ast.get_docstring(ast.parse(path.read_text()))


@pytest.mark.parametrize("path", CODE, ids=relative)
def test_files_and_functions_fit_the_eye(path):
    text = path.read_text()
    assert len(text.splitlines()) <= LONGEST_FILE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= LONGEST_FUNCTION, f"{node.name} in line {node.lineno} has {length} lines"


def test_the_command_that_installs_the_definitions_is_spelled_once():
    spelled = [
        relative(path)
        for path in CODE
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and "--server-side" in str(node.value)
    ]
    assert spelled == ["operator/gpucloud/kinds/meta.py"]


@pytest.mark.parametrize("path", TESTS, ids=relative)
def test_files_of_tests_fit_the_eye(path):
    assert len(path.read_text().splitlines()) <= LONGEST_FILE
