"""A value that is one of a few words is taken in any case of letters, and a slip is answered."""

import argparse

import pytest

from gpucloud.cli import orphans, sim, uninstall
from gpucloud.cli.main import main
from gpucloud.flags import load_sim, load_uninstall


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("orphans", "-o", "jsn"), "-o/--output: expected one of table, json, yaml, not 'jsn'. Did you mean 'json'?"),
        (
            ("uninstall", "--policy", "drian"),
            "--policy: expected one of Refuse, Drain, Retain, not 'drian'. Did you mean 'Drain'?",
        ),
        (("operator", "--log-level", "wraning"), "not 'wraning'. Did you mean 'warning'?"),
        (("operator", "--own-account-sharing", "shraed"), "not 'shraed'. Did you mean 'Shared'?"),
        (("sim", "--answers", "wraped"), "--answers: expected one of plain, wrapped, not 'wraped'. Did you mean 'wrapped'?"),
        (("orphans", "-o", "pdf"), "expected one of table, json, yaml, not 'pdf'"),
    ],
)
def test_a_slip_is_answered_with_what_it_may_have_meant(capsys, words, says):
    try:
        code = main([*words])
    except SystemExit as ended:
        code = ended.code
    assert (code, says in capsys.readouterr().err) == (2, True)


@pytest.mark.parametrize(
    ("of", "words", "taken"),
    [
        (orphans, ("-o", "JSON"), ("output", "json")),
        (uninstall, ("--policy", "drain"), ("uninstall_policy", "Drain")),
        (sim, ("--answers", "WRAPPED"), ("sim_answers", "wrapped")),
    ],
)
def test_a_value_is_taken_in_any_case_of_letters(of, words, taken):
    parser = argparse.ArgumentParser()
    of.add_arguments(parser)
    given = vars(parser.parse_args(words))
    settings = {sim: load_sim, uninstall: load_uninstall}
    found = dict(settings[of](given, {})) if of in settings else given
    assert taken in found.items()
