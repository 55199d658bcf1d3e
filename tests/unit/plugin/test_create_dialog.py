"""``create`` on a terminal: its questions, and what is asked for again."""

import io
import os
import pty

import pytest
import yaml

from gpucloud.cli.plugin.creation import prompts
from gpucloud.cloud.models import AvailabilityRecord, ConfigurationRecord
from gpucloud.engine.cloud.queries import Offers
from support.newvm import A100, H100, KEY, OF_CLOUD, OFFERED


class Interrupted(io.StringIO):
    """What somebody types, and then Ctrl-C."""

    def readline(self, *_):
        line = super().readline()
        if not line:
            raise KeyboardInterrupt
        return line


class Typist:
    """A terminal on which somebody types a line before anything is asked, and each answer when its question stands there."""

    def __init__(self, early, *answers):
        self._leader, follower = pty.openpty()
        self._terminal, self._answers = os.fdopen(follower, encoding="utf-8"), [*answers]
        self._type(early)

    def _type(self, line):
        os.write(self._leader, f"{line}\n".encode())

    def fileno(self):
        return self._terminal.fileno()

    def readline(self):
        self._type(self._answers.pop(0))
        return self._terminal.readline()

    def close(self):
        os.close(self._leader)
        self._terminal.close()


@pytest.mark.usefixtures("home")
def test_what_was_typed_before_a_question_stands_there_is_no_answer_to_it(api, plugin, monkeypatch):
    """The offers take seconds to come: a name that was typed meanwhile was the answer to "Which one", with Enter the first."""
    typist = Typist("", "2", "acme", "train", "y")
    monkeypatch.setattr(prompts, "is_possible", lambda: True)
    monkeypatch.setattr("sys.stdin", typist)
    code, out, err = plugin("create")
    typist.close()
    assert (code, out) == (0, "GpuVM/train: created\n"), err
    ((_, body),) = api.changed("POST")
    assert (body["spec"]["cluster"], body["spec"]["vpc"]) == ("Hou1", "acme")


@pytest.mark.usefixtures("home")
def test_a_person_is_told_what_is_waited_for_before_the_first_question(plugin, person):
    person("1", "lab", "train", "n")
    code, _, err = plugin("create")
    assert (code, err.splitlines()[0]) == (0, "kubectl gpucloud: asking the cloud for its offers …")


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


WRONG_KEYS = [
    ("~/private", "~/private is a private key. Name the file beside it that ends in .pub.", "a private key"),
    ("~/nothing", "~/nothing cannot be read (No such file or directory). Name the file of a public key.", "no file"),
    ("~/.ssh", "~/.ssh cannot be read (Is a directory).", "a folder"),
]


@pytest.mark.parametrize("row", WRONG_KEYS, ids=[row[2] for row in WRONG_KEYS])
@pytest.mark.usefixtures("home")
def test_a_wrong_key_file_is_asked_for_again(row, api, plugin, person, tmp_path):
    """The other answers were lost with it."""
    typed, says, why = row
    (tmp_path / ".ssh" / "id_rsa.pub").unlink()
    (tmp_path / "private").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    (tmp_path / "mine.pub").write_text(f"{KEY}\n")
    person("1", "lab", typed, "~/mine.pub", "train", "y")
    code, _, err = plugin("create")
    ((_, body),) = api.changed("POST")
    assert (code, body["spec"]["sshKeys"], says in err) == (0, [KEY], True), why


@pytest.mark.usefixtures("home")
def test_the_usual_key_that_holds_none_is_told_and_another_one_is_asked_for(api, plugin, person, tmp_path):
    (tmp_path / ".ssh" / "id_rsa.pub").write_text("made-up\n")
    (tmp_path / "mine.pub").write_text(f"{KEY}\n")
    person("1", "lab", "~/mine.pub", "train", "y")
    code, _, err = plugin("create")
    ((_, body),) = api.changed("POST")
    assert (code, body["spec"]["sshKeys"], "id_rsa.pub holds no OpenSSH public key." in err) == (0, [KEY], True)


WRONG_OPTIONS = [
    (("-c", "A100"), f"Did you mean '{A100}'?", "a configuration"),
    (("--cluster", "Mcs1"), "Did you mean 'Msc1'?", "a cluster"),
    (("--cluster", "Msc1", "--vpc", "acme-trian"), "Did you mean 'acme-train'?", "a VPC"),
    (("--ssh-key", "/nonexistent"), "--ssh-key: /nonexistent cannot be read", "a key file"),
]


