"""Manifests that adopt what exists: each says what is, and nothing that the models or the apiserver refuse."""

from __future__ import annotations

import pytest
import yaml

from gpucloud.cli.plugin.creation import adoption
from gpucloud.cli.plugin.model import unowned
from gpucloud.cli.plugin.verbs import adopt
from gpucloud.cloud.models import HostRecord, SnapshotRecord, VmRecord, VpcRecord
from gpucloud.engine.cloud.queries import ClusterRecords, Records
from gpucloud.kinds.gpuhost import GpuHostSpec
from gpucloud.kinds.gpusnapshot import GpuSnapshotSpec
from gpucloud.kinds.gpuvm import GpuVMSpec
from gpucloud.kinds.gpuvpc import GpuVpcSpec
from support.pluginworld import a_body

SPECS = {"GpuVM": GpuVMSpec, "GpuSnapshot": GpuSnapshotSpec, "GpuVpc": GpuVpcSpec}
NAMES = {"7": "A100_40GB_PCIe_1x", "A100_40GB_PCIe_1x": "A100_40GB_PCIe_1x"}


def found(*, cluster="Msc1", **records):
    return unowned.unclaimed(Records(clusters=(ClusterRecords(cluster=cluster, **records),)), ())


def a_vm(name="Old_VM", **fields):
    given = {"id": name, "namespace": "acme", "configuration": "A100_40GB_PCIe_1x", "status": "ONLINE"} | fields
    return VmRecord.model_validate(given)


def a_snapshot(name="golden", **fields):
    return SnapshotRecord.model_validate({"id": name, "namespace": "acme", "sourceName": "Old_VM", "readyToUse": True} | fields)


def exported(left, account="default", taken=(), namespace=None):
    return adoption.manifests(left, account, namespace, taken, NAMES)


@pytest.mark.parametrize(("said", "place"), [("team-b", {"namespace": "team-b"}), (None, {})])
def test_each_goes_into_the_namespace_that_was_said(said, place):
    """Another namespace has other accounts, and other objects of these names."""
    objects, _ = exported(found(vms=(a_vm(),)), namespace=said)
    assert [{name: item["metadata"][name] for name in item["metadata"] if name != "name"} for item in objects] == [place]


def test_each_requires_what_is_there_and_leaves_it():
    vpc = VpcRecord(id="7", name="acme-Lab.2", is_default=False)
    objects, refused = exported(found(vms=(a_vm(),), snapshots=(a_snapshot(),), vpcs=(vpc,)), "team-a")
    assert refused == []
    assert [(item["kind"], item["metadata"]["name"]) for item in objects] == [
        ("GpuVM", "old-vm"),
        ("GpuSnapshot", "golden"),
        ("GpuVpc", "acme-lab-2"),
    ]
    for item in objects:
        spec = SPECS[item["kind"]].model_validate(item["spec"])
        assert (spec.adoption, spec.deletion.policy, spec.account_ref.name) == ("Required", "Retain", "team-a")
    vm, snapshot, net = (item["spec"] for item in objects)
    assert (vm["vmName"], vm["vpc"], vm["cluster"], "powerState" in vm) == ("Old_VM", "acme", "Msc1", False)
    assert (snapshot["snapshotName"], snapshot["vm"]["name"]) == ("golden", "Old_VM")
    assert (net["name"], net["isDefault"], "blockIntraVpcComms" in net) == ("acme-Lab.2", False, False)


@pytest.mark.parametrize(
    ("account", "more", "why"),
    [
        ("default", {}, "the account of the namespace needs no name"),
        ("team-a", {"accountRef": {"name": "team-a"}}, "its id counts in its account only"),
    ],
)
def test_a_host_is_observed_and_asked_for_nothing(account, more, why):
    """A GpuHost has nothing to adopt or to leave, and what it could install stands in no record that is safe to repeat."""
    metal = HostRecord(id="BM-128", image="https://images.example/node.qcow2?sig=x", provisioning_state="provisioned")
    ((manifest,), refused) = exported(found(hosts=(metal,)), account)
    assert refused == []
    assert manifest == {
        "apiVersion": "gpucloud.dev/v1alpha1",
        "kind": "GpuHost",
        "metadata": {"name": "bm-128"},
        "spec": {"cluster": "Msc1", "hostId": "BM-128", **more},
    }, why
    GpuHostSpec.model_validate(manifest["spec"])


def test_an_id_that_several_hosts_have_gets_no_object():
    """Its object would be Ambiguous. In another cluster the id is another host's."""
    left = (
        *found(hosts=(HostRecord(id="bm-1"), HostRecord(id="bm-1"))),
        *found(hosts=(HostRecord(id="bm-1"),), cluster="Hou1"),
    )
    objects, refused = exported(left)
    assert [item["spec"]["cluster"] for item in objects] == ["Hou1"]
    assert [why for _, why in refused] == ["the cloud lists several hosts of this id: ask its support which one it is"] * 2


