"""The test files of the actions, in the layout of Argo CD's own, run by the rules of its harness, which are stricter here: it
opens every library when it asks what is offered, and it overlooks what an answer lacks or has too much.
"""

from __future__ import annotations

import pytest
import yaml

from support import argo

FOLDERS = sorted(argo.FOLDER.glob("*/*/actions"))
LISTS = {folder: yaml.safe_load((folder / "action_test.yaml").read_text()) for folder in FOLDERS}
# What its harness reads; any other key would be dropped there without a word.
KNOWN = {
    "discoveryTests": {"inputPath", "result"},
    "actionTests": {"action", "inputPath", "expectedOutputPath", "parameters"},
}


def named(kind):
    """Each test of that list, with the folder of its action."""
    tests = [(folder, test) for folder, lists in LISTS.items() for test in lists[kind]]
    ids = [f"{folder.parent.name} {test.get('action', 'offered')} {test['inputPath']}" for folder, test in tests]
    return pytest.mark.parametrize(("folder", "test"), tests, ids=ids)


def expected(path, source):
    """What an action is to bring about: a text that begins as a list names the operations, any other is the source, patched."""
    text = path.read_text()
    if text[0] != "-":
        return [{"operation": "patch", "resource": yaml.safe_load(text)}]
    wanted = [{"operation": one["k8sOperation"], "resource": one["unstructuredObj"]} for one in yaml.safe_load(text)]
    assert all(one["resource"]["metadata"]["namespace"] == source["metadata"]["namespace"] for one in wanted)
    return wanted


def identity(item):
    return [item["apiVersion"], item["kind"], item["metadata"]["name"], item["metadata"]["namespace"]]


@named("discoveryTests")
def test_what_is_offered_is_as_listed(folder, test):
    offered = argo.run(folder / "discovery.lua", yaml.safe_load((folder / test["inputPath"]).read_text()))
    by_name = {one["name"]: one for one in test["result"]}
    assert {name: {"name": name, **action} for name, action in offered.items()} == by_name


@named("actionTests")
def test_what_an_action_brings_about_is_as_kept(folder, test):
    source = yaml.safe_load((folder / test["inputPath"]).read_text())
    script = folder / test["action"] / "action.lua"
    brought = argo.impacted(argo.run(script, source, test.get("parameters")))
    assert brought == expected(folder / test["expectedOutputPath"], source)
    assert all(identity(one["resource"]) == identity(source) for one in brought if one["operation"] == "patch")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.parent.name)
def test_no_action_is_left_out_and_each_is_seen_offered_and_refused(folder):
    actions = {path.parent.name for path in folder.glob("*/action.lua")}
    assert {test["action"] for test in LISTS[folder]["actionTests"]} == actions
    seen = {(one["name"], one["disabled"]) for test in LISTS[folder]["discoveryTests"] for one in test["result"]}
    assert seen == {(name, disabled) for name in actions for disabled in (True, False)}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.parent.name)
def test_the_lists_hold_what_the_harness_reads_and_use_every_file(folder):
    lists = LISTS[folder]
    assert lists.keys() == KNOWN.keys()
    for kind, tests in lists.items():
        assert [set(test) - KNOWN[kind] for test in tests if set(test) - KNOWN[kind]] == [], kind
    tests = [test for part in lists.values() for test in part]
    used = {test[key] for test in tests for key in ("inputPath", "expectedOutputPath") if key in test}
    assert used == {f"testdata/{path.name}" for path in (folder / "testdata").iterdir()}


def test_the_folder_holds_what_the_layout_names_and_nothing_else():
    for kind in sorted(argo.FOLDER.glob("*/*")):
        actions = {"actions"} if kind / "actions" in FOLDERS else set()
        assert {path.name for path in kind.iterdir()} == {"health.lua", "health_test.yaml", "testdata"} | actions, kind.name
    for folder in FOLDERS:
        scripts = {path.parent.name for path in folder.glob("*/action.lua")}
        assert {path.name for path in folder.iterdir()} == {"discovery.lua", "action_test.yaml", "testdata"} | scripts
