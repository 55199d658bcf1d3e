"""``create``: which manifest follows from what is asked for and known, and what is refused."""

from dataclasses import fields

import pytest
import yaml

from gpucloud.cli.plugin.creation import prompts, vm_manifest
from gpucloud.cli.plugin.errors import PluginError
from gpucloud.cli.plugin.usage.commands import NewVm
from gpucloud.cli.plugin.verbs import create
from support.newvm import A100, H100, KEY, OF_CLOUD, OFFERED
from support.pluginworld import a_body

WANTED = NewVm(name="train", configuration="A100", ssh_keys=(KEY,))
PLACED = ("train", "-c", A100, "--cluster", "Msc1")
POSTED = "/apis/gpucloud.dev/v1alpha1/namespaces/team/gpuvms"


def test_every_field_of_a_new_vm_is_in_the_manifest():
    """Else an option would be taken, and come to nothing."""
    told = {
        one.name: 40 if one.name == "disk" else (f"of-{one.name}",) if "keys" in one.name else f"of-{one.name}"
        for one in fields(NewVm)
        if one.name != "key_files"
    }  # of which ssh_keys are made
    text = yaml.safe_dump(vm_manifest.manifest(NewVm(**told), None))
    assert [name for name, value in told.items() if (value[0] if isinstance(value, tuple) else str(value)) not in text] == []


@pytest.fixture
def made(api, plugin, home):
    """A function from words to the manifest that ``create`` prints, and what is told beside it."""

    def run(*words, offers=OFFERED):
        home(offers)
        code, out, err = plugin("create", *words)
        assert code == 0, err
        assert api.changed("POST") == [], "it only prints"
        return yaml.safe_load(out), err

    return run


def test_the_least_that_has_to_be_said(made):
    found, err = made("train", "-c", A100, "--cluster", "msc1")
    assert found == {
        "apiVersion": "gpucloud.dev/v1alpha1",
        "kind": "GpuVM",
        "metadata": {"name": "train"},
        "spec": {"cluster": "Msc1", "configuration": A100, "vpcRef": {"name": "lab"}, "sshKeys": [KEY]},
    }
    assert err == ""


@pytest.mark.parametrize(
    ("words", "expected", "why"),
    [
        (("--vpc", "acme"), {"vpc": "acme", "vpcRef": None}, "the cloud's own name"),
        (("--pool", "ON-DEMAND"), {"resourcePool": "on-demand"}, "as the cloud spells it"),
        (("--image", "Ubuntu"), {"image": {"operatingSystem": "Ubuntu"}}, "an image"),
        (("--snapshot", "golden"), {"image": {"snapshotRef": {"name": "golden"}}}, "a snapshot"),
        (("--disk", "200"), {"rootDiskGiB": 200}, "a disk"),
    ],
)
def test_what_else_can_be_said(made, words, expected, why):
    found, _ = made("train", "-c", A100, "--cluster", "Msc1", *words)
    assert {name: found["spec"].get(name) for name in expected} == expected, why


def test_a_namespace_that_was_named_stands_in_the_manifest(made):
    found, _ = made("train", "-c", A100, "--cluster", "Msc1", "-n", "team")
    assert found["metadata"] == {"name": "train", "namespace": "team"}


