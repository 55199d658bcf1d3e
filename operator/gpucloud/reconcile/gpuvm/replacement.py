"""spec.replacePolicy: Recreate: a new VM in place of one that was not made as the spec says now.

``status.replacement`` is the plan, written a grace before anything happens, so that a person sees it and may put the spec back.
Then come what a deletion needs, too: no GpuSnapshot is being taken of the VM, the deletion guard lets it pass, and its final
snapshot is ready where the spec requires one; and what the new order needs, as far as that shows before: unless the new VM gets
the room of the old one, the waiting line must have room first. The old VM is destroyed and proven gone before the new one is
ordered (``recreate.py``), under the same name and in the same place. Why: docs/adr/0029.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import takewhile
from typing import TYPE_CHECKING

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpuvm import DeletionPolicy
from gpucloud.kinds.meta import ConditionType, Reason, rfc3339
from gpucloud.kinds.recreation import ReplacedField, Replacement, ReplacePolicy
from gpucloud.reconcile.commands import delete_command
from gpucloud.reconcile.conditions import Verdict, find, is_ready, stalled, working
from gpucloud.reconcile.core.create import terminating
from gpucloud.reconcile.core.plan_status import plan_status
from gpucloud.reconcile.core.steps import dependency_not_ready, first_not_ready
from gpucloud.reconcile.facts import Present, Readiness
from gpucloud.reconcile.gpuvm import adopted, final_snapshot, power, recreate, template, waiting
from gpucloud.reconcile.gpuvm.create import beside_lookalike, beyond_quota, ssh_keys_missing
from gpucloud.reconcile.gpuvm.delete import held_by_guard
from gpucloud.reconcile.gpuvm.elsewhere import held_by_other_clusters
from gpucloud.reconcile.gpuvm.in_hand import is_in_hand, is_made_of, shown_offer
from gpucloud.reconcile.gpuvm.misnamed import corrections
from gpucloud.reconcile.gpuvm.offers import counting, current_offer, described, with_offer
from gpucloud.reconcile.gpuvm.vm_states import VmPhase, vm_phase
from gpucloud.reconcile.pause import is_paused
from gpucloud.reconcile.placement import placed_message
from gpucloud.reconcile.plan import first_plan
from gpucloud.reconcile.text import listed, printable
from gpucloud.reconcile.unseen import RECHECK_SECONDS

if TYPE_CHECKING:
    from gpucloud.cloud.models import VmRecord
    from gpucloud.kinds.gpuvm import GpuVMStatus
    from gpucloud.reconcile.gpuvm.facts import VmFacts
    from gpucloud.reconcile.plan import Plan
    from gpucloud.reconcile.waiting_line import Offer, Waiter

KEEP = "To keep it, put the old value back."
_MOST_OF_VALUE = 60  # characters of a value in a message


def decide(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Return the next step for a VM that is not as the spec says; None for any other, and for one that is gone already."""
    vm = f.found
    if not isinstance(vm, Present) or f.state not in {OrderState.SEEN, OrderState.DESTROYING}:
        return None
    if not f.asks_replacement:
        return None if f.state is OrderState.DESTROYING else unlike(f)
    plan = first_plan(f, _planned, _needed, _limited, held_by_guard, _is_first_already, _blocked, _without_room, _saved)
    if plan is not None:
        return plan
    said = working(
        Reason.REPLACING, f"The VM is being replaced for a change of {_changes(f.changes)}. The old one is being destroyed."
    )
    plan = final_snapshot.recorded(f, recreate.destroy(f, vm, said))
    return replace(plan, waits=waiter(f))  # the new VM keeps the place in the line


