"""GpuCloudAccount: the least object, and what of its spec is accepted, refused, fixed and free."""

from __future__ import annotations

from gpucloud.kinds.definitions import GPUCLOUDACCOUNT
from support.crdcases.cases import Cases, Edit, bad_references

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
    ("a URL", {"endpoint": LEAKY_URL}, "spec.endpoint", "Not a name of an endpoint"),
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
