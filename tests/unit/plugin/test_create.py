"""``create``: which manifest follows from what is asked for and known, what is refused, and the questions at a terminal."""

import io

import pytest
import yaml

from gpucloud.cli.plugin import creating, prompting
from gpucloud.cli.plugin.errors import PluginError
from gpucloud.cli.plugin.verbs import create
from gpucloud.cloud.models import AvailabilityRecord, ConfigurationRecord
from gpucloud.engine.manager.reads import Offers
from support.pluginworld import a_body

KEY = "ssh-ed25519 AAAAmadeupkey ann@example.com"
A100, H100 = "A100_40GB_PCIe_1x", "H100_80GB_SXM_8x"
OFFERED = Offers(
    configurations=(
        ConfigurationRecord(name=A100, price=2.05, gpus=1, brand="NVIDIA A100"),
        ConfigurationRecord(name=H100, price=26.4, gpus=8, brand="NVIDIA H100"),
    ),
    availability=(
        AvailabilityRecord(configuration=A100, cluster="Msc1", rpool="on-demand", available=True, count=3),
        AvailabilityRecord(configuration=A100, cluster="Hou1", rpool="on-demand", available=True, count=9),
        AvailabilityRecord(configuration=H100, cluster="Hou1", rpool="on-demand", available=False, count=0),
    ),
)
LAB = a_body("GpuVpc", "lab", spec={"cluster": "msc1", "name": "acme-lab"})
WANTED = creating.Wanted(name="train", configuration="A100", ssh_keys=(KEY,))
POSTED = "/apis/gpucloud.dev/v1alpha1/namespaces/team/gpuvms"


class Source:
    """Answers with fixed offers, or that there is no way to the cloud."""

    def __init__(self, found):
        self.found = found

    def offers(self, _cluster):
        if self.found is None:
            raise PluginError("no way to the cloud.", do="Ask for one.")
        return self.found


@pytest.fixture
def home(api, tmp_path, monkeypatch):
    """A namespace with a GpuVpc and an account, and a person with a key; a function that says what is offered, if anything."""

    def offers(found):
        monkeypatch.setattr(create, "source_of", lambda *_: Source(found))

    offers(OFFERED)
    api.add(LAB, a_body("GpuCloudAccount", "default", status={"tenant": "acme"}))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id_rsa.pub").write_text(f"{KEY}\n")
    return offers


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
        ((), "the name of the GpuVM is missing"),
        (("Note_Book", "-c", A100), "start and end with a letter or digit, for example note-book."),
        (("a..b", "-c", A100), "and each part between dots, too, for example a-b."),
        (("a" * 254, "-c", A100), "the name for the GpuVM has 254 characters.\nUse 253 at most."),
        (("train",), "--configuration is missing.\nSee what can be bought:\nkubectl gpucloud offers\n"),
        (("train", "-c", "A100"), f"--configuration: 'A100' is not offered. Did you mean '{A100}'?\nUse {A100}, {H100}."),
        (("train", "-c", A100), f"--cluster is missing.\nName one of those that offer {A100}: Hou1, Msc1."),
        (("train", "-c", A100, "--cluster", "Mcs1"), "Did you mean 'Msc1'?"),
        (("train", "-c", H100, "--cluster", "msc1"), f"--cluster: Msc1 does not offer {H100}.\nUse Hou1."),
        (("train", "-c", A100, "--cluster", "Msc1", "--pool", "on-demnd"), "Did you mean 'on-demand'?"),
        (("train", "-c", A100, "--cluster", "Hou1"), "Name it with --vpc-ref with a GpuVpc of the namespace, or with --vpc"),
        (("train", "-c", A100, "--cluster", "Hou1"), "for example acme."),
        (("train", "-c", A100, "--cluster", "Hou1", "--vpc-ref", "lab"), "GpuVpc/lab is not in cluster Hou1"),
        (("train", "-c", A100, "--vpc", "a", "--vpc-ref", "lab", "--cluster", "Msc1"), "Name one of them"),
        (("train", "-c", A100, "--image", "a", "--snapshot", "b"), "made from one of them"),
        (("train", "-c", A100, "--cluster", "Msc1", "--wait"), "--wait needs --apply"),
        (("train", "-c", A100, "--ssh-key", "/nonexistent"), "--ssh-key: /nonexistent cannot be read (No such file"),
        (("train", "-c", A100, "--disk", "0"), "--disk: expected a number from 1 to 2147483647, not '0'"),
    ],
)
@pytest.mark.usefixtures("home")
def test_what_is_wrong_names_the_way_out(api, plugin, words, says):
    code, out, err = plugin("create", *words)
    assert (code, out, api.changed("POST")) == (2, "", [])
    assert says in err
    assert err.count("kubectl gpucloud: ") == 1


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
    code, out, err = plugin("create", "train", "-c", A100, "--ssh-key", str(path))
    assert (code, says in err, "made-up" in out + err) == (2, True, False)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "the name of the GpuVM is missing"),
        (("train",), "--configuration is missing"),
        (("train", "-c", A100, "--vpc", "a", "--vpc-ref", "lab"), "Name one of them"),
        (("train", "-c", A100, "--image", "a", "--snapshot", "b"), "made from one of them"),
        (("train", "-c", A100, "--wait"), "--wait needs --apply"),
        (("train", "-c", A100, "--ssh-key", "~/private"), "is a private key"),
        (("train", "-c", A100, "--ssh-key", "~/nothing"), "cannot be read"),
        (("Note_Book", "-c", A100), "for example note-book."),
    ],
)
@pytest.mark.usefixtures("home")
def test_what_the_options_alone_show_is_refused_before_any_call(api, plugin, monkeypatch, tmp_path, words, says):
    """The calls to the cloud take seconds."""
    (tmp_path / "private").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    monkeypatch.setattr(create, "source_of", lambda *_: pytest.fail("the cloud was asked"))
    code, _, err = plugin("create", *words)
    assert (code, says in err, api.calls) == (2, True, [])