def test_one_that_is_off_is_asked_to_be_off():
    """Applied, it would be started and billed otherwise."""
    ((manifest,), _) = exported(found(vms=(a_vm(status="OFFLINE"),)))
    assert manifest["spec"]["powerState"] == "Stopped"


IN_BETWEEN = ["NA", "PLANNED", "PENDING", "PENDING_READINESS", "PENDING_RESOURCES", "STOPPING", "unheard-of"]


@pytest.mark.parametrize("state", IN_BETWEEN)
def test_one_that_is_being_switched_is_not_exported(state):
    """It may be going off: an object that does not say Stopped would have it started again, and billed."""
    objects, ((_, why),) = exported(found(vms=(a_vm(status=state),)))
    assert objects == []
    assert why == f"its state is {state}, so no power state is known to ask for: wait until it is ONLINE or OFFLINE"


@pytest.mark.parametrize("state", ["CREATE_FAILED", "FAILED", "ADMIN_WAIT"])
def test_one_that_has_failed_is_not_exported(state):
    """The cloud's staff may bring it back as one that is off."""
    objects, ((_, why),) = exported(found(vms=(a_vm(status=state),)))
    assert objects == []
    assert why == (
        f"its state is {state}, so no power state is known to ask for: wait until the cloud's staff has repaired it, or "
        "destroy it in the cloud"
    )


@pytest.mark.parametrize("state", [None, "", "  "])
def test_one_without_a_state_is_not_exported(state):
    _, ((_, why),) = exported(found(vms=(a_vm(status=state),)))
    assert why == "the cloud does not say its state, so no power state is known to ask for: wait until it is ONLINE or OFFLINE"


@pytest.mark.parametrize(("state", "power"), [(" online ", None), ("Offline", "Stopped")])
def test_a_state_counts_in_any_spelling(state, power):
    ((manifest,), refused) = exported(found(vms=(a_vm(status=state),)))
    assert (manifest["spec"].get("powerState"), refused) == (power, [])


def test_a_configuration_by_its_number_is_named():
    ((manifest,), _) = exported(found(vms=(a_vm(configuration="7"),)))
    assert manifest["spec"]["configuration"] == "A100_40GB_PCIe_1x"


@pytest.mark.parametrize(
    ("records", "why"),
    [
        ({"vms": (a_vm("a/b"),)}, "other characters"),
        ({"vms": (a_vm("a" * 53),)}, "its name is longer"),
        ({"vms": (a_vm(namespace=None),)}, "in which VPC"),
        ({"vms": (a_vm(configuration="99"),)}, "of which configuration"),
        ({"vms": (a_vm(configuration=None),)}, "of which configuration"),
        ({"snapshots": (a_snapshot(sourceName=None),)}, "of which VM"),
        ({"vms": (a_vm("train\u200b"),)}, "other characters"),
        ({"vms": (a_vm("tr\x07ain"),)}, "other characters"),
        ({"vms": (a_vm(namespace="acme  lab"),)}, "in a VPC whose name has characters that cannot be shown"),
        ({"snapshots": (a_snapshot("golden\u200b"),)}, "other characters"),
        ({"vpcs": (VpcRecord(id="7", name="acme  lab"),)}, "has characters that cannot be shown"),
        ({"vpcs": (VpcRecord(id="7", name="acme\x85lab"),)}, "has characters that cannot be shown"),
        ({"vpcs": (VpcRecord(id="7", name="acme-my net"),)}, "its name has other characters than the spec takes"),
        ({"vpcs": (VpcRecord(id="7", name="acme-x_"),)}, "its name has other characters than the spec takes"),
        ({"hosts": (HostRecord(id="bm 128"),)}, "its id is longer, or has other characters"),
        ({"hosts": (HostRecord(id="bm-128\u200b"),)}, "its id is longer, or has other characters"),
        ({"hosts": (HostRecord(id="b" * 254),)}, "its id is longer, or has other characters"),
    ],
)
def test_what_no_object_can_adopt_is_told_with_the_reason(records, why):
    """A name is shown without what steers a terminal: an object of that name would adopt another VM, or wait for none."""
    objects, ((_, said),) = exported(found(**records))
    assert (objects, why in said) == ([], True)


def test_names_of_manifests_are_never_taken_twice():
    vpc = VpcRecord(id="7", name="acme")
    two = (*found(vpcs=(vpc,)), *found(vpcs=(vpc,), cluster="Hou1"))
    names = [item["metadata"]["name"] for item in exported(two, taken=[("GpuVpc", "acme"), ("GpuVM", "acme-msc1")]).objects]
    assert names == ["acme-msc1", "acme-hou1"]
    again = exported(two[:1], taken=[("GpuVpc", name) for name in ("acme", "acme-msc1", "acme-msc1-2")]).objects
    assert again[0]["metadata"]["name"] == "acme-msc1-3"


