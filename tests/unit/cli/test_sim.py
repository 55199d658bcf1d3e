"""``gpucloud sim``: which flags and variables it refuses, and in which words."""

import pytest

from gpucloud.cli.main import main

NEGATIVE = "must not be negative"


@pytest.mark.parametrize(
    ("variables", "words", "says"),
    [
        pytest.param({}, ("--port", "x"), "--port: expected a whole number, not 'x'", id="not a number"),
        pytest.param({}, ("--port", "70000"), "--port: must be 65535 or less", id="no port"),
        pytest.param({"GPUCLOUD_SIM_PORT": "-1"}, (), f"GPUCLOUD_SIM_PORT: {NEGATIVE}", id="a flag's variable"),
        pytest.param({}, ("--seed", "1.5"), "--seed: expected a whole number, not '1.5'", id="not whole"),
        pytest.param(
            {"GPUCLOUD_SIM_MANUAL_CLOCK": "ja"},
            ("--port", "-1"),
            f"--port: {NEGATIVE}; GPUCLOUD_SIM_MANUAL_CLOCK: expected true or false, not 'ja'",
            id="a switch's variable: it meant off",
        ),
        pytest.param(
            {}, ("--stop-seconds", "2e9"), "--stop-seconds: must be 1000000000.0 or less", id="longer than a knob takes"
        ),
        pytest.param({}, ("--stop-seconds", "nan"), "--stop-seconds: expected a finite number, not 'nan'", id="no number"),
    ],
)
def test_what_cannot_be_used_is_named_with_where_it_was_given(capsys, monkeypatch, variables, words, says):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert main(["sim", *words]) == 2
    assert capsys.readouterr().err == f"gpucloud sim: {says}\n"


@pytest.mark.parametrize("value", ["", "1", "TRUE", "t", "y", "yes", "on", "0", "False", "f", "n", "no", "off"])
def test_a_switch_is_read_as_the_operator_reads_its_own(capsys, monkeypatch, value):
    """The port is refused after it, so that nothing is served here."""
    monkeypatch.setenv("GPUCLOUD_SIM_MANUAL_CLOCK", value)
    assert main(["sim", "--port", "-1"]) == 2
    assert capsys.readouterr().err == f"gpucloud sim: --port: {NEGATIVE}\n"
