"""Who depends on whom: both ways, and never out of step."""

from hypothesis import given
from hypothesis import strategies as st

from gpucloud.engine.cache.references import References, Target
from gpucloud.engine.runtime.workqueue import Key


def key(name, kind="GpuVM", uid=None):
    return Key(kind, "team", name, uid or f"u-{name}")


NET, OLD = Target("GpuVpc", "team", "net"), Target("GpuVpc", "team", "old")


def test_a_reference_is_known_from_both_ends():
    index = References()
    index.put(key("a"), [NET])
    index.put(key("b"), [NET, OLD])
    assert index.targets(key("b")) == {NET, OLD}
    assert index.dependents(NET) == {key("a"), key("b")}


def test_a_new_view_replaces_the_old_one():
    index = References()
    index.put(key("a"), [OLD])
    index.put(key("a"), [NET])
    assert (index.dependents(OLD), index.dependents(NET)) == (set(), {key("a")})


def test_what_is_dropped_depends_on_nothing_and_tells_what_it_depended_on():
    index = References()
    index.put(key("a"), [NET])
    assert index.drop(key("a")) == {NET}
    assert index.drop(key("a")) == frozenset()
    assert (index.dependents(NET), index.targets(key("a"))) == (set(), frozenset())


def test_a_namesake_of_another_uid_is_another_dependent():
    index = References()
    index.put(key("a", uid="old"), [NET])
    index.put(key("a", uid="new"), [NET])
    index.drop(key("a", uid="old"))
    assert index.dependents(NET) == {key("a", uid="new")}


def test_an_answer_may_be_kept_while_the_index_changes():
    index = References()
    index.put(key("a"), [NET])
    for dependent in index.dependents(NET):
        index.drop(dependent)
        index.put(key("b"), [NET])
    assert index.dependents(NET) == {key("b")}


NAMES = st.sampled_from(["a", "b", "c"])


@given(st.lists(st.tuples(NAMES, st.none() | st.frozensets(st.sampled_from([NET, OLD])))))
def test_both_ends_agree_whatever_comes(changes):
    index, truth = References(), {}
    for name, targets in changes:
        if targets is None:
            index.drop(key(name))
            truth.pop(name, None)
        else:
            index.put(key(name), targets)
            truth[name] = targets
    for target in (NET, OLD):
        assert index.dependents(target) == {key(name) for name, targets in truth.items() if target in targets}
    for name in ("a", "b", "c"):
        assert index.targets(key(name)) == truth.get(name, frozenset())