def test_a_missing_key_is_told_before_any_call(api, plugin):
    code, _, err = plugin("create", "train", "-c", A100)
    assert (code, "no public SSH key was found in ~/.ssh" in err, api.calls) == (2, True, [])


def test_the_wizard_asks_nothing_when_two_options_exclude_each_other(api, plugin, monkeypatch):
    monkeypatch.setattr(prompting, "is_possible", lambda: True)
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
    code, _, err = plugin("create", "train", "-c", A100, "--cluster", "Msc1", "--apply")
    assert (code, "just as it was sent now" in err) == (1, True)
    code, _, err = plugin("create", "train", "-c", H100, "--cluster", "Hou1", "--vpc", "acme", "--apply")
    assert code == 1
    assert (
        "GpuVM/train exists already in namespace 'team'.\nChoose another name, or see what is there:\n"
        "kubectl gpucloud status gvm/train --namespace=team\n" in err
    )


class Interrupted(io.StringIO):
    """What somebody types, and then Ctrl-C."""

    def readline(self, *_):
        line = super().readline()
        if not line:
            raise KeyboardInterrupt
        return line


@pytest.fixture
def person(monkeypatch):
    """A function that says what somebody types, line by line."""

    def types(*lines, form=io.StringIO, last=""):
        monkeypatch.setattr(prompting, "is_possible", lambda: True)
        monkeypatch.setattr("sys.stdin", form("".join(f"{line}\n" for line in lines) + last))

    return types


@pytest.mark.usefixtures("home")
def test_a_person_is_asked_for_what_is_missing_and_before_it_is_bought(api, plugin, person):
    person("99", "2", "", "train", "y")
    code, out, err = plugin("create")
    assert (code, out) == (0, "GpuVM/train: created\n")
    assert "is none of them: type a number from 1 to 2." in err
    assert "It is billed $2.05 an hour." in err
    ((_, body),) = api.changed("POST")
    assert body["spec"] == {
        "cluster": "Hou1",
        "configuration": A100,
        "resourcePool": "on-demand",
        "vpc": "acme",
        "sshKeys": [KEY],
    }


