"""What kubectl shows of a fresh object: its columns, selectable fields and category."""

from __future__ import annotations

import itertools
import re
import secrets

import pytest

from gpucloud.kinds.common import FIRST_CONDITION
from support.crdcases.gpucloudaccount import ACCOUNT
from support.crdcases.gpuhost import HOST
from support.crdcases.gpusnapshot import SNAPSHOT
from support.crdcases.gpuvm import VM
from support.crdcases.gpuvpc import VPC
from support.crdcases.kinds import ALL, each_kind


def test_the_example_applied_twice_is_unchanged(namespaced, example_file):
    assert "created" in namespaced.apply(example_file)
    assert "unchanged" in namespaced.apply(example_file)


@each_kind
def test_a_fresh_object_waits_for_the_operator(namespaced, cases):
    namespaced.apply(cases.manifest("fresh"))
    fresh = namespaced.get(cases.short_name, "fresh")
    assert fresh["spec"] == cases.minimal | cases.defaults
    assert fresh["status"] == {
        **({"users": 0} if cases is ACCOUNT else {}),
        "observedGeneration": -1,
        "conditions": [
            {
                "type": "Ready",
                "status": "Unknown",
                "reason": "Pending",
                "message": FIRST_CONDITION["message"],
                "lastTransitionTime": "1970-01-01T00:00:00Z",
            }
        ],
    }


# (the kind, a status, what kubectl get shows of it, what it shows only if asked for more)
COLUMNS = [
    (
        VM,
        {"state": "ONLINE", "ip": "198.51.100.7", "vmId": "vm-1", "vpc": "acme", "account": "main", "pricePerHour": "2.05"}
        | {"adopted": True, "cluster": "Hou1"},
        {"STATE": "ONLINE", "CONFIGURATION": "A100_40GB_PCIe_1x", "CLUSTER": "Msc1", "IP": "198.51.100.7"},
        {"VM-ID": "vm-1", "VM-CLUSTER": "Hou1", "VPC": "acme", "ACCOUNT": "main", "PRICE/H": "2.05", "ADOPTED": "true"},
    ),
    (
        VPC,
        {"ipRange": "192.0.2.0/24", "isDefault": False, "vpcId": "17", "adopted": True, "account": "(operator)"},
        {"NAME": "acme-lab", "CLUSTER": "Msc1", "IP-RANGE": "192.0.2.0/24", "DEFAULT": "false"},
        {"VPC-ID": "17", "ADOPTED": "true", "ACCOUNT": "(operator)"},
    ),
    (
        SNAPSHOT,
        {
            "sourceName": "train-a",
            "cluster": "Msc1",
            "rootDiskSize": "500Gi",
            "snapshotId": "before-a",
            "vpc": "acme",
            "adopted": True,
            "account": "main",
        },
        {"SOURCE": "train-a", "CLUSTER": "Msc1", "SIZE": "500Gi"},
        {"SNAPSHOT-ID": "before-a", "VPC": "acme", "ADOPTED": "true", "ACCOUNT": "main"},
    ),
    (
        HOST,
        {
            "provisioningState": "provisioned",
            "publicIp": "198.51.100.8",
            "nodeType": "H100",
            "image": "Ubuntu",
            "operation": {"verb": "Reboot", "generation": 1, "id": "x", "at": "2026-01-02T03:04:05Z", "outcome": "Done"},
            "account": "main",
        },
        {"STATE": "provisioned", "HOST": "bm-128", "CLUSTER": "Msc1", "IP": "198.51.100.8"},
        {"TYPE": "H100", "IMAGE": "Ubuntu", "OPERATION": "Reboot", "OUTCOME": "Done", "ACCOUNT": "main"},
    ),
    (
        ACCOUNT,
        {"endpoint": "eu", "tenant": "acme", "users": 3, "credentialKind": "ApiKey", "lastContactAt": "2026-01-02T03:04:05Z"},
        {"ENDPOINT": "eu", "TENANT": "acme", "USERS": "3"},
        {"CREDENTIAL": "ApiKey", "LAST-CONTACT": None},
    ),
]


