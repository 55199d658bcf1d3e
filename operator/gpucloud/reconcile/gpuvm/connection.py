"""Publishes a VM's address while it runs, as ``spec.connection`` asks; withdraws it before the VM is stopped or destroyed.

``status.connection`` is the write-ahead record: it names what is published before that is written, and until it is withdrawn.
A process that does not know whether a recorded withdrawal was carried out repeats it. A withdrawal that keeps failing holds a
call for ``WITHDRAW_SECONDS`` only: a VM that nobody needs is billed. Why: docs/adr/0020.
"""

from __future__ import annotations

import ipaddress
from dataclasses import replace
from typing import TYPE_CHECKING

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.connection import AddressChoice, PublishedConnection
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile import order as orders
from gpucloud.reconcile import pause
from gpucloud.reconcile.conditions import find, is_ready, working
from gpucloud.reconcile.core.plan_status import plan_status, recorded
from gpucloud.reconcile.facts import Present, Verb
from gpucloud.reconcile.gpuvm.vm_states import VmPhase, vm_phase
from gpucloud.reconcile.text import followed

if TYPE_CHECKING:
    from gpucloud.cloud.models import VmRecord
    from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
    from gpucloud.reconcile.core.facts import CloudFacts
    from gpucloud.reconcile.facts import Attempt
    from gpucloud.reconcile.plan import Plan

    Facts = CloudFacts[GpuVMSpec, GpuVMStatus, VmRecord]

WITHDRAW_SECONDS = 60.0  # a call waits as long for a withdrawal that fails, and is then sent all the same
RETRY_SECONDS = (2.0, 60.0)  # first and longest wait after a failure
ENDS_SERVICE = frozenset({Verb.STOP, Verb.DESTROY})
CONFIG_MAPS, SERVICES, SLICES = "configmaps", "services", "endpointslices"
_REASONS = {
    ErrorKind.CONFLICT: Reason.CONFLICT,
    ErrorKind.FORBIDDEN: Reason.PERMISSION_DENIED,
    ErrorKind.INVALID: Reason.REJECTED,
}


def with_connection(f: Facts, plan: Plan[GpuVMStatus], reassert_seconds: float) -> Plan[GpuVMStatus]:
    """Return the plan, with what must be withdrawn before it, or published after it.

    What is published is looked at again after ``reassert_seconds``.
    While Ready is Unknown nothing changes: that the cloud cannot be asked is no sign that the VM is down.
    """
    if not _is_used(f) or not f.meta.has_finalizer or not f.synced or pause.is_paused(f.meta.annotations):
        return plan
    if (plan.status is None and plan.action is None and plan.release is None) or _is_unknown(plan):
        return plan
    wanted = wanted_connection(f) if _serves(f, plan) else None
    if f.limits.observe_only:
        return plan if wanted in {None, f.status.connection} else replace(plan, withheld=plan.withheld or Verb.PUBLISH)
    published, kept = _published(f), _named(wanted)
    surplus = tuple(target for target in _named(published) if target not in kept)
    if published is not None and surplus and not _is_withdrawn(f, surplus):
        return _withdraw(f, plan, published, surplus)
    if plan.status is not None:
        plan = _recording(f, plan, wanted)
    return plan if wanted is None else _publish(f, plan, wanted, reassert_seconds)


def wanted_connection(f: Facts) -> PublishedConnection | None:
    """Return what is to be published of the VM that the listing shows; None if that is nothing."""
    spec = f.spec.connection
    if spec is None or not isinstance(f.found, Present):
        return None
    public, private = _address(f.found.record.ip), _address(f.found.record.private_ip)
    host, service = public or private, spec.service
    address = None if service is None else private if service.address is AddressChoice.PRIVATE else public
    config_map = spec.config_map_name if host is not None else None
    if config_map is None and address is None:
        return None
    return PublishedConnection(
        config_map=config_map,
        service=None if service is None or address is None else service.name,
        host=host,
        private_address=private,
        address=address,
    )