def unlike(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Say of a VM that is not replaced that it is not as the spec says: also where its announced destruction had no effect."""
    vm = f.found
    if not isinstance(vm, Present) or f.asks_replacement or f.state not in {OrderState.SEEN, OrderState.DESTROYING}:
        return None
    said = _kept(f) if f.changes else _unrecorded(f, vm)
    return None if said is None else _beside_power(f, vm, said)


def with_record(f: VmFacts, plan: Plan[GpuVMStatus]) -> Plan[GpuVMStatus]:
    """Return the plan; its status has a replacement only while one is asked for or under way, and tells the VM's template.

    A pause ends what is only planned: it may last for days, and the VM goes on. Afterwards it is planned anew.
    """
    status = plan.status
    if status is None:
        return plan
    stays_planned = f.asks_replacement and not is_paused(f.meta.annotations)
    if status.replacement is not None and not (stays_planned or f.is_replaced):
        status = status.model_copy(update={"replacement": None})
    status = _with_template(f, final_snapshot.without_given_up(f, status))
    return plan if status is plan.status else replace(plan, status=status)


def _with_template(f: VmFacts, status: GpuVMStatus) -> GpuVMStatus:
    """Return the status; a record that does not tell what a VM was made from tells the present spec from now on.

    Such a record is of an earlier version, of an adoption, or was made anew after a lost status; or it tells of another VM than
    the cloud shows, which the spec accepts; or the spec names by now what the VM is. It is reported at once, whatever the
    policy: of a spec that could not be edited it is true, and a later edit that lifts the rule would count as done.
    """
    order, vm = status.order, f.found
    if order is None or order.state is not OrderState.SEEN or not isinstance(vm, Present):
        return status
    if order.template is not None and (f.changes or order.template == template.of(f.spec)) and not f.shows_another:
        return status
    if f.meta.deleting or not f.ours or f.state is not OrderState.SEEN:
        return status
    if _unrecorded(f, vm) is not None or adopted.shown_otherwise(f, vm) is not None:
        return status
    shown = shown_offer(f) if f.shows_another else None
    known = {} if shown is None else {"configuration": shown.configuration, "resource_pool": shown.resource_pool}
    return status.model_copy(update={"order": order.model_copy(update={"template": template.of(f.spec), **known})})


def waiter(f: VmFacts) -> Waiter | None:
    """Return the place in the waiting line of a VM that is to be replaced; None where its own room is that of the new one."""
    planned = f.status.replacement
    if planned is None or not f.asks_replacement or _makes_room(f):
        return None
    preferred = preferred_offers(f)
    return waiting.place(f, planned.planned_at, preferred, ready=True) if preferred else None


def preferred_offers(f: VmFacts) -> tuple[Offer, ...]:
    """Return the offers that count now: where only the offer changes, those that come before what the VM is already.

    For one that comes after it no VM is destroyed: what it is would be ordered first again.
    """
    known = counting(f)
    if any(one.name not in {"configuration", "resourcePool"} for one in f.changes):
        return known
    return tuple(takewhile(lambda one: not is_in_hand(f, one), known))


def ordered_first(f: VmFacts) -> Offer | None:
    """Return the offer that is ordered once the old VM is gone, as far as is known now; None if that is what it is already."""
    preferred = preferred_offers(f)
    return f.line.turn if f.line.turn in preferred else next(iter(preferred), None)


def _makes_room(f: VmFacts) -> bool:
    """Whether the new VM has room as soon as the old one is gone: that holds what is ordered first, or the node of both.

    A VM that is off holds nothing: the cloud gives its room to others. Nor does one of another offer hold that of the first.
    """
    if not isinstance(f.found, Present) or vm_phase(f.found.record) is not VmPhase.ON:
        return False
    if any(one.name == "nodeName" for one in f.changes):
        return False
    return f.spec.node_name is not None or is_in_hand(f, counting(f)[0])


def _unrecorded(f: VmFacts, vm: Present[VmRecord]) -> Verdict | None:
    """Return what is said of a VM of which no record tells what it was made from, if the cloud shows no VM as the spec says.

    Nothing is destroyed for that: the cloud may call a configuration by another name since. It is asked only where the VM may
    be replaced.
    """
    if f.made_from is not None or f.adopted or f.spec.replace_policy is ReplacePolicy.NEVER:
        return None
    differing = adopted.shown_otherwise(f, vm)
    if differing is not None:
        words = f"{differing.field} is {differing.wanted!r}, the cloud shows {differing.actual!r}."
        why = "status.order describes another VM" if f.shows_another else "no record tells what it was made from"
        way_out = f"Set {differing.actual!r} in the spec, or {_anew(f)}."
        return stalled(Reason.MISMATCH, f"{words} The VM is not replaced: {why}. {way_out}")
    if f.configuration_in_use is None and vm.record.configuration is not None:
        words = "Waiting for the cloud's list of configurations, to see whether the VM has the one of spec.configuration."
        return working(Reason.REPLACING, f"{words} To keep the VM whatever it has, set spec.replacePolicy: Never.")
    return None


def _kept(f: VmFacts) -> Verdict:
    """Return what is said of a VM that is not as the spec says, and is not replaced."""
    placed, never = placed_message(f.order), f.spec.replace_policy is ReplacePolicy.NEVER
    back = "Set spec.replacePolicy: Recreate and the old value in one edit" if never else "Put the old value back"
    if f.adopted:
        why = f"it was adopted, so it is not replaced. {back}."
    elif placed is not None:
        why = f"it stays. {placed}. {back}." if never else f"it stays. {placed}. {back}, or {_anew(f)}."
    elif never:
        why = (
            "spec.replacePolicy: Never refuses edits. To keep the VM, set Recreate and the old value in one edit; to replace "
            "it, Recreate alone."
        )
    elif f.policy is DeletionPolicy.RETAIN:
        why = "spec.deletion.policy: Retain keeps it from being destroyed. Set Delete, or put the old value back."
    else:
        why = "nothing proves that it is this object's, so it is not replaced. Put the old value back."
    return stalled(Reason.MISMATCH, f"The VM was made before a change of {_changes(f.changes)}; {why}")


def _anew(f: VmFacts) -> str:
    """Return the way to another VM by another object, as a clause that says what it does to this one."""
    then = "the VM stays, billed" if f.policy is DeletionPolicy.RETAIN else "that destroys the VM"
    return f"delete this object ({then}) and apply it again"


def _beside_power(f: VmFacts, vm: Present[VmRecord], said: Verdict) -> Plan[GpuVMStatus]:
    """Return the plan of the VM's power state, as long as it is not as the spec says or has failed; then this verdict."""
    plan = power.decide(f, vm)
    if plan.status is None or not is_ready(plan.status.conditions):
        return plan
    handled = plan.status.last_handled_restart_at
    return plan_status(f, said, operation=plan.status.operation, last_handled_restart_at=handled)


def _what(f: VmFacts) -> str:
    return f"The VM will be replaced for a change of {_changes(f.changes)}."


def _changes(changes: tuple[ReplacedField, ...]) -> str:
    return listed(tuple(map(_change, changes)))


def _change(one: ReplacedField) -> str:
    before = "" if one.before is None else f" from {printable(one.before, _MOST_OF_VALUE)!r}"
    after = "" if one.after is None else f" to {printable(one.after, _MOST_OF_VALUE)!r}"
    return f"spec.{one.name}{before}{after}"


def _planned(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Write the plan, and wait for a grace. A clock may have been ahead of this one."""
    known, saves, grace = f.status.replacement, f.needs_final_snapshot, timedelta(seconds=f.limits.grace)
    planned_at = f.now.wall
    if known is not None and (known.changes, known.final_snapshot) == (f.changes, saves):
        planned_at = min(known.planned_at, f.now.wall)
    plan = Replacement(changes=f.changes, planned_at=planned_at, not_before=planned_at + grace, final_snapshot=saves)
    left = (plan.not_before - f.now.wall).total_seconds()
    if left <= 0:
        return None
    first = "after a final snapshot of it" if saves else "with its data"
    words = f"{_what(f)} It is destroyed {first}, not before {rfc3339(plan.not_before)}. {KEEP}"
    return plan_status(f, working(Reason.REPLACING, words), replacement=plan, requeue_at=f.now.mono + left)


def _needed(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Wait for the snapshots that are being taken of the VM."""
    if not f.dependents:
        return None
    words = f"{_what(f)} It is destroyed as soon as {listed(f.dependents)} is taken."
    return plan_status(f, working(Reason.REPLACING, words), requeue_at=f.now.mono + RECHECK_SECONDS)


def _limited(f: VmFacts) -> Plan[GpuVMStatus] | None:
    way_out = f"{KEEP[:-1]}; deleting this object destroys it."
    return recreate.limited(f, "The VM is not replaced yet.", "It is replaced", way_out)


def _is_begun(f: VmFacts) -> bool:
    """Whether the destruction is announced, or its final snapshot, which must not grow old while something else is awaited."""
    announced = f.status.order is not None and f.status.order.state is OrderState.DESTROYING
    return announced or final_snapshot.record(f) is not None


def _is_first_already(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Stay Stalled with the VM in place while no offer comes before what it is; an announced destruction goes on."""
    if f.state is not OrderState.SEEN or preferred_offers(f):
        return None
    words = (
        "The VM is not replaced: it already is what spec.configuration and spec.placement.alternatives name first in cluster "
        f"{f.identity.cluster!r}."
    )
    way_out = "Put the old value back, or list another alternative there first."
    return plan_status(f, stalled(Reason.REPLACING, f"{words} {way_out}"))


def _blocked(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Wait with the old VM in place for what the order of the new one needs, as far as that shows before."""
    if _is_begun(f):
        return None
    return first_plan(
        f,
        _not_offered,
        _dependency_going,
        dependency_not_ready,
        terminating,
        _keys_missing,
        _beside_lookalike,
        _held_by_other_clusters,
        _beyond_quota,
    )


def _dependency_going(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Wait while what the new VM needs first is being deleted. To delete this object, too, would destroy the VM."""
    need = first_not_ready(f)
    if need is None or need.readiness is not Readiness.DELETING or need.detail:
        return None
    delete = delete_command(f.subject.kind, f.meta.namespace, f.meta.name)
    words = f"The VM is not replaced: {need.name} is being deleted. To keep the VM, put the old value back. To destroy it"
    reason = Reason.ACCOUNT_NOT_READY if need.account else Reason.DEPENDENCY_NOT_READY
    return plan_status(f, working(reason, f"{words}: {delete}"), requeue_at=f.now.mono + RECHECK_SECONDS)


def _keys_missing(f: VmFacts) -> Plan[GpuVMStatus] | None:
    return ssh_keys_missing(f, "The VM is not replaced until")


def _beside_lookalike(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Wait while a VM of an earlier object of this name is unused: after the destruction nothing would be bought beside it."""
    way_out = "Destroy that one, or put the old value back. To replace anyway (destroys the running VM)"
    made = "made for an earlier object of this name, and no object uses it"
    return beside_lookalike(f, "The VM is not replaced", f"{made}. {way_out}")


def _held_by_other_clusters(f: VmFacts) -> Plan[GpuVMStatus] | None:
    return held_by_other_clusters(f, _what(f))


def _beyond_quota(f: VmFacts) -> Plan[GpuVMStatus] | None:
    first = ordered_first(f) or current_offer(f)
    return beyond_quota(f, first.configuration, f.replacement_price, replaces=True)


def _not_offered(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Wait while the cluster of the VM offers none of the configurations that count there.

    That of the VM was accepted before, whatever the catalogue calls it by now.
    """
    known, preferred = f.known.configurations, preferred_offers(f)
    edited = any(one.name == "configuration" for one in f.changes)
    if not (known and preferred) or any(one.configuration in known or is_made_of(f, one, edited=edited) for one in preferred):
        return None
    first, cluster = preferred[0], f.identity.cluster
    own = first.configuration == f.spec.configuration
    names = f.known if own else replace(f.known, elsewhere=())  # where else the spec's own is offered
    field = "spec.configuration" if own else "spec.placement.alternatives"
    words = f"The VM is not replaced: cluster {cluster!r} offers no configuration {first.configuration!r}."
    advice = f"{corrections(with_offer(f.spec, first), names, '')} Correct {field}, or put the old value back."
    return plan_status(f, stalled(Reason.REPLACING, f"{words}{advice}"), requeue_at=f.now.mono + RECHECK_SECONDS)


def _without_room(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Wait for room for the new VM; what the cloud does not list, and the room of the old VM itself, are not asked for."""
    here = None if _is_begun(f) else waiter(f)
    if here is None or f.line.turn in here.offers or not (f.line.looking or f.line.listed.issuperset(here.offers)):
        return None
    offers = " or ".join(map(described, here.offers))
    words = f"{_what(f)} It is destroyed when the cloud has capacity for {offers}. {KEEP}"
    return replace(plan_status(f, working(Reason.WAITING_FOR_CAPACITY, words)), waits=here)


def _saved(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Take the final snapshot, by a GpuSnapshot only: the object stays, so it can be made."""
    final = None if f.final is None else replace(f.final, terminating=False)
    plan = final_snapshot.before_destruction(replace(f, final=final))
    return None if plan is None else _in_line(f, plan)


def _in_line(f: VmFacts, plan: Plan[GpuVMStatus]) -> Plan[GpuVMStatus]:
    """Return the plan with the place in the line: others would take the room meanwhile. They pass while this one is Stalled."""
    here, said = waiter(f), () if plan.status is None else plan.status.conditions
    return replace(plan, waits=None if here is None else replace(here, ready=find(said, ConditionType.STALLED) is None))
