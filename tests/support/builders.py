"""Facts with defaults, so that a test says only what it is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

from gpucloud.cloud.models import VmRecord
from gpucloud.engine.cloud.port import Change, Precondition, Purpose
from gpucloud.engine.runtime.workqueue import Key
from gpucloud.kinds.common import Adoption, Order, OrderState
from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
from gpucloud.kinds.meta import Annotation, ConditionType, Reason
from gpucloud.kinds.model import Condition
from gpucloud.reconcile import evidence, naming, placement, takeover
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.facts import Absent, CallHistory, Limits, Now, ObjectFacts, Present, SSHKeys
from gpucloud.reconcile.gpuvm import VmFacts, VmLocation
from gpucloud.reconcile.ownership import own_record, record_id
from gpucloud.reconcile.time_annotations import Said

UID = "11111111-2222-3333-4444-555555555555"
TAG = "tagaa"
KEY = "ssh-ed25519 AAAAMADEUP test"
START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = 1000.0


def a_reading(mono):
    """Both clocks at this mono time."""
    return Now(START + timedelta(seconds=mono), mono)


def a_spec(**changes):
    fields = {"cluster": "Msc1", "configuration": "A100_40GB_PCIe_1x", "vpc": "acme", "sshKeys": [KEY]}
    return GpuVMSpec.model_validate(fields | changes)


def an_object(**changes):
    facts = ObjectFacts(
        namespace="team", name="train", uid=UID, generation=1, deleting=False, has_finalizer=True, annotations={}
    )
    return replace(facts, **changes)


def a_status(reason=None, ready="False", progress="Reconciling", generation=1, model=GpuVMStatus, **fields):
    conditions = ()
    if reason is not None:
        types = [(ConditionType.READY, ready)] + ([(ConditionType(progress), "True")] if progress else [])
        conditions = tuple(
            Condition(
                type=kind,
                status=value,
                reason=reason,
                message="Made up.",
                observed_generation=generation,
                last_transition_time=START,
            )
            for kind, value in types
        )
    return model(conditions=conditions, observed_generation=generation if reason else -1, **fields)


def an_order(name, state=OrderState.SEEN, vpc="acme", cluster="Msc1", **fields):
    """The record of an order, as this process wrote it unless ``id`` says otherwise."""
    seen = orders.was_seen(Order(state=state))
    fields = {"id": record_id("ours", UID, name), "recorded_at": START, "cloud_id": name if seen else None} | fields
    return Order(state=state, name=name, cluster=cluster, vpc=vpc, **fields)


def known(order, *, ago=60.0, recorded=60.0, **fields):
    """An order whose record this process wrote ``recorded`` seconds ago, and which is in its state since ``ago`` seconds."""
    return orders.TrackedOrder(order, NOW - ago, recorded=NOW - recorded, **fields)


def tracked(base, before=None):
    """What this process knows of the order after the look that the facts hold: as the engine works it out.

    Without ``before`` it is a new process, which saw the status first when it saw the object; a call that its memory holds is
    one that it made itself.
    """
    history, order = base.history, base.status.order
    attempt = history.attempts.get(base.subject.create)
    if before is None and attempt is not None:
        here = base.identity
        sent = an_order(here.name, OrderState.INTENDED, here.vpc, here.cluster) if order is None else order
        sent = sent.model_copy(update={"state": OrderState.INTENDED})
        before = orders.answered(
            orders.TrackedOrder(sent, attempt.at, recorded=attempt.at),
            attempt.refusal,
            placement.Placement(),
            attempt.at,
            chosen_name=base.chosen_name,
        )
    ids = (
        frozenset()
        if before is None or before.order is None
        else frozenset(product({before.order.id, record_id("ours", UID, before.order.name)}, OrderState))
    )
    at_first = takeover.merged(before, order, ids, history.first_seen if before is None else NOW)
    if at_first.order is not None:  # a destroying call that the status announces is this process's own, and not sent yet
        at_first = replace(at_first, order=at_first.order.model_copy(update={"destroying_call": None}))
    request = None if base.meta.deleting else base.asked.reconcile_request
    asked = orders.asked_again(at_first, request, base.status.last_handled_reconcile_at, NOW)
    return evidence.observed(asked, base.found, proofs(base), a_reading(NOW), history.first_seen)


def proofs(base):
    """As the engine makes them."""
    marked = not base.chosen_name and naming.proves(base.identity.name, base.meta.uid)
    adoptable = base.adoption is not Adoption.NEVER and not base.meta.deleting
    subject = base.subject
    kind = {"unique_id": subject.unique_id, "markable": subject.markable}
    return evidence.Proofs(marked, adoptable, base.identity, base.limits.grace, uid=base.meta.uid, **kind)


def with_standing(base, changes):
    """The facts with these changes, and the order as it stands then."""
    before, given = changes.pop("known", None), changes.pop("tracked", None)
    names = {"known": changes.pop("known_names")} if "known_names" in changes else {}
    made = replace(base, **changes, **names)
    return replace(made, tracked=given or tracked(made, before))


def a_place(meta=None, spec=None, order=None, *, placement=None, referred_vpc=None, tag=TAG):
    """Where the VM of a GpuVM is, whose record this is."""
    meta, spec = meta or an_object(), spec or a_spec()
    return VmLocation(meta=meta, spec=spec, order=order, placement=placement, referred_vpc=referred_vpc, tag=tag)


def our_name(spec=None, meta=None):
    return a_place(meta, spec).placed().name


def a_record(status="ONLINE", name=None, **fields):
    return VmRecord.model_validate(
        {"id": name or our_name(), "namespace": "acme", "cluster": "Msc1", "status": status} | fields
    )


def present(status="ONLINE", as_of=NOW, duplicate_records=False, **fields):
    return Present(a_record(status, **fields), as_of, duplicate_records)


def facts(**changes):
    """A guarded, unpaused GpuVM that nobody has bought anything for, just looked for and not found."""
    meta = changes.pop("meta", an_object())
    spec = changes.pop("spec", a_spec())
    status = changes.pop("status", GpuVMStatus())
    base = VmFacts(
        now=a_reading(NOW),
        meta=meta,
        spec=spec,
        status=status,
        identity=a_place(meta, spec, own_record(status.order, meta.uid), placement=status.placement).placed(),
        found=Absent(NOW, NOW),
        history=CallHistory(first_seen=NOW - 1),
        tracked=orders.TrackedOrder(None, NOW - 1),
        limits=Limits(),
        keys=SSHKeys((KEY,)),
        said_to_buy=Said(meta.annotations.get(Annotation.BUY_ANYWAY), a_reading(NOW)),
    )
    return with_standing(base, changes)


def a_change(call, *, uid=UID, holds=lambda: True, kind="GpuVM"):
    """A change for an object, with one precondition."""
    purpose = Purpose(Key(kind, "team", "train", uid), Reason.CREATED, Reason.ORDER_FAILED, "Creating", 1)
    return Change(call, purpose, "train", (Precondition("the test permits it", holds),))
