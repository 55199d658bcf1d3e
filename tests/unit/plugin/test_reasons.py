"""What each reason means for the plugin: a place for every reason, and no place that what is explained of it contradicts."""

import pytest

from gpucloud.cli.plugin.model.dependencies import World, causes
from gpucloud.cli.plugin.model.objects import Key
from gpucloud.cli.plugin.model.reasons import MEANINGS, EndsBy
from gpucloud.cli.plugin.model.verdicts import Aim, Goal, Outcome, judge
from gpucloud.kinds.explained import EXPLAINED
from gpucloud.kinds.meta import Reason
from support.pluginworld import a_body, a_thing, an_account

BORNE_BY = {row.reason: row.conditions for row in EXPLAINED}
PUT_RIGHT = {EndsBy.ACCOUNT, EndsBy.CREDENTIAL, EndsBy.CONTENT}  # by a person, and read again by the operator
VM = Key("team", "GpuVM", "train")


def test_every_reason_has_a_meaning_in_the_order_of_the_contract():
    assert list(MEANINGS) == list(Reason)


@pytest.mark.parametrize("reason", Reason)
def test_what_a_reason_means_agrees_with_the_conditions_that_bear_it(reason):
    meaning, conditions = MEANINGS[reason], BORNE_BY[reason]
    if "Stalled" in conditions:
        assert meaning.ends_by is not EndsBy.ITSELF, "Stalled: a person must act"
    if meaning.is_ready_and_calls:
        assert conditions.startswith("Ready True"), "it calls a person although the object is Ready"
    if conditions == "event":
        assert meaning == (EndsBy.ITSELF, False, False, False, True), "no object bears it"


@pytest.mark.parametrize("reason", Reason)
def test_a_wait_has_patience_with_what_an_account_or_secret_put_right_ends(reason):
    item = a_thing("GpuVM", "train", "Stalled", reason)
    outcome = judge(VM, item, Aim(Goal.READY, {VM: item.uid})).outcome
    assert (outcome is Outcome.PENDING) is (MEANINGS[reason].ends_by in PUT_RIGHT)


@pytest.mark.parametrize("reason", Reason)
def test_what_waits_for_an_account_names_it_as_the_cause(reason):
    account = an_account("default", "Stalled", "UnknownEndpoint")
    vm = a_thing("GpuVM", "train", "Working", reason, spec={"accountRef": {"name": "default"}})
    waits = MEANINGS[reason].ends_by is EndsBy.ACCOUNT
    assert (World.of((account, vm)).waits_for(vm) == (account.key,)) is waits
    same = an_account("default", "Stalled", reason)
    shared = MEANINGS[reason].ends_by is EndsBy.ACCOUNT or MEANINGS[reason].is_shared
    assert (World.of((same, vm)).waits_for(vm) == (same.key,)) is shared


@pytest.mark.parametrize("reason", Reason)
def test_what_lacks_a_secret_or_keys_calls_a_person(reason):
    (cause,) = causes(World.of((a_thing("GpuVM", "train", "Working", reason),)))
    assert cause.calls_a_person is (MEANINGS[reason].ends_by is EndsBy.CREATION)


@pytest.mark.parametrize("reason", Reason)
def test_a_retry_that_cannot_help_says_what_does(api, plugin, reason):
    api.add(a_body("GpuVM", "train", "Stalled", reason))
    _, _, err = plugin("retry", "train")
    assert (f"kubectl gpucloud explain {reason}" in err) is not MEANINGS[reason].ends_by_retry


def test_a_lost_host_comes_back_by_no_retry(api, plugin):
    """It is looked for by itself; only the cloud's people allocate it again."""
    api.add(a_body("GpuHost", "metal", "Stalled", "HostLost"))
    assert "a retry does not end" in plugin("retry", "ghost/metal")[2]