def test_one_is_chosen_by_kind_name_and_place():
    left = (
        *found(vms=(a_vm(), a_vm(namespace="other")), snapshots=(a_snapshot("Old_VM"),)),
        *found(vms=(a_vm(),), cluster="Hou1"),
    )
    count = lambda *where: len(adoption.chosen(left, "GpuVM", "Old_VM", *where))  # noqa: E731 - four questions
    assert (count("", ""), count("msc1", ""), count("Msc1", "acme"), count("Hou1", "other")) == (3, 2, 1, 0)


class Source:
    """What an account sees: one VM, one VPC and one host in one cluster."""

    def __init__(self, *, permits_hosts=True, **vm):
        self.permits_hosts, self.vm = permits_hosts, vm

    def records(self, *, hosts=False):
        vms = (a_vm("old-trainer", **self.vm),)
        metal = (HostRecord(id="bm-1"),) if hosts and self.permits_hosts else None
        return Records(clusters=(ClusterRecords(cluster="Msc1", vms=vms, vpcs=(VpcRecord(name="old"),), hosts=metal),))


def test_a_vm_that_is_being_stopped_is_told_of_and_left_out(plugin, monkeypatch):
    monkeypatch.setattr(adopt, "source_of", lambda *_: Source(status="PENDING"))
    code, out, err = plugin("export", "--kind", "gvm")
    assert (code, out) == (0, "")
    assert err == (
        "kubectl gpucloud: not exported: GpuVM old-trainer in VPC acme of Msc1: its state is PENDING, so no power state is "
        "known to ask for: wait until it is ONLINE or OFFLINE.\n"
    )
    assert "wait until it is ONLINE or OFFLINE" in plugin("export", "-o", "json")[1]


@pytest.mark.parametrize("words", [(), ("--apply",)])
def test_a_vm_that_is_being_stopped_is_not_adopted(api, plugin, monkeypatch, words):
    monkeypatch.setattr(adopt, "source_of", lambda *_: Source(status="PENDING"))
    code, out, err = plugin("adopt", "old-trainer", *words)
    assert (code, out, api.changed("POST")) == (1, "", [])
    assert err == (
        "kubectl gpucloud: the VM 'old-trainer' cannot be adopted: its state is PENDING, so no power state is known to ask "
        "for: wait until it is ONLINE or OFFLINE.\n"
        "See what else can be adopted:\nkubectl gpucloud export --namespace=team\n"
    )


def test_a_name_that_is_nearly_one_in_the_cloud_is_answered_by_that(plugin, monkeypatch):
    monkeypatch.setattr(adopt, "source_of", lambda *_: Source())
    code, out, err = plugin("adopt", "old-trianer")
    assert (code, out) == (1, "")
    assert "named 'old-trianer' that the account sees and no object stands for. Did you mean 'old-trainer'?" in err
    assert "Did you mean" not in plugin("adopt", "gsnap/old-trainer")[2], "of another kind"


@pytest.mark.parametrize(
    ("cluster", "code", "says"),
    [
        ("Msc3", 2, "--cluster: 'Msc3' is not offered. Did you mean 'Msc1'?\nUse Msc1."),
        ("msc1", 0, ""),
    ],
)
def test_an_unknown_cluster_is_no_cluster_in_which_everything_has_an_object(plugin, monkeypatch, cluster, code, says):
    monkeypatch.setattr(adopt, "source_of", lambda *_: Source())
    done = plugin("export", "--cluster", cluster)
    assert (done[0], says in done[2], "old-trainer" in done[1]) == (code, True, code == 0)


def test_the_command_that_prints_all_asks_the_cloud_in_the_same_way(api, plugin, monkeypatch):
    monkeypatch.setattr(adopt, "source_of", lambda *_: Source())
    api.add(a_body("GpuCloudAccount", "lab"))
    err = plugin("adopt", "nosuch", "--account", "lab", "--endpoint", "a=https://cloud.example/api")[2]
    assert "\nkubectl gpucloud export --account=lab --endpoint=a=https://cloud.example/api --namespace=team\n" in err
    assert "\nkubectl gpucloud export --namespace=team\n" in plugin("adopt", "nosuch")[2], "nothing was given"


@pytest.mark.parametrize(
    ("words", "kinds", "why"),
    [
        ((), {"GpuVM", "GpuVpc", "GpuHost"}, "all that there is"),
        (("--kind", "ghost"), {"GpuHost"}, "by its short name"),
        (("--kind", "gvpc"), {"GpuVpc"}, "a credential that may list no hosts is not asked for them"),
    ],
)
def test_hosts_are_exported_with_the_rest_or_alone(plugin, monkeypatch, words, kinds, why):
    monkeypatch.setattr(adopt, "source_of", lambda *_: Source())
    code, out, err = plugin("export", *words)
    assert (code, {item["kind"] for item in yaml.safe_load_all(out)}, err) == (0, kinds, ""), why


