"""Commands that the plugin prints can be pasted: they lead to the cluster, the user and the namespace that the person named."""

import ast
import re
from pathlib import Path

import pytest

from gpucloud.cli.plugin import entry
from gpucloud.cli.plugin.kube.access import At
from gpucloud.cli.plugin.model.objects import Key
from gpucloud.cli.plugin.usage import command_options
from gpucloud.cli.plugin.usage.commands import VERBS
from gpucloud.cli.plugin.usage.options import CLUSTER
from gpucloud.cli.terminal import marks
from gpucloud.cli.terminal.marks import mention, paste, read
from gpucloud.cli.terminal.page import Line, wrapped
from gpucloud.reconcile.text import quoted
from support.pluginworld import a_body

SOURCES = Path(command_options.__file__).parent
PROD = At(context="prod")

TEXTS = [
    (
        PROD,
        f"See '{paste('kubectl gpucloud status gvm/a')}'.",
        "See 'kubectl gpucloud status --context=prod gvm/a'.",
        "ours",
    ),
    (PROD, paste("kubectl annotate gpuvm/a x=y"), "kubectl annotate --context=prod gpuvm/a x=y", "one of kubectl's"),
    (PROD, f"{mention('kubectl get gvm -A')}, or", "kubectl get --context=prod gvm -A, or", "with words behind it"),
    (
        At(context="prod", as_user="ann"),
        paste("kubectl create role x"),
        "kubectl create --context=prod role x",
        "an administrator's",
    ),
    (PROD, paste("kubectl gpucloud explain Stalled"), None, "it asks no cluster"),
    (PROD, paste("kubectl config use-context x"), None, "it is about contexts"),
    (PROD, "It says: kubectl delete gvm --all", None, "somebody's words, which nobody marked"),
    (At(), paste("kubectl gpucloud status gvm/a"), None, "nothing was given"),
    (At(context="", as_user="", namespace=""), paste("kubectl gpucloud status gvm/a"), None, "an empty value is none"),
    (
        PROD,
        f"{paste('kubectl get secret a')} | {paste('kubectl create secret b')}",
        "kubectl get --context=prod secret a | kubectl create --context=prod secret b",
        "each of several",
    ),
    (
        PROD,
        paste("kubectl annotate gvm/a x='kubectl get y'"),
        "kubectl annotate --context=prod gvm/a x='kubectl get y'",
        "not a value",
    ),
    (At(namespace="ml"), paste("kubectl gpucloud doctor"), "kubectl gpucloud doctor --namespace=ml", "the namespace"),
    (At(namespace="ml"), paste("kubectl gpucloud doctor --namespace=b"), None, "it names another"),
    (At(namespace="ml"), f"'{paste('kubectl gpucloud status -A')}' and -n", None, "it is about all"),
    (
        At(namespace="ml"),
        f"'{paste('kubectl gpucloud offers')}' or -n b",
        "'kubectl gpucloud offers --namespace=ml' or -n b",
        "of a later command",
    ),
    (At(namespace="ml"), paste("kubectl apply -f crds/"), None, "kubectl's own have it where they need it"),
    (
        At(Path("a b"), "c;d", "n", "ann", ("x", "y")),
        paste("kubectl gpucloud status"),
        "kubectl gpucloud status --kubeconfig='a b' --context='c;d' --as=ann --as-group=x --as-group=y --namespace=n",
        "all of them, safe for a shell",
    ),
]


@pytest.mark.parametrize(("at", "text", "shown", "why"), TEXTS, ids=[row[3] for row in TEXTS])
def test_a_command_has_the_options_that_were_given(at, text, shown, why):
    command_options.remember(at)
    assert marks.pasteable(text) == (marks.plain(text) if shown is None else shown), why


def test_a_command_for_an_object_names_it_and_its_namespace():
    said = Key("team", "GpuVpc", "lab").command("retry", "--wait")
    assert marks.plain(said) == "kubectl gpucloud retry gvpc/lab --wait --namespace=team"


