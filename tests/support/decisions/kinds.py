"""The kinds that order something in the cloud, each in its own words, for the rows that they share."""

from __future__ import annotations

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import gpusnapshot, gpuvm, gpuvpc
from gpucloud.reconcile.facts import Absent, Verb
from support import gpuvmfacts as vm
from support import snapshotfacts as snapshot
from support import vpcfacts as vpc
from support.builders import NOW, a_spec, a_status, an_order, facts, present
from support.rows import Kind

GPUVM = Kind(
    name="GpuVM",
    name_field="spec.vmName",
    noun="VM",
    cloud_name=vm.NAME,
    decide=gpuvm.decide,
    facts=facts,
    create=Verb.CREATE,
    destroy=Verb.DESTROY,
    lost=Reason.VM_LOST,
    found=present,
    creating=vm.CREATING,
    settled=vm.RUNNING,
    going=vm.GOING,
    rejected=vm.REJECTED,
    mine=vm.MINE,
    told=vm.TOLD,
    ready={"reason": Reason.RUNNING, "ready": "True", "progress": None},
    deleting={"meta": vm.DELETING},
    leaving={"meta": vm.DELETING, "status": vm.RUNNING, "found": present()},
    retains=vm.RETAINS,
    another={"spec": a_spec(vmName="theirs"), "found": present(name="theirs")},
    another_ordered={
        "spec": a_spec(vmName="theirs"),
        "status": a_status("Creating", order=an_order("theirs", OrderState.INTENDED)),
        "found": Absent(NOW, NOW, NOW - 0.5),
    },
    another_says=("'theirs'", "another spec.vmName"),
    user="GpuSnapshot 'other'",
)
GPUVPC = Kind(
    name="GpuVpc",
    name_field="spec.name",
    noun="VPC",
    cloud_name=vpc.NAME,
    decide=gpuvpc.decide,
    facts=vpc.vpc_facts,
    create=Verb.CREATE_VPC,
    destroy=Verb.DESTROY_VPC,
    lost=Reason.VPC_LOST,
    found=vpc.a_vpc,
    creating=vpc.CREATING,
    settled=vpc.AVAILABLE,
    going=vpc.GOING,
    rejected=vpc.REJECTED,
    mine=vpc.MINE,
    told=vpc.TOLD,
    ready={"reason": Reason.AVAILABLE, "ready": "True", "progress": None},
    deleting={"meta": vpc.DELETING, "occupants": vpc.EMPTY},
    leaving=vpc.EMPTIED,
    retains=vpc.RETAINS,
    another={"found": vpc.a_vpc()},
    another_ordered={"status": vpc.CREATING},
    another_says=(vpc.NAME,),
    marks_names=False,
)
GPUSNAPSHOT = Kind(
    name="GpuSnapshot",
    name_field="spec.snapshotName",
    noun="snapshot",
    cloud_name=snapshot.NAME,
    decide=gpusnapshot.decide,
    facts=snapshot.snapshot_facts,
    create=Verb.CREATE_SNAPSHOT,
    destroy=Verb.DELETE_SNAPSHOT,
    lost=Reason.SNAPSHOT_LOST,
    found=snapshot.a_snapshot,
    creating=snapshot.CREATING,
    settled=snapshot.COMPLETED,
    going=snapshot.GOING,
    rejected=snapshot.REJECTED,
    mine=snapshot.MINE,
    told=snapshot.TOLD,
    ready={"reason": Reason.COMPLETED, "ready": "True", "progress": None, "beside": ("Succeeded",)},
    deleting={"meta": snapshot.DELETING},
    leaving={"meta": snapshot.DELETING, "status": snapshot.COMPLETED, "found": snapshot.a_snapshot()},
    retains=snapshot.RETAINS,
    another={"spec": snapshot.CHOSEN, "found": snapshot.a_snapshot(id="theirs")},
    another_ordered={
        "spec": snapshot.CHOSEN,
        "status": snapshot.a_snapshot_status("Creating", order=snapshot.THEIRS),
    },
    another_says=("'theirs'", "VPC 'acme'", "another spec.snapshotName"),
)
