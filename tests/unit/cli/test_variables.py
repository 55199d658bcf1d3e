"""A misspelt environment variable is told when a command starts, with the name that is near; nobody else's is."""

from __future__ import annotations

import pytest

from gpucloud import flags
from gpucloud.cli.main import main
from gpucloud.cli.plugin import entry
from gpucloud.cli.variables import OF_PLUGIN, OF_SIM, PREFIX, without_effect

OPERATOR = flags.variables()
SERVICE = {"GPUCLOUD_OPERATOR_SERVICE_HOST": "10.0.0.1", "GPUCLOUD_OPERATOR_SERVICE_PORT": "8080"}
NEAR = "Did you mean 'GPUCLOUD_POLL_STEADY_SECONDS'?"
# what the environment holds, the known names, the beginning of those that are this command's, what is told
CASES = [
    ({"GPUCLOUD_POL_STEADY_SECONDS": "9"}, OPERATOR, PREFIX, (NEAR,), "a slip"),
    ({"GPUCLOUD_POL_STEADY_SECONDS": ""}, OPERATOR, PREFIX, (), "one without a value, which counts as absent"),
    ({"GPUCLOUD_FROBNICATE": "1"}, OPERATOR, PREFIX, ("GPUCLOUD_FROBNICATE has no effect",), "one that is near none"),
    ({"GPUCLOUD_FROBNICATE": "1"}, OPERATOR, "", (), "one that may be for another program"),
    ({"POLL_STEADY_SECONDS": "1", "GPUCLOUDX": "1"}, OPERATOR, PREFIX, (), "those of others"),
    (dict.fromkeys(OPERATOR, "1"), OPERATOR, PREFIX, (), "all that are known"),
    (dict.fromkeys(OF_PLUGIN, "1"), OPERATOR, PREFIX, (), "those of the plugin"),
    (SERVICE, OPERATOR, PREFIX, (), "those of a Service"),
    (
        {**SERVICE, "GPUCLOUD_OPERATOR_PORT": "tcp://10.0.0.1:8080", "GPUCLOUD_OPERATOR_PORT_8080_TCP_ADDR": "10.0.0.1"},
        OPERATOR,
        PREFIX,
        (),
        "the others of a Service",
    ),
    ({**SERVICE, "GPUCLOUD_OPERATOR_SERVICE_PORT_METRICS": "8080"}, OPERATOR, PREFIX, (), "a named port of a Service"),
    ({"GPUCLOUD_METRIC_PORT": "9"}, OPERATOR, PREFIX, ("Did you mean 'GPUCLOUD_METRICS_PORT'?",), "a port without a Service"),
    ({"GPUCLOUD_SIM_PROT": "9"}, ("GPUCLOUD_SIM_PORT",), OF_SIM, ("Did you mean 'GPUCLOUD_SIM_PORT'?",), "of the simulator"),
    ({"GPUCLOUD_ENDPIONT": "9"}, OF_PLUGIN, "", ("Did you mean 'GPUCLOUD_ENDPOINT'?",), "of the plugin"),
]


@pytest.mark.parametrize(("environ", "known", "all_of", "told", "why"), CASES, ids=[row[-1] for row in CASES])
def test_a_variable_without_effect_is_told(environ, known, all_of, told, why):
    found = tuple(without_effect(environ, known, all_of=all_of))
    assert len(found) == len(told), why
    assert all(words in sentence for words, sentence in zip(told, found, strict=True)), found


@pytest.mark.parametrize("command", ["operator", "check", "orphans"])
def test_it_is_told_before_the_error_that_may_have_come_of_it(command, monkeypatch, capsys):
    monkeypatch.delenv("GPUCLOUD_ENDPOINT", raising=False)
    monkeypatch.setenv("GPUCLOUD_ENDPONT", "default=https://cloud.example")
    assert main([command]) == 2
    warning, error = capsys.readouterr().err.splitlines()
    assert "GPUCLOUD_ENDPONT has no effect" in warning
    assert "or set GPUCLOUD_ENDPOINT" in error


def test_no_value_is_repeated():
    assert "made-up" not in "".join(without_effect({"GPUCLOUD_API_KEYS": "made-up"}, OPERATOR, all_of=PREFIX))


# how a command is started, the misspelt variable, and the one that is near: each ends soon, for another reason
STARTED = [
    (lambda: main(["sim", "--port", "none"]), "GPUCLOUD_SIM_PROT", "Did you mean 'GPUCLOUD_SIM_PORT'?", "the simulator"),
    (lambda: entry.main(["explain", "Nothing"]), "GPUCLOUD_ENDPIONT", "Did you mean 'GPUCLOUD_ENDPOINT'?", "the plugin"),
]


@pytest.mark.parametrize(("start", "name", "says", "why"), STARTED, ids=[row[-1] for row in STARTED])
def test_it_is_told_at_the_start(start, name, says, why, monkeypatch, capsys):
    monkeypatch.setenv(name, "1")
    start()
    assert says in capsys.readouterr().err, why


def test_the_plugin_leaves_variables_of_the_operator_alone(monkeypatch, capsys):
    for name in ("GPUCLOUD_CONSOLE", "GPUCLOUD_API_KEY", "GPUCLOUD_SIM_PORT"):
        monkeypatch.setenv(name, "1")
    entry.main(["explain", "Nothing"])
    assert "has no effect" not in capsys.readouterr().err
