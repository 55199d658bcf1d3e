"""Messages in the source: the texts that are given to what shows them to a person, with their placeholders.

Every exception that a module of ``SPOKEN`` raises is one of ``SHOWN``, whose text is read, or one of ``UNSEEN``, which
names why nobody reads it. A text that cannot be read from the source is listed by ``unread``, and the test of it fails.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from support.messages import program
from support.messages.kept import Kept
from support.messages.program import ROOT
from support.messages.reading import Frame, UnreadableError, bound, of_callers, read
from support.messages.shown import DONE, EVENT, FINDING, PLUGIN_ERROR, SHOWN, UNSEEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.messages.program import Scope

__all__ = ["DONE", "EVENT", "ROOT", "UNSEEN", "Text", "texts", "unread"]

# Modules whose every exception is for people: those of the commands, of the settings, and of the Python client.
SPOKEN = (
    "app.py",
    "cli/",
    "cloud/",
    "configfile.py",
    "engine/cloud/configuration.py",
    "engine/cloud/credentials.py",
    "engine/kube/ssh_keys.py",
    "engine/manager/console.py",
    "flags.py",
    "settings.py",
)
# Dictionaries of texts, by module: each follows the name of a flag, a variable or a field of the settings file.
_TABLES = {"flags.py": ("_EXPECTED", "_PATTERNS")}
_PROGRAM = re.compile(r"^(?:kubectl )?gpucloud(?: \w+| \{command\})?: ")  # what stands before a message on standard error
# Texts that are made from others, by module and expression, and where the others are judged.
FROM_ELSEWHERE = Kept(
    {
        ("cli/plugin/cluster/__init__.py", "unserved[0]"): "made by _refusal, which is read there",
        ("cli/plugin/entry.py", "printable(line)"): "what to do, of a PluginError, which is read where it is made",
        ("cli/plugin/creation/prompts.py", "wrong"): "naming.refusal, read where create gives it to a PluginError",
        ("cli/plugin/verbs/status.py", "(failures or list(unread.values()))[0]"): "a PluginError of Cluster.things",
        ("cloud/parsing.py", "problem"): "made by _malformed",
        ("cloud/sender.py", "error"): "a CloudError of the transport, completed",
        ("cloud/sender.py", "failure"): "a CloudError of the transport",
        ("engine/cloud/account_session.py", "message"): "the account's own condition, of the tables of decisions",
        ("engine/cloud/cluster_search.py", "cluster"): "the names of clusters",
        ("engine/cloud/inventory.py", "error.message"): "the cloud's own words",
        ("engine/cloud/inventory.py", "answer.flaw or INCOMPLETE"): "what is wrong with a listing, quoted by a condition",
        ("engine/cloud/inventory.py", "listing.flaw or INCOMPLETE"): "what is wrong with a listing, quoted by a condition",
        ("engine/cloud/inventory.py", "type(error).__name__"): "a defect of the program, quoted by a condition",
        ("engine/kinds/gpucloudaccount/reconciler.py", "str(error)"): "the apiserver's own words",
        ("engine/kinds/request.py", "error.message"): "the cloud's own words",
        (
            "engine/kinds/request.py",
            "f'the operator itself failed with {type(error).__name__}; its log says more'",
        ): "quoted by a condition, as the cloud's own words are",
        ("engine/kinds/gpuvm/final_snapshots.py", "refusal.message"): "a Refusal, which is read where it is made",
        ("engine/kinds/gpuvm/publishing.py", "refusal.message"): "a Refusal, which is read where it is made",
        ("engine/kinds/gpuvm/unclaimed.py", "min(_others(facts), default='')"): "the name of a VM",
        ("engine/kube/events.py", "note"): "a condition's message, of the tables of decisions",
        ("engine/kube/events.py", "holds.message"): "a condition's message, of the tables of decisions",
        ("engine/controller/controller.py", "release.note"): "of the tables of decisions",
        (
            "engine/kinds/gpucloudaccount/reconciler.py",
            "note.format(name=repr(name))",
        ): "of the kind's table, as calls.py has it",
        ("engine/kinds/gpuhost/reconciler.py", "note.format(name=repr(facts.spec.host_id))"): "as calls.py has it",
        ("engine/kinds/sending.py", "note.format(name=name)"): "of the kind's table, as calls.py has it",
        (
            "engine/manager/console.py",
            "account.unknown.detail if account.unknown is not None else 'the account is not ready: try again soon.'",
        ): ("an Unknown, read where it is made"),
    }
)
# Beginnings of texts that report no trouble.
INFORMS = Kept(
    dict.fromkeys(
        ("everything that the account sees", "GpuVM/{name}: {configuration} in {cluster}.", "Requested destruction. ")
    )
)


@dataclass(frozen=True)
class Text:
    """A text as the source spells it. ``place`` is the module, ``shown_by`` who is given it.

    ``ways``: of what is given apart from what to do, the ways out that it may have. One of them is shown, after the words.
    """

    place: str
    shown_by: str
    words: str
    ways: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """What is the case, and each way out."""
        return self.words, *self.ways


def texts(*shown_by: str) -> list[Text]:
    """All texts that the modules give to these, in the order of the source."""
    return [text for text in _found()[0] if text.shown_by in shown_by]


def unread() -> list[str]:
    """What is shown to people and cannot be read from the source, by its place."""
    return list(_found()[1])


@cache
def _found() -> tuple[tuple[Text, ...], tuple[str, ...]]:
    read_ones: list[Text] = []
    others: list[str] = []
    for scope in program.scopes():
        for node in scope.nodes():
            if isinstance(node, ast.Call) and (name := _shown_by(node, scope)):
                try:
                    read_ones += _texts(node, name, scope)
                except UnreadableError as error:
                    others.append(f"{scope.module.place}:{node.lineno}: {ast.unparse(node)[:90]} ({error})")
            elif isinstance(node, ast.Raise) and scope.module.place.startswith(SPOKEN):
                others += [f"{scope.module.place}:{node.lineno}: raise {what}" for what in _strange(node.exc, scope)]
        if isinstance(scope.node, ast.Module):
            read_ones += _of_tables(scope)
    return tuple(dict.fromkeys(read_ones)), tuple(others)


def _of_tables(scope: Scope) -> Iterator[Text]:
    for name in _TABLES.get(scope.module.place, ()):
        for node in scope.nodes():
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
                yield from (
                    Text(scope.module.place, "SettingsError", f"{{name}}: {value.value}") for value in node.value.values
                )


def _family(node: ast.Call, scope: Scope) -> list[str]:
    """The name of what is called, and of the classes that it derives from: dotted if it is of the package."""
    meant = program.called(node, scope)
    if meant is not None:
        return program.ancestors(meant) or [program.dotted(meant)]
    return [ast.unparse(node.func)]


def _shown_by(node: ast.Call, scope: Scope) -> str:
    """Who is given a text by this call; empty if it is nobody that shows it to people."""
    name = next((name for name in _family(node, scope) if name in SHOWN), "")
    return SHOWN[name].looked_for(name, node, scope.module.place) if name else ""


def _texts(node: ast.Call, name: str, scope: Scope) -> list[Text]:
    place = scope.module.place
    found: dict[str, dict[str, None]] = {}
    for what, do, frame in _given(node, name, scope):
        if (place, ast.unparse(what)) not in FROM_ELSEWHERE:
            ways = dict.fromkeys(map(_in_a_row, read(do, frame) if do is not None else ()))
            for words in read(what, frame):
                found.setdefault(words, {}).update(ways)
    texts = (_text(place, name, words, tuple(ways)) for words, ways in found.items())
    return [text for text in texts if text.words and INFORMS.first(text.words.startswith) is None]


def _text(place: str, name: str, words: str, ways: tuple[str, ...]) -> Text:
    return Text(place, "page" if words.count("\n") > 1 else name, _PROGRAM.sub("", _in_a_row(words)), ways)


def _in_a_row(words: str) -> str:
    return " ".join(words.split())


def _given(node: ast.Call, name: str, scope: Scope) -> Iterator[tuple[ast.expr, ast.expr | None, Frame]]:
    """The text that a call is given, what to do if that is given apart, and where to read both: for each caller."""
    for frame in of_callers(Frame(scope)):
        if PLUGIN_ERROR in _family(node, scope):
            yield _apart(node, frame)
        elif name == "Finding":
            yield from _finding(node, frame)
        elif (expression := _expression(node, frame)) is not None:
            yield expression[0], None, expression[1]


def _apart(node: ast.Call, frame: Frame) -> tuple[ast.expr, ast.expr | None, Frame]:
    """What an error of the plugin is given: what is the case, and what to do.

    A class that derives from it may make both of what it is given, and hands them on to the class above.
    """
    given = {item.arg: item.value for item in node.keywords}
    what = node.args[0] if node.args else given["what"]
    meant = program.called(node, frame.scope)
    init = None if meant is None or program.dotted(meant) == PLUGIN_ERROR else _init(meant)
    if init is not None:
        frame = Frame(init, {name: (value, frame) for name, value in bound(node, init).items()})
        above = next(one for one in init.nodes() if isinstance(one, ast.Call) and ast.unparse(one.func) == "super().__init__")
        what, given = above.args[0], {item.arg: item.value for item in above.keywords}
    return what, given.get("do"), frame


def _finding(node: ast.Call, frame: Frame) -> Iterator[tuple[ast.expr, ast.expr, Frame]]:
    """What is the case, and the advice; both may come from one function, which returns them as a pair."""
    message, *rest = node.args[SHOWN[FINDING].at :]
    if not isinstance(message, ast.Starred):
        yield message, rest[0], frame
        return
    meant = program.called(message.value, frame.scope)
    inner = frame.deeper(meant, {name: (value, frame) for name, value in bound(message.value, meant).items()})
    for one in meant.nodes():
        match one:
            case ast.Return(value=ast.Tuple(elts=[what, advice])):
                yield what, advice, inner


def _expression(node: ast.Call, frame: Frame) -> tuple[ast.expr, Frame] | None:
    """The text that a call is given; of a class that makes its text from what it is given, that."""
    meant = program.called(node, frame.scope)
    if meant is not None and isinstance(meant.node, ast.ClassDef) and (made := _made(meant)) is not None:
        init, text = made
        return text, Frame(init, {name: (value, frame) for name, value in bound(node, init).items()})
    at = next(SHOWN[name].at for name in _family(node, frame.scope) if name in SHOWN)
    if isinstance(at, str):
        return next(((item.value, frame) for item in node.keywords if item.arg == at), None)
    return (node.args[at], frame) if len(node.args) > at else None


def _made(meant: Scope) -> tuple[Scope, ast.expr] | None:
    """The initializer of a class and the f-string that it makes its text of; None if it takes the text as it is given."""
    init = _init(meant)
    found = [node for node in init.nodes() if isinstance(node, ast.JoinedStr)] if init is not None else []
    return (init, found[0]) if init is not None and found else None


def _init(meant: Scope) -> Scope | None:
    """The initializer of a class itself."""
    found = next((one for one in meant.nodes() if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)
    return None if found is None else program.scope_of(found)


def _strange(node: ast.expr | None, scope: Scope, depth: int = 0) -> Iterator[str]:
    """What of a raised expression is an exception of no known kind."""
    match node:
        case None:
            return
        case ast.IfExp(body=body, orelse=other):
            yield from _strange(body, scope, depth)
            yield from _strange(other, scope, depth)
        case ast.Call():
            meant = program.called(node, scope)
            if meant is None or isinstance(meant.node, ast.ClassDef):
                if not any(name in SHOWN or name in UNSEEN for name in _family(node, scope)):
                    yield ast.unparse(node)[:90]
                return
            for inner in meant.nodes():
                if isinstance(inner, ast.Return) and inner.value is not None and depth < 5:
                    yield from _strange(inner.value, meant, depth + 1)
        case _ if (scope.module.place, ast.unparse(node)) not in FROM_ELSEWHERE:
            yield ast.unparse(node)[:90]
