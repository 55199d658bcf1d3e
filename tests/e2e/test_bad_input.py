"""What only the cloud, or another object, can show to be wrong: a condition with the reason, its words, and what to do next."""

from __future__ import annotations

from support.crdcases.gpuvm import PRIVATE_KEY
from support.kstatus import assert_row, condition
from support.manifests import gpucloudaccount, gpusnapshot, gpuvm, gpuvpc, secret
from support.messages import judge
from support.messages.named import unreal
from support.simcloud import API_KEY
from support.waiting import eventually, gone, reach

FLAGS = {
    "poll_pending_seconds": 0.2,
    "poll_steady_seconds": 0.5,
    "create_grace_seconds": 1,
    "cloud_qps": 500,
    "cloud_burst": 100,
}

CASES = {
    "a VPC's name without the tenant's": (
        gpuvpc("misnamed", name="lab"),
        "False/Rejected",
        ('The name must start with "acme-"', "Delete this object and create it again, corrected"),
    ),
    "a second default VPC": (
        gpuvpc("second", name="acme", isDefault=True),
        "False/Conflict",
        ("VPC 'acme' in cluster", "adoption: IfExists"),
    ),
    "a second default VPC by another name": (
        gpuvpc("third", name="acme-third", isDefault=True),
        "False/Rejected",
        ('The default VPC must be named "acme"', "create it again, corrected"),
    ),
    "a VPC in a cluster that there is not": (
        gpuvpc("astray", name="acme-astray", cluster="Mars1"),
        "False/InvalidSpec",
        ("Unknown cluster 'Mars1'", "Known clusters: ", "Msc1"),
    ),
    "a snapshot of a VM that there is not": (
        gpusnapshot("sourceless", vmRef=None, vm={"cluster": "Msc1", "vpc": "acme", "name": "nobody"}),
        "False/SourceNotFound",
        ("no VM 'nobody' in VPC 'acme'", "delete this object and create it again"),
    ),
    "a cluster that is nearly right": (
        gpuvm("typo-cluster", cluster="Msc-1"),
        "False/InvalidSpec",
        ("Unknown cluster 'Msc-1'", "Did you mean 'Msc1'?", "create it again"),
    ),
    "a configuration that is nearly right": (
        gpuvm("typo-configuration", configuration="A100_40GB_PCIe_x1"),
        "False/Rejected",
        ("is not offered", "Did you mean configuration 'A100_40GB_PCIe_1x'?", "create it again, corrected"),
    ),
    "a configuration unlike any": (
        gpuvm("no-configuration", configuration="tpu"),
        "False/Rejected",
        ("is not offered", "Configurations offered: A100_40GB_PCIe_1x, ", "create it again, corrected"),
    ),
    "a VM in a VPC of another cluster": (
        gpuvm("afar", cluster="Hou1", vpc=None, vpcRef={"name": "lab"}),
        "False/InvalidReference",
        ("GpuVpc 'lab'", "'Msc1'", "'Hou1'", "create it again with spec.cluster: Msc1"),
    ),
    "a VM from a snapshot that the cloud does not know": (
        gpuvm("unfounded", image={"snapshot": "unheard-of"}),
        "False/NotFound",
        (
            '"unheard-of" not found',
            "The snapshot must be in the VM's VPC and cluster",
            "Create what is missing",
        ),
    ),
    "a VM in a VPC that the cloud does not know": (
        gpuvm("homeless", vpc="acme-nowhere"),
        "False/Rejected",
        ('VPC "acme-nowhere" is unknown', "create it again, corrected"),
    ),
}


# What only the account's own VMs and offers show.
MISNAMED = {
    "an image that is nearly right": (
        gpuvm("typo-image", image={"operatingSystem": "Ubuntu 22.04.4 LTE"}),
        ('"Ubuntu 22.04.4 LTE" is unknown', "Did you mean image 'Ubuntu 22.04.4 LTS'?", "create it again, corrected"),
    ),
    "a VPC that is nearly right": (
        gpuvm("typo-vpc", vpc="acne"),
        ('VPC "acne" is unknown', "Did you mean VPC 'acme'?", "create it again, corrected"),
    ),
    "an image unlike any": (
        gpuvm("no-image", image={"operatingSystem": "Plan 9"}),
        ('"Plan 9" is unknown', "Images in use: 'Ubuntu 22.04.4 LTS'", "create it again, corrected"),
    ),
    "a pool unlike any": (
        gpuvm("no-pool", resourcePool="xyz"),
        ('"xyz" is not assigned', "Resource pools seen: on-demand", "create it again, corrected"),
    ),
    "a pool that is nearly right": (
        gpuvm("typo-pool", resourcePool="ondemand"),
        ('"ondemand" is not assigned', "Did you mean resource pool 'on-demand'?", "create it again, corrected"),
    ),
}


