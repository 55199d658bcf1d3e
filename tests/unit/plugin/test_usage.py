"""How the plugin is called: help, wrong words, and what it loads."""

import inspect
import os
import subprocess
import sys

import pytest

import gpucloud
from gpucloud.cli import plugin as program
from gpucloud.cli.plugin import entry
from gpucloud.cli.plugin.usage import parsing
from gpucloud.cli.plugin.usage.commands import ELSEWHERE, GROUPS, VERBS
from gpucloud.cli.plugin.usage.options import CLUSTER
from support.pluginworld import a_body

# Each of these takes longer to load than the requests of `status` take to be answered.
HEAVY = (
    "asyncio",
    "click",
    "httpx",
    "kopf",
    "kubernetes",
    "pydantic",
    "rich",
    "subprocess",
    "tempfile",
    "typer",
    "urllib3",
    "urllib.request",
)
MOST_MODULES = 205  # as many with Python 3.11, of which 46 are ours and 32 are there before the first line


def test_the_help_fits_a_terminal_of_100_columns(capsys):
    entry.main(["--help"])
    assert [line for line in capsys.readouterr().out.splitlines() if len(line) > 100] == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--help"], 0),
        ([], 0),
        (["frob"], 2),
        (["wait"], 2),
        (["status", "--nope"], 2),
        (["status", "-o", "xml"], 2),
        (["status", "-o"], 2),
        (["status", "--all-namespaces=yes"], 2),
        (["restart", "a", "b"], 2),
        (["logs", "a", "--limit", "0"], 2),
        (["wait", "--help"], 0),
    ],
)
def test_usage(words, code, capsys):
    assert entry.main(words) == code
    out, err = capsys.readouterr()
    assert (bool(out), bool(err)) == (code == 0, code != 0)
    assert code == 0 or (err.startswith("kubectl gpucloud: ") and "--help'." in err and len(err.splitlines()) == 2)


@pytest.mark.parametrize(("words", "missing"), [(["wait"], "[KIND/]NAME"), (["adopt"], "[KIND/]NAME"), (["logs"], "VM")])
def test_a_missing_argument_is_named_as_in_the_help(words, missing, capsys):
    assert entry.main(words) == 2
    assert f"the argument {missing} is missing." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["statsu"], "status"),
        (["status", "--all-namespace"], "--all-namespaces"),
        (["status", "-o", "jsn"], "json"),
        (["wait", "gvm/a", "--for", "redy"], "ready"),
    ],
)
def test_a_word_that_is_nearly_known_is_answered_by_that(words, meant, capsys):
    assert entry.main(words) == 2
    assert f"Did you mean '{meant}'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("verb", "instead"),
    [
        ("delete", "kubectl delete gpuvm NAME"),
        ("top", "kubectl gpucloud status -w"),
        ("exec", "kubectl gpucloud ssh NAME -- COMMAND"),
    ],
)
def test_a_verb_of_kubectl_is_answered_by_what_to_run(verb, instead, capsys):
    """By its letters alone `top` would be `stop`."""
    assert ELSEWHERE.keys().isdisjoint(VERBS)
    assert entry.main([verb, "gvm/a"]) == 2
    assert f"unknown verb {verb!r}.\nUse '{instead}'." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (["delete", "a", "-nteam-b"], "kubectl delete gpuvm NAME --namespace=team-b"),
        (["delete", "a", "--namespace", "team-b"], "kubectl delete gpuvm NAME --namespace=team-b"),
        (["edit", "a", "--context=ctx b", "--strange"], "kubectl edit --context='ctx b' gpuvm NAME"),
        (["get", "-n", "team-b", "--as=eve"], "kubectl gpucloud status --as=eve --namespace=team-b"),
        (["delete", "a", "-n"], "kubectl delete gpuvm NAME"),
    ],
)
def test_what_to_run_acts_in_the_same_cluster_and_namespace(words, instead, capsys):
    """Pasted without them, `kubectl delete` destroys the VM of another team."""
    assert entry.main(words) == 2
    assert f"Use '{instead}'." in capsys.readouterr().err


@pytest.mark.parametrize("words", [["help", "wait"], ["--help", "wait"], ["-h", "wait"], ["wait", "--help"]], ids=" ".join)
def test_the_help_of_a_verb_is_shown_in_either_order(words, capsys):
    assert entry.main(words) == 0
    assert capsys.readouterr().out.startswith("Usage: kubectl gpucloud wait [OPTIONS]")