@pytest.mark.parametrize(("cases", "status", "shown", "wide"), [pytest.param(*row, id=row[0].kind) for row in COLUMNS])
def test_columns(namespaced, cases, status, shown, wide):
    namespaced.apply(cases.manifest("listed"))
    namespaced.patch(cases.short_name, "listed", {"status": status}, subresource="status")
    titles, values = namespaced.ok("get", cases.short_name, "listed", "-o", "wide").splitlines()
    head = re.split(r"\s{2,}", titles)
    starts = [found.start() for found in re.finditer(r"\S+(?: \S+)*", titles)]  # a value may be empty
    row = [values[start:end].strip() for start, end in itertools.pairwise([*starts, None])]
    first = ["NAME", "READY", "REASON"]
    assert head == [*first, *shown, "AGE", *wide, "PAUSED", "MESSAGE"]
    seen = [value for name, value in zip(head, row, strict=True) if name not in {"AGE", "LAST-CONTACT"}]
    told = [value for value in [*shown.values(), *wide.values()] if value is not None]
    assert seen == ["listed", "Unknown", "Pending", *told, "", FIRST_CONDITION["message"]]
    plain = namespaced.ok("get", cases.short_name, "listed").splitlines()[0].split()
    assert plain == [*first, *shown, "AGE"]


# (the kind, the spec and status of an object, a selector that finds it, one that does not)
SELECTED = [
    (VM, {"cluster": "Sel1"}, {}, "spec.cluster=Sel1", "spec.cluster=Sel2"),
    (
        VM,
        {},
        {"state": "ONLINE", "vmId": "vm-sel"},
        "status.vmId=vm-sel,status.state=ONLINE,spec.vpc=acme,spec.configuration=A100_40GB_PCIe_1x",
        "status.vmId=vm-sel,status.state=OFFLINE",
    ),
    (VM, {"vpc": None, "vpcRef": {"name": "sel"}}, {}, "spec.vpcRef.name=sel", "spec.vpcRef.name=sel,spec.vpc=acme"),
    (VM, {"accountRef": {"name": "sel"}}, {}, "spec.accountRef.name=sel", "spec.accountRef.name=other"),
    (
        VPC,
        {"name": "acme-sel", "accountRef": {"name": "sel"}},
        {"vpcId": "sel"},
        "spec.cluster=Msc1,spec.name=acme-sel,spec.accountRef.name=sel,status.vpcId=sel",
        "spec.name=acme-sel,status.vpcId=other",
    ),
    (
        SNAPSHOT,
        {"vmRef": {"name": "sel"}, "accountRef": {"name": "sel"}},
        {"snapshotId": "sel", "sourceName": "vm-sel"},
        "spec.vmRef.name=sel,spec.accountRef.name=sel,status.snapshotId=sel,status.sourceName=vm-sel",
        "spec.vmRef.name=sel,status.snapshotId=other",
    ),
    (
        HOST,
        {"hostId": "bm-sel", "accountRef": {"name": "sel"}},
        {"nodeType": "H100", "operationalStatus": "OK", "provisioningState": "provisioned"},
        "spec.cluster=Msc1,spec.hostId=bm-sel,spec.accountRef.name=sel,status.nodeType=H100,status.operationalStatus=OK,status.provisioningState=provisioned",
        "spec.hostId=bm-sel,status.nodeType=A100",
    ),
    (
        ACCOUNT,
        {"endpoint": "sel", "secretRef": {"name": "sel"}},
        {"tenant": "sel"},
        "spec.endpoint=sel,spec.secretRef.name=sel,status.tenant=sel",
        "spec.endpoint=sel,status.tenant=other",
    ),
]


@pytest.mark.parametrize(("cases", "spec", "status", "finds", "misses"), [pytest.param(*row, id=row[3]) for row in SELECTED])
def test_objects_can_be_selected_by_field(namespaced, cases, spec, status, finds, misses):
    name = f"selected-{secrets.token_hex(4)}"
    namespaced.apply(cases.manifest(name, **spec))
    namespaced.patch(cases.short_name, name, {"status": status}, subresource="status")

    def select(selector):
        return namespaced.ok(
            "get", cases.short_name, f"--field-selector={selector}", "-o", "jsonpath={.items[*].metadata.name}"
        ).split()

    assert select(finds) == [name]
    assert select(misses) == []


def test_every_selectable_field_is_tried():
    tried = {(row[0].kind, part.split("=")[0]) for row in SELECTED for part in row[3].split(",")}
    assert tried == {(cases.kind, path[1:]) for cases in ALL for path in cases.definition.selectable_fields}


def test_the_category_is_ours_and_not_all(namespaced):
    namespaced.apply([cases.manifest("categorised") for cases in ALL])
    ours = namespaced.ok("get", "gpucloud", "-o", "name").split()
    assert {f"{cases.kind.lower()}.gpucloud.dev/categorised" for cases in ALL} <= set(ours)
    assert "gpucloud.dev" not in namespaced.ok("get", "all", "-o", "name")