# Names that are taken, and keys that are none.
KEYS = [{"secretKeyRef": {"name": "keys", "key": "oops"}}]
TAKEN = {
    "a VM's name that another object has": (
        gpuvm("second", vmName="shared"),
        "False/Conflict",
        ("'shared' is already used by GpuVM 'first'", "Choose another spec.vmName", "kubectl delete gvm/second"),
    ),
    "a VM's name that somebody else's VM has": (
        gpuvm("stranger", vmName="theirs"),
        "False/Conflict",
        ("VM 'theirs' in VPC 'acme'", "choose another spec.vmName"),
    ),
    "a private key in place of the public one": (
        gpuvm("private", sshKeys=None, sshKeysFrom=KEYS),
        "False/InvalidSSHKeys",
        ("Key 'oops' of the Secret 'keys'", "holds a private key", "Put the public key there, and replace this key pair"),
    ),
    "a key that the cloud does not know": (
        gpucloudaccount("misled", secretRef={"name": "wrong"}),
        "False/CredentialsRefused",
        ("The cloud refuses the credential in Secret 'wrong'", "Update the Secret in place", "kubectl create secret generic"),
    ),
    "a Secret with no key that is read": (
        gpucloudaccount("unread", secretRef={"name": "odd"}),
        "False/InvalidSecret",
        ("Secret 'odd' cannot be used", "Correct the Secret"),
    ),
    "an endpoint that there is not": (
        gpucloudaccount("elsewhere", endpoint="mars"),
        "False/UnknownEndpoint",
        ("Unknown endpoint 'mars'", "Declared: ", "create it again"),
    ),
}


def assert_judged(what, message):
    """The judge of the table of all messages, for one as a person reads it."""
    assert judge.cause(message), what
    assert judge.way_out(message), what
    assert unreal(message) == [], what


def test_each_is_told_what_is_wrong_and_what_to_do(here, sim, operator, figure):
    operator(**FLAGS)
    here.apply(gpuvpc())
    reach(here, "gpuvpc", "lab", "True/Available")
    here.apply([manifest for manifest, _, _ in CASES.values()])
    for what, (manifest, wanted, words) in CASES.items():
        kind, name = manifest["kind"].lower(), manifest["metadata"]["name"]
        item = reach(here, kind, name, wanted, says=words[0])
        assert_row(here, item, kstatus="Failed", standing="Stalled", met=False)
        message = condition(item, "Stalled")["message"]
        figure(f"{what}: {condition(item, 'Stalled')['reason']}: {message}")
        for word in words:
            assert word in message, what
        assert_judged(what, message)
    verdicts = {(manifest["metadata"]["name"], wanted.split("/")[1]) for manifest, wanted, _ in CASES.values()}
    eventually(lambda: verdicts <= set(here.events()), what="each verdict to be an event, too")

    assert (sim.vms(), sim.snapshots(), sim.vpcs()) == ([], [], ["acme-lab"])
    here.ok("delete", "gpuvm,gpusnapshot,gpuvpc", "--all", "--wait=false")
    for kind in ("gpuvm", "gpusnapshot", "gpuvpc"):
        gone(here, kind, *(manifest["metadata"]["name"] for manifest, _, _ in CASES.values()), "lab")
    sim.assert_empty()
    assert sim.mutations() == ["CreateVpc", "DestroyVpc"], "what is wrong changes nothing"


def test_a_name_near_one_that_the_account_uses_is_corrected(here, sim, operator, figure):
    operator(api_key_file=None, **FLAGS)
    here.apply([secret(apikey=API_KEY), gpucloudaccount(), gpuvm("good")])
    reach(here, "gpuvm", "good", "True/Running")
    here.apply([manifest for manifest, _ in MISNAMED.values()])
    for what, (manifest, words) in MISNAMED.items():
        item = reach(here, "gpuvm", manifest["metadata"]["name"], "False/Rejected", says=words[0])
        message = condition(item, "Stalled")["message"]
        figure(f"{what}: {message}")
        for word in words:
            assert word in message, what
        assert_judged(what, message)
    assert len(sim.vms()) == 1, "what is wrong is not bought"


def test_a_taken_name_or_a_wrong_key_is_told_with_the_way_out(here, sim, operator, figure):
    sim.create_vm("theirs")
    operator(api_key_file=None, **FLAGS)
    here.apply([secret(apikey=API_KEY), gpucloudaccount(), gpuvm("first", vmName="shared")])
    reach(here, "gpuvm", "first", "True/Running")
    here.apply([secret("keys", oops=PRIVATE_KEY), secret("wrong", apikey="made-up"), secret("odd", token="made-up")])
    here.apply([manifest for manifest, _, _ in TAKEN.values()])
    for what, (manifest, wanted, words) in TAKEN.items():
        item = reach(here, manifest["kind"].lower(), manifest["metadata"]["name"], wanted, says=words[0])
        message = condition(item, "Stalled")["message"]
        figure(f"{what}: {message}")
        for word in words:
            assert word in message, what
        assert_judged(what, message)
    assert sorted(sim.vms()) == ["shared", "theirs"], "what is wrong is not bought"