def test_an_account_of_another_name_stands_in_the_manifest(api, made):
    api.add(a_body("GpuCloudAccount", "other"))
    assert "accountRef" not in made("train", "-c", A100, "--cluster", "Msc1")[0]["spec"]
    assert made("train", "-c", A100, "--cluster", "Msc1", "--account", "other")[0]["spec"]["accountRef"] == {"name": "other"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "the name of the GpuVM and --configuration are missing"),
        (("Note_Book", "-c", A100), "start and end with a letter or digit, for example note-book."),
        (("a..b", "-c", A100), "and each part between dots, too, for example a-b."),
        (("a" * 254, "-c", A100), "the name for the GpuVM has 254 characters.\nUse 253 at most."),
        (("train",), "--configuration is missing.\n"),
        (
            ("train", "-c", "A100"),
            f"--configuration: 'A100' is not offered. Did you mean '{A100}'?\nUse one of: {A100}, {H100}.",
        ),
        (("train", "-c", A100), f"--cluster is missing.\nName one of those that offer {A100}: Hou1, Msc1."),
        (("train", "-c", A100, "--cluster", "Mcs1"), "Did you mean 'Msc1'?"),
        (("train", "-c", H100, "--cluster", "msc1"), f"--cluster: Msc1 does not offer {H100}.\nUse Hou1."),
        (("train", "-c", A100, "--cluster", "Msc1", "--pool", "on-demnd"), "Did you mean 'on-demand'?"),
        (("train", "-c", A100, "--cluster", "Hou1"), "Name the VPC with --vpc-ref with a GpuVpc of the namespace, or with"),
        (("train", "-c", A100, "--cluster", "Hou1"), "for example acme."),
        (("train", "-c", A100, "--cluster", "Hou1", "--vpc-ref", "lab"), "GpuVpc/lab is not in cluster Hou1"),
        (("train", "-c", A100, "--vpc", "a", "--vpc-ref", "lab", "--cluster", "Msc1"), "Name one of them"),
        (("train", "-c", A100, "--image", "a", "--snapshot", "b"), "made from one of them"),
        (("train", "-c", A100, "--cluster", "Msc1", "--wait"), "--wait needs --apply"),
        ((*PLACED, "--ssh-key", "/nonexistent"), "--ssh-key: /nonexistent cannot be read (No such file"),
        ((*PLACED, "--ssh-key", "~nobody-of-this-name/key.pub"), "cannot be read (Could not determine home"),
        (("train", "-c", A100, "--disk", "0"), "--disk: expected a number from 1 to 2147483647, not '0'"),
    ],
)
@pytest.mark.usefixtures("home")
def test_what_is_wrong_names_the_way_out(api, plugin, words, says):
    code, out, err = plugin("create", *words)
    assert (code, out, api.changed("POST")) == (2, "", [])
    assert says in err
    assert err.count("kubectl gpucloud: ") == 1


BEGUN = "kubectl gpucloud create"
LACKING = [
    (
        (),
        (
            "the name of the GpuVM and --configuration are missing.\nSee what can be bought:\nkubectl gpucloud offers\n"
            "Then complete this command, with --vpc VPC unless the namespace has one GpuVpc in that cluster:\n"
            f"{BEGUN} NAME -c CONFIGURATION --cluster CLUSTER\n"
        ),
        "one thing at a time took three calls",
    ),
    (("train",), f"{BEGUN} train -c CONFIGURATION --cluster CLUSTER\n", "what was typed stays"),
    (
        ("-c", A100, "--vpc", "acme", "--disk", "40", "--apply", "--wait"),
        (
            "the name of the GpuVM is missing.\nSee what can be bought:\nkubectl gpucloud offers\nThen complete this command:\n"
            f"{BEGUN} NAME -c {A100} --cluster CLUSTER --vpc acme --disk 40 --apply --wait\n"
        ),
        "all of it",
    ),
    (("-n", "team"), f"{BEGUN} --namespace=team NAME -c CONFIGURATION --cluster CLUSTER\n", "and where"),
    (
        ("--ssh-key", "a b.pub", "--ssh-key", "c.pub"),
        f"{BEGUN} NAME -c CONFIGURATION --cluster CLUSTER --ssh-key 'a b.pub' --ssh-key c.pub\n",
        "a shell can read it",
    ),
]


@pytest.mark.parametrize(("words", "says", "why"), LACKING, ids=[row[2] for row in LACKING])
@pytest.mark.usefixtures("home")
def test_all_that_is_missing_is_named_at_once_with_one_command_to_complete(plugin, words, says, why):
    code, out, err = plugin("create", *words)
    assert (code, out) == (2, ""), why
    assert says in err, why


