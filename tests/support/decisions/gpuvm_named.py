"""Rows of a GpuVM whose spec names what the cloud refuses, or whose boot log was read: how such messages end."""

from __future__ import annotations

from datetime import timedelta

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.bootlog import BootLogFinding, BootTrouble
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Verb
from gpucloud.reconcile.gpuvm.boot_log import WORDS
from gpucloud.reconcile.gpuvm.misnamed import KnownNames
from support.builders import NOW, START, a_spec, a_status, an_order, present
from support.gpuvmfacts import CREATING, NAME
from support.rows import OLD, Row, tried

SMALL, OTHER = "A100_40GB_PCIe_1x", "H100_80GB_SXM_8x"
REFUSED = 'The {what} "{name}" was not found'
WAITED = 700.0  # seconds since it was ordered and seen on: longer than the operator waits before it reads the boot log


def names(what, spec, known, says, *, why, name=None):
    """The cloud answers the order by an error that quotes the name."""
    words = REFUSED.format(what=what, name=name or next(iter(spec.values())))
    given = {"status": CREATING, "spec": a_spec(**spec), "known_names": known}
    history = tried(Verb.CREATE, kind=ErrorKind.NOT_FOUND, words=words)
    return Row(why, given | {"history": history}, Reason.NOT_FOUND, progress="Stalled", says=says)


def boots(trouble):
    """It is on and not ready, and its boot log was read a minute ago."""
    moment = START + timedelta(seconds=NOW)
    since = moment - timedelta(seconds=WAITED)
    status = a_status(
        "Creating",
        order=an_order(NAME, recorded_at=since),
        billed_since=since,
        progress_deadline_at=moment + timedelta(seconds=WAITED),
        boot_log=BootLogFinding(trouble=trouble, read_at=moment - timedelta(seconds=60)),
    )
    given = {"status": status, "found": present("PENDING_READINESS"), "history": OLD}
    return Row("a person is told what the machine says", given, Reason.CREATING, says=f"Its boot log {WORDS[trouble]}")


ROWS = {
    "no configuration is like the one that is named": names(
        "configuration",
        {"configuration": "tpu"},
        KnownNames((SMALL,)),
        f"Configurations offered: {SMALL}.",
        why="what there is to choose from",
    ),
    "a configuration of other clusters": names(
        "configuration",
        {"configuration": OTHER},
        KnownNames((SMALL,), elsewhere=("Hou1",)),
        f"Clusters that offer '{OTHER}': Hou1.",
        why="where it is to be had",
    ),
    "a resource pool that nothing is like": names(
        "pool",
        {"resource_pool": "x"},
        KnownNames((SMALL,), ("on-demand", "reserved")),
        "Resource pools seen: on-demand, reserved.",
        why="what there is to choose from",
    ),
    "an image that nothing is like": names(
        "image",
        {"image": {"operatingSystem": "BeOS"}},
        KnownNames((SMALL,), images=("Ubuntu_22.04.4_LTS",)),
        "Images in use: 'Ubuntu 22.04.4 LTS'.",
        why="as orders spell it",
        name="BeOS",
    ),
    "an image file that nothing is like": names(
        "image",
        {"image": {"customFile": "acme-bas.qcow2"}},
        KnownNames((SMALL,), images=("Ubuntu_22.04.4_LTS",), files=("golden.qcow2",)),
        "Image files in use: golden.qcow2.",
        why="what other VMs were made from",
        name="acme-bas.qcow2",
    ),
    "an image file, and none is known": names(
        "image",
        {"image": {"customFile": "acme-bas.qcow2"}},
        KnownNames((SMALL,)),
        "Image files cannot be listed: check the name.",
        why="the cloud has no call that a person could try",
        name="acme-bas.qcow2",
    ),
    "a VPC that nothing is like": names(
        "VPC",
        {"vpc": "x"},
        KnownNames((SMALL,), vpcs=("acme", "globex")),
        "VPCs seen: acme, globex.",
        why="what there is to choose from",
    ),
    "a snapshot that is not in its place": names(
        "snapshot",
        {"image": {"snapshot": "golden"}},
        KnownNames((SMALL,)),
        "The snapshot must be in the VM's VPC and cluster.",
        why="the cloud looks nowhere else",
        name="golden",
    ),
    "the name of a GpuSnapshot": names(
        "snapshot",
        {"image": {"snapshot": "golden"}},
        KnownNames((SMALL,), is_object=True),
        "in spec.image.snapshotRef.name",
        why="the field for objects is another one",
        name="golden",
    ),
    **{f"its boot log says {trouble}": boots(trouble) for trouble in BootTrouble},
}
