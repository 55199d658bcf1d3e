"""What the cloud has and no object stands for."""

import pytest

from gpucloud.cli.plugin.model import unowned
from gpucloud.cli.plugin.model.objects import thing
from gpucloud.cli.plugin.verbs import orphans as verb
from gpucloud.cloud.models import HostRecord, SnapshotRecord, VmRecord, VpcRecord
from gpucloud.engine.cloud.queries import ClusterRecords, Records
from gpucloud.reconcile.naming import external_name
from support.builders import KEY, TAG, UID
from support.pluginworld import a_body

OURS = external_name("train", UID, TAG)
OTHER = external_name("train", "another-uid", TAG)
SPEC = {"cluster": "Msc1", "configuration": "A100", "vpc": "acme", "sshKeys": [KEY]}


def seen(*, vms=(), snapshots=(), vpcs=(), hosts=(), cluster="Msc1"):
    here = ClusterRecords(
        cluster=cluster,
        vms=tuple(VmRecord(id=name, namespace="acme", configuration="A100", status="ONLINE") for name in vms),
        snapshots=tuple(SnapshotRecord(id=name, namespace="acme", ready_to_use=True) for name in snapshots),
        vpcs=tuple(VpcRecord(id=f"id-{name}", name=name, is_default=False) for name in vpcs),
        hosts=tuple(HostRecord(id=name) for name in hosts),
    )
    return Records(clusters=(here,), prices={"A100": "2.05"})


class Source:
    """A cloud that shows these records."""

    def __init__(self, found):
        self.found = found

    def records(self):
        return self.found


@pytest.mark.parametrize(
    ("vms", "count", "why"), [((OURS,), "1 orphan.", "one alone"), ((OURS, OTHER), "2 orphans.", "more than one")]
)
def test_orphans_fit_a_terminal_of_80_columns(api, plugin, monkeypatch, vms, count, why):
    api.add(a_body("GpuCloudAccount", "default"))
    monkeypatch.setattr(verb, "source_of", lambda *_: Source(seen(vms=vms)))
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = plugin("orphans", "--install-tag", TAG)
    rows, words = out.split("\n\n")
    shown = [line for name in vms for line in (f"GpuVM/{name}  ONLINE  $2.05/h", "  cluster Msc1, VPC acme, made for train")]
    assert (code, rows.splitlines()) == (3, shown), why
    commands = [line for line in words.splitlines() if line.startswith("kubectl ")]
    told = [line for line in words.splitlines() if line not in commands]
    assert all(len(line) <= 80 for line in told), why
    assert told[0] == f"{count} This command destroys nothing, and an orphan may be billed.", why
    assert commands == [f"kubectl gpucloud adopt gvm/{OURS} --cluster=Msc1 --vpc=acme --apply --namespace=team"], why


def test_an_orphan_is_adopted_as_what_it_is_by_the_way_it_was_seen(api, plugin, monkeypatch):
    """A snapshot, through the account and the endpoint that were given."""
    api.add(a_body("GpuCloudAccount", "lab"))
    monkeypatch.setattr(verb, "source_of", lambda *_: Source(seen(snapshots=[OURS])))
    _, out, _ = plugin("orphans", "--install-tag", TAG, "--account", "lab", "--endpoint", "a=https://cloud.example/api")
    through = "--account=lab --endpoint=a=https://cloud.example/api --namespace=team"
    assert f"kubectl gpucloud adopt gsnap/{OURS} --cluster=Msc1 --vpc=acme --apply {through}\n" in out