@pytest.mark.usefixtures("home")
def test_the_command_to_complete_has_a_place_for_a_key_where_none_is_found(plugin, tmp_path):
    (tmp_path / ".ssh" / "id_rsa.pub").unlink()
    assert f"{BEGUN} NAME -c CONFIGURATION --cluster CLUSTER --ssh-key FILE\n" in plugin("create")[2]


@pytest.mark.parametrize(
    ("offers", "says"),
    [
        (OFFERED, f"Name one of those that offer {A100}: Hou1, Msc1."),
        (None, "See what can be bought:\nkubectl gpucloud offers\n"),
    ],
    ids=["offers", "none can be seen"],
)
def test_a_vpc_that_follows_from_no_cluster_is_missed_together_with_the_cluster(api, plugin, home, offers, says):
    home(offers)
    api.objects.clear()
    code, _, err = plugin("create", "train", "-c", A100)
    assert code == 2
    assert (
        "--cluster and the VPC are missing.\nName the VPC with --vpc-ref with a GpuVpc of the namespace, or with --vpc" in err
    )
    assert says in err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nmade-up\n", "is a private key.\nName the file beside it that ends in .pub."),
        ("made-up\n", "holds no OpenSSH public key"),
        ("# made-up\n", "holds no OpenSSH public key"),
    ],
)
@pytest.mark.usefixtures("home")
def test_a_file_that_is_no_public_key_is_refused_and_not_shown(plugin, tmp_path, text, says):
    path = tmp_path / "key"
    path.write_text(text)
    code, out, err = plugin("create", *PLACED, "--ssh-key", str(path))
    assert (code, says in err, "made-up" in out + err) == (2, True, False)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "the name of the GpuVM and --configuration are missing"),
        (("train",), "--configuration is missing"),
        (("train", "-c", A100, "--vpc", "a", "--vpc-ref", "lab"), "Name one of them"),
        (("train", "-c", A100, "--image", "a", "--snapshot", "b"), "made from one of them"),
        (("train", "-c", A100, "--wait"), "--wait needs --apply"),
        (("Note_Book", "-c", A100), "for example note-book."),
    ],
)
@pytest.mark.usefixtures("home")
def test_what_the_options_alone_show_is_refused_before_any_call(api, plugin, monkeypatch, words, says):
    """The calls to the cloud take seconds."""
    monkeypatch.setattr(create, "source_of", lambda *_: pytest.fail("the cloud was asked"))
    code, _, err = plugin("create", *words)
    assert (code, says in err, api.calls) == (2, True, [])


WRONG_NAMES = [
    (("-c", "A100"), f"Did you mean '{A100}'?", "a configuration"),
    (("-c", A100, "--cluster", "Mcs1"), "Did you mean 'Msc1'?", "a cluster"),
    (("-c", A100, "--cluster", "Msc1", "--vpc", "acme-lba"), "Did you mean 'acme-lab'?", "a VPC"),
]


@pytest.mark.parametrize("key", [(), ("--ssh-key", "~/private"), ("--ssh-key", "~/nothing")], ids=["none", "private", "absent"])
@pytest.mark.parametrize("row", WRONG_NAMES, ids=[row[2] for row in WRONG_NAMES])
def test_a_wrong_name_is_told_before_the_key_is_looked_at(row, key, api, plugin, home, tmp_path):
    """Who only tries a name need not have a key."""
    words, says, why = row
    home(OFFERED, {"Msc1": frozenset({"acme", "acme-lab"})})
    (tmp_path / ".ssh" / "id_rsa.pub").unlink()
    (tmp_path / "private").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    code, _, err = plugin("create", "train", *words, *key)
    assert (code, says in err, "ssh" in err.lower(), api.changed("POST")) == (2, True, False, []), why