def trouble(f: Facts) -> tuple[tuple[ConditionType, Reason, str], ...]:
    """Return the condition PublicationFailed while the last attempt failed, or the VM has no address to publish."""
    if not _is_used(f):
        return ()
    spec, attempt = f.spec.connection, f.attempt(Verb.PUBLISH) or f.attempt(Verb.WITHDRAW)
    if attempt is not None and attempt.refusal is not None and attempt.asked == f.asked:
        reason = _REASONS.get(attempt.refusal.kind, Reason.API_ERROR)
        return ((ConditionType.PUBLICATION_FAILED, reason, attempt.refusal.message),)
    if spec is None or not isinstance(f.found, Present) or vm_phase(f.found.record) is not VmPhase.ON or f.meta.deleting:
        return ()
    wanted = wanted_connection(f)
    if spec.service is not None and (wanted is None or wanted.service is None):
        other = next(choice for choice in AddressChoice if choice is not spec.service.address)
        words = (
            f"The cloud reports no {spec.service.address.lower()} IP address of this VM that a Service can lead to, so "
            f"Service {spec.service.name!r} is not published. Wait for one, or set spec.connection.service.address: {other}."
        )
        return ((ConditionType.PUBLICATION_FAILED, Reason.NO_ADDRESS, words),)
    return ()


def still_published(f: Facts, plan: Plan[GpuVMStatus]) -> str:
    """Return what the Event of a stop or destruction adds when its withdrawal failed until the call was sent all the same."""
    published = _named(f.status.connection) if plan.action in ENDS_SERVICE else ()
    return f" These were still published: {', '.join(published)}." if published else ""


def _is_used(f: Facts) -> bool:
    return f.spec.connection is not None or f.status.connection is not None


def _is_unknown(plan: Plan[GpuVMStatus]) -> bool:
    ready = None if plan.status is None else find(plan.status.conditions, ConditionType.READY)
    return ready is not None and ready.status == "Unknown" and plan.action is None


def _serves(f: Facts, plan: Plan[GpuVMStatus]) -> bool:
    """Whether the VM is ours, running and Ready, and no call is due that changes that."""
    if plan.status is None or plan.action is not None or plan.release is not None or not is_ready(plan.status.conditions):
        return False
    return f.is_present and isinstance(f.found, Present) and vm_phase(f.found.record) is VmPhase.ON


def _published(f: Facts) -> PublishedConnection | None:
    """Return what may be published: what status records.

    If the status of an existing VM was lost, or its record was removed while this process knows better: what the spec names.
    So too if a VM of the chosen name is not this object's any more, by all that is known.
    """
    spec, known = f.spec.connection, f.attempt(Verb.PUBLISH) is not None
    lost = f.status.order is None and isinstance(f.found, Present)
    if f.status.connection is not None or spec is None or not (known or lost):
        return f.status.connection
    return PublishedConnection(config_map=spec.config_map_name, service=None if spec.service is None else spec.service.name)


def _named(record: PublishedConnection | None) -> tuple[str, ...]:
    """Return resource and name of the objects of a record, in the order in which they are withdrawn."""
    if record is None:
        return ()
    slices = () if record.service is None else (f"{SLICES}/{record.service}", f"{SERVICES}/{record.service}")
    return (*slices, *(() if record.config_map is None else (f"{CONFIG_MAPS}/{record.config_map}",)))


def _is_withdrawn(f: Facts, targets: tuple[str, ...]) -> bool:
    """Whether this process has withdrawn all of these; it forgets that when it begins to publish."""
    attempt = f.attempt(Verb.WITHDRAW)
    return attempt is not None and attempt.refusal is None and set(targets) <= set(attempt.targets)