@pytest.mark.parametrize(
    ("objects", "expected", "why"),
    [
        ([], [OURS], "no object at all"),
        ([a_body("GpuVM", "train", uid=UID, spec=SPEC)], [], "its own object"),
        ([a_body("GpuVM", "train", uid="another", spec=SPEC)], [OURS], "a namesake with another UID is another object"),
        ([a_body("GpuVM", "x", uid="another", spec={**SPEC, "vmName": OURS})], [], "an object that has chosen the name"),
        ([a_body("GpuVM", "train", uid=UID, namespace="elsewhere", spec=SPEC)], [], "in whichever namespace"),
    ],
)
def test_who_is_an_orphan_is_decided_as_the_operator_does(objects, expected, why):
    found = unowned.orphans(seen(vms=[OURS, "a-strangers"]), {"GpuVM": objects}, TAG)
    assert [item.name for item in found] == expected, why
    assert all((item.made_for, item.price_per_hour, item.state) == ("train", "2.05", "ONLINE") for item in found)


@pytest.mark.parametrize(
    ("objects", "left", "why"),
    [
        ([], {"a-vm", "a-snapshot", "acme-lab"}, "no objects"),
        (
            [a_body("GpuVM", "x", spec=SPEC, status={"cluster": "Msc1", "vmId": "a-vm"})],
            {"a-snapshot", "acme-lab"},
            "by its id",
        ),
        ([a_body("GpuVM", "x", spec={**SPEC, "vmName": "a-vm"})], {"a-snapshot", "acme-lab"}, "by the name that it chose"),
        (
            [a_body("GpuVM", "x", spec={**SPEC, "vpc": "another", "vmName": "a-vm"})],
            {"a-vm", "a-snapshot", "acme-lab"},
            "a namesake in another VPC",
        ),
        (
            [a_body("GpuVM", "x", spec={**SPEC, "vpc": None, "vpcRef": {"name": "lab"}, "vmName": "a-vm"})],
            {"a-snapshot", "acme-lab"},
            "in a VPC that is not known yet",
        ),
        (
            [a_body("GpuVM", "x", spec={**SPEC, "cluster": "Hou1", "vmName": "a-vm"})],
            {"a-vm", "a-snapshot", "acme-lab"},
            "elsewhere",
        ),
        (
            [a_body("GpuVM", "x", spec=SPEC, status={"order": {"state": "Intended", "cluster": "Msc1", "name": "a-vm"}})],
            {"a-snapshot", "acme-lab"},
            "what is being ordered is claimed",
        ),
        ([a_body("GpuVpc", "lab", spec={"cluster": "Msc1", "name": "acme-lab"})], {"a-vm", "a-snapshot"}, "a VPC by its name"),
    ],
)
def test_what_no_object_claims(objects, left, why):
    things = [thing(body["kind"], body) for body in objects]
    found = unowned.unclaimed(seen(vms=["a-vm"], snapshots=["a-snapshot"], vpcs=["acme-lab"]), things)
    assert {item.name for item, _ in found} == left, why


@pytest.mark.parametrize(
    ("bodies", "left", "why"),
    [
        ([], {"bm-1", "bm-2"}, "no objects"),
        ([a_body("GpuHost", "x", spec={"cluster": "Msc1", "hostId": "bm-1"})], {"bm-2"}, "by the id in its spec"),
        ([a_body("GpuHost", "x", spec={"cluster": "msc1", "hostId": "bm-1"})], {"bm-2"}, "in any spelling of the cluster"),
        ([a_body("GpuHost", "x", spec={"cluster": "Hou1", "hostId": "bm-1"})], {"bm-1", "bm-2"}, "a host of another cluster"),
        ([a_body("GpuVM", "x", spec={**SPEC, "vmName": "bm-1"})], {"bm-1", "bm-2"}, "a VM of that name is no host"),
    ],
)
def test_which_hosts_no_object_claims(bodies, left, why):
    found = unowned.unclaimed(seen(hosts=["bm-1", "bm-2"]), [thing(body["kind"], body) for body in bodies])
    assert {item.name for item, _ in found} == left, why


def test_no_host_is_an_orphan():
    """Hosts are allocated, not made: none bears a mark that counts."""
    assert unowned.orphans(seen(hosts=[OURS]), {}, TAG) == ()