@pytest.mark.usefixtures("home")
def test_a_missing_key_is_told_when_the_names_are_right(api, plugin, tmp_path):
    (tmp_path / ".ssh" / "id_rsa.pub").unlink()
    code, _, err = plugin("create", *PLACED, "--apply")
    assert (code, "no public SSH key was found in ~/.ssh" in err, api.changed("POST")) == (2, True, [])


VPCS = [
    ("acme-trian", OF_CLOUD, "lists no VPC 'acme-trian' in cluster Msc1. Did you mean 'acme-train'?", "a slip"),
    ("theirs", OF_CLOUD, "in cluster Msc1.\nUse one of: acme, acme-lab, acme-train.", "near none: all are named"),
    ("acme-eval", OF_CLOUD, "lists no VPC 'acme-eval' in cluster Msc1.", "a VPC of another cluster"),
    ("lab", OF_CLOUD, "Use --vpc-ref lab for the GpuVpc of this name.", "the name of an object"),
    ("ACME", OF_CLOUD, "acme", "as the cloud spells it"),
    ("acme-lab", OF_CLOUD, "acme-lab", "the operator is still to make it"),
    ("theirs", None, "theirs", "the list is refused"),
    ("theirs", {}, "theirs", "the list may lack some"),
    ("theirs", {"Msc1": frozenset()}, "theirs", "the list is empty, which proves nothing"),
]


@pytest.mark.parametrize("row", VPCS, ids=[row[3] for row in VPCS])
def test_a_vpc_is_looked_for_before_anything_is_made(row, api, plugin, home):
    """Its name stands in the spec for good, and a wrong one ends in Rejected."""
    name, vpcs, expected, why = row
    home(OFFERED, vpcs)
    code, _, err = plugin("create", *PLACED, "--vpc", name, "--apply")
    made = [body["spec"]["vpc"] for _, body in api.changed("POST")]
    assert (code, made) == ((2, []) if " " in expected else (0, [expected])), why
    assert expected in err or made, why


def test_the_wizard_asks_nothing_when_two_options_exclude_each_other(api, plugin, monkeypatch):
    monkeypatch.setattr(prompts, "is_possible", lambda: True)
    code, _, err = plugin("create", "--image", "a", "--snapshot", "b")
    assert (code, "made from one of them" in err, api.calls) == (2, True, [])


def test_what_it_will_wait_for_is_told(made):
    _, err = made("train", "-c", H100, "--cluster", "Hou1", "--vpc-ref", "lba")
    assert f"{H100} is not free in Hou1 now" in err
    assert "there is no GpuVpc/lba in the namespace: the VM waits for it. Did you mean 'lab'?" in err


def test_a_snapshot_that_is_missing_is_told(api, made):
    api.add(a_body("GpuSnapshot", "golden"))
    _, err = made("train", "-c", A100, "--cluster", "Msc1", "--vpc-ref", "lab", "--snapshot", "gold")
    assert "there is no GpuSnapshot/gold in the namespace: the VM waits for it. Did you mean 'golden'?" in err


SEEN = {"spec": {"vpc": "acme-lab", "image": {"operatingSystem": "Ubuntu 22.04.4 LTS"}}}
SLIPS = [
    (("--vpc", "acme-lba"), "--vpc: no object of the namespace names 'acme-lba'. Did you mean 'acme-lab'?", "a slip"),
    (("--vpc", "acm"), "Did you mean 'acme'?", "the tenant's own VPC is known, too"),
    (("--vpc", "acme-lab"), None, "it is known"),
    (("--vpc", "theirs"), None, "it is near none, and the cloud may know it"),
    (("--vpc-ref", "lab", "--image", "Ubuntu 22.04.4 LTE"), "Did you mean 'Ubuntu 22.04.4 LTS'?", "an image"),
    (("--vpc-ref", "lab", "--image", "Debian 12"), None, "an image that is near none"),
]