def _withdraw(f: Facts, plan: Plan[GpuVMStatus], published: PublishedConnection, targets: tuple[str, ...]) -> Plan[GpuVMStatus]:
    """Return the plan with its call, or its release, replaced by the withdrawal that comes before it, while that may last."""
    attempt = f.attempt(Verb.WITHDRAW)
    since = min(published.withdrawing_since or f.now.wall, f.now.wall)  # a clock that was ahead prolongs no wait
    failed = attempt if attempt is not None and attempt.refusal is not None and attempt.asked == f.asked else None
    left = WITHDRAW_SECONDS - (f.now.wall - since).total_seconds()
    held = plan.action is not None or plan.release is not None
    if held and failed is not None and left <= 0:
        return _released(plan, targets)  # a call is sent all the same, and status still records what is published
    if held:
        plan = _deferred(f, plan)
    plan = _recording(f, plan, published.model_copy(update={"withdrawing_since": since}))
    again = f.now.mono if failed is None else _again_at(failed)
    if again > f.now.mono:
        return _requeued(plan, min(again, f.now.mono + left) if held else again)
    return replace(plan, action=Verb.WITHDRAW, targets=targets)


def _released(plan: Plan[GpuVMStatus], targets: tuple[str, ...]) -> Plan[GpuVMStatus]:
    """Return the plan; the Event of its release names what was not withdrawn."""
    if plan.release is None:
        return plan
    words = f"Not withdrawn: {', '.join(targets)}. Kubernetes deletes them after this object."
    return replace(plan, release=replace(plan.release, note=followed(plan.release.note, words)))


def _deferred(f: Facts, plan: Plan[GpuVMStatus]) -> Plan[GpuVMStatus]:
    """Return the plan without its call or release. The status says what is under way, and records no call that is not sent."""
    kept = ("operation", "last_handled_restart_at", "deletion_held_at", "recreations")
    unsent = {"order": orders.withdrawn(f.tracked) or recorded(f)} | {name: getattr(f.status, name) for name in kept}
    status = None if plan.status is None else plan.status.model_copy(update=unsent)
    return replace(plan, status=status, action=None, targets=(), release=None, records_order=False, withheld=None)


def _recording(f: Facts, plan: Plan[GpuVMStatus], record: PublishedConnection | None) -> Plan[GpuVMStatus]:
    """Return the plan with this record of what is published in its status."""
    status = plan.status
    if status is None:  # a release, which the withdrawal holds: the time of the withdrawal must be recorded
        words = "What spec.connection published is being withdrawn; the object is deleted next."
        status = plan_status(f, working(Reason.DELETING, words)).status or f.status
    return plan if status.connection == record else replace(plan, status=status.model_copy(update={"connection": record}))


def _publish(f: Facts, plan: Plan[GpuVMStatus], wanted: PublishedConnection, reassert_seconds: float) -> Plan[GpuVMStatus]:
    """Return the plan with the publication, if it is due: it is new, was asked for, failed, or was not checked for a while."""
    attempt, content = f.attempt(Verb.PUBLISH), tuple(f"{name}={value}" for name, value in wanted if value is not None)
    due = f.now.mono
    if attempt is not None and attempt.asked == f.asked and attempt.targets == content:
        due = _again_at(attempt) if attempt.refusal is not None else attempt.at + reassert_seconds
    if due > f.now.mono:
        return _requeued(plan, due)
    return replace(plan, action=Verb.PUBLISH, targets=content)


def _again_at(attempt: Attempt) -> float:
    first, longest = RETRY_SECONDS
    return attempt.at + min(first * 2.0 ** min(max(attempt.failures - 1, 0), 16), longest)


def _requeued(plan: Plan[GpuVMStatus], at: float) -> Plan[GpuVMStatus]:
    return replace(plan, requeue_at=at if plan.requeue_at is None else min(at, plan.requeue_at))


def _address(text: str | None) -> str | None:
    """Return an IP address that a Service may lead to: none of this host, of this link, or of many."""
    try:
        found = ipaddress.ip_address((text or "").strip().partition("%")[0])
    except ValueError:
        return None
    special = found.is_loopback or found.is_link_local or found.is_multicast or found.is_unspecified
    return None if special else str(found)
