"""Facts about a GpuHost with defaults, so that a test says only what it is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from gpucloud.cloud.models import HostRecord
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.kinds.gpuhost import GpuHostSpec, GpuHostStatus, HostOperation, HostOutcome, HostVerb
from gpucloud.kinds.meta import Annotation, rfc3339
from gpucloud.reconcile.facts import Now, Present
from gpucloud.reconcile.gpuhost import HostFacts
from gpucloud.reconcile.gpuhost.facts import announcement
from support import builders
from support.builders import NOW, START, an_object
from support.rows import OLD, tried

IMAGE = "Ubuntu 22.04.4 LTS"
WALL = START + timedelta(seconds=NOW)
RECENTLY, SINCE, LONG_AGO, AHEAD = (rfc3339(WALL + timedelta(seconds=seconds)) for seconds in (-20, -10, -601, 120))
CALLS = {HostVerb.REBOOT: "RebootHost", HostVerb.REPROVISION: "ReprovisionHost"}


def a_host_spec(**changes):
    fields = {"cluster": "Msc1", "hostId": "bm-128", "reprovision": {"imageUrl": "https://images.example/new.qcow2"}}
    return GpuHostSpec.model_validate(fields | changes)


def a_host_status(*arguments, **fields):
    return builders.a_status(*arguments, model=GpuHostStatus, **fields)


SEEN = {"host_id": "bm-128", "cluster": "Msc1", "account": OWN_ACCOUNT, "image": IMAGE, "tenancy": "acme"}
RUNNING = a_host_status("Running", "True", None, **SEEN)


def a_host(as_of=NOW, duplicate_records=False, **fields):
    record = {
        "id": "bm-128",
        "cluster": "Msc1",
        "tenancyName": "acme",
        "nodeType": "H100",
        "image": IMAGE,
        "operationalStatus": "OK",
        "poweredOn": True,
        "provisioningState": "provisioned",
    }
    return Present(HostRecord.model_validate(record | fields), as_of, duplicate_records)


def off(**more):
    """A host in the middle of a reboot."""
    return a_host(poweredOn=False, **more)


def wiped(**more):
    """A host in the middle of a reprovisioning."""
    return a_host(provisioningState="deprovisioning", **more)


def requested(reboot=None, reprovision=None, **more):
    """An object with these requests."""
    values = {Annotation.REBOOT_REQUESTED_AT: reboot, Annotation.REPROVISION_REQUESTED_AT: reprovision}
    return an_object(has_finalizer=False, annotations={name: value for name, value in values.items() if value} | more)


def an_operation(verb=HostVerb.REBOOT, outcome=HostOutcome.ANNOUNCED, ago=5.0, message=None, value=RECENTLY):
    at = WALL - timedelta(seconds=ago)
    return HostOperation(verb=verb, generation=1, id=value, at=at, outcome=outcome, message=message)


def an_announcement(verb=HostVerb.REBOOT, value=RECENTLY, ago=5.0):
    """What this process announced itself."""
    return announcement(an_operation(verb, ago=ago, value=value))


def operating(verb=HostVerb.REBOOT, outcome=HostOutcome.ANNOUNCED, **more):
    """The status in which an operation stands."""
    reason = {HostVerb.REBOOT: "Rebooting", HostVerb.REPROVISION: "Reprovisioning"}[verb]
    return a_host_status(reason, **SEEN, operation=an_operation(verb, outcome, **more))


def called(verb=HostVerb.REBOOT, value=RECENTLY, **more):
    """A memory in which the call for this request was made."""
    return tried(CALLS[verb], targets=(value,), **more)


def host_facts(**changes):
    """A GpuHost, known for a minute, whose host the last listing shows running."""
    base = HostFacts(
        now=Now(WALL, NOW),
        meta=an_object(has_finalizer=False),
        spec=a_host_spec(),
        status=RUNNING,
        found=a_host(),
        history=OLD,
    )
    return replace(base, **changes)