def test_help_on_what_is_no_verb_says_so(capsys):
    assert entry.main(["help", "wiat"]) == 2
    assert "unknown verb 'wiat'. Did you mean 'wait'?" in capsys.readouterr().err


def test_an_option_of_ssh_is_answered_by_where_it_belongs(capsys):
    assert entry.main(["ssh", "train", "-p", "22"]) == 2
    assert (
        "unknown option -p. Options of ssh itself stand after --: 'kubectl gpucloud ssh VM -- -p'." in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("words", "says", "why"),
    [
        (["--kubeconfig=X", "status"], "'kubectl gpucloud status --kubeconfig=X'", "a value behind ="),
        (["--kubeconfig", "X", "status", "-w"], "'kubectl gpucloud status --kubeconfig X -w'", "a value of its own"),
        (["-n", "team", "wait", "train"], "'kubectl gpucloud wait -n team train'", "a short name"),
        (["-nteam", "status"], "'kubectl gpucloud status -nteam'", "a short name with its value"),
        (["--context", "a b", "status"], "'kubectl gpucloud status --context 'a b''", "a value that a shell would split"),
        (["-n", "team"], "'kubectl gpucloud VERB -n team'", "no verb at all"),
        (["--nope", "status"], "unknown option '--nope'.", "the verb has no such option"),
        (["--namespac", "team", "status"], "unknown option '--namespac'. Did you mean '--namespace'?", "nearly known"),
    ],
)
def test_an_option_before_the_verb_is_answered_by_the_command_as_it_is_typed(words, says, why, capsys):
    assert entry.main(words) == 2
    err = capsys.readouterr().err
    assert says in err, why
    assert len(err.splitlines()) == 2


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_names_all_that_it_takes(verb, capsys):
    entry.main([verb, "--help"])
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if len(line) > 100] == []
    assert all(name in out for item in VERBS[verb].takes for name in item.names)
    assert all(f"kubectl gpucloud {example}" in out for example in VERBS[verb].examples)


def test_a_command_in_a_help_is_one_line(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    entry.main(["retain", "--help"])
    undo = """kubectl patch gpuvm train --type=merge --patch '{"spec":{"deletion":{"policy":"Delete"}}}'"""
    assert undo in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_names_its_values_for_people(verb, capsys):
    """Not by the names that the code has for them, and without marks of another form than a terminal's."""
    entry.main([verb, "--help"])
    assert [item.shown for item in VERBS[verb].takes if item.takes_value and not item.choices and "_" in item.shown] == []
    assert "`" not in capsys.readouterr().out


@pytest.mark.parametrize("verb", VERBS)
def test_a_verbs_function_takes_what_its_table_says(verb):
    """Nothing else compares the two: the function is loaded by its name."""
    wanted = parsing.values(VERBS[verb], [item.shown for item in VERBS[verb].arguments if item.required], verb)
    for group in GROUPS:
        wanted = group.composed(VERBS[verb], wanted)
    wanted = wanted.keys() - {item.key for item in CLUSTER}
    at, *found = inspect.signature(entry.function_of(VERBS[verb])).parameters
    assert (at.lstrip("_"), sorted(found)) == ("at", sorted(wanted))


def loaded(words, kubeconfig):
    """Exit code, and the modules that are loaded when a process of its own has done this."""
    code = (
        "import sys; from gpucloud.cli import plugin; sys.argv = ['kubectl-gpucloud', *sys.argv[1:]]; code = plugin.main();"
        "print(code, *sys.modules, file=sys.stderr)"
    )
    environ = {**os.environ, "KUBECONFIG": str(kubeconfig)}
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", code, *words], env=environ, capture_output=True, text=True, check=True
    )
    code, *modules = done.stderr.split()
    return code, set(modules), done.stdout


def test_status_loads_nothing_that_takes_long(api, tmp_path):
    api.add(a_body("GpuVM", "train"), a_body("GpuCloudAccount", "default"))
    code, modules, out = loaded(["status"], api.kubeconfig(tmp_path))
    assert (code, "GpuVM/train" in out) == ("0", True)
    assert modules.isdisjoint(HEAVY), sorted(modules.intersection(HEAVY))
    assert len(modules) <= MOST_MODULES, "each costs a quarter of a millisecond and a dozen system calls at every start"
    others = {f"gpucloud.cli.plugin.verbs.{verb.module}" for verb in VERBS.values()} - {"gpucloud.cli.plugin.verbs.status"}
    assert modules.isdisjoint(others), "a verb's module is loaded when that verb is called"


