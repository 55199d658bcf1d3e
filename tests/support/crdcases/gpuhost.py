"""GpuHost: the least object, and what of its spec is accepted, refused, fixed and free."""

from __future__ import annotations

from gpucloud.kinds.definitions import GPUHOST
from support.crdcases.cases import CLOUD_ACCEPTED, CLOUD_FIXED, CLOUD_FREE, CLOUD_REFUSED, Cases, Edit

URL = "https://images.example/gpu.qcow2"
LEAKY_URL = "https://someone:made-up-p4ssphrase@images.example/gpu.qcow2"
SOURCE = {"name": "cloud-init", "key": "user-data"}


def installs(**reprovision):
    return {"reprovision": reprovision}


HOST_ACCEPTED = [
    *CLOUD_ACCEPTED,
    ("an id of one character", {"hostId": "7"}),
    ("the longest id", {"hostId": "h" * 253}),
    ("an id of another form", {"hostId": "rack:4/bm_128"}),
    ("the cloud's own image", installs()),
    ("an image by http", installs(imageUrl="http://images.example")),
    ("an image with port, path and token", installs(imageUrl="https://images.example:8443/a%20b.qcow2?sig=made-up&e=1#x")),
    ("an image whose path and query hold an @", installs(imageUrl="https://images.example/a@1?b=c@d")),
    ("the longest URL", installs(imageUrl="https://images.example/" + "i" * 2025)),
    ("all of it", installs(imageUrl=URL, imageChecksumUrl=URL + ".sha256", cloudInitSecretRef=SOURCE)),
]


def _refused_urls(field: str) -> list[tuple[str, dict, str, str]]:
    path = f"spec.reprovision.{field}"
    return [
        (f"{field}: a file", installs(**{field: "file:///etc/shadow"}), path, "start with http:// or https://"),
        (f"{field}: no scheme", installs(**{field: "images.example/gpu"}), path, "start with http:// or https://"),
        (f"{field}: no host", installs(**{field: "https:///gpu"}), path, "start with http:// or https://"),
        (f"{field}: a space", installs(**{field: "https://images.example/a b"}), path, "hold no space"),
        (f"{field}: a second line", installs(**{field: URL + "\n"}), path, "hold no space"),
        (f"{field}: a password", installs(**{field: LEAKY_URL}), path, "user or password"),
        (f"{field}: a user", installs(**{field: "https://someone@images.example"}), path, "user or password"),
        (f"{field}: empty", installs(**{field: ""}), path, "at least 1 chars long"),
        (f"{field}: too long", installs(**{field: URL + "i" * 2048}), path, "Too long"),
    ]


HOST_REFUSED = [
    *CLOUD_REFUSED,
    ("no cluster", {"cluster": None}, "spec.cluster", "Required value"),
    ("empty cluster", {"cluster": ""}, "spec.cluster", "at least 1 chars long"),
    ("a cluster name that cannot be", {"cluster": "x" * 254}, "spec.cluster", "Too long"),
    ("no id", {"hostId": None}, "spec.hostId", "Required value"),
    ("empty id", {"hostId": ""}, "spec.hostId", "at least 1 chars long"),
    ("too long an id", {"hostId": "x" * 254}, "spec.hostId", "Too long"),
    ("an id with a space", {"hostId": "bm 128"}, "spec.hostId", "without spaces"),
    ("an id with a second line", {"hostId": "bm-128\n"}, "spec.hostId", "without spaces"),
    *_refused_urls("imageUrl"),
    *_refused_urls("imageChecksumUrl"),
    (
        "a Secret of another namespace",
        installs(cloudInitSecretRef={**SOURCE, "name": "other/it"}),
        "spec.reprovision.cloudInitSecretRef.name",
        "Other namespaces cannot be named",
    ),
    (
        "a Secret without a key",
        installs(cloudInitSecretRef={"name": "cloud-init"}),
        "spec.reprovision.cloudInitSecretRef.key",
        "Required value",
    ),
    (
        "a key that no Secret has",
        installs(cloudInitSecretRef={**SOURCE, "key": "user data"}),
        "spec.reprovision.cloudInitSecretRef.key",
        "Not a key of a Secret",
    ),
]
HOST = Cases(
    GPUHOST,
    minimal={"cluster": "Msc1", "hostId": "bm-128"},
    defaults={"progressDeadlineSeconds": 1800},
    accepted=HOST_ACCEPTED,
    refused=HOST_REFUSED,
    fixed=[*CLOUD_FIXED, Edit("cluster", "Msc1", "Hou1"), Edit("hostId", "bm-128", "bm-129")],
    free=[
        *CLOUD_FREE,
        Edit("reprovision", {"imageUrl": URL}, {"imageUrl": URL + "2"}),
        Edit("reprovision.imageUrl", URL, URL + "2"),
        Edit("reprovision.imageChecksumUrl", URL, URL + "2"),
        Edit("reprovision.cloudInitSecretRef", SOURCE, {**SOURCE, "key": "other"}),
        Edit("reprovision.cloudInitSecretRef.name", "a", "b", installs(cloudInitSecretRef={"key": "a"})),
        Edit("reprovision.cloudInitSecretRef.key", "a", "b", installs(cloudInitSecretRef={"name": "a"})),
    ],
    required={
        "cluster",
        "hostId",
        "accountRef.name",
        "reprovision.cloudInitSecretRef.name",
        "reprovision.cloudInitSecretRef.key",
    },
)
