"""A small apiserver, and the plugin as its user starts it, without a process."""

import io

import pytest

from gpucloud.cli.plugin import entry
from gpucloud.cli.plugin.creation import prompts
from gpucloud.cli.plugin.verbs import create
from support.fakeapiserver import FakeApiServer
from support.newvm import KEY, LAB, OFFERED, Source
from support.pluginworld import a_body

VARIABLES = ("GPUCLOUD_ENDPOINT", "GPUCLOUD_CONSOLE_URL", "GPUCLOUD_SSH_USER", "KUBECONFIG", "COLUMNS")


@pytest.fixture
def api():
    with FakeApiServer() as server:
        yield server


@pytest.fixture
def plugin(api, tmp_path, monkeypatch, capsys):
    """A function from words to exit code, standard output and standard error; ``user`` adds to the kubeconfig's user."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))

    def run(verb, *words, kubeconfig=None, **user):
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig or api.kubeconfig(tmp_path, **user)))
        code = entry.main([verb, *words])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return code, out, err

    return run


@pytest.fixture
def home(api, tmp_path, monkeypatch):
    """A namespace with a GpuVpc and an account, and a person with a key; a function that says what is offered, if anything."""

    def offers(found, vpcs=None):
        monkeypatch.setattr(create, "source_of", lambda *_: Source(found, vpcs))

    offers(OFFERED)
    api.add(LAB, a_body("GpuCloudAccount", "default", status={"tenant": "acme"}))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id_rsa.pub").write_text(f"{KEY}\n")
    return offers


@pytest.fixture
def person(monkeypatch):
    """A function that says what somebody types, line by line."""

    def types(*lines, form=io.StringIO, last=""):
        monkeypatch.setattr(prompts, "is_possible", lambda: True)
        monkeypatch.setattr("sys.stdin", form("".join(f"{line}\n" for line in lines) + last))

    return types