@pytest.mark.usefixtures("home")
def test_a_name_that_no_object_can_have_is_asked_for_again_with_the_rule(api, plugin, person):
    """The other answers were lost with it, and the rule was not told."""
    person("1", "lab", "-Note Book-", "note-book", "y")
    code, _, err = plugin("create")
    assert (code, [body["metadata"]["name"] for _, body in api.changed("POST")]) == (0, ["note-book"])
    assert (
        "'-Note Book-' is not a name for a GpuVM. Use lower-case letters, digits, '-' and '.', and start and end with a letter "
        "or digit, for example note-book." in err
    )


@pytest.mark.parametrize(
    ("typed", "expected"), [(("My VM", ""), "acme"), (("My VM", "acm", "acm"), "acm")], ids=["slip", "meant"]
)
@pytest.mark.usefixtures("home")
def test_a_vpc_that_nothing_names_is_asked_for_again(api, plugin, person, typed, expected):
    """Its name stands in the spec for good, and a wrong one ends in Rejected."""
    person("2", *typed, "train", "y")
    code, _, err = plugin("create")
    ((_, body),) = api.changed("POST")
    assert (code, body["spec"]["vpc"]) == (0, expected)
    assert "names the VPC 'My VM' (known: acme, acme-lab): if the cloud has it, type it again." in err
    assert ("names the VPC 'acm'. Did you mean 'acme'?" in err) is ("acm" in typed)


@pytest.mark.usefixtures("home")
def test_a_wrong_name_is_refused_before_anything_is_asked(api, plugin, person):
    person("1", "lab", "y")
    code, out, err = plugin("create", "Note_Book")
    assert (code, out, api.changed("POST"), "Which" in err) == (2, "", [], False)


@pytest.mark.usefixtures("home")
def test_nothing_is_bought_without_a_yes(api, plugin, person):
    person("1", "lab", "train", "")
    code, out, _ = plugin("create")
    assert (code, yaml.safe_load(out)["metadata"], api.changed("POST")) == (0, {"name": "train"}, [])


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("form", [io.StringIO, Interrupted], ids=["its end", "Ctrl-C"])
def test_the_end_of_the_input_creates_nothing_and_says_so(api, plugin, person, form):
    person("1", form=form)
    code, out, err = plugin("create")
    assert (code, out, api.changed("POST")) == (130, "", [])
    assert "nothing was created" in err


@pytest.mark.usefixtures("home")
def test_a_line_that_ends_without_enter_is_no_yes(api, plugin, person):
    person("1", "lab", "train", last="y")
    code, out, err = plugin("create")
    assert (code, out, api.changed("POST"), "nothing was created" in err) == (130, "", [], True)


def bytes_of(errors):
    """Standard input as Python opens it, under a locale that is strict or one that keeps bytes it cannot decode."""
    return lambda text: io.TextIOWrapper(Lines(text.encode(errors="surrogateescape")), "utf-8", errors)


class Lines(io.BytesIO):
    """A terminal gives one line at a time."""

    def read1(self, *_):
        return self.readline()


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
@pytest.mark.parametrize("typed", ["\udcff\udcfe", "la\x1bb", "la\tb"])
def test_an_answer_that_cannot_be_read_or_shown_is_asked_for_again(api, plugin, person, errors, typed):
    person("1", typed, "lab", "train", "y", form=bytes_of(errors))
    code, _, err = plugin("create")
    ((_, body),) = api.changed("POST")
    assert (code, body["spec"]["vpcRef"]["name"]) == (0, "lab")
    assert "the answer has characters that cannot be read or shown: type it again." in err


def test_where_nothing_is_offered_no_empty_list_is_named():
    known = creating.Known(())
    with pytest.raises(
        PluginError, match=r"'A100' is not offered, nor is any other. See what can be bought: .kubectl gpucloud offers"
    ):
        creating.settled(WANTED, known)


def test_an_offer_without_a_cluster_asks_for_one():
    row = {"configuration": "A100", "cluster": None, "resourcePool": None}
    with pytest.raises(PluginError, match="Give --cluster as the cloud spells it"):
        creating.settled(WANTED, creating.Known((row,)))
