"""Defects for the world to find: each can be planted still, and is told apart from what the world finds without it."""

import sys
from types import ModuleType

import pytest

from simulation import aims, hunt, planting


@pytest.fixture
def bound():
    """What modules and classes of the product bind; put back at the end."""
    before = {holder: dict(vars(holder)) for holder in planting.holders()}
    yield before
    for holder, name in changed(before):
        setattr(holder, name, before[holder][name])


def changed(before):
    return [(holder, name) for holder, names in before.items() for name in names if vars(holder)[name] is not names[name]]


@pytest.mark.parametrize("name", hunt.DEFECTS)
def test_each_defect_can_be_planted(name, bound):
    hunt.DEFECTS[name]()
    assert changed(bound)
    assert hunt.DEFECTS[name].__doc__


def test_what_a_hunt_is_aimed_at_is_drawn_by_some_history():
    assert hunt.AIMS.keys() <= hunt.DEFECTS.keys()
    for aim in set(hunt.AIMS.values()):
        assert all(aims.known(word) for word in aim)
        assert any(aims.meets(seed, aim) for seed in range(2000)), aim


@pytest.fixture
def product(monkeypatch):
    """Three modules of the package: the second has imported what the first defines, a third is of the simulated cloud."""

    class Kind:
        def method(self):
            return "as it was"

    def function():
        return "as it was"

    def module(name, **names):
        made = ModuleType(name)
        vars(made).update(names)
        monkeypatch.setitem(sys.modules, name, made)
        return made

    Kind.__module__ = f"{planting.PACKAGE}.defining"
    simulated = module(f"{planting.SIMULATOR}.importing", function=function)
    return (
        module(Kind.__module__, Kind=Kind, function=function),
        module(f"{planting.PACKAGE}.simple", other=function),
        simulated,
    )


def test_a_function_is_replaced_wherever_the_operator_has_imported_it(product):
    defining, importing, simulated = product
    planting.replace(defining.function, lambda: "replaced")
    assert (defining.function(), importing.other(), simulated.function()) == ("replaced", "replaced", "as it was")


def test_a_method_is_replaced_on_its_class(product):
    one = product[0].Kind()
    planting.replace(product[0].Kind.method, lambda _: "replaced")
    assert one.method() == "replaced"


def test_what_nothing_binds_is_not_planted_in_silence(product):
    with pytest.raises(ValueError, match="cannot be planted any more"):
        planting.replace(lambda: None, product)


@pytest.mark.parametrize("constant", [3, 1.5, "word", True, None])
def test_what_may_be_bound_by_chance_is_not_replaced(constant):
    with pytest.raises(TypeError, match="by chance"):
        planting.replace(constant, 4)


def test_two_defects_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two defects"):
        planting.named({"twice": print}, "twice")(print)


def test_a_defect_is_planted_in_a_process_of_its_own():
    assert hunt.found_after("23-secret-in-an-error", 28, 1) == "canary | 28 | 27"


@pytest.mark.parametrize(
    ("planted", "clean", "said"),
    [
        ({7: "twice"}, set(), "twice | 8 | 7"),
        ({3: "leak", 7: "twice"}, {3}, "twice | 8 | 7"),
        ({}, set(), "not within 20"),
        ({3: "leak"}, {3}, "not within 20"),
        ({3: "exception"}, set(), "the world itself failed: what is planted does not fit the product any more, see seed 3"),
    ],
)
def test_what_counts_as_found(planted, clean, said, monkeypatch):
    def campaign(defect, first, histories, _processes, _aim=()):
        found = clean if defect is None else planted
        seed = next((seed for seed in range(first, first + histories) if seed in found), None)
        line = "" if seed is None else f"seed {seed}: {planted[seed]} at 1.0 s: words\n"
        return f"{line}{histories} histories in 1 s"

    monkeypatch.setattr(hunt, "_campaign", campaign)
    assert hunt.found_after(next(iter(hunt.DEFECTS)), 20, 1) == said