@pytest.mark.parametrize(("words", "says", "why"), WRONG_OPTIONS, ids=[row[2] for row in WRONG_OPTIONS])
def test_a_wrong_option_is_refused_before_anything_is_asked(words, says, why, plugin, home, person):
    home(OFFERED, OF_CLOUD)
    person("1", "lab", "train", "y")
    code, out, err = plugin("create", *words)
    assert (code, out, says in err, "Which" in err, "Name of" in err) == (2, "", True, False, False), why


def test_a_vpc_that_the_cloud_does_not_list_is_asked_for_again(api, plugin, home, person):
    home(OFFERED, OF_CLOUD)
    person("2", "acme-evla", "ACME-eval", "train", "y")
    code, _, err = plugin("create", "--vpc", "acme-train")
    ((_, body),) = api.changed("POST")
    assert (code, body["spec"]["vpc"], body["spec"]["cluster"]) == (0, "acme-eval", "Hou1")
    assert "the cloud lists no VPC 'acme-train' in cluster Hou1. Use acme-eval." in err
    assert "the cloud lists no VPC 'acme-evla' in cluster Hou1. Did you mean 'acme-eval'?" in err


@pytest.mark.usefixtures("home")
def test_a_configuration_of_several_clusters_is_asked_for_its_cluster(api, plugin, person):
    person("2", "lab", "train", "y")
    code, _, _ = plugin("create", "-c", A100)
    ((_, body),) = api.changed("POST")
    assert (code, body["spec"]["cluster"], body["spec"]["vpcRef"]) == (0, "Msc1", {"name": "lab"})


def test_a_configuration_that_is_typed_wrong_is_asked_for_again(api, plugin, home, person):
    """None of the offers is free, so none is listed."""
    home(Offers(configurations=OFFERED.configurations, availability=OFFERED.availability[2:]))
    person("H100_80GB", H100, "acme", "train", "y")
    code, _, err = plugin("create")
    ((_, body),) = api.changed("POST")
    assert (code, body["spec"]["configuration"], f"Did you mean '{H100}'?" in err) == (0, H100, True)


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


def a_place(pool, price, configuration=A100, cluster="Msc1"):
    free = price != 0.5
    return AvailabilityRecord(
        configuration=configuration, cluster=cluster, rpool=pool, available=free, count=int(free), price=price
    )


UNKNOWN = "Its price is not known: "
NO_POOL = f"{UNKNOWN}without --pool it is in the default pool, and the price depends on the pool "


@pytest.mark.parametrize(
    ("places", "words", "says", "why"),
    [
        ([a_place("on-demand", 2.05), a_place("own", 0.5)], (), f"{NO_POOL}(on-demand $2.05, own $0.50).", "it may be either"),
        ([a_place("on-demand", 2.05), a_place("own", 0.5)], ("--pool", "own"), "It is billed $0.50 an hour.", "it is named"),
        (
            [a_place("on-demand", 2.05), a_place("own", 0.5)],
            ("--pool", "on-demand"),
            "It is billed $2.05 an hour.",
            "this, too",
        ),
        ([a_place("on-demand", 2.05), a_place("own", 2.05)], (), "It is billed $2.05 an hour.", "one price in all pools"),
        ([a_place("on-demand", 2.05)], (), "It is billed $2.05 an hour.", "one pool is all there is"),
        ([a_place("on-demand", 2.05), a_place("own", 0.5, cluster="Hou1")], (), "It is billed $2.05 an hour.", "elsewhere"),
        ([a_place("on-demand", 2.05), a_place("own", None)], (), f"{NO_POOL}(on-demand $2.05, own unknown).", "one is unknown"),
        ([a_place("on-demand", None)], (), f"{UNKNOWN}no offer names it.", "no price at all"),
    ],
)
def test_the_price_is_that_of_what_will_be_bought(asked, places, words, says, why):
    """It named the cheapest pool's, and the cloud's default pool was bought."""
    code, err = asked(places, words)
    assert (code, f" in Msc1. {says}\n" in err) == (0, True), (why, err)


@pytest.fixture
def asked(home, plugin, person):
    """A function from places and options to the exit code of a dialog, and what it said."""

    def dialog(places, words):
        home(Offers(configurations=(ConfigurationRecord(name=A100, price=None, gpus=1),), availability=tuple(places)))
        person("train", "y")
        code, _, err = plugin("create", "-c", A100, "--cluster", "Msc1", "--vpc-ref", "lab", *words)
        return code, err

    return dialog