@pytest.mark.parametrize(
    ("words", "expected", "why"),
    [
        ((), (0, {"GpuVM", "GpuVpc"}, True), "a key that was made for VMs has no other fault"),
        (("--kind", "ghost"), (1, set(), True), "nothing of what was asked for could be looked at"),
        (("--kind", "gvm"), (0, {"GpuVM"}, False), "hosts were not asked for"),
    ],
)
def test_a_credential_that_may_not_list_hosts_exports_the_rest(plugin, monkeypatch, words, expected, why):
    monkeypatch.setattr(adopt, "source_of", lambda *_: Source(permits_hosts=False))
    code, out, err = plugin("export", *words)
    assert (code, {item["kind"] for item in yaml.safe_load_all(out) if item}, adopt.NO_HOSTS in err) == expected, why


def test_what_is_adopted_is_answered_with_how_to_have_it_destroyed(api, plugin, monkeypatch):
    """By the name that its object got, which is another one where the first is taken."""
    monkeypatch.setattr(adopt, "source_of", lambda *_: Source(status="ONLINE"))
    api.add(a_body("GpuVM", "old-trainer", spec={"cluster": "Msc1", "vmName": "another"}))
    code, out, _ = plugin("adopt", "gvm/old-trainer", "--apply")
    ((_, made),) = api.changed("POST")
    assert (code, made["metadata"]["name"]) == (0, "old-trainer-msc1")
    assert "kubectl patch gvm old-trainer-msc1 --namespace=team --type=merge" in out


def test_a_host_that_has_an_object_is_not_exported(api, plugin, monkeypatch):
    """The second object would be a Conflict, however it spells the cluster."""
    monkeypatch.setattr(adopt, "source_of", lambda *_: Source())
    api.add(a_body("GpuHost", "metal", spec={"cluster": "msc1", "hostId": "bm-1"}))
    code, out, err = plugin("export", "--kind", "ghost")
    assert (code, out, err) == (0, "", "kubectl gpucloud: everything that the account sees has an object.\n")


EXPORT_HOSTS = "kubectl gpucloud export --kind=ghost --namespace=team"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("export", "--kind", "gca"),
            "a GpuCloudAccount has no resource in the cloud to export.\nChoose one with --kind: gvm, gsnap, gvpc or ghost.\n",
        ),
        (
            ("adopt", "ghost/bm-1"),
            f"a GpuHost adopts nothing: it observes a host that is allocated already.\nSee the manifests:\n{EXPORT_HOSTS}\n",
        ),
    ],
)
def test_a_kind_that_cannot_be_is_told_with_what_can(plugin, words, says):
    code, out, err = plugin(*words)
    assert (code, out, err) == (2, "", f"kubectl gpucloud: {says}")


@pytest.mark.parametrize(
    ("words", "status", "kinds"),
    [
        (("export",), 403, "gvpc,gvm,gsnap,ghost"),
        (("export", "--kind", "gvm"), 403, "gvpc,gvm,gsnap"),
        (("adopt", "old-trainer"), 500, "gvpc,gvm,gsnap"),
    ],
)
def test_who_cannot_list_all_namespaces_is_told_what_and_why_and_how_to_see_all(api, plugin, monkeypatch, words, status, kinds):
    """What has an object in a namespace that was not compared would be adopted a second time."""
    monkeypatch.setattr(adopt, "source_of", lambda *_: Source(status="ONLINE"))
    for plural in ("gpuvpcs", "gpuvms", "gpusnapshots", "gpuhosts"):
        api.refused[f"/apis/gpucloud.dev/v1alpha1/{plural}"] = status
    code, out, err = plugin(*words)
    assert (code, "kind: GpuVM" in out) == (0, True), "what is seen is printed all the same"
    assert "cannot list gpuvpcs in all namespaces: refused" in err
    assert "Only the objects of namespace 'team' were compared" in err
    assert err.splitlines()[-1] == f"kubectl get {kinds} -A"


def test_what_is_in_no_vpc_is_told_of_without_one(plugin, monkeypatch):
    source = Source()
    broken = ClusterRecords(cluster="Msc1", vpcs=(VpcRecord(name="a  b"),), hosts=(HostRecord(id="x y"),))
    source.records = lambda *, hosts: Records(clusters=(broken,))  # noqa: ARG005
    monkeypatch.setattr(adopt, "source_of", lambda *_: source)
    _, _, err = plugin("export")
    assert "not exported: GpuVpc a b in cluster Msc1: " in err
    assert "not exported: GpuHost x y in cluster Msc1: " in err
