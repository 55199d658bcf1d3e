"""Verbs that ask the cloud: what they say while it takes long, and what is refused before anybody is asked."""

import sys
import time

import pytest

from gpucloud.cli.plugin.errors import PluginError
from gpucloud.cli.plugin.usage.commands import VERBS
from gpucloud.cli.plugin.usage.options import ENDPOINT
from gpucloud.cli.plugin.verbs import adopt, cloud, create, orphans
from gpucloud.cli.plugin.waiting import patience
from gpucloud.engine.cloud.queries import Records
from support.newvm import A100, OFFERED
from support.pluginworld import a_body

OF_CLOUD = [
    (("offers",), cloud, "asking the cloud for its offers …"),
    (("create", "train", "-c", A100, "--cluster", "Msc1"), create, "asking the cloud for its offers …"),
    (("logs", "train"), cloud, "asking the cloud for the boot log …"),
    (("orphans", "--install-tag", "abcde"), orphans, "asking the cloud for all that the account sees …"),
    (("export",), adopt, "asking the cloud for all that the account sees …"),
    (("adopt", "old-trainer"), adopt, "asking the cloud for all that the account sees …"),
]
NAMES = [row[0][0] for row in OF_CLOUD]


class Cloud:
    """A cloud that answers after so many seconds."""

    def __init__(self, seconds, error=None):
        self.seconds, self.error = seconds, error

    def _answered(self, found):
        time.sleep(self.seconds)
        if self.error is not None:
            raise self.error
        return found

    def offers(self, _cluster):
        return self._answered(OFFERED)

    def vpcs(self, _cluster):
        return None

    def boot_log(self, _vm, _limit):
        return self._answered("up\n")

    def records(self, *, hosts=False):
        assert hosts in {True, False}
        return self._answered(Records())


@pytest.fixture
def waits(api, plugin, home, monkeypatch):
    """A function from a row, a cloud and whether somebody is at a terminal to what is said beside the answer."""
    home(OFFERED)
    api.add(a_body("GpuVM", "train", status={"vmId": "train-x", "vpc": "acme", "cluster": "Msc1"}))
    monkeypatch.setattr(patience, "SECONDS", 0.1)

    def said(row, source, *, terminal=True):
        words, module, _ = row
        monkeypatch.setattr(module, "source_of", lambda *_: source)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
        code, _, err = plugin(*words)
        time.sleep(0.15)  # a timer that is left would say it now
        return code, err + plugin("version", "--client")[2]

    return said


def test_every_verb_that_has_an_endpoint_says_what_it_waits_for():
    assert sorted(NAMES) == sorted(name for name, verb in VERBS.items() if verb.waits_for)
    assert {name for name, verb in VERBS.items() if ENDPOINT in verb.takes} == set(NAMES)


@pytest.mark.parametrize("row", OF_CLOUD, ids=NAMES)
def test_what_takes_long_is_said_on_a_terminal_once(row, waits):
    _, err = waits(row, Cloud(0.4))
    assert err.startswith(f"kubectl gpucloud: {row[2]}\n")
    assert err.count("…") == 1


@pytest.mark.parametrize("row", OF_CLOUD, ids=NAMES)
@pytest.mark.parametrize(("seconds", "terminal"), [(0, True), (0.2, False)], ids=["at once", "no terminal"])
def test_nothing_is_said_of_a_moment_nor_in_a_pipe(row, seconds, terminal, waits):
    assert "…" not in waits(row, Cloud(seconds), terminal=terminal)[1]


def test_nothing_is_said_after_an_error(waits):
    code, err = waits(OF_CLOUD[0], Cloud(0, PluginError("it is closed.", do="Wait.")))
    assert (code, err) == (1, "kubectl gpucloud: it is closed.\nWait.\n")


@pytest.mark.parametrize("way", ["--endpoint", "GPUCLOUD_ENDPOINT"])
@pytest.mark.parametrize("row", OF_CLOUD, ids=NAMES)
def test_an_endpoint_that_is_none_is_refused_before_anybody_is_asked(row, way, api, plugin, home, monkeypatch):
    """That took four seconds: two to load the client, and the account was read first."""
    home(OFFERED)
    monkeypatch.setattr(row[1], "source_of", lambda *_: pytest.fail("the cloud was asked"))
    if way == "GPUCLOUD_ENDPOINT":
        monkeypatch.setenv(way, "othr:x")
    code, out, err = plugin(*row[0], *(() if way == "GPUCLOUD_ENDPOINT" else (way, "othr:x")))
    assert (code, out, api.calls) == (2, "", [])
    expected = f"kubectl gpucloud: {way}: expected NAME=https://HOST[:PORT][/PATH], not 'othr:x'.\n"
    assert err == f"{expected}Correct --endpoint or GPUCLOUD_ENDPOINT.\n"
