"""Image files that a refused order may suggest: those that GpuVMs of the namespace were made from. No call lists them."""

import pytest

from gpucloud.engine.cloud.accounts import ResolvedAccount
from gpucloud.engine.kinds.gpuvm.known_names import names_for
from gpucloud.engine.kinds.registry import new_listers
from gpucloud.reconcile.facts import AccountFacts
from gpucloud.spelling import MOST_COMPARED
from support.builders import TAG
from support.fakes import a_resource

ACCOUNT = ResolvedAccount(AccountFacts("default"))
READY = {
    "conditions": [
        {"type": "Ready", "status": "True", "reason": "Running", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    ]
}
GOLDEN = {"image": {"customFile": "golden.qcow2"}}


def others(*, spec=GOLDEN, status=READY, number=1, namespace="team"):
    return [
        a_resource("GpuVM", f"other-{one}", uid=f"{one}", version=2 + one, namespace=namespace, spec=spec, status=status)
        for one in range(number)
    ]


CASES = [
    (others(), ("golden.qcow2",), "it was made"),
    (others(number=3), ("golden.qcow2",), "each name once"),
    (others(status={}), (), "it may never be made: its name may be the wrong one"),
    (others(spec={"image": {"operatingSystem": "Ubuntu"}}), (), "of another source"),
    (others(namespace="theirs"), (), "of other namespaces nothing is told"),
    (others(spec=GOLDEN | {"accountRef": {"name": "lab"}}), (), "files are of a tenant, and this account may be another one's"),
    (others(number=MOST_COMPARED + 1), (), "each pass would look at them all"),
]


@pytest.mark.parametrize(("there", "expected", "why"), CASES, ids=[row[2] for row in CASES])
def test_image_files_of_other_vms(there, expected, why):
    objects = new_listers(TAG)
    objects.vms.put(a_resource("GpuVM", "train", uid="u", version=1, spec={"image": {"customFile": "goldn.qcow2"}}))
    for one in there:
        objects.vms.put(one)
    vm = objects.vms.named("team", "train")
    assert names_for(objects, vm, vm.spec, ACCOUNT, objects.vm_identity(vm, vm.spec)).files == expected, why


def test_nothing_is_looked_for_where_the_vm_has_no_image_file():
    objects = new_listers(TAG)
    for one in (a_resource("GpuVM", "train", uid="u", version=1), *others()):
        objects.vms.put(one)
    vm = objects.vms.named("team", "train")
    assert names_for(objects, vm, vm.spec, ACCOUNT, objects.vm_identity(vm, vm.spec)).files == ()
