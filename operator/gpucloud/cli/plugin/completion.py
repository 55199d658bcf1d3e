"""What kubectl asks of ``kubectl_complete-gpucloud``: words in, candidates and a directive out, as cobra does.

Verbs and options come from the app itself; names come from the cluster, if it answers soon. It never fails.
"""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin import kube
from gpucloud.cli.plugin.cluster import Cluster
from gpucloud.cli.plugin.entry import VERBS
from gpucloud.cli.plugin.grammar import parameters
from gpucloud.cli.plugin.objects import ACCOUNT, KINDS, VM

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gpucloud.cli.plugin.grammar import Parameter

NO_FILES, FILES = 4, 0  # cobra's ShellCompDirective
SECONDS = 3
VM_VERBS = frozenset({"start", "stop", "restart", "snapshot", "ssh", "logs"})
OBJECT_VERBS = frozenset({"status", "tree", "wait"})


def main(argv: Sequence[str]) -> int:
    """Print candidates for the last word."""
    found: list[str] = []
    directive = NO_FILES
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(Exception):
        found, directive = candidates(list(argv) or [""], _cluster)
    print("\n".join([*found, f":{directive}"]))
    return 0


def candidates(words: list[str], connect: Callable[[dict[str, str]], Cluster]) -> tuple[list[str], int]:
    """Candidates for the last word, and whether files may follow."""
    *before, last = words
    verb = next((word for word in before if not word.startswith("-")), None)
    if verb is None:
        return _matching(VERBS, last), NO_FILES
    options = _options(verb)
    if "--" in before:
        return [], FILES
    taking = options.get(before[-1]) if len(before) > 1 else None
    if taking is not None and taking.takes_value:
        return _values(before[-1], taking, before, last, connect)
    if last.startswith("-"):
        return _matching([name for name in options if name.startswith("--")], last), NO_FILES
    return _matching(_objects(verb, before, last, connect), last), NO_FILES


def _values(
    option: str, taking: Parameter, before: list[str], last: str, connect: Callable[[dict[str, str]], Cluster]
) -> tuple[list[str], int]:
    if taking.choices or taking.is_path:
        return _matching(taking.choices, last), FILES if taking.is_path else NO_FILES
    if option == "--context":
        given = _given(before).get("--kubeconfig")
        return _matching(kube.contexts(Path(given) if given else None), last), NO_FILES
    if option in {"-n", "--namespace", "--operator-namespace"}:
        listed = connect(_given(before)).read("/api/v1/namespaces") or {}
        return _matching([item["metadata"]["name"] for item in listed.get("items") or ()], last), NO_FILES
    if option == "--account":
        here = connect(_given(before))
        return _matching([item.key.name for item in here.things(here.namespace, (ACCOUNT,))], last), NO_FILES
    return [], NO_FILES


def _objects(verb: str, before: list[str], last: str, connect: Callable[[dict[str, str]], Cluster]) -> list[str]:
    if verb in VM_VERBS:
        here = connect(_given(before))
        return [item.key.name for item in here.things(here.namespace, (VM,))]
    if verb not in OBJECT_VERBS:
        return []
    word, slash, _ = last.partition("/")
    if not slash:
        return [f"{kind.short}/" for kind in KINDS.values()]
    kind = next((one for one in KINDS.values() if word.lower() in {one.short, one.plural, one.name.lower()}), None)
    if kind is None:
        return []
    here = connect(_given(before))
    return [f"{word}/{item.key.name}" for item in here.things(here.namespace, (kind.name,))]


def _options(verb: str) -> dict[str, Parameter]:
    """Each name of an option."""
    known = VERBS.get(verb)
    return {} if known is None else {name: item for item in parameters(known[0]) for name in item.names}


def _given(before: list[str]) -> dict[str, str]:
    """The options that lead to a cluster, as typed so far."""
    known = {"-n": "--namespace", "--namespace": "--namespace", "--context": "--context", "--kubeconfig": "--kubeconfig"}
    found = {}
    for place, word in enumerate(before):
        name, equals, value = word.partition("=")
        if name in known and (equals or place + 1 < len(before)):
            found[known[name]] = value if equals else before[place + 1]
    return found


def _cluster(given: dict[str, str]) -> Cluster:
    kubeconfig = given.get("--kubeconfig")
    return Cluster(
        kube.KubeApi(
            kube.At(Path(kubeconfig) if kubeconfig else None, given.get("--context"), given.get("--namespace")), SECONDS
        )
    )


def _matching(found: Any, last: str) -> list[str]:
    return sorted(word for word in found if word.startswith(last))
