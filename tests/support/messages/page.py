"""docs/reference/messages.md: the messages that people read, as the code brings them."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from gpucloud.reconcile.commands import IN_MESSAGE
from pages.markdown import table
from support.messages import judge
from support.messages.admission import refusals
from support.messages.calls import accepted
from support.messages.conditions import said
from support.messages.placeholders import generic
from support.messages.sources import DONE, EVENT, texts
from support.messages.words import in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_ABOUT = """\
Printed from the code and its tables of decisions by `make messages`; not to be edited. A message of a condition that no row of
these tables brings is not here. A test judges each that reports no success: it says what is the case, and what to do or what
happens next. What the reasons mean: [status.md](status.md). What to do, step by step:
[troubleshooting.md](../how-to/troubleshooting.md)."""
_FILLED_IN = (
    "The messages of conditions and of an object's last Event. What stands in braces is filled in; `{question}` asks whether "
    "another name was meant, or is nothing."
)
_PARTS = (
    "What a message quotes of a reference, an account, a key, a cloud-init, a Secret or a kubeconfig. What stands in braces is "
    "filled in."
)
_EVENTS = "What Events say of accepted calls and of other changes. A change of Ready is reported in the words of its condition."
_TROUBLE = "What Warning Events say of failures, beside those at an object's end. Conditions have some of these messages, too."
_ERRORS = "What follows an arrow, or stands in a list, says what to do. Of a list the program shows what fits."
_DONE = "What the verbs of `kubectl gpucloud` print on standard output when they have done something."
_COMMAND = re.compile(rf"`[^`]*`|{IN_MESSAGE.pattern}", IN_MESSAGE.flags)
_PROGRAMS = {
    "kubectl gpucloud": ("cli/plugin/", ("PluginError", "UsageError", "ValueError", "Verdict", "tell", "print", "Finding")),
    "gpucloud": (
        "",
        (
            "SettingsError",
            "ArgumentTypeError",
            "NoCluster",
            "NotDoneError",
            "ValueError",
            "failed_check",
            "print",
        ),
    ),
    "The operator's console": ("engine/manager/console.py", ("ConsoleRefusedError",)),
    "Python client": ("cloud/", ("ValueError", "CallerError", "CloudError", "WaitError")),
}


def page() -> str:
    """The whole page."""
    parts = ["# Messages", _ABOUT, "## Conditions and Events", _FILLED_IN]
    for kind, of_kind in groupby(said(), lambda item: item.kind):
        parts += [f"### {kind}", table(("Reason", "Shown as", "Message"), _said(of_kind))]
    parts += ["## Events of what was done", _EVENTS, table(("Of", "Message"), dict.fromkeys(_events()))]
    parts += ["## Events of trouble", _TROUBLE, table(("Message",), dict.fromkeys(_troubles()))]
    parts += ["## Parts of messages", _PARTS, table(("Of", "Message"), _parts())]
    parts += ["## Refusals of the apiserver"]
    for kind, of_kind in groupby(refusals(), lambda item: item.kind):
        parts += [f"### Rules of a {kind}", table(("Field", "Message"), ((f"`{item.field}`", item.words) for item in of_kind))]
    parts += ["## Errors of the commands", _ERRORS]
    for command, (folder, shown_by) in _PROGRAMS.items():
        parts += [f"### {command}", table(("Message",), _errors(folder, shown_by))]
    parts += ["## Lines of success", _DONE, table(("Message",), ((words,) for words in dict.fromkeys(_done())))]
    return in_words("\n\n".join(parts)) + "\n"


def _events() -> Iterator[tuple[str, str]]:
    yield from ((item.kind, _marked(item.words)) for item in accepted())
    yield from (("another change", _marked(item.words)) for item in texts(EVENT))


def _troubles() -> Iterator[tuple[str]]:
    return ((_marked(item.words),) for item in texts("Warning Event") if not judge.is_framed(item.words))


def _done() -> Iterator[str]:
    return (_marked(item.words) for item in texts(DONE))


def _marked(words: str) -> str:
    """A message with marks of code around its commands; what has such marks keeps them."""
    return _COMMAND.sub(lambda found: f"`{found[0]}`" if found["alone"] or found["within"] else found[0], words)


def _said(messages) -> Iterator[tuple[str, str, str]]:
    for (reason, condition), same in groupby(messages, lambda item: (item.reason, item.condition)):
        words = sorted({_marked(generic(item.words)) for item in same})
        yield f"`{reason}`", condition, "<br>".join(f"• {one}" for one in words)


def _parts() -> Iterator[tuple[str, str]]:
    names = {
        "KeyProblemError": "SSH keys",
        "Dependency": "a reference",
        "Unknown": "an account",
        "Account": "an account",
        "CloudInit": "a cloud-init",
        "CredentialError": "the Secret of an account",
        "ConfigError": "a kubeconfig",
    }
    yield from dict.fromkeys((names[item.shown_by], _marked(item.words)) for item in texts(*names))


def _errors(folder: str, shown_by: tuple[str, ...]) -> Iterable[tuple[str]]:
    """Each message once, with all ways out that the code gives it."""
    folders = [other for other, _ in _PROGRAMS.values() if other]
    found = (
        item
        for item in texts(*shown_by)
        if (item.place.startswith(folder) if folder else not item.place.startswith(tuple(folders)))
    )
    ways: dict[str, dict[str, None]] = {}
    for item in found:
        if not all(map(judge.is_framed, item.parts)):
            ways.setdefault(_marked(item.words), {}).update(dict.fromkeys(map(_marked, item.ways)))
    return ((_with_ways(words, [*some]),) for words, some in ways.items())


def _with_ways(words: str, ways: list[str]) -> str:
    """A message with the ways out that it may have."""
    return f"{words} → {ways[0]}" if len(ways) == 1 else "<br>• ".join((words, *ways))