@pytest.mark.parametrize("words", [["create"], ["create", "train"], ["create", "t", "-c", "A", "--wait"]], ids=" ".join)
def test_what_create_refuses_without_a_call_loads_no_client_of_the_cloud(words, api, tmp_path, monkeypatch):
    """That takes seconds on a slow machine."""
    monkeypatch.setenv("HOME", str(tmp_path))
    code = (
        "import sys; from gpucloud.cli import plugin; sys.argv = ['kubectl-gpucloud', *sys.argv[1:]]; code = plugin.main();"
        "print(code, *({'httpx', 'pydantic', 'gpucloud.cloud'} & sys.modules.keys()))"
    )
    environ = {**os.environ, "KUBECONFIG": str(api.kubeconfig(tmp_path))}
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", code, *words], env=environ, capture_output=True, text=True, check=True
    )
    assert (done.stdout, api.calls) == ("2\n", []), done.stderr


ENGINE = ("gpucloud.engine.kinds", "gpucloud.engine.orphans", "gpucloud.engine.telemetry", "gpucloud.engine.cloud.inventory")
OF_ENGINE = (*ENGINE, "structlog", "prometheus_client", "aiohttp", "kubernetes")


@pytest.mark.parametrize("verb", ["offers", "create", "export", "adopt"])
def test_a_verb_that_asks_the_cloud_loads_its_client_and_no_engine(verb, api, tmp_path):
    """With the reconcilers, which only `orphans` needs, they took two seconds to start."""
    api.add(a_body("GpuCloudAccount", "default"))
    (tmp_path / "key.pub").write_text("ssh-ed25519 AAAAmadeupkey ann@example.com\n")
    complete = ["train", "-c", "A100_40GB_PCIe_1x", "--ssh-key", str(tmp_path / "key.pub")]
    words = {"create": complete, "adopt": ["old-trainer"]}
    _, modules, _ = loaded([verb, *words.get(verb, [])], api.kubeconfig(tmp_path))
    assert api.calls, "it came as far as to ask"
    assert f"gpucloud.cli.plugin.verbs.{VERBS[verb].module}" in modules
    assert not {name for name in modules if name.startswith(OF_ENGINE)}
    if verb in {"offers", "create"}:  # the others read the states of VMs
        assert "gpucloud.reconcile.gpuvm.decide" not in modules


def test_a_name_alone_is_a_gpuvms(api, plugin):
    api.add(a_body("GpuVM", "train"), a_body("GpuVM", "notebook"))
    code, out, _ = plugin("status", "train")
    assert (code, "GpuVM/train" in out, "GpuVM/notebook" in out) == (0, True, False)
    assert plugin("wait", "train")[0] == 0


def test_the_version_loads_nothing_at_all(tmp_path):
    code, modules, out = loaded(["--version"], tmp_path / "none")
    assert (code, out) == ("0", f"kubectl gpucloud {gpucloud.__version__}\n")
    ours = {name for name in modules if name.startswith("gpucloud")}
    assert ours == {"gpucloud", "gpucloud.cli", "gpucloud.cli.plugin"}


def test_a_missing_extra_is_told_with_its_name(monkeypatch, capsys):
    def absent(_):
        raise ModuleNotFoundError(name="yaml")

    monkeypatch.setattr(entry, "_dispatch", absent)
    monkeypatch.setattr(sys, "argv", ["kubectl-gpucloud", "status"])
    assert program.main() == 1
    assert "yaml is not installed. Install the extra cli" in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_error(api, tmp_path):
    """`... | head -1`: no traceback, and no message of the interpreter at its end."""
    api.add(*(a_body("GpuVM", f"train-{number}", message="long " * 400) for number in range(100)))
    command = [
        sys.executable,
        "-c",
        "import sys; from gpucloud.cli.plugin import main; sys.exit(main())",
        "status",
        "-o",
        "json",
    ]
    environ = {**os.environ, "KUBECONFIG": str(api.kubeconfig(tmp_path))}
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