@pytest.mark.parametrize(("words", "says", "why"), SLIPS, ids=[row[2] for row in SLIPS])
def test_a_vpc_or_an_image_that_is_nearly_one_of_the_namespace_is_told(words, says, why, api, made):
    api.add(a_body("GpuVM", "other", **SEEN))
    _, err = made("train", "-c", A100, "--cluster", "Msc1", *words)
    assert says in err if says else "Did you mean" not in err, why


def test_without_a_way_to_the_cloud_nothing_is_checked_and_that_is_told(made):
    found, err = made("train", "-c", "B200", "--cluster", "Msc1", offers=None)
    assert found["spec"]["configuration"] == "B200"
    assert "configuration and cluster are not checked, since the cloud's own offers cannot be seen: no way to the cloud." in err


PUBLISHED = {
    "items": [
        {"metadata": {"name": name}, "cluster": "Msc1", **row}
        for name, row in {
            "a": {"account": "default", "configuration": A100, "resourcePool": "on-demand", "available": False},
            "b": {"account": "other", "configuration": H100, "pricePerHour": "26.40"},
        }.items()
    ]
}


def test_without_a_way_to_the_cloud_the_gpuoffers_of_the_account_are_looked_at(api, made, plugin):
    """Who has no endpoint sees them all the same; `kubectl gpucloud offers` is no way out for who has none."""
    api.canned["/apis/gpucloud.dev/v1alpha1/namespaces/team/gpuoffers"] = PUBLISHED
    found, err = made("train", "-c", A100.lower(), offers=None)
    assert (found["spec"]["configuration"], found["spec"]["cluster"]) == (A100, "Msc1")
    assert "are compared with the GpuOffers of the namespace, since the cloud's own offers cannot be seen: no way to" in err
    assert f"{A100} is not free in Msc1 now" in err
    code, _, err = plugin("create", "train", "-c", H100)
    assert (code, f"{H100!r} is not offered.\nUse {A100}." in err) == (2, True), "it is offered to another account"


def test_who_may_create_gpuvms_and_see_nothing_else_gets_a_manifest(api, made):
    for plural in ("gpucloudaccounts", "gpuvpcs", "gpuoffers"):
        api.refused[f"/apis/gpucloud.dev/v1alpha1/namespaces/team/{plural}"] = 403
    found, err = made("train", "-c", "B200", "--cluster", "Msc1", "--vpc", "acme")
    assert found["spec"]["configuration"] == "B200"
    assert "configuration and cluster are not checked, since the cloud's own offers cannot be seen: cannot list" in err


@pytest.mark.usefixtures("home")
def test_apply_creates_what_would_be_printed(api, plugin):
    code, out, _ = plugin("create", "train", "-c", A100, "--cluster", "Msc1", "--apply")
    assert (code, out) == (0, "GpuVM/train: created\n")
    ((path, body),) = api.changed("POST")
    assert (path, body["spec"]["vpcRef"]) == (POSTED, {"name": "lab"})
    code, out, err = plugin("create", "train", "-c", A100, "--cluster", "Msc1", "--apply")
    assert (code, out, err) == (0, "GpuVM/train: exists already, just as it was asked for\n", ""), "as kubectl apply"
    code, _, err = plugin("create", "train", "-c", H100, "--cluster", "Hou1", "--vpc", "acme", "--apply")
    assert code == 1
    assert (
        "GpuVM/train exists already in namespace 'team'.\nChoose another name, or see what is there:\n"
        "kubectl gpucloud status gvm/train --namespace=team\n" in err
    )


def test_where_nothing_is_offered_no_empty_list_is_named():
    known = vm_manifest.Known(())
    with pytest.raises(
        PluginError, match=r"'A100' is not offered, nor is any other. See what can be bought: .kubectl gpucloud offers"
    ):
        vm_manifest.settled(WANTED, known)


def test_an_offer_without_a_cluster_asks_for_one():
    row = {"configuration": "A100", "cluster": None, "resourcePool": None}
    with pytest.raises(PluginError, match="Give --cluster as the cloud spells it"):
        vm_manifest.settled(WANTED, vm_manifest.Known((row,)))
