"""How a command for administrators ends: what it says of what keeps it from its work, and its exit code."""

import pytest

from gpucloud.cli.administration import carry_out
from gpucloud.handlers.login import NoCluster
from gpucloud.settings import SettingsError, UninstallSettings

SETTINGS = UninstallSettings()


@pytest.mark.parametrize(
    ("raised", "code", "said", "why"),
    [
        (None, 3, "", "the work says how it ended"),
        (SettingsError("--x: wrong"), 2, "gpucloud check: --x: wrong\n", "also one that is seen only while it works"),
        (NoCluster("no cluster"), 1, "gpucloud check: not seen: no cluster\n", "no kubeconfig"),
        (FileNotFoundError("no file"), 1, "gpucloud check: not seen: no file\n", "a kubeconfig that is not there"),
    ],
)
def test_what_keeps_a_command_from_its_work_is_a_line_and_an_exit_code(raised, code, said, why, capsys):
    def work(chosen):
        assert chosen is SETTINGS
        if raised is not None:
            raise raised
        return 3

    assert carry_out("check", lambda: SETTINGS, work, undone="not seen: ") == code, why
    assert capsys.readouterr().err == said, why


def test_settings_that_cannot_be_used_keep_it_from_its_work(capsys):
    def read():
        raise SettingsError("--x: wrong")

    assert carry_out("check", read, lambda _: pytest.fail("it works without settings")) == 2
    assert capsys.readouterr().err == "gpucloud check: --x: wrong\n"


def test_a_defect_is_no_ending():
    def work(_chosen):
        raise KeyError("a defect")

    with pytest.raises(KeyError):
        carry_out("check", lambda: SETTINGS, work)
