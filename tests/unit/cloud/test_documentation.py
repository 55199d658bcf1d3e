"""The page about the client is true: its tables and signatures are those of the code. Its programs run in tests/simulator."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import gpucloud.cloud
from gpucloud.cloud import ApiKey, ClientOptions, CloudClient, ErrorKind, SyncCloudClient

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "python-client.md").read_text()


@pytest.mark.parametrize("shown", [CloudClient, ClientOptions, CloudClient.wait_for], ids=lambda shown: shown.__name__)
def test_a_signature_is_shown_as_it_is(shown):
    given = re.search(rf"`{shown.__name__}\((.*?)\)`", PAGE, re.DOTALL)[1]
    names = [name for name in re.findall(r"(\w+)(?==|,|$)", re.sub(r"=[^,]*", "", given)) if name != "self"]
    taken = [item.name for item in inspect.signature(shown).parameters.values() if item.name != "self"]
    assert names == taken


def test_every_kind_of_error_is_documented():
    assert set(re.findall(r"^\| `([A-Z_]+)` \|", PAGE, re.MULTILINE)) == {kind.name for kind in ErrorKind}


@pytest.mark.parametrize("program", re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
def test_a_program_imports_what_it_uses_and_reads_a_url_from_a_variable_that_holds_one(program):
    """GPUCLOUD_ENDPOINT, which the demo exports, is NAME=URL: with it the program ends in an exception."""
    tree = ast.parse(program)
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom) for name in node.names}
    assert imported <= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert "GPUCLOUD_ENDPOINT" not in program


def test_a_url_behind_the_operators_name_for_it_says_so():
    with pytest.raises(ValueError, match="give the URL alone"):
        SyncCloudClient("default=http://127.0.0.1:8080", ApiKey("made-up"))


def test_every_public_name_exists_once():
    names = gpucloud.cloud.__all__
    assert sorted(set(names)) == names
    assert all(hasattr(gpucloud.cloud, name) for name in names)


def test_both_clients_have_the_same_methods_with_the_same_signatures():
    clients = (CloudClient, SyncCloudClient)
    own = {"aclose", "close"}
    methods = [{name: getattr(one, name) for name in dir(one) if not name.startswith("_")} for one in clients]
    assert methods[0].keys() - own == methods[1].keys() - own
    for name in methods[0].keys() - own:
        if callable(methods[0][name]):
            assert str(inspect.signature(methods[0][name])) == str(inspect.signature(methods[1][name])), name
