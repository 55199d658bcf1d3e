"""How an error of the plugin is shown: what is the case, then on lines of their own what to do and the commands."""

import pytest

from gpucloud.cli.plugin import advice, entry
from gpucloud.cli.plugin.errors import ExitCode, PluginError, TransientError, UnansweredError
from gpucloud.cli.plugin.kube.access import At
from gpucloud.cli.plugin.marks import paste

CAN_I = paste("kubectl auth can-i get gpuvms --namespace=team")
# what to do, the lines of it, and why
SHOWN = [
    ("Leave one out.", ["Leave one out."], "a sentence"),
    (f"See: {CAN_I}", ["See:", "kubectl auth --context=c can-i get gpuvms --namespace=team"], "a command, with the options"),
    (
        f"See: {CAN_I} -- or ask.",
        ["See:", "kubectl auth --context=c can-i get gpuvms --namespace=team", "or ask."],
        "a sentence after a command",
    ),
    (f"See '{CAN_I}'.", ["See 'kubectl auth --context=c can-i get gpuvms --namespace=team'."], "a command within a sentence"),
    ("Name a\x1bb.", ["Name a b."], "what steers a terminal"),
]


@pytest.mark.parametrize(("do", "lines", "why"), SHOWN, ids=[row[2] for row in SHOWN])
def test_what_to_do_stands_on_lines_of_its_own(capsys, do, lines, why):
    advice.remember(At(context="c"))
    code = entry._failed(PluginError("two were given.", ExitCode.MISUSED, do=do))
    assert (code, capsys.readouterr().err.splitlines()) == (2, ["kubectl gpucloud: two were given.", *lines]), why


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PluginError("it is so.", do="Do it."), "it is so. Do it."),
        (TransientError("it is so.", 3.0, do="Do it."), "it is so. Do it."),
        (UnansweredError("it is so", do="Do it."), "it is so. Do it."),
    ],
    ids=lambda item: type(item).__name__,
)
def test_what_others_quote_is_one_text(error, words):
    assert (str(error), error.what, error.do) == (words, "it is so.", "Do it.")
