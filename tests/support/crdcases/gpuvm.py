"""GpuVM: the least object, and what of its spec is accepted, refused, fixed and free."""

from __future__ import annotations

from itertools import combinations

from gpucloud.kinds.definitions import GPUVM
from support.crdcases.cases import CLOUD_ACCEPTED, CLOUD_FIXED, CLOUD_FREE, CLOUD_REFUSED, Cases, Edit, bad_references
from support.crdcases.connection import CONNECTION_ACCEPTED, CONNECTION_FREE, CONNECTION_REFUSED, CONNECTION_REQUIRED
from support.crdcases.placement import PLACEMENT_ACCEPTED, PLACEMENT_FREE, PLACEMENT_REFUSED

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
    *CONNECTION_ACCEPTED,
    *PLACEMENT_ACCEPTED,
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
    ("a last snapshot of it is kept", {"deletion": {"finalSnapshot": "Required"}}),
    ("null is absence", {"image": {"snapshot": None}}),
]  # fmt: skip
VM_REFUSED = [
    *CLOUD_REFUSED,
    *CONNECTION_REFUSED,
    *PLACEMENT_REFUSED,
    *bad_references("vpcRef", lambda reference: {"vpc": None, "vpcRef": reference}),
    *bad_references("image.snapshotRef", lambda reference: {"image": {"snapshotRef": reference}}),
    ("no cluster", {"cluster": None}, "spec.cluster", "Required value"),
    ("no configuration", {"configuration": None}, "spec.configuration", "Required value"),
    ("no VPC", {"vpc": None}, "spec.vpc", "Set exactly one of spec.vpc"),
    ("two VPCs", {"vpcRef": {"name": "lab"}}, "spec.vpc", "and spec.vpcRef (a GpuVpc of this namespace)."),
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
    ("the path of a key", {"sshKeys": ["~/.ssh/id_rsa.pub"]}, "spec.sshKeys[0]", "Not an OpenSSH public key"),
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
     "spec.sshKeysFrom[0].configMapKeyRef.name", "Not a name of a Secret or ConfigMap"),
    ("a key that no Secret can have", {"sshKeysFrom": [{"secretKeyRef": {"name": "keys", "key": "a/b"}}]},
     "spec.sshKeysFrom[0].secretKeyRef.key", "Not a key of a Secret or ConfigMap"),
    ("a key that no ConfigMap can have", {"sshKeysFrom": [{"configMapKeyRef": {"name": "keys", "key": "a b"}}]},
     "spec.sshKeysFrom[0].configMapKeyRef.key", "Not a key of a Secret or ConfigMap"),
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
    ("an unknown last snapshot", {"deletion": {"finalSnapshot": "Yes"}}, "spec.deletion.finalSnapshot", '"None", "Required"'),
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
    *CONNECTION_FREE,
    *PLACEMENT_FREE,
    Edit("powerState", "Stopped", "Running"),
    Edit("deletion", {"policy": "Retain"}, {"policy": "Delete"}),
    Edit("deletion.policy", "Retain", "Delete"),
    Edit("deletion.finalSnapshot", "Required", "None"),
    Edit("deletion.snapshots", "Delete", "Keep"),
]
VM = Cases(
    GPUVM,
    minimal={"cluster": "Msc1", "configuration": "A100_40GB_PCIe_1x", "vpc": "acme", "sshKeys": [KEY]},
    defaults={
        "powerState": "Running",
        "deletion": {"snapshots": "Keep"},
        "progressDeadlineSeconds": 1800,
    },
    accepted=VM_ACCEPTED,
    refused=VM_REFUSED,
    fixed=VM_FIXED,
    free=VM_FREE,
    required={"cluster", "configuration", "vpcRef.name", "accountRef.name", "image.snapshotRef.name"} | CONNECTION_REQUIRED,
)