RELEASE = "The deletion guard holds this deletion. Release it: kubectl annotate namespace team gpucloud.dev/x=y"
WORDS = [
    (("status",), "kubectl annotate --context=fake namespace team", "a message of the operator"),
    (("status", "gvm/nobody"), "\nkubectl get --context=fake gvm --namespace=team\n", "an error"),
    (("ssh", "held"), "kubectl gpucloud status --context=fake gvm/held --namespace=team", "advice to look"),
    (("wait", "held"), "kubectl annotate --context=fake namespace team", "the outcome of a wait"),
    (("doctor",), "kubectl gpucloud resume --context=fake gvm/paused --namespace=team", "a finding"),
    (("doctor", "-o", "json"), "kubectl gpucloud resume --context=fake gvm/paused --namespace=team", "the same for programs"),
    (("restart", "off"), "kubectl gpucloud start --context=fake gvm/off --namespace=team", "a verb that is refused"),
    (("start", "paused"), "kubectl gpucloud resume --context=fake gvm/paused --namespace=team", "a note"),
    (("adopt", "ghost/metal"), "kubectl gpucloud export --context=fake --kind=ghost --namespace=team\n", "of our verbs"),
    (
        ("adopt", "ghost/metal", "--account", "lab"),
        "export --context=fake --kind=ghost --account=lab --namespace=team\n",
        "its own",
    ),
    (("create", "new", "-n", "ml"), "kubectl gpucloud offers --context=fake --namespace=ml\n", "a namespace that was given"),
]


@pytest.mark.parametrize(("words", "says", "why"), WORDS, ids=[row[2] for row in WORDS])
def test_what_is_printed_leads_to_the_same_cluster(api, plugin, words, says, why):
    api.add(
        a_body("GpuVM", "held", "Stalled", "DeletionHeld", message=RELEASE),
        a_body("GpuVM", "paused", annotations={"gpucloud.dev/paused": "true"}, spec={"powerState": "Stopped"}),
        a_body("GpuVM", "off", spec={"powerState": "Stopped"}),
    )
    _, out, err = plugin(*words, "--context", "fake")
    assert says in out + err, why


def test_wrong_usage_names_no_cluster(capsys):
    entry.main(["status", "--context", "prod", "--nope"])
    assert "'kubectl gpucloud status --help'" in capsys.readouterr().err


def test_verbs_that_take_no_cluster_are_known():
    assert {name for name, verb in VERBS.items() if not set(CLUSTER) <= set(verb.takes)} == set(command_options.CLUSTERLESS)


COMMAND = re.compile(rf"kubectl gpucloud (?:{'|'.join(VERBS.keys() - set(command_options.CLUSTERLESS))})\b[^']*")


def spelled():
    """All texts of the plugin's source in which a command of ours stands, with braces for what is filled in."""
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.JoinedStr):
                parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
                yield from ((path.name, found[0]) for found in COMMAND.finditer("".join(parts)))


def test_a_command_for_an_object_always_names_the_namespace():
    assert [found for found in spelled() if "{}" in found[1] and not re.search(r"--namespace=(\{\}|$)", found[1])] == []


