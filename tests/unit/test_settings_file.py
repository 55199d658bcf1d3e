"""The settings file: YAML read as it is written, below flags and environment, each refusal with its line, no secret told."""

import argparse
import re
from pathlib import Path

import pytest

from gpucloud.flags import add_arguments, load
from gpucloud.settings import SettingsError

PAGES = Path(__file__).parents[2] / "docs" / "reference"
SECRET = "made-up-canary"
OK = {"GPUCLOUD_ENDPOINT": "default=https://cloud.example", "GPUCLOUD_API_KEY": SECRET}


def settings(*arguments, **environ):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    variables = {f"GPUCLOUD_{name}": value for name, value in environ.items()}
    return load(vars(parser.parse_args(arguments)), OK | variables)


@pytest.mark.parametrize("path", ["", " "])
def test_a_flag_that_names_no_file_is_refused(path):
    """As of a shell variable that is not set: the limits and the brake of the file would not hold."""
    with pytest.raises(SettingsError, match="--config: no file is named; name one, or leave the flag out"):
        settings("--config", path)


def test_an_empty_variable_counts_as_absent():
    assert settings(CONFIG="").workers == 50


@pytest.mark.parametrize(
    ("text", "name", "value", "why"),
    [
        ("namespace: [a, b]", "namespace", ("a", "b"), "a list of YAML"),
        ("namespace: a, b", "namespace", ("a", "b"), "a list as a variable has it"),
        ("pollPendingSeconds: 0.5", "poll_pending_seconds", 0.5, "camelCase, as in the chart"),
        ("observeOnly: true", "observe_only", True, "a switch"),
        ("logLevel: Debug", "log_level", "debug", "in any case, as everywhere"),
        ("workers:", "workers", 50, "null counts as absent"),
        ("workers: ~", "workers", 50, "so does its sign"),
        ("", "workers", 50, "an empty file sets nothing"),
        ("# nothing\n---\n", "workers", 50, "so does a file of comments"),
        ("workers: 010", "workers", 10, "not the octal number of YAML 1.1"),
        ("installTag: 0123", "install_tag", "0123", "text, though digits only"),
        ("namespace: [on, no]", "namespace", ("on", "no"), "not the truth values of YAML 1.1"),
        ("observeOnly: yes", "observe_only", True, "a switch as a variable has it"),
        ("pollSteadySeconds: 1e2", "poll_steady_seconds", 100.0, "a number as a flag has it"),
        ("namespace: &ours [a]\nownAccountNamespace: *ours", "own_account_namespace", ("a",), "an alias of YAML"),
    ],
)
def test_the_settings_file(config, text, name, value, why):
    assert getattr(settings("--config", config(text)), name) == value, why


@pytest.mark.parametrize(
    ("arguments", "environ", "workers", "why"),
    [
        ((), {}, 7, "the file wins over the default"),
        ((), {"WORKERS": "8"}, 8, "the environment over the file"),
        (("--workers", "9"), {"WORKERS": "8"}, 9, "a flag over both"),
    ],
)
def test_the_settings_file_is_overridden(config, arguments, environ, workers, why):
    assert settings("--config", config("workers: 7"), *arguments, **environ).workers == workers, why


def test_the_file_on_the_reference_page_can_be_used(config):
    (block,) = re.findall(r"```yaml\n(.*?)```", (PAGES / "settings.md").read_text(), re.DOTALL)
    assert settings("--config", config(block)).max_vms_per_namespace == 10


def test_a_variable_names_the_settings_file(config):
    assert settings(CONFIG=config("workers: 7")).workers == 7


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("poll-steady-seconds: 5", "'poll-steady-seconds'. Did you mean 'pollSteadySeconds'\\? See"),
        ("polSteadySeconds: 5", "Did you mean 'pollSteadySeconds'\\?"),
        ("zzzz: 5", "there is no setting 'zzzz'. See 'gpucloud operator --help'$"),
        ("1: 5", "there is no setting '1'"),
        (f"apiKey: {SECRET}", "apiKey is a secret: set it by an environment variable"),
        (f"credentials: {{password: {SECRET}}}", "there is no setting 'credentials'"),
        ("workers: many", "settings.yaml, line 1: workers: expected a whole number, not 'many'"),
        ("workers: {a: 1}", "settings.yaml, line 1: workers: "),
        ("workers: 0", "settings.yaml, line 1: workers: must be greater than zero"),
        ("brakeVms: true", "settings.yaml, line 1: brakeVms: expected a whole number, not 'true'"),
        ("workers: 0x10", "line 1: workers: expected a whole number, not '0x10'"),
        ("# a\n\nbrakeWindowSeconds: 1:30", "line 3: brakeWindowSeconds: expected a number, not '1:30'"),
        ("workers: 1\ncloudQps: 2\nworkers: 3", "line 3: workers is set twice, first in line 1; remove one of the two"),
        ("workers: 1\nworkers:", "line 2: workers is set twice, first in line 1"),
        ("workers: 1\n'workers': 1", "line 2: workers is set twice, first in line 1"),
        ("workers: 1\n? [a]\n: 2", "line 2: there is no setting"),
        ("installTag: [abc]", "line 1: installTag: expected text"),
        ('namespace: ""', "line 1: namespace: no namespace is named; name one, or unset it for all"),
        ("namespace: []", "line 1: namespace: no namespace is named; name one, or unset it for all"),
        ("ownAccountNamespace: []", "line 1: ownAccountNamespace: no namespace is named; name one, or unset it for all"),
        ("namespace: [Team]", "line 1: namespace: expected lower-case letters"),
        ("namespace: {a: b}", "line 1: namespace: expected a list, as \\[a, b\\]"),
        ("observeOnly: []", "line 1: observeOnly: expected true or false"),
        ("cloudQps: []", "line 1: cloudQps: expected a number"),
        ("workers: &it [*it]", "not YAML in line 1"),
        ("workers: 1\n---\nworkers: 2", "not YAML in line 2"),
        ("word", "the file holds no mapping"),
        ("[workers]", "the file holds no mapping"),
        (f"a: [{SECRET}", "not YAML in line 1"),
        ("a: b: c", "not YAML in line 1"),
    ],
)
def test_a_settings_file_that_cannot_be_used(config, text, says):
    with pytest.raises(SettingsError, match=says) as caught:
        settings("--config", config(text))
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(("text", "why"), [(None, "No such file or directory"), (b"\xff\xfe\x00", "it is not UTF-8 text")])
def test_a_settings_file_that_cannot_be_read(tmp_path, text, why):
    path = tmp_path / "settings.yaml"
    if text is not None:
        path.write_bytes(text)
    with pytest.raises(SettingsError, match=rf"settings\.yaml: the file cannot be read \({why}\)"):
        settings("--config", str(path))
