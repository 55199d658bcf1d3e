"""Every kind of the registry is known wherever kinds stand in a list: one that is missing there would lose its resources."""

import pytest

from gpucloud.engine.cache.references import Target
from gpucloud.engine.kinds.registry import KINDS, MARKED, owned_reconcilers
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.definitions import DEFINITIONS
from gpucloud.reconcile.existence import IDS, needs_credential
from gpucloud.reconcile.facts import CREATES, DESTROYS, Verb
from gpucloud.reconcile.naming import Identity
from support.builders import an_order
from support.fakes import a_resource


@pytest.fixture
def registered(reconcilers):
    """The registry's reconcilers, with stores of their own."""
    return tuple(owned_reconcilers(reconcilers.tools).values()), reconcilers.objects


def test_an_account_finds_the_users_of_every_kind(registered):
    """One that it does not find loses its credential, and its resource stays and is billed."""
    for reconciler in registered[0]:
        reconciler.store.put(a_resource(reconciler.kind, "train"))
        assert registered[1].find(Target(reconciler.kind, "team", "train")) is not None, reconciler.kind
    with pytest.raises(KeyError):
        registered[1].find(Target("GpuNothing", "team", "train"))


def test_the_calls_of_every_kind_pass_the_gates_of_creating_and_destroying_calls(registered):
    for reconciler in registered[0]:
        assert (reconciler.subject.create in CREATES, reconciler.subject.destroy in DESTROYS) == (True, True), reconciler.kind
        assert {reconciler.subject.create, reconciler.subject.destroy} <= {*reconciler.success_events}, reconciler.kind
        assert {*reconciler.success_events} == {*reconciler.failed}, reconciler.kind


def test_an_id_in_the_status_of_every_kind_holds_the_credential(registered):
    """Where somebody has lost the record of the order, the id says that something exists."""
    statuses = {one.kind: one.status for one in DEFINITIONS}
    for reconciler in registered[0]:
        (field,) = set(IDS) & set(statuses[reconciler.kind].model_fields)
        lost = statuses[reconciler.kind].model_validate({field: "x"})
        assert needs_credential(None, lost), reconciler.kind
        assert needs_credential(an_order("train", OrderState.LOST), lost), reconciler.kind


def test_every_kind_is_declared_as_its_definition_and_its_reconciler_say(registered):
    """Stores and indexes are made by the declaration; what it leaves out is neither cached nor looked for."""
    declared = {one.kind: (one.plural, one.spec, one.status) for one in KINDS}
    assert declared == {one.kind: (one.plural, one.spec, one.status) for one in DEFINITIONS}
    inventories = {reconciler.kind: reconciler.inventory_name for reconciler in registered[0]}
    assert {kind: one.inventory for kind, one in MARKED.items()}.items() <= inventories.items()


def test_an_orphan_is_destroyed_by_the_call_of_its_own_kind():
    """No case of the collector stands for a kind that it does not know: that would destroy something else."""
    here = Identity("Msc1", "acme", "a-b-c")
    operations = {kind: (one.noun, one.destroy, one.destroying_call(here).operation) for kind, one in MARKED.items()}
    assert operations == {
        "GpuVM": ("VM", Verb.DESTROY, "DestroyServer"),
        "GpuSnapshot": ("snapshot", Verb.DELETE_SNAPSHOT, "DeleteSnapshot"),
    }
