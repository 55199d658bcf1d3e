"""Defects for the world to find: each can be planted still, and is told apart from what the world finds without it."""

import shutil

import pytest

from simulation import aims, hunt, planting


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    target = tmp_path_factory.mktemp("product") / "operator"
    shutil.copytree(hunt.ROOT / "operator", target, ignore=shutil.ignore_patterns("__pycache__", "sim"))
    return target


@pytest.mark.parametrize("name", hunt.DEFECTS)
def test_each_defect_can_be_planted(name, source, tmp_path):
    copy = tmp_path / "operator"
    shutil.copytree(source, copy)
    for file in hunt.planted_in(copy, name):
        changed = file.read_text()
        assert changed != (source / file.relative_to(copy)).read_text()
        compile(changed, file.name, "exec")


def test_what_a_hunt_is_aimed_at_is_drawn_by_some_history():
    assert hunt.AIMS.keys() <= hunt.DEFECTS.keys()
    for aim in set(hunt.AIMS.values()):
        assert all(aims.known(word) for word in aim)
        assert any(aims.meets(seed, aim) for seed in range(2000)), aim


def test_a_fragment_that_is_not_in_the_code_any_more_fails_loudly(source, tmp_path, monkeypatch):
    copy = tmp_path / "operator"
    shutil.copytree(source, copy)
    monkeypatch.setitem(hunt.DEFECTS, "old", (("no such text", ""),))
    with pytest.raises(ValueError, match="cannot be planted any more"):
        hunt.planted_in(copy, "old")


def test_a_fragment_that_stands_twice_is_not_guessed(tmp_path):
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("x = 1\n")
    with pytest.raises(ValueError, match="stands 2 times in 2 files"):
        planting.plant(tmp_path, (("x = 1", "x = 2"),))


@pytest.mark.parametrize(
    ("planted", "clean", "said"),
    [
        ({7: "twice"}, set(), "twice | 8"),
        ({3: "leak", 7: "twice"}, {3}, "twice | 8"),
        ({}, set(), "not within 20"),
        ({3: "leak"}, {3}, "not within 20"),
    ],
)
def test_a_history_that_breaks_a_rule_without_the_defect_too_is_no_find(planted, clean, said, monkeypatch):
    def campaign(product, first, histories, _processes, _aim=()):
        found = clean if product == hunt.ROOT / "operator" else planted
        seed = next((seed for seed in range(first, first + histories) if seed in found), None)
        line = "" if seed is None else f"seed {seed}: {planted[seed]} at 1.0 s: words\n"
        return f"{line}{histories} histories in 1 s"

    monkeypatch.setattr(hunt, "_campaign", campaign)
    assert hunt.found_after(next(iter(hunt.DEFECTS)), 20, 1) == said
