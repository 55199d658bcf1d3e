"""How an error of the plugin is shown: what is the case, then on lines of their own what to do and the commands."""

import pytest

from gpucloud.cli.plugin import entry
from gpucloud.cli.plugin.errors import ExitCode, PluginError, TransientError, UnansweredError
from gpucloud.cli.plugin.kube.access import At
from gpucloud.cli.plugin.usage import command_options
from gpucloud.cli.terminal.marks import paste
from support.pluginworld import a_body

CAN_I = paste("kubectl auth can-i get gpuvms --namespace=team")
# what to do, the lines of it, and why
SHOWN = [
    ("Leave one out.", ["Leave one out."], "a sentence"),
    (f"See: {CAN_I}", ["See:", "kubectl auth --context=c can-i get gpuvms --namespace=team"], "a command, with the options"),
    (
        f"See: {CAN_I}; Or ask.",
        ["See:", "kubectl auth --context=c can-i get gpuvms --namespace=team", "Or ask."],
        "a sentence after a command",
    ),
    (f"See '{CAN_I}'.", ["See 'kubectl auth --context=c can-i get gpuvms --namespace=team'."], "a command within a sentence"),
    ("Name a\x1bb.", ["Name a b."], "what steers a terminal"),
]


@pytest.mark.parametrize(("do", "lines", "why"), SHOWN, ids=[row[2] for row in SHOWN])
def test_what_to_do_stands_on_lines_of_its_own(capsys, do, lines, why):
    command_options.remember(At(context="c"))
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


# a call, its refused method and status, the command of the answer, and why
WRONG = [
    (("stop", "train"), "PATCH 400", "kubectl explain gpuvms.spec --recursive", "a field that the CRD does not know"),
    (("stop", "train"), "PATCH 409", "kubectl gpucloud status gvm/train --namespace=team", "changed at the same time"),
    (("stop", "train"), "PATCH 422", "kubectl explain gpuvms.spec --recursive", "a value that the CRD refuses"),
    (("snapshot", "train"), "POST 422", "kubectl explain gpusnapshots.spec --recursive", "another kind"),
    (("stop", "train"), "GET 400", "kubectl explain gpuvms", "nothing was written"),
    (("status",), "GET 409", "kubectl gpucloud status --namespace=team", "no object in particular"),
]


@pytest.mark.parametrize(("words", "refused", "command", "why"), WRONG, ids=[row[-1] for row in WRONG])
def test_a_wrong_request_is_answered_by_the_apiservers_words_and_a_command(api, plugin, words, refused, command, why):
    api.add(a_body("GpuVM", "train"))
    method, status = refused.split()
    api.answer = lambda sent, path, body, other=api.answer: (
        (int(status), {"message": "spec.colour: no"}) if sent == method and "gpu" in path else other(sent, path, body)
    )
    code, _, err = plugin(*words)
    what, do, *commands = err.splitlines()
    assert (code, commands, do[-1]) == (1, [command], ":"), why
    assert what.endswith(": spec.colour: no."), why
