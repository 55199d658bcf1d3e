"""Who is given texts for people: by the dotted name of a class or function of the package, or by the name of any other one."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from support.messages.kept import Kept

if TYPE_CHECKING:
    from collections.abc import Callable

EVENT = "Event"  # of a change or of a call that was accepted; a "Warning Event" tells of trouble
DONE = "done"  # a line on standard output that says what a verb of the plugin has done
PLUGIN_ERROR, FINDING = "gpucloud.cli.plugin.errors.PluginError", "gpucloud.cli.plugin.doctor.facts.Finding"
# Modules whose ValueErrors people read: what they typed is checked there. Elsewhere one tells of a defect of the program.
_CHECKS_INPUT = ("settings.py", "cli/", "cloud/options.py", "cloud/connection.py", "cloud/transport.py", "cloud/waiting.py")
# Kinds of a CloudError that the caller can mend; the others say what the cloud or the network did.
_CALLERS = tuple(f"ErrorKind.{name}" for name in ("INVALID", "NOT_SENT", "LOGIN"))


@dataclass(frozen=True)
class Shown:
    """Where the text stands among the arguments, by its place or keyword, and under which name it is looked for.

    ``name``: that name if it is another one than its own; or a function of the call and its module, which returns it, or
    nothing where nobody reads the text.
    """

    at: int | str = 0
    name: str | Callable[[ast.Call, str], str] = ""

    def looked_for(self, own: str, node: ast.Call, place: str) -> str:
        """Return under which name the text of this call is looked for; empty if it is not for people."""
        return self.name(node, place) if callable(self.name) else self.name or own.rpartition(".")[2]


def _value_error(_node: ast.Call, place: str) -> str:
    return "ValueError" if place.startswith(_CHECKS_INPUT) else ""


def _cloud_error(node: ast.Call, _place: str) -> str:
    return "CallerError" if ast.unparse(node.args[0]) in _CALLERS else "CloudError"


def _event(node: ast.Call, _place: str) -> str:
    return "Warning Event" if any(item.arg == "warning" for item in node.keywords) else EVENT


def _verdict(node: ast.Call, _place: str) -> str:
    return "Verdict" if node.args and ast.unparse(node.args[0]) == "Outcome.FAILED" else ""


def _print(node: ast.Call, place: str) -> str:
    """What goes to standard error is trouble, unless it is a question; else it is what a verb has done, or was asked for."""
    given = {item.arg: ast.unparse(item.value) for item in node.keywords}
    spelled = bool(node.args) and isinstance(node.args[0], ast.JoinedStr | ast.Constant)
    if place.startswith("cli/plugin/verbs/") and spelled and not given:
        return DONE
    return "print" if place.startswith("cli/") and given.get("file") == "sys.stderr" and "end" not in given else ""


# By what is called, or by a class that it derives from.
SHOWN = {
    PLUGIN_ERROR: Shown(),
    "gpucloud.cli.plugin.usage.parsing.UsageError": Shown(),
    "gpucloud.settings.SettingsError": Shown(),
    "ArgumentTypeError": Shown(),
    "NoCluster": Shown(),
    "FileNotFoundError": Shown(name="NoCluster"),
    "gpucloud.cli.operations.uninstall.NotDoneError": Shown(),
    "ValueError": Shown(name=_value_error),
    "gpucloud.cli.plugin.kube.access.ConfigError": Shown(),
    "gpucloud.engine.cloud.credentials.CredentialError": Shown(),
    "gpucloud.engine.kube.ssh_keys.KeyProblemError": Shown(1),
    "gpucloud.cloud.errors.CloudError": Shown(1, _cloud_error),
    "gpucloud.cloud.errors.LoginError": Shown(1),
    "gpucloud.cloud.waiting.WaitError": Shown(),
    "gpucloud.engine.manager.console.ConsoleRefusedError": Shown(1),
    "gpucloud.reconcile.facts.Unknown": Shown(2),
    "gpucloud.reconcile.facts.Dependency": Shown(2),
    "gpucloud.engine.cloud.accounts.Account": Shown(2),
    "gpucloud.reconcile.gpuhost.facts.CloudInit": Shown("words"),
    "gpucloud.engine.kube.events.Event": Shown(1, _event),
    "gpucloud.reconcile.facts.Refusal": Shown(1, "Warning Event"),
    "gpucloud.cli.plugin.model.verdicts.Verdict": Shown(1, _verdict),
    FINDING: Shown(2),  # and the advice after it
    "gpucloud.cli.operations.check.failed_check": Shown(1),
    "gpucloud.cli.plugin.show.tell": Shown(),
    "print": Shown(name=_print),
}
UNSEEN = Kept(
    {
        "TypeError": "a defect of the program that calls",
        "gpucloud.cli.plugin.kube.access.UnservedError": "the kubernetes library then reads that kubeconfig",
        "ConnectionError": "the library's words, framed by an UnansweredError",
        "gpucloud.cli.plugin.kube.access.RefusedError": "the apiserver's own words, which ``_refusal`` of the plugin frames",
        "gpucloud.cli.plugin.cluster.lost_answers.LostAnswerError": "its words stand first in the PluginErrors of that module",
        "TimeoutError": "the words of a socket, framed by an UnansweredError",
        "httpx.PoolTimeout": "failure_words.py has the words for it",
        "gpucloud.cloud.loop_thread.LoopEndedError": "the CloudError of a client that is closed takes its place",
        "gpucloud.cloud.loop_thread.LoopForkedError": "the CloudError of a client of another process takes its place",
        "_AS_HTTPX[type(error)]": "failure_words.py has the words for it",
    }
)
