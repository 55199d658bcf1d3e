"""GpuVMs for the tests of admission: the least one, and the tables of what is accepted, refused, fixed and free.

Each row opens with its reason or its field.
"""

from __future__ import annotations

from gpucloud.kinds.meta import API_VERSION

KEY = "ssh-ed25519 AAAAmadeup someone@example.com"
PRIVATE_KEY = "-----BEGIN MADE UP " + "PRIVATE KEY-----\nbWFkZS11cA==\n-----END"
MINIMAL = {"cluster": "Msc1", "configuration": "A100_40GB_PCIe_1x", "vpc": "acme", "sshKeys": [KEY]}
SECRET_REF = {"secretKeyRef": {"name": "keys", "key": "id.pub"}}
CONFIG_REF = {"configMapKeyRef": {"name": "team.keys", "key": "authorized_keys"}}


def gpuvm(name="vm", **changes):
    """A minimal GpuVM with these changes of its spec; None removes a field."""
    spec = {field: value for field, value in {**MINIMAL, **changes}.items() if value is not None}
    return {"apiVersion": API_VERSION, "kind": "GpuVM", "metadata": {"name": name}, "spec": spec}


ACCEPTED = [
    ("the least", {}),
    ("keys from a Secret only", {"sshKeys": None, "sshKeysFrom": [SECRET_REF]}),
    ("a template that leaves the list empty", {"sshKeys": [], "sshKeysFrom": [SECRET_REF]}),
    ("keys from both kinds of source", {"sshKeysFrom": [SECRET_REF, CONFIG_REF]}),
    ("every type of public key", {"sshKeys": [f"{kind} AAAA" for kind in (
        "ssh-rsa", "ssh-ed25519", "ecdsa-sha2-nistp256", "sk-ssh-ed25519@openssh.com",
        "sk-ecdsa-sha2-nistp256@openssh.com")]}),
    ("as many keys as may be", {"sshKeys": [f"ssh-rsa {number:08190d}"[:8192] for number in range(64)]}),
    ("a system image", {"image": {"operatingSystem": "Ubuntu 22.04.4 LTS"}}),
    ("a custom image", {"image": {"customFile": "mine.qcow2"}}),
    ("a snapshot", {"image": {"snapshot": "before-upgrade"}}),
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
    ("the shortest patience", {"progressDeadlineSeconds": 1}),
    ("the longest patience", {"progressDeadlineSeconds": 2592000}),
    ("powered off from the start", {"powerState": "Stopped"}),
    ("kept when deleted", {"deletion": {"policy": "Retain"}}),
    ("null is absence", {"image": {"snapshot": None}}),
]  # fmt: skip

# (why, changes of the spec, the field blamed, a piece of the message)
REFUSED = [
    ("no cluster", {"cluster": None}, "spec.cluster", "Required value"),
    ("no configuration", {"configuration": None}, "spec.configuration", "Required value"),
    ("no VPC", {"vpc": None}, "spec.vpc", "Required value"),
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
    ("two images", {"image": {"operatingSystem": "Ubuntu", "snapshot": "s"}}, "spec.image", "made from one source"),
    ("two other images", {"image": {"customFile": "f", "snapshot": "s"}}, "spec.image", "made from one source"),
    ("three images", {"image": {"operatingSystem": "U", "customFile": "f", "snapshot": "s"}}, "spec.image",
     "keep one of operatingSystem, customFile and snapshot"),
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
    ("no patience", {"progressDeadlineSeconds": 0}, "spec.progressDeadlineSeconds", "greater than or equal to 1"),
    ("patience beyond a month", {"progressDeadlineSeconds": 2592001}, "spec.progressDeadlineSeconds", "less than or eq"),
    ("an unknown power state", {"powerState": "Off"}, "spec.powerState", 'supported values: "Running", "Stopped"'),
    ("an unknown policy", {"deletion": {"policy": "Keep"}}, "spec.deletion.policy", '"Delete", "Retain"'),
]  # fmt: skip


POOL = {"resourcePool": "reserved-acme"}
# (field of the spec, a value, another value, what else the object needs)
FIXED = [
    ("cluster", "Msc1", "Hou1", {}),
    ("configuration", "A100_40GB_PCIe_1x", "H100_80GB_SXM_8x", {}),
    ("vpc", "acme", "acme-train", {}),
    ("resourcePool", "reserved-acme", "on-demand", {}),
    ("sshKeys", [KEY], [KEY, "ssh-rsa BBBB"], {"sshKeysFrom": [SECRET_REF]}),
    ("sshKeysFrom", [SECRET_REF], [CONFIG_REF], {}),
    ("image", {"operatingSystem": "Ubuntu"}, {"operatingSystem": "Debian"}, {}),
    ("image.operatingSystem", "Ubuntu", "Debian", {}),
    ("image.customFile", "a.img", "b.img", {}),
    ("image.snapshot", "a", "b", {}),
    ("rootDiskGiB", 200, 100, {}),
    ("storage", {"directMountPath": "/a"}, {"directMountPath": "/b"}, {}),
    ("storage.persistDirectAttached", True, False, {}),
    ("storage.directMountPath", "/a", "/b", {}),
    ("storage.personalMountPath", "/a", "/b", {}),
    ("storage.tenantSharedMountPath", "/a", "/b", {}),
    ("storage.blockStorageNames", ["a"], ["a", "b"], {}),
    ("nodeName", "node-1", "node-2", POOL),
    ("vmName", "train", "test", {}),
]
FREE = [
    ("powerState", "Stopped", "Running", {}),
    ("deletion", {"policy": "Retain"}, {"policy": "Delete"}, {}),
    ("deletion.policy", "Retain", "Delete", {}),
    ("progressDeadlineSeconds", 60, 90, {}),
]
REQUIRED = {"cluster", "configuration", "vpc"}
