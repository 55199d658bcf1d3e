"""Things, owners and cases with defaults, so that a test of orphans says only what it is about."""

from __future__ import annotations

from dataclasses import replace

from gpucloud.cloud.models import VmRecord
from gpucloud.reconcile.facts import AccountFacts
from gpucloud.reconcile.naming import Identity, external_name, read_mark
from gpucloud.reconcile.orphans import Abandonment, MarkedRecord, OrphanFacts, Owner, Owners, Rules
from support.builders import NOW, TAG, UID

GONE_AT = NOW - 4000.0  # when its object went
RULES = Rules(collect=True, age=3600.0)


def a_thing(name="train", uid=UID, *, tag=TAG, kind="GpuVM", vpc="acme", cluster="Msc1", tenant="acme", **more):
    """A VM that bears our mark. ``name`` and ``uid`` are those of the object that it was made for."""
    called = external_name(name, uid, tag)
    mark = read_mark(called, tag)
    assert mark is not None
    record = VmRecord.model_validate({"id": called, "status": "ONLINE", "tenancy_name": tenant, "namespace": vpc or None})
    return MarkedRecord(kind, Identity(cluster, vpc, called), mark, record, **more)


def an_owner(name="train", uid=UID, kind="GpuVM", place=None, namespace="team", **more):
    return Owner(kind, uid, namespace, name, place, **more)


def owners(*items):
    return Owners(items, TAG)


def a_witness(thing=None, **changes):
    seen = Abandonment("GpuVM", "team", "train", UID, (thing or a_thing()).where, "acme", GONE_AT)
    return replace(seen, **changes)


def a_case(**changes):
    """An orphan that may be collected: nothing speaks against it."""
    case = OrphanFacts(
        now=NOW,
        marked=a_thing(),
        abandonment=a_witness(),
        rules=RULES,
        seen=(NOW - 700.0, NOW - 10.0),
        listed=NOW - 5.0,
        account=AccountFacts("(operator)", frozenset({"acme"})),
        began=0.0,
        orphans=1,
        ours=5,
        clear=True,
        wanted=False,
    )
    return replace(case, **changes)
