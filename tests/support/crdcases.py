"""Manifests for the tests of admission: the least one of each kind, and what of it is accepted, refused, fixed and free.

Each row opens with its reason or its field.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as dataclass_field
from itertools import combinations
from typing import Any

from gpucloud.kinds.crd import Definition, custom_resource_definition
from gpucloud.kinds.definitions import GPUCLOUDACCOUNT, GPUSNAPSHOT, GPUVM, GPUVPC
from gpucloud.kinds.meta import API_VERSION


@dataclass(frozen=True)
class Edit:
    """A field of the spec and two values of it, for objects that have it and objects that lack it."""

    field: str
    value: Any
    other: Any
    needs: dict[str, Any] = dataclass_field(default_factory=dict)  # what else both objects need
    instead: dict[str, Any] = dataclass_field(default_factory=dict)  # what stands in place of the field where it is lacking


@dataclass(frozen=True)
class Cases:
    """The tables of one kind."""

    definition: Definition
    minimal: dict[str, Any]
    defaults: dict[str, Any]  # what the apiserver adds to the least spec
    accepted: list[tuple[str, dict[str, Any]]]  # (why, changes of the spec)
    refused: list[tuple[str, dict[str, Any], str, str]]  # (why, changes, the field blamed, a piece of the message)
    fixed: list[Edit]
    free: list[Edit]
    required: set[str]

    @property
    def kind(self):
        return self.definition.kind

    @property
    def short_name(self):
        return self.definition.short_name

    @property
    def schema(self):
        """The schemas of spec and status, as they are printed."""
        version = custom_resource_definition(self.definition)["spec"]["versions"][0]
        return version["schema"]["openAPIV3Schema"]["properties"]

    def manifest(self, name="it", /, **changes):
        """The least object with these changes of its spec; None removes a field."""
        spec = {field: value for field, value in {**self.minimal, **changes}.items() if value is not None}
        return {"apiVersion": API_VERSION, "kind": self.kind, "metadata": {"name": name}, "spec": spec}


def bad_references(field, inside=None):
    """What no reference may say; ``inside`` makes of a reference the change of the spec that holds it."""
    inside = inside or (lambda reference: {field: reference})
    return [
        (f"{field}: another namespace", inside({"name": "other/it"}), f"spec.{field}.name", "Other namespaces cannot be named"),
        (f"{field}: upper case", inside({"name": "It"}), f"spec.{field}.name", "This is no name of a Kubernetes object"),
        (f"{field}: a dot first", inside({"name": ".it"}), f"spec.{field}.name", "start and end with a letter or digit"),
        (f"{field}: a hyphen last", inside({"name": "it-"}), f"spec.{field}.name", "start and end with a letter or digit"),
        (f"{field}: a second line", inside({"name": "it\n"}), f"spec.{field}.name", "use lower-case letters, digits, '-'"),
        (f"{field}: empty", inside({"name": ""}), f"spec.{field}.name", "at least 1 chars long"),
        (f"{field}: too long", inside({"name": "x" * 254}), f"spec.{field}.name", "Too long"),
        (f"{field}: no name", inside({}), f"spec.{field}.name", "Required value"),
    ]


# What every cloud kind has.
CLOUD_ACCEPTED = [
    ("the least", {}),
    ("an account", {"accountRef": {"name": "research.gpu-1"}}),
    ("the longest name of an account", {"accountRef": {"name": "a" * 253}}),
    ("the shortest patience", {"progressDeadlineSeconds": 1}),
    ("the longest patience", {"progressDeadlineSeconds": 2592000}),
]
CLOUD_REFUSED = [
    *bad_references("accountRef"),
    ("no patience", {"progressDeadlineSeconds": 0}, "spec.progressDeadlineSeconds", "greater than or equal to 1"),
    ("patience beyond a month", {"progressDeadlineSeconds": 2592001}, "spec.progressDeadlineSeconds", "less than or eq"),
]
CLOUD_FIXED = [
    Edit("accountRef", {"name": "a"}, {"name": "b"}),
    Edit("accountRef.name", "a", "b"),
]
CLOUD_FREE = [Edit("progressDeadlineSeconds", 60, 90)]

# --- GpuVM ------------------------------------------------------------------------------------------------------------

KEY = "ssh-ed25519 AAAAmadeup someone@example.com"
PRIVATE_KEY = "-----BEGIN MADE UP " + "PRIVATE KEY-----\nbWFkZS11cA==\n-----END"
SECRET_REF = {"secretKeyRef": {"name": "keys", "key": "id.pub"}}
CONFIG_REF = {"configMapKeyRef": {"name": "team.keys", "key": "authorized_keys"}}
POOL = {"resourcePool": "reserved-acme"}
BY_REF = {"vpc": None, "vpcRef": {"name": "lab"}}
SOURCES = {"operatingSystem": "Ubuntu", "customFile": "f", "snapshotRef": {"name": "s"}, "snapshot": "s"}
ONE_SOURCE = "keep one of operatingSystem, customFile, snapshotRef and snapshot"

VM_ACCEPTED = [
    *CLOUD_ACCEPTED,
    ("a VPC of this namespace", BY_REF),
    ("keys from a Secret only", {"sshKeys": None, "sshKeysFrom": [SECRET_REF]}),
    ("a template that leaves the list empty", {"sshKeys": [], "sshKeysFrom": [SECRET_REF]}),
    ("keys from both kinds of source", {"sshKeysFrom": [SECRET_REF, CONFIG_REF]}),
    ("every type of public key", {"sshKeys": [f"{kind} AAAA" for kind in (
        "ssh-rsa", "ssh-ed25519", "ecdsa-sha2-nistp256", "sk-ssh-ed25519@openssh.com",
        "sk-ecdsa-sha2-nistp256@openssh.com")]}),
    ("as many keys as may be", {"sshKeys": [f"ssh-rsa AAAA{number:08180d}" for number in range(64)]}),
    ("a system image", {"image": {"operatingSystem": "Ubuntu 22.04.4 LTS"}}),
    ("a custom image", {"image": {"customFile": "mine.qcow2"}}),
    ("a snapshot", {"image": {"snapshot": "before-upgrade"}}),
    ("a snapshot of this namespace", {"image": {"snapshotRef": {"name": "before-upgrade"}}}),
    ("no source named", {"image": {}}),
    ("the longest name", {"vmName": "a" * 52}),
    ("a name of one character", {"vmName": "7"}),
    ("the service's own style of name", {"vmName": "vm-2024093009357617"}),
    ("a node in a pool that has nodes", {"nodeName": "node-1", "resourcePool": "reserved-acme"}),
    ("absolute mount paths", {"storage": {
        "directMountPath": "/d", "personalMountPath": "/home/ubuntu/p", "tenantSharedMountPath": "/"}}),
    ("different volumes", {"storage": {"persistDirectAttached": False, "blockStorageNames": ["a", "b"]}}),
    ("the smallest disk", {"rootDiskGiB": 1}),
    ("the largest disk that the service can be told", {"rootDiskGiB": 2**31 - 1}),
    ("powered off from the start", {"powerState": "Stopped"}),
    ("kept when deleted", {"deletion": {"policy": "Retain"}}),
    ("its snapshots go with it", {"deletion": {"snapshots": "Delete"}}),
    ("null is absence", {"image": {"snapshot": None}}),
]  # fmt: skip

VM_REFUSED = [
    *CLOUD_REFUSED,
    *bad_references("vpcRef", lambda reference: {"vpc": None, "vpcRef": reference}),
    *bad_references("image.snapshotRef", lambda reference: {"image": {"snapshotRef": reference}}),
    ("no cluster", {"cluster": None}, "spec.cluster", "Required value"),
    ("no configuration", {"configuration": None}, "spec.configuration", "Required value"),
    ("no VPC", {"vpc": None}, "spec.vpc", "A VM lives in one VPC: name it in vpc"),
    ("two VPCs", {"vpcRef": {"name": "lab"}}, "spec.vpc", "or in vpcRef (a GpuVpc of this namespace), not in both"),
    ("empty cluster", {"cluster": ""}, "spec.cluster", "at least 1 chars long"),
    ("empty configuration", {"configuration": ""}, "spec.configuration", "at least 1 chars long"),
    ("empty VPC", {"vpc": ""}, "spec.vpc", "at least 1 chars long"),
    ("a cluster name that cannot be", {"cluster": "x" * 254}, "spec.cluster", "Too long"),
    ("nobody could log in", {"sshKeys": None}, "spec.sshKeys", "A VM needs at least one public SSH key"),
    ("nobody could log in: empty", {"sshKeys": []}, "spec.sshKeys", "A VM needs at least one public SSH key"),
    ("nobody could log in: both empty", {"sshKeys": [], "sshKeysFrom": []}, "spec.sshKeys", "in sshKeysFrom"),
    ("an empty key", {"sshKeys": [""]}, "spec.sshKeys[0]", "at least 1 chars long"),
    ("a private key", {"sshKeys": [KEY, PRIVATE_KEY]}, "spec.sshKeys[1]", "This is a private key."),
    ("two keys in one item", {"sshKeys": [f"{KEY}\n{KEY}"]}, "spec.sshKeys[0]", "A public key is one line"),
    ("a YAML block ends in a line break", {"sshKeys": [f"{KEY}\n"]}, "spec.sshKeys[0]", "no '|' block"),
    ("a file with Windows line ends", {"sshKeys": [f"{KEY}\r"]}, "spec.sshKeys[0]", "A public key is one line"),
    ("the path of a key", {"sshKeys": ["~/.ssh/id_rsa.pub"]}, "spec.sshKeys[0]", "This is no OpenSSH public key"),
    ("too many keys", {"sshKeys": [KEY] * 65}, "spec.sshKeys", "must have at most 64 items"),
    ("too long a key", {"sshKeys": ["ssh-rsa " + "A" * 8192]}, "spec.sshKeys[0]", "Too long"),
    ("one string for the list", {"sshKeys": KEY}, "spec.sshKeys", "must be of type array"),
    ("a source that is none", {"sshKeysFrom": [{}]}, "spec.sshKeysFrom[0]", "Name exactly one of secretKeyRef"),
    ("a source that is two", {"sshKeysFrom": [SECRET_REF | CONFIG_REF]}, "spec.sshKeysFrom[0]", "Name exactly one of"),
    ("a Secret without a key", {"sshKeysFrom": [{"secretKeyRef": {"name": "keys"}}]},
     "spec.sshKeysFrom[0].secretKeyRef.key", "Required value"),
    ("a Secret of another namespace", {"sshKeysFrom": [{"secretKeyRef": {"name": "other/keys", "key": "k"}}]},
     "spec.sshKeysFrom[0].secretKeyRef.name", "Other namespaces cannot be named"),
    ("a ConfigMap by a path", {"sshKeysFrom": [{"configMapKeyRef": {"name": "../keys", "key": "k"}}]},
     "spec.sshKeysFrom[0].configMapKeyRef.name", "This is no name of a Secret or ConfigMap"),
    ("a key that no Secret can have", {"sshKeysFrom": [{"secretKeyRef": {"name": "keys", "key": "a/b"}}]},
     "spec.sshKeysFrom[0].secretKeyRef.key", "This is no key of a Secret or ConfigMap"),
    ("a key that no ConfigMap can have", {"sshKeysFrom": [{"configMapKeyRef": {"name": "keys", "key": "a b"}}]},
     "spec.sshKeysFrom[0].configMapKeyRef.key", "This is no key of a Secret or ConfigMap"),
    *((f"two images: {one} and {other}", {"image": {one: SOURCES[one], other: SOURCES[other]}}, "spec.image", ONE_SOURCE)
      for one, other in combinations(SOURCES, 2)),
    ("three images", {"image": {"operatingSystem": "U", "customFile": "f", "snapshot": "s"}}, "spec.image", ONE_SOURCE),
    ("every image", {"image": SOURCES}, "spec.image", "A root disk is made from one source"),
    ("a name too long for the service", {"vmName": "a" * 53}, "spec.vmName", "may not be more than 52"),
    ("upper case", {"vmName": "Train"}, "spec.vmName", "This is the operator's own rule"),
    ("a hyphen first", {"vmName": "-train"}, "spec.vmName", "start and end with a letter or digit"),
    ("a hyphen last", {"vmName": "train-"}, "spec.vmName", "start and end with a letter or digit"),
    ("a dot", {"vmName": "train.1"}, "spec.vmName", "lower-case letters, digits and '-'"),
    ("a second line", {"vmName": "train\n"}, "spec.vmName", "lower-case letters, digits and '-'"),
    ("a node on demand", {"nodeName": "n", "resourcePool": "on-demand"}, "spec.nodeName", "set spec.resourcePool"),
    ("a node in nobody's pool", {"nodeName": "n"}, "spec.nodeName", "not on-demand"),
    ("a relative path", {"storage": {"directMountPath": "d"}}, "spec.storage.directMountPath", "is absolute"),
    ("a home path", {"storage": {"personalMountPath": "~/p"}}, "spec.storage.personalMountPath", "is absolute"),
    ("a dot path", {"storage": {"tenantSharedMountPath": "./p"}}, "spec.storage.tenantSharedMountPath", "is absolute"),
    ("one volume twice", {"storage": {"blockStorageNames": ["a", "a"]}}, "spec.storage.blockStorageNames[1]",
     "Duplicate value"),
    ("no disk", {"rootDiskGiB": 0}, "spec.rootDiskGiB", "greater than or equal to 1"),
    ("a disk beyond int32", {"rootDiskGiB": 2**31}, "spec.rootDiskGiB", "less than or equal to 2147483647"),
    ("a disk size with a unit", {"rootDiskGiB": "200Gi"}, "spec.rootDiskGiB", "must be of type integer"),
    ("an unknown power state", {"powerState": "Off"}, "spec.powerState", 'supported values: "Running", "Stopped"'),
    ("an unknown policy", {"deletion": {"policy": "Keep"}}, "spec.deletion.policy", '"Delete", "Retain"'),
    ("an unknown policy for snapshots", {"deletion": {"snapshots": "Retain"}}, "spec.deletion.snapshots", '"Keep", "Delete"'),
]  # fmt: skip

VM_FIXED = [
    *CLOUD_FIXED,
    Edit("cluster", "Msc1", "Hou1"),
    Edit("configuration", "A100_40GB_PCIe_1x", "H100_80GB_SXM_8x"),
    Edit("vpc", "acme", "acme-train", instead={"vpcRef": {"name": "lab"}}),
    Edit("vpcRef", {"name": "lab"}, {"name": "shop"}, {"vpc": None}, {"vpc": "acme"}),
    Edit("vpcRef.name", "lab", "shop", {"vpc": None}),
    Edit("resourcePool", "reserved-acme", "on-demand"),
    Edit("sshKeys", [KEY], [KEY, "ssh-rsa AAAABBBB"], {"sshKeysFrom": [SECRET_REF]}),
    Edit("sshKeysFrom", [SECRET_REF], [CONFIG_REF]),
    Edit("image", {"operatingSystem": "Ubuntu"}, {"operatingSystem": "Debian"}),
    Edit("image.operatingSystem", "Ubuntu", "Debian"),
    Edit("image.customFile", "a.img", "b.img"),
    Edit("image.snapshotRef", {"name": "a"}, {"name": "b"}),
    Edit("image.snapshotRef.name", "a", "b"),
    Edit("image.snapshot", "a", "b"),
    Edit("rootDiskGiB", 200, 100),
    Edit("storage", {"directMountPath": "/a"}, {"directMountPath": "/b"}),
    Edit("storage.persistDirectAttached", True, False),
    Edit("storage.directMountPath", "/a", "/b"),
    Edit("storage.personalMountPath", "/a", "/b"),
    Edit("storage.tenantSharedMountPath", "/a", "/b"),
    Edit("storage.blockStorageNames", ["a"], ["a", "b"]),
    Edit("nodeName", "node-1", "node-2", POOL),
    Edit("vmName", "train", "test"),
]
VM_FREE = [
    *CLOUD_FREE,
    Edit("powerState", "Stopped", "Running"),
    Edit("deletion", {"policy": "Retain"}, {"policy": "Delete"}),
    Edit("deletion.policy", "Retain", "Delete"),
    Edit("deletion.snapshots", "Delete", "Keep"),
]
VM = Cases(
    GPUVM,
    minimal={"cluster": "Msc1", "configuration": "A100_40GB_PCIe_1x", "vpc": "acme", "sshKeys": [KEY]},
    defaults={
        "powerState": "Running",
        "deletion": {"policy": "Delete", "snapshots": "Keep"},
        "progressDeadlineSeconds": 1800,
    },
    accepted=VM_ACCEPTED,
    refused=VM_REFUSED,
    fixed=VM_FIXED,
    free=VM_FREE,
    required={"cluster", "configuration", "vpcRef.name", "accountRef.name", "image.snapshotRef.name"},
)

# --- GpuVpc -----------------------------------------------------------------------------------------------------------

VPC_ACCEPTED = [
    *CLOUD_ACCEPTED,
    ("the tenant's own VPC", {"name": "acme"}),
    ("a name of one character", {"name": "a"}),
    ("every character that a name may have", {"name": "Acme-1.lab_2"}),
    ("the longest name", {"name": "a" * 253}),
    ("closed inside", {"blockIntraVpcComms": True}),
    ("open inside, and said so", {"blockIntraVpcComms": False}),
    ("the default of its cluster", {"isDefault": True}),
    ("not the default, and said so", {"isDefault": False}),
    *((f"adoption {word}", {"adoption": word}) for word in ("Never", "IfExists", "Required")),
    ("deletion left open", {"deletion": {}}),
    *((f"deletion {word}", {"deletion": {"policy": word}}) for word in ("Delete", "Retain")),
]
VPC_REFUSED = [
    *CLOUD_REFUSED,
    ("no cluster", {"cluster": None}, "spec.cluster", "Required value"),
    ("empty cluster", {"cluster": ""}, "spec.cluster", "at least 1 chars long"),
    ("a cluster name that cannot be", {"cluster": "x" * 254}, "spec.cluster", "Too long"),
    ("no name", {"name": None}, "spec.name", "Required value"),
    ("empty name", {"name": ""}, "spec.name", "at least 1 chars long"),
    ("too long a name", {"name": "x" * 254}, "spec.name", "Too long"),
    ("a hyphen first", {"name": "-acme"}, "spec.name", "start and end with a letter or digit"),
    ("a hyphen last", {"name": "acme-"}, "spec.name", "Give the full name, the tenant's prefix included"),
    ("a dot first", {"name": ".acme"}, "spec.name", "start and end with a letter or digit"),
    ("an underscore last", {"name": "acme_"}, "spec.name", "start and end with a letter or digit"),
    ("a path", {"name": "acme/lab"}, "spec.name", "This is no name of a VPC"),
    ("a space", {"name": "acme lab"}, "spec.name", "This is no name of a VPC"),
    ("a second line", {"name": "acme\n"}, "spec.name", "This is no name of a VPC"),
    ("a letter of another alphabet", {"name": "acme-\u00fc1"}, "spec.name", "This is no name of a VPC"),
    ("a word for a boolean", {"blockIntraVpcComms": "true"}, "spec.blockIntraVpcComms", "must be of type boolean"),
    ("another word for a boolean", {"isDefault": "yes"}, "spec.isDefault", "must be of type boolean"),
    ("an unknown adoption", {"adoption": "Always"}, "spec.adoption", '"Never", "IfExists", "Required"'),
    ("an unknown policy", {"deletion": {"policy": "Keep"}}, "spec.deletion.policy", '"Delete", "Retain"'),
]
VPC = Cases(
    GPUVPC,
    minimal={"cluster": "Msc1", "name": "acme-lab"},
    defaults={"adoption": "Never", "progressDeadlineSeconds": 1800},
    accepted=VPC_ACCEPTED,
    refused=VPC_REFUSED,
    fixed=[
        *CLOUD_FIXED,
        Edit("cluster", "Msc1", "Hou1"),
        Edit("name", "acme-lab", "acme-shop"),
        Edit("blockIntraVpcComms", True, False),
        Edit("isDefault", False, True),
    ],
    free=[
        *CLOUD_FREE,
        Edit("adoption", "IfExists", "Required"),
        Edit("deletion", {"policy": "Retain"}, {"policy": "Delete"}),
        Edit("deletion.policy", "Retain", "Delete"),
    ],
    required={"cluster", "name", "accountRef.name"},
)

# --- GpuSnapshot ------------------------------------------------------------------------------------------------------

SOURCE = {"cluster": "Msc1", "vpc": "acme", "name": "vm-2024093009357617"}
BY_SOURCE = {"vmRef": None, "vm": SOURCE}


def source(**changes):
    """A snapshot of a VM that is no GpuVM, with these changes of its source."""
    return {"vmRef": None, "vm": {field: value for field, value in {**SOURCE, **changes}.items() if value is not None}}


SNAPSHOT_ACCEPTED = [
    *CLOUD_ACCEPTED,
    ("a VM that no GpuVM stands for", BY_SOURCE),
    ("the longest name", {"snapshotName": "a" * 52}),
    ("a name of one character", {"snapshotName": "7"}),
    ("kept when deleted", {"deletion": {"policy": "Retain"}}),
    ("the policy left open", {"deletion": {}}),
]
SNAPSHOT_REFUSED = [
    *CLOUD_REFUSED,
    *bad_references("vmRef"),
    ("no source", {"vmRef": None}, "spec.vmRef", "A snapshot has one source: name it in vmRef"),
    ("two sources", {"vm": SOURCE}, "spec.vmRef", "cluster, vpc and name of a VM in the cloud), not in both"),
    *((f"a source without {field}", source(**{field: None}), f"spec.vm.{field}", "Required value") for field in SOURCE),
    *((f"a source, {field} empty", source(**{field: ""}), f"spec.vm.{field}", "at least 1 chars long") for field in SOURCE),
    *((f"a source, {field} too long", source(**{field: "x" * 254}), f"spec.vm.{field}", "Too long") for field in SOURCE),
    ("a name too long for the service", {"snapshotName": "a" * 53}, "spec.snapshotName", "may not be more than 52"),
    ("upper case", {"snapshotName": "Before"}, "spec.snapshotName", "This is the operator's own rule"),
    ("a hyphen first", {"snapshotName": "-before"}, "spec.snapshotName", "start and end with a letter or digit"),
    ("a hyphen last", {"snapshotName": "before-"}, "spec.snapshotName", "start and end with a letter or digit"),
    ("a dot", {"snapshotName": "before.1"}, "spec.snapshotName", "lower-case letters, digits and '-'"),
    ("a second line", {"snapshotName": "before\n"}, "spec.snapshotName", "lower-case letters, digits and '-'"),
    ("an unknown policy", {"deletion": {"policy": "Keep"}}, "spec.deletion.policy", '"Delete", "Retain"'),
]
SNAPSHOT = Cases(
    GPUSNAPSHOT,
    minimal={"vmRef": {"name": "train"}},
    defaults={"deletion": {"policy": "Delete"}, "progressDeadlineSeconds": 1800},
    accepted=SNAPSHOT_ACCEPTED,
    refused=SNAPSHOT_REFUSED,
    fixed=[
        *CLOUD_FIXED,
        Edit("vmRef", {"name": "train"}, {"name": "test"}, instead={"vm": SOURCE}),
        Edit("vmRef.name", "train", "test"),
        Edit("vm", SOURCE, SOURCE | {"name": "vm-1"}, {"vmRef": None}, {"vmRef": {"name": "train"}}),
        Edit("vm.cluster", "Msc1", "Hou1", BY_SOURCE),
        Edit("vm.vpc", "acme", "acme-lab", BY_SOURCE),
        Edit("vm.name", "vm-2024093009357617", "vm-1", BY_SOURCE),
        Edit("snapshotName", "before", "after"),
    ],
    free=[
        *CLOUD_FREE,
        Edit("deletion", {"policy": "Retain"}, {"policy": "Delete"}),
        Edit("deletion.policy", "Retain", "Delete"),
    ],
    required={"accountRef.name", "vmRef.name", "vm.cluster", "vm.vpc", "vm.name"},
)

# --- GpuCloudAccount --------------------------------------------------------------------------------------------------

LEAKY_URL = "https://someone:made-up-p4ssphrase@cloud.example"
ACCOUNT_ACCEPTED = [
    ("the least", {}),
    ("an endpoint by its name", {"endpoint": "Cloud_1.eu-west"}),
    ("an endpoint of one character", {"endpoint": "a"}),
    ("no default said", {"defaults": {}}),
    ("every default", {"defaults": {"resourcePool": "p", "operatingSystem": "Ubuntu 22.04.4 LTS", "rootDiskGiB": 200}}),
    ("the smallest disk", {"defaults": {"rootDiskGiB": 1}}),
    ("the largest disk that the service can be told", {"defaults": {"rootDiskGiB": 2**31 - 1}}),
]
ACCOUNT_REFUSED = [
    *bad_references("secretRef"),
    ("no Secret", {"secretRef": None}, "spec.secretRef", "Required value"),
    ("a URL", {"endpoint": LEAKY_URL}, "spec.endpoint", "This is no name of an endpoint"),
    ("a host with a port", {"endpoint": "cloud.example:8443"}, "spec.endpoint", "give the NAME, without ':' and '/'"),
    ("a host with a path", {"endpoint": "cloud.example/api"}, "spec.endpoint", "give the NAME, without ':' and '/'"),
    ("empty endpoint", {"endpoint": ""}, "spec.endpoint", "at least 1 chars long"),
    ("too long an endpoint", {"endpoint": "x" * 254}, "spec.endpoint", "Too long"),
    ("empty pool", {"defaults": {"resourcePool": ""}}, "spec.defaults.resourcePool", "at least 1 chars long"),
    ("empty image", {"defaults": {"operatingSystem": ""}}, "spec.defaults.operatingSystem", "at least 1 chars long"),
    ("no disk", {"defaults": {"rootDiskGiB": 0}}, "spec.defaults.rootDiskGiB", "greater than or equal to 1"),
    ("a disk beyond int32", {"defaults": {"rootDiskGiB": 2**31}}, "spec.defaults.rootDiskGiB", "less than or equal to"),
]
ACCOUNT = Cases(
    GPUCLOUDACCOUNT,
    minimal={"secretRef": {"name": "cloud-credential"}},
    defaults={},
    accepted=ACCOUNT_ACCEPTED,
    refused=ACCOUNT_REFUSED,
    fixed=[Edit("endpoint", "eu", "us")],
    free=[
        Edit("secretRef", {"name": "a"}, {"name": "b"}),
        Edit("secretRef.name", "a", "b"),
        Edit("defaults", {"resourcePool": "p"}, {"resourcePool": "q"}),
        Edit("defaults.resourcePool", "p", "q"),
        Edit("defaults.operatingSystem", "Ubuntu", "Debian"),
        Edit("defaults.rootDiskGiB", 100, 200),
    ],
    required={"secretRef", "secretRef.name"},
)

ALL = (VM, VPC, SNAPSHOT, ACCOUNT)
