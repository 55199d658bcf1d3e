"""Facts with defaults, so that a test says only what it is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from gpucloud.cloud.models import VmRecord
from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus, Intent
from gpucloud.kinds.meta import Condition, ConditionType
from gpucloud.reconcile.facts import Absent, Limits, Memory, Now, ObjectFacts, Present, SSHKeys
from gpucloud.reconcile.gpuvm import VmFacts, identity

UID = "11111111-2222-3333-4444-555555555555"
TAG = "tagaa"
KEY = "ssh-ed25519 AAAAMADEUP test"
START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = 1000.0


def a_spec(**changes):
    fields = {"cluster": "Msc1", "configuration": "A100_40GB_PCIe_1x", "vpc": "acme", "sshKeys": [KEY]}
    return GpuVMSpec.model_validate(fields | changes)


def an_object(**changes):
    facts = ObjectFacts(namespace="team", name="train", uid=UID, generation=1, deleting=False, guarded=True, annotations={})
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


def an_intent(name, vpc="acme", cluster="Msc1"):
    return Intent(id="ours", name=name, cluster=cluster, vpc=vpc, recorded_at=START)


def our_name(spec=None, meta=None):
    return identity(meta or an_object(), spec or a_spec(), GpuVMStatus(), TAG).name


def a_record(status="ONLINE", name=None, **fields):
    return VmRecord.model_validate(
        {"id": name or our_name(), "namespace": "acme", "cluster": "Msc1", "status": status} | fields
    )


def present(status="ONLINE", as_of=NOW, twins=False, **fields):
    return Present(a_record(status, **fields), as_of, twins)


def facts(**changes):
    """A guarded, unpaused GpuVM that nobody has bought anything for, just looked for and not found."""
    meta = changes.pop("meta", an_object())
    spec = changes.pop("spec", a_spec())
    status = changes.pop("status", GpuVMStatus())
    base = VmFacts(
        now=Now(START + timedelta(seconds=NOW), NOW),
        meta=meta,
        spec=spec,
        status=status,
        identity=identity(meta, spec, status, TAG),
        found=Absent(NOW, NOW),
        memory=Memory(first_seen=NOW - 1),
        limits=Limits(),
        keys=SSHKeys((KEY,)),
    )
    return replace(base, **changes)
