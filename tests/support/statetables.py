"""The status table of each kind, for a real apiserver: rows that all kinds share, in the words of each, and its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from support.manifests import gpucloudaccount, gpusnapshot, gpuvm, gpuvpc, secret
from support.simcloud import API_KEY

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.simcloud import SimCloud

HELD = 120.0  # seconds that a fault holds an answer: longer than a test needs
PASSWORD = "made-up-p4ssphrase"
RETAIN, DELETE = ({"deletion": {"policy": policy}} for policy in ("Retain", "Delete"))


@dataclass(frozen=True)
class Row:
    """How an object is made, and what is to be said of it; the order under its name meets the ``fault``."""

    why: str
    wanted: str
    kstatus: str = "Failed"
    standing: str = "Stalled"
    met: bool = False
    says: str = ""
    spec: dict[str, Any] = field(default_factory=dict)
    fault: dict[str, Any] = field(default_factory=dict)
    secret: dict[str, str] | None = None  # what the Secret of an account holds


@dataclass(frozen=True)
class Kind:
    """A kind, its table, and how to make, edit and blind it."""

    resource: str
    ready: str
    rows: dict[str, Row]
    make: Callable[..., dict[str, Any]]  # by its name in the cloud and in Kubernetes
    listing: str  # the operation without which the cloud cannot be seen
    edits: tuple[dict[str, Any], dict[str, Any]]  # the first changes nothing in the cloud
    edited: str = ""  # what Ready says after the second; as before when empty
    create: str = ""
    destroy: str = ""
    prefix: str = ""  # of its names in the cloud
    record: str = ""  # field of the status that holds the id
    lost: str = ""
    prepare: Callable[[SimCloud], None] = lambda _: None
    there: Callable[[SimCloud], list[str]] = lambda _: []
    remove: Callable[[SimCloud, dict[str, Any]], None] = lambda _, __: None


def _met(why: str, wanted: str, **more: Any) -> Row:
    return Row(why, wanted, "Current", "-", met=True, **more)


def _waits(why: str, wanted: str, **more: Any) -> Row:
    return Row(why, wanted, "InProgress", "Reconciling", **more)


def _orders(ready: str, field_of_name: str, **own: Row) -> dict[str, Row]:
    """The rows of a kind that orders something: those that all share, and its own."""
    return {
        "made": _met("as asked", ready),
        "slow": _waits("the order is on its way", "False/Creating", fault={"kind": "silence", "seconds": HELD}),
        "forbidden": Row(
            "the cloud forbids it",
            "False/PermissionDenied",
            says="none for you",
            fault={"kind": "status", "status": 403, "message": "none for you"},
        ),
        "refused": Row(
            "the cloud does not want it so",
            "False/Rejected",
            says="not like this",
            fault={"kind": "status", "status": 400, "message": "not like this"},
        ),
        "throttled": Row(
            "pending beyond its deadline",
            "False/ProgressDeadlineExceeded",
            says="the operator keeps trying",
            spec={"progressDeadlineSeconds": 1},
            fault={"kind": "status", "status": 429},
        ),
        "taken": Row("there is one already", "False/Conflict", says=field_of_name),
        **own,
    }


NO_ACCOUNT_YET = _waits(
    "what it needs is not there",
    "False/AccountNotReady",
    says="GpuCloudAccount 'later'",
    spec={"accountRef": {"name": "later"}},
)


def _vm_there(sim: SimCloud) -> None:
    sim.create_vm("taken")


GPUVM = Kind(
    resource="gpuvm",
    ready="True/Running",
    rows=_orders(
        "True/Running",
        "spec.vmName",
        early=NO_ACCOUNT_YET,
        off=_met("stopped as asked", "True/PoweredOff", spec={"powerState": "Stopped"}),
        unknown=Row(
            "only the cloud knows what it has, and where",
            "False/Rejected",
            says="H100_80GB_SXM_8x",
            spec={"configuration": "H100_80GB_SXM_8x"},
        ),
    ),
    make=lambda name, /, **spec: gpuvm(name, **{"vmName": name} | spec),
    listing="GetServers",
    edits=(RETAIN, {"powerState": "Stopped"}),
    edited="True/PoweredOff",
    create="CreateServer",
    destroy="DestroyServer",
    record="vmId",
    lost="False/VMLost",
    prepare=_vm_there,
    there=lambda sim: sim.vms(),
    remove=lambda sim, item: sim.destroy_vm(item["metadata"]["name"]),
)


def _vpcs_there(sim: SimCloud) -> None:
    for name in ("taken", "adopted", "different"):
        sim.create_vpc(f"acme-{name}")


GPUVPC = Kind(
    resource="gpuvpc",
    ready="True/Available",
    rows=_orders(
        "True/Available",
        "IfExists",
        early=NO_ACCOUNT_YET,
        misnamed=Row("only the cloud knows the tenant's name", "False/Rejected", says="acme-", spec={"name": "lab"}),
        adopted=_met("taken over", "True/Adopted", spec={"adoption": "IfExists"}),
        absent=Row("to be taken over, and absent", "False/NotFound", says="Required", spec={"adoption": "Required"}),
        different=Row(
            "taken over, and not as asked",
            "False/Mismatch",
            says="blockIntraVpcComms",
            spec={"adoption": "Required", "blockIntraVpcComms": True},
        ),
    ),
    make=lambda name, /, **spec: gpuvpc(name, **{"name": f"acme-{name}"} | spec),
    listing="GetVpcs",
    edits=(RETAIN, DELETE),
    create="CreateVpc",
    destroy="DestroyVpc",
    prefix="acme-",
    record="vpcId",
    lost="False/VPCLost",
    prepare=_vpcs_there,
    there=lambda sim: sim.vpcs(),
    remove=lambda sim, item: sim.destroy_vpc(item["status"]["vpcId"]),
)


def of(vm: str) -> dict[str, Any]:
    """The spec of a snapshot of a VM that no GpuVM stands for."""
    return {"vm": {"cluster": "Msc1", "vpc": "acme", "name": vm}, "vmRef": None}


def _sources_there(sim: SimCloud) -> None:
    sim.turn(snapshot_seconds=0.2)
    for name, state in (("theirs", "ONLINE"), ("busy", "PENDING")):
        sim.create_vm(name)
        sim.force(name, state)
    sim.create_snapshot("taken", "theirs")


GPUSNAPSHOT = Kind(
    resource="gpusnapshot",
    ready="True/Completed",
    rows=_orders(
        "True/Completed",
        "spec.snapshotName",
        early=_waits(
            "what it needs is not there",
            "False/DependencyNotReady",
            says="GpuVM 'later'",
            spec={"vm": None, "vmRef": {"name": "later"}},
        ),
        sourceless=Row("no such VM", "False/SourceNotFound", says="'nobody'", spec=of("nobody")),
        awaiting=_waits("its VM is neither on nor off", "False/DependencyNotReady", says="VM 'busy'", spec=of("busy")),
    ),
    make=lambda name, /, **spec: gpusnapshot(name, **{"snapshotName": name} | of("theirs") | spec),
    listing="GetSnapshots",
    edits=(RETAIN, DELETE),
    create="CreateSnapshot",
    destroy="DeleteSnapshot",
    record="snapshotId",
    lost="False/SnapshotLost",
    prepare=_sources_there,
    there=lambda sim: sim.snapshots(),
    remove=lambda sim, item: sim.delete_snapshot(item["metadata"]["name"]),
)

ACCOUNTS = {
    "key": _met("an API key", "True/Connected", says="API key", secret={"apikey": API_KEY}),
    "login": _met("a login", "True/Connected", says="login", secret={"username": "ann", "password": PASSWORD}),
    "early": _waits("no Secret yet", "False/SecretNotFound", says="'early'"),
    "neither": Row("no credential in it", "False/InvalidSecret", says="'neither'", secret={"colour": "blue"}),
    "both": Row("two in it", "False/InvalidSecret", secret={"apikey": API_KEY, "username": "ann", "password": PASSWORD}),
    "half": Row("a user without a password", "False/InvalidSecret", secret={"username": "ann"}),
    "wrong": Row("a key that the cloud does not know", "False/CredentialsRefused", secret={"apikey": "made-up-and-wrong"}),
    "undeclared": Row(
        "an endpoint that nobody declared",
        "False/UnknownEndpoint",
        says="'default', 'far'",
        spec={"endpoint": "mars"},
        secret={"apikey": API_KEY},
    ),
    "away": Row(
        "a cloud that does not answer",
        "Unknown/ApiUnavailable",
        "InProgress",
        "Reconciling",
        says="'far'",
        spec={"endpoint": "far"},
        secret={"apikey": API_KEY},
    ),
}
GPUCLOUDACCOUNT = Kind(
    resource="gpucloudaccount",
    ready="True/Connected",
    rows=ACCOUNTS,
    make=lambda name, /, **spec: gpucloudaccount(name, **{"secretRef": {"name": name}} | spec),
    listing="*",
    edits=({"defaults": {"rootDiskGiB": 200}}, {"defaults": {"rootDiskGiB": 300}}),
)
ORDERING = (GPUVM, GPUVPC, GPUSNAPSHOT)


def manifests(kind: Kind) -> list[dict[str, Any]]:
    """What is applied for the rows of a kind."""
    secrets = [secret(name, **row.secret) for name, row in kind.rows.items() if row.secret is not None]
    return [*secrets, *(kind.make(name, **row.spec) for name, row in kind.rows.items())]
