"""What the command line says of words that it does not know, and of none."""

from __future__ import annotations

import pytest

from gpucloud.cli.main import main

ALL = "use one of operator, orphans, check, uninstall, sim, crds"
MISUSED = [
    ((), f"gpucloud: error: a command is missing: {ALL}"),
    (("oprator",), f"gpucloud: error: unknown command 'oprator': {ALL}. Did you mean 'operator'?"),
    (
        ("frobnicate",),
        f"gpucloud: error: unknown command 'frobnicate': {ALL}. What works on objects is in kubectl gpucloud --help",
    ),
    (("sim", "--prot", "1"), "gpucloud sim: error: unknown: --prot. Did you mean '--port'? See gpucloud sim --help"),
    (
        ("operator", "--confg=x"),
        "gpucloud operator: error: unknown: --confg. Did you mean '--config'? See gpucloud operator --help",
    ),
    (("operator", "--api-key", "a-secret"), "gpucloud operator: error: unknown: --api-key. See gpucloud operator --help"),
    (("sim", "--zzz"), "gpucloud sim: error: unknown: --zzz. See gpucloud sim --help"),
]


@pytest.mark.parametrize(("words", "said"), MISUSED, ids=[" ".join(words) or "nothing" for words, _ in MISUSED])
def test_an_unknown_word_is_answered_with_the_one_that_is_near(words, said, capsys):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1] == said


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("sim", "--help")])
def test_help_and_version_need_no_command(words, capsys):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 0
    assert "gpucloud" in capsys.readouterr().out
