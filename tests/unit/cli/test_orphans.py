"""What ``gpucloud orphans`` prints and how it ends, whatever was found."""

import json
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO

import pytest
import yaml
from pydantic import SecretStr

from gpucloud.cli.main import main
from gpucloud.cli.operations.orphans import Found, Report, inspect
from gpucloud.cli.orphans import show, tell
from gpucloud.cloud.models import SnapshotRecord
from gpucloud.handlers.login import connect
from gpucloud.settings import Credentials, Settings
from gpucloud.sim import LoopClock, SimConfig, Simulator
from gpucloud.sim.server import serving
from support.builders import TAG
from support.fakeapiserver import FakeApiServer
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


def test_people_get_two_lines_each_with_totals_and_advice(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)  # a pipe: nothing is wrapped
    show(a_report(VM, SNAPSHOT), "table")
    text = capsys.readouterr().out
    assert "2 orphans: 1 made for a GpuSnapshot, 1 made for a GpuVM; of known price $2.05 an hour." in text
    assert text.splitlines()[:4] == [
        f"GpuVM/{VM.marked.where.name}  ONLINE  $2.05/h",
        "  cluster Msc1, VPC acme, made for train, account (operator)",
        f"GpuSnapshot/{COPY.where.name}",
        "  cluster Msc1, made for copy, created 2026-01-02T03:04:05Z, account team/default",
    ]
    assert "DestroyServer" in text


def test_all_of_it_fits_a_terminal_of_80_columns(capsys, monkeypatch):
    """Also where names are as long as they may be, the cloud tells when the VM has changed, and an account has failed."""
    thing = a_thing("a-name-as-long-as-the-cloud-takes-it-and-longer", vpc="a-long-name-of-a-vpc", cluster="A-Long-Cluster-1")
    record = thing.record.model_copy(update={"last_updated": datetime(2026, 11, 27, 23, 9, 56, 752000, tzinfo=UTC)})
    monkeypatch.setenv("COLUMNS", "80")
    found = Found("a-team-with-a-name/a-long-account", replace(thing, record=record), "2.05")
    show(a_report(found, failures=(("team/default", "a reason that takes more than one line " * 3),)), "table")
    out, err = capsys.readouterr()
    assert max(map(len, (out + err).splitlines())) <= 80
    assert "changed 2026-11-27T23:09:56Z" in " ".join(out.split())


async def test_what_is_waited_for_is_told(tmp_path, monkeypatch):
    """The cloud answers for as long as ten seconds; a VM that seems to be left is listed once more."""
    key = SecretStr("made-up-key-of-this-test")
    simulator = Simulator(SimConfig(seed=1, api_key=key), LoopClock(time.time()))
    told = []
    with FakeApiServer() as api:
        monkeypatch.setenv("KUBECONFIG", str(api.kubeconfig(tmp_path)))
        async with serving(simulator.handle, "127.0.0.1", 0) as url:
            settings = Settings(endpoint=(f"default={url}",), install_tag=TAG, credentials=Credentials(api_key=key))
            report = await inspect(settings, connect, told.append)
    assert (report.accounts, report.failures) == (("(operator)",), ())
    assert told == [
        "listing VMs and snapshots in each cluster of the cloud, as account (operator)",
        "listing the objects in Kubernetes",
    ]


@pytest.mark.parametrize("status", [400, 403, 422])
def test_a_refusal_of_the_apiserver_is_told_with_a_command(status, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("gpucloud.app.configure_logging", lambda _settings: None)  # it would last as long as the worker
    with FakeApiServer() as api:
        api.refused = {"/": status}
        monkeypatch.setenv("KUBECONFIG", str(api.kubeconfig(tmp_path)))
        assert main(["orphans", "--install-tag", TAG, "--endpoint", "default=http://127.0.0.1:1"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"gpucloud orphans: the objects cannot be read: {status} Forbidden: refused: /")
    assert line.endswith(". Run 'gpucloud check', which says what is wrong.")


@pytest.mark.parametrize(("terminal", "said"), [(True, "gpucloud orphans: listing …\n"), (False, "")])
def test_only_a_terminal_is_told_what_is_waited_for(terminal, said, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    stream = Stream(terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    tell("listing")
    assert stream.getvalue() == said


class Stream(StringIO):
    """Standard error, of a terminal or not."""

    encoding = "utf-8"

    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


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
