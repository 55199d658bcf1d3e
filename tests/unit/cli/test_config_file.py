"""One settings file serves every command that has settings: below flags and environment, with each unknown field refused."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from gpucloud import flags
from gpucloud.cli import check, operator, orphans, sim, uninstall
from gpucloud.cli.main import main
from support.fakeapiserver import FakeApiServer
from support.manifests import gpuvm

PAGES = Path(__file__).parents[3] / "docs" / "reference"
URL = "default=https://cloud.example"
# The module of a command, how its settings are read, one of them, and its flag, variable and field.
SIM = (sim, flags.load_sim, "sim_port", "--port", "GPUCLOUD_SIM_PORT", "simPort")
UNINSTALL = (
    uninstall,
    flags.load_uninstall,
    "uninstall_timeout_seconds",
    "--timeout-seconds",
    "GPUCLOUD_UNINSTALL_TIMEOUT_SECONDS",
    "uninstallTimeoutSeconds",
)
CLOUD = ("cloud_timeout_seconds", "--cloud-timeout-seconds", "GPUCLOUD_CLOUD_TIMEOUT_SECONDS", "cloudTimeoutSeconds")
COMMANDS = {
    "operator": (operator, flags.load, *CLOUD),
    "orphans": (orphans, flags.load, *CLOUD),
    "check": (check, flags.load, *CLOUD),
    "uninstall": UNINSTALL,
    "sim": SIM,
}
DEFAULTS = {"operator": 30, "orphans": 30, "check": 30, "uninstall": 270, "sim": 8080}


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("GPUCLOUD_ENDPOINT", URL)


@pytest.fixture
def uninstall_with(tmp_path, config, monkeypatch):
    """Run ``gpucloud uninstall`` with a settings file where one object lives; whether it was deleted."""

    def run(text, environ, words):
        with FakeApiServer() as api:
            monkeypatch.setenv("KUBECONFIG", str(api.kubeconfig(tmp_path)))
            for name, value in environ.items():
                monkeypatch.setenv(name, value)
            api.add({**gpuvm("train"), "metadata": {"name": "train", "namespace": "team", "uid": "u-1"}})
            main(["uninstall", "--config", config(text), *words])
            return bool(api.changed("DELETE"))

    return run


def settings_of(command, words, environ):
    """The settings of a command, from its own flags."""
    module, load, name, *_ = COMMANDS[command]
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    return getattr(load(vars(parser.parse_args(words)), {"GPUCLOUD_ENDPOINT": URL} | environ), name)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("by_flag", "by_variable", "by_file", "why"),
    [
        (False, False, False, "the default, where nothing is given"),
        (False, False, True, "the file wins over the default"),
        (False, True, True, "the environment over the file"),
        (True, True, True, "a flag over both"),
        (True, False, True, "a flag over the file"),
    ],
)
def test_the_same_order_for_every_command(config, command, by_flag, by_variable, by_file, why):
    *_, flag, variable, field = COMMANDS[command]
    words = ["--config", config(f"{field}: 7" if by_file else "")] + ([flag, "9"] if by_flag else [])
    wins = 9 if by_flag else 8 if by_variable else 7 if by_file else DEFAULTS[command]
    assert settings_of(command, words, {variable: "8"} if by_variable else {}) == wins, why


@pytest.mark.parametrize("command", COMMANDS)
def test_a_variable_names_the_file_of_every_command(config, command):
    field = COMMANDS[command][-1]
    assert settings_of(command, [], {"GPUCLOUD_CONFIG": config(f"{field}: 7")}) == 7


@pytest.mark.parametrize("command", COMMANDS)
def test_each_takes_the_file_that_another_is_given(config, command):
    """One file may hold the settings of all; each command takes its own."""
    text = f"endpoint: [{URL}]\nworkers: 7\nuninstallPolicy: Drain\nsimSeed: 3\n"
    assert settings_of(command, ["--config", config(text)], {}) == DEFAULTS[command]


REFUSED = [
    ("operator", "wrokers: 7", "there is no setting 'wrokers'. Did you mean 'workers'?", "a slip"),
    ("check", "namspace: [ml]", "there is no setting 'namspace'. Did you mean 'namespace'?", "a slip"),
    ("orphans", "instalTag: abc", "there is no setting 'instalTag'. Did you mean 'installTag'?", "a slip"),
    ("uninstall", "uninstallPolcy: Drain", "Did you mean 'uninstallPolicy'? See 'gpucloud uninstall --help'", "a slip"),
    ("uninstall", "policy: Drain", "there is no setting 'policy'. Did you mean 'uninstallPolicy'?", "the flag's name"),
    ("uninstall", "timeout-seconds: 9", "Did you mean 'uninstallTimeoutSeconds'?", "the flag as it is written"),
    ("sim", "simProt: 0", "there is no setting 'simProt'. Did you mean 'simPort'? See 'gpucloud sim --help'", "a slip"),
    ("sim", "port: 0", "there is no setting 'port'. Did you mean 'simPort'?", "the flag's name"),
    ("sim", "wrokers: 7", "there is no setting 'wrokers'. Did you mean 'workers'?", "a slip in what another command takes"),
    ("sim", "zzzz: 7", "there is no setting 'zzzz'. See 'gpucloud sim --help'", "near to none"),
    ("operator", "zzzz: 7", "there is no setting 'zzzz'. See 'gpucloud operator --help'", "near to none"),
    ("sim", "simPort: 1\nsimPort: 2", "line 2: simPort is set twice, first in line 1", "twice"),
    ("sim", "simPort: many", "line 1: simPort: expected a whole number, not 'many'", "not a number"),
    ("sim", "simManualClock: ja", "line 1: simManualClock: expected true or false, not 'ja'", "no switch"),
    (
        "sim",
        "simAnswers: wraped",
        "simAnswers: expected one of plain, wrapped, not 'wraped'. Did you mean 'wrapped'?",
        "a word",
    ),
    ("uninstall", "uninstallPolicy: Drian", "line 1: uninstallPolicy: expected one of Refuse, Drain, Retain", "a word"),
    ("uninstall", "uninstallTimeoutSeconds: -1", "uninstallTimeoutSeconds: must not be negative", "no time"),
    ("uninstall", "namespace: [Team]", "line 1: namespace: expected lower-case letters", "no namespace"),
    ("uninstall", "apiKey: made-up", "apiKey is a secret: set it by an environment variable", "a secret"),
]


@pytest.mark.parametrize(("command", "text", "says", "why"), REFUSED, ids=[f"{row[0]}: {row[1]}" for row in REFUSED])
@pytest.mark.usefixtures("endpoint")
def test_a_file_that_cannot_be_used_is_refused_by_every_command(config, capsys, command, text, says, why):
    assert main([command, "--config", config(text)]) == 2, why
    told = capsys.readouterr().err
    assert told.startswith(f"gpucloud {command}: --config "), why
    assert says in told, why


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("endpoint")
def test_a_file_that_is_not_there_is_named(tmp_path, capsys, command):
    assert main([command, "--config", str(tmp_path / "none.yaml")]) == 2
    assert "none.yaml: the file cannot be read (No such file or directory)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "environ", "words", "deleted", "why"),
    [
        ("namespace: [team]", {}, (), False, "nobody has asked for a deletion"),
        ("namespace: [team]\nuninstallPolicy: drain\nuninstallTimeoutSeconds: 0", {}, (), True, "the file asks for it"),
        ("uninstallPolicy: Drain\nuninstallTimeoutSeconds: 0", {"GPUCLOUD_NAMESPACE": "other"}, (), False, "of another place"),
        ("uninstallPolicy: Drain\nuninstallTimeoutSeconds: 0", {}, ("--policy=Refuse",), False, "the flag wins"),
    ],
)
def test_an_uninstall_obeys_the_file(uninstall_with, text, environ, words, deleted, why):
    assert uninstall_with(text, environ, words) is deleted, why


def test_the_page_tells_of_every_field_beside_the_operators():
    page = (PAGES / "gpucloud.md").read_text()
    fields = [flag.field for flag in (*flags.SIM.values(), *flags.UNINSTALL.values())]
    assert [field for field in fields if f"`{field}`" not in page] == []
    assert re.search(r"A flag wins over its variable, the variable over the file, the file over the default", page)
