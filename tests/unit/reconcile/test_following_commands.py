"""A command in a message can be pasted, though more is said after it."""

from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile import gpuvm
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import Unknown, UnknownReason
from support.builders import NOW, a_status, an_object, facts

WHY = "Waiting for GpuCloudAccount 'lab': there is none. What there is: kubectl get gpucloudaccounts --namespace=team"


def test_what_to_do_about_a_blocked_deletion_is_parted_from_the_command_for_its_account():
    """The history: the next sentence came right behind the command, as a part of it."""
    f = facts(meta=an_object(deleting=True), status=a_status("Running"), found=Unknown(NOW - 999, UnknownReason.ACCOUNT, WHY))
    said = find(gpuvm.decide(f).status.conditions, ConditionType.READY)
    assert (said.reason, said.message.startswith(f"{WHY}; ")) == (Reason.DELETION_BLOCKED, True), said.message
