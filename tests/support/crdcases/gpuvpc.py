"""GpuVpc: the least object, and what of its spec is accepted, refused, fixed and free."""

from __future__ import annotations

from gpucloud.kinds.definitions import GPUVPC
from support.crdcases.cases import CLOUD_ACCEPTED, CLOUD_FIXED, CLOUD_FREE, CLOUD_REFUSED, Cases, Edit

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
    ("a path", {"name": "acme/lab"}, "spec.name", "Not a name of a VPC"),
    ("a space", {"name": "acme lab"}, "spec.name", "Not a name of a VPC"),
    ("a second line", {"name": "acme\n"}, "spec.name", "Not a name of a VPC"),
    ("a letter of another alphabet", {"name": "acme-\u00fc1"}, "spec.name", "Not a name of a VPC"),
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
