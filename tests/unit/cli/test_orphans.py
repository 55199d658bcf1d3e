"""What ``gpucloud orphans`` prints and how it ends, whatever was found."""

import json
from dataclasses import replace

import pytest
import yaml

from gpucloud.cli.main import main
from gpucloud.cli.operations.orphans import Found, Report
from gpucloud.cli.orphans import show
from gpucloud.cloud.models import SnapshotRecord
from support.builders import TAG
from support.orphanfacts import a_thing

VM = Found("(operator)", a_thing(), "2.05")
COPY = a_thing("copy", kind="GpuSnapshot")
SNAPSHOT = Found(
    "team/default",
    replace(COPY, record=SnapshotRecord.model_validate({"id": COPY.where.name, "creationDate": "2026-01-02T03:04:05Z"})),
    None,
)
FAILURE = ("team/default", "there is no Secret 'key'")


def a_report(*found, accounts=("(operator)",), failures=()):
    return Report(TAG, found, accounts, failures)


@pytest.mark.parametrize(
    ("report", "code", "why"),
    [
        (a_report(), 0, "all was looked at, and there is none"),
        (a_report(VM), 3, "one"),
        (a_report(failures=(FAILURE,)), 1, "none that could be seen is not none"),
        (a_report(VM, failures=(FAILURE,)), 1, "some, and perhaps more"),
        (a_report(accounts=()), 1, "no account at all: nothing was looked at"),
    ],
)
@pytest.mark.parametrize("form", ["table", "json", "yaml"])
def test_the_exit_code_tells_what_is_known(report, code, why, form, capsys):
    assert show(report, form) == code, why
    assert bool(capsys.readouterr().err) is (code == 1)


@pytest.mark.parametrize("failures", [(), (FAILURE,)])
def test_where_nothing_was_looked_at_nothing_reassures(failures, capsys):
    show(a_report(accounts=(), failures=failures), "table")
    assert capsys.readouterr().out == "Nothing was looked at, so there may be orphans.\n"


def test_an_unknown_option_shows_the_options_that_there_are(capsys):
    with pytest.raises(SystemExit) as end:
        main(["orphans", "--format", "yaml"])
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert "[-o {table,json,yaml}]" in said
    assert said.splitlines()[-1] == "gpucloud orphans: error: unknown: --format. See gpucloud orphans --help"


def test_people_get_a_table_with_totals_and_advice(capsys):
    show(a_report(VM, SNAPSHOT), "table")
    text = capsys.readouterr().out
    assert "2 orphans: 1 made for a GpuSnapshot, 1 made for a GpuVM; of known price $2.05 an hour." in text
    head, vm, snapshot = text.splitlines()[:3]
    assert head.split()[:5] == ["ACCOUNT", "KIND", "CLUSTER", "VPC", "NAME"]
    assert vm.split() == ["(operator)", "GpuVM", "Msc1", "acme", VM.marked.where.name, "ONLINE", "-", "2.05", "train"]
    assert snapshot.split()[-4:] == ["-", "2026-01-02T03:04:05+00:00", "-", "copy"]
    assert "DestroyServer" in text


def test_programs_get_the_same(capsys):
    show(a_report(VM, SNAPSHOT, failures=(FAILURE,)), "json")
    document = json.loads(capsys.readouterr().out)
    show(a_report(VM, SNAPSHOT, failures=(FAILURE,)), "yaml")
    assert yaml.safe_load(capsys.readouterr().out) == document
    assert [item["name"] for item in document["orphans"]] == [VM.marked.where.name, SNAPSHOT.marked.where.name]
    assert (document["pricePerHour"], document["installTag"]) == ("2.05", TAG)
    assert document["failures"] == [{"account": "team/default", "message": "there is no Secret 'key'"}]


def test_the_clouds_words_cannot_forge_a_line(capsys):
    record = VM.marked.record.model_copy(update={"status": "ONLINE\n\x1b[31mforged"})
    show(a_report(replace(VM, marked=replace(VM.marked, record=record)), failures=(("a", "no\nforged"),)), "table")
    out, err = capsys.readouterr()
    assert "\x1b" not in out
    assert not [line for line in (out + err).splitlines() if line.startswith("forged")]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "--endpoint"),
        (("--endpoint", "default=https://cloud.example", "--namespace", "team"), "--install-tag"),
    ],
)
def test_wrong_usage_is_told_apart(arguments, says, capsys, monkeypatch):
    for name in ("GPUCLOUD_ENDPOINT", "GPUCLOUD_INSTALL_TAG", "GPUCLOUD_NAMESPACE"):
        monkeypatch.delenv(name, raising=False)
    assert main(["orphans", *arguments]) == 2
    assert says in capsys.readouterr().err
