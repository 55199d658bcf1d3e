"""Answers kubectl, which asks ``kubectl_complete-gpucloud`` for completions: a candidate a line, and cobra's directive.

It never fails: somebody waits at the prompt.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from gpucloud.cli.plugin.kube.access import At
from gpucloud.cli.plugin.usage import parsing
from gpucloud.cli.plugin.usage.commands import VERBS
from gpucloud.cli.plugin.usage.options import CLUSTER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gpucloud.cli.plugin.usage.options import Parameter, Verb

NO_FILES, FILES = 4, 0  # cobra's ShellCompDirective


def main(argv: Sequence[str]) -> int:
    """Print the candidates for the last word, and whether file names may stand there."""
    words = list(argv) or [""]
    found: Iterable[str] = ()
    files = False
    with contextlib.suppress(Exception):
        found, files = _candidates(words)
    print("\n".join([*sorted(found), f":{FILES if files else NO_FILES}"]))
    return 0


def _candidates(words: Sequence[str]) -> tuple[list[str], bool]:
    """The words that may stand in the last place, and whether files may."""
    name, *before, last = ("", *words) if len(words) == 1 else words
    if not name:
        return _beginning(VERBS, last), False
    verb = VERBS[name]
    if "--" in before:
        return [], True
    option = verb.option(before[-1]) if before else None
    if option is not None and option.takes_value:
        return _of(option, verb, before[:-1], last), option.key == "kubeconfig"
    if last.startswith("-"):
        name, equals, value = last.partition("=")
        option = verb.option(name) if equals else None
        if option is not None:
            return [f"{name}={found}" for found in _of(option, verb, before, value)], option.key == "kubeconfig"
        return _beginning([known for item in verb.options for known in item.names if known.startswith("--")], last), False
    item = _argument(verb, before)
    return (_of(item, verb, before, last), False) if item is not None else ([], False)


def _argument(verb: Verb, before: Sequence[str]) -> Parameter | None:
    """The argument that comes next."""
    _, given = parsing.split(verb, before, "")
    open_ones = [item for place, item in enumerate(verb.arguments) if item.many or place >= len(given)]
    return open_ones[0] if open_ones else None


def _of(item: Parameter, verb: Verb, before: Sequence[str], last: str) -> list[str]:
    if item.choices:
        return _beginning(item.choices, last)
    if not item.candidates:
        return []
    from gpucloud.cli.plugin.usage import candidates  # noqa: PLC0415 - it asks the cluster

    options, given = parsing.split(verb, before, "")
    at = At(**{one.key: one.convert(text) for one, text in options if one in CLUSTER and not one.many})
    found = getattr(candidates, item.candidates)(at, last)
    return [word for word in _beginning(found, last) if word not in given]


def _beginning(words: Iterable[str], start: str) -> list[str]:
    return [word for word in words if word.startswith(start)]