TWO_QUOTES = quoted('No "room", it is: kubectl delete gpuvm --all; and again', "")
ALL_QUOTES = quoted('It is "not" ' + "ann's: kubectl delete gpuvm --all; and again", "")
PRINTED = [
    ("Delete it.", ["Delete it."], "no command"),
    ("Try: kubectl gpucloud retry gvm/a", ["Try:", "kubectl gpucloud retry gvm/a"], "a command after its sentence"),
    ("kubectl gpucloud retry gvm/a", ["kubectl gpucloud retry gvm/a"], "nothing else"),
    (
        "A long sentence before it: kubectl annotate gpuvm a --namespace=team --overwrite gpucloud.dev/buy-anyway=true",
        ["A long sentence before", "it:", "kubectl annotate gpuvm a --namespace=team --overwrite gpucloud.dev/buy-anyway=true"],
        "longer than a line: the terminal wraps it, and a paste has no line end",
    ),
    (
        "One: kubectl delete gpuvm a; Or all: kubectl delete gpuvm --all",
        ["One:", "kubectl delete gpuvm a", "Or all:", "kubectl delete gpuvm --all"],
        "two, as the operator separates them",
    ),
    (
        "Ask 'kubectl delete gpuvm --all', or not.",
        ["Ask 'kubectl delete", "gpuvm --all', or not."],
        "what stands in quotes may be a name that somebody chose",
    ),
    (
        "It says \ue000kubectl delete gpuvm --all\ue002 there.",
        ["It says kubectl delete", "gpuvm --all there."],
        "nobody else's marks count",
    ),
    (
        "Remove it: kubectl annotate gpuvm/a x='y; now: kubectl delete gpuvm --all #' --namespace=team",
        ["Remove it:", "kubectl annotate gpuvm/a x='y; now: kubectl delete gpuvm --all #' --namespace=team"],
        "a value that a tenant has chosen stays within its quotes",
    ),
    (
        f"Refused: {quoted('No room. Free some: kubectl delete gpuvm --all; and again', '')}. Wait.",
        ['Refused: "No room. Free', "some: kubectl delete", 'gpuvm --all; and again".', "Wait."],
        "words of the cloud are no command of ours",
    ),
    (
        f"Refused: {TWO_QUOTES}. Wait.",
        ['Refused: \'No "room", it', "is: kubectl delete gpuvm", "--all; and again'. Wait."],
        "neither in other quotes",
    ),
    (
        f"Refused: {ALL_QUOTES}. Wait.",
        ["Refused: \"It is 'not'", "ann's: kubectl delete", 'gpuvm --all; and again".', "Wait."],
        "nor in both",
    ),
    ("Use kubectl gpucloud doctor, or ask.", ["Use", "kubectl gpucloud doctor,", "or ask."], "one without quotes"),
]


@pytest.mark.parametrize(("text", "shown", "why"), PRINTED, ids=[row[2] for row in PRINTED])
def test_a_command_is_not_broken_into_lines(text, shown, why):
    assert [line.text for line in wrapped([Line(read(text))], 24)] == shown, why


OURS = [
    (
        f"See all with '{paste('kubectl gpucloud status -A')}', or ask.",
        ["See all with", "'kubectl gpucloud status -A',", "or ask."],
        "one in quotes, in the middle of a sentence",
    ),
    (
        f"It is paused (Refused: {paste('kubectl delete gpuvm a')}), until: {paste('kubectl gpucloud resume gvm/a')}",
        ["It is paused (Refused:", "kubectl delete gpuvm a", "), until:", "kubectl gpucloud resume gvm/a"],
        "one within another message, which ended nowhere",
    ),
    (
        f"Both: {paste('kubectl create role a')} && {paste('kubectl create rolebinding a')}",
        ["Both:", "kubectl create role a && kubectl create rolebinding a"],
        "two on one line, as a shell joins them",
    ),
]


@pytest.mark.parametrize(("text", "shown", "why"), OURS, ids=[row[2] for row in OURS])
def test_a_command_of_the_plugin_is_known_by_its_marks(text, shown, why):
    assert [line.text for line in wrapped([Line(text)], 24)] == shown, why


def test_in_a_pipe_a_message_stays_one_line():
    text = "Try: kubectl gpucloud retry gvm/a"
    assert [line.text for line in wrapped([Line(read(text))], None)] == [text]


def test_a_document_has_no_marks():
    given = {"a": [paste("kubectl get x")], "b": {"c": f"See '{paste('kubectl get y')}'."}, "d": 1}
    assert marks.plain_document(given) == {"a": ["kubectl get x"], "b": {"c": "See 'kubectl get y'."}, "d": 1}


def test_a_command_in_the_tree_stands_below_its_sentence():
    found = list(wrapped([Line(f"Try: {paste('kubectl gpucloud retry gvm/a')}", "-> ", "   ")], 80))
    assert [(line.lead, line.text) for line in found] == [("-> ", "Try:"), ("   ", "kubectl gpucloud retry gvm/a")]


@pytest.mark.parametrize(
    ("command", "user"),
    [("create role x", ""), ("create clusterrolebinding x", ""), ("create secret generic x", " --as=ann")],
)
def test_only_a_command_that_gives_a_right_is_for_somebody_else(command, user):
    command_options.remember(At(context="prod", as_user="ann"))
    assert marks.pasteable(paste(f"kubectl {command}")) == f"kubectl create --context=prod{user} {command[7:]}"
