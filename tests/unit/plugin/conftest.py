"""A small apiserver, and the plugin as its user starts it, without a process."""

import pytest

from gpucloud.cli.plugin import entry
from support.fakeapiserver import FakeApiServer

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
