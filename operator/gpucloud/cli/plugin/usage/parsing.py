"""From words to a verb's values. Options may stand anywhere; what follows ``--`` is an argument. Pure."""

from __future__ import annotations

from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.plugin.model.objects import short_of
from gpucloud.spelling import as_listed, question, suggestion, use_one_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpucloud.cli.plugin.usage.options import Parameter, Verb

HELP = ("-h", "--help")


class UsageError(PluginError):
    """Wrong usage; what to do ends with where the right one stands."""

    def __init__(self, what: str, program: str, do: str = "") -> None:
        super().__init__(what, ExitCode.MISUSED, do=(do + f" See '{program} --help'.").lstrip())


def split(verb: Verb, words: Sequence[str], program: str) -> tuple[list[tuple[Parameter, str]], list[str]]:
    """Options with the text of their value, and arguments.

    Raises:
        UsageError: there is no such option, or its value is missing or too much.
    """
    found: list[tuple[Parameter, str]] = []
    arguments: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            arguments += rest
        elif word.startswith("--"):
            found.append(_long(verb, word, rest, program))
        elif word.startswith("-") and word != "-":
            found += _short(verb, word, rest, program)
        else:
            arguments.append(word)
    return found, arguments


def values(verb: Verb, words: Sequence[str], program: str) -> dict[str, Any]:
    """The values of all parameters of a verb, by their keys.

    Raises:
        PluginError: the words are wrong.
    """
    options, words_left = split(verb, words, program)
    chosen = {item.key: _default(item) for item in verb.takes}
    for item, text in options:
        value = _converted(item, text, item.names[0], program)
        chosen[item.key] = (*chosen[item.key], value) if item.many else value
    _check_whole_names(verb, words, program)
    left = list(words_left)
    for item in verb.arguments:
        taken, left = (left, []) if item.many else (left[:1], left[1:])
        if item.required and not taken:
            raise UsageError(f"the argument {item.shown.removesuffix('...')} is missing.", program)
        if taken:
            converted = tuple(_converted(item, text, item.shown, program) for text in taken)
            chosen[item.key] = converted if item.many else converted[0]
    if left:
        raise UsageError(f"{left[0]!r} is one argument too many.", program)
    return chosen


def given(options: Sequence[Parameter], words: Sequence[str]) -> dict[str, Any]:
    """The values of those options that these words have, whatever else they hold: words of a verb that does not exist."""
    found: dict[str, Any] = {}
    for item in options:
        texts = [value for name in item.names for value in _values_of(name, words)]
        if texts:
            values = [item.convert(text) for text in texts]
            found[item.key] = tuple(values) if item.many else values[-1]
    return found


def _values_of(name: str, words: Sequence[str]) -> Iterator[str]:
    for word, after in pairwise([*words, ""]):
        if word == name:
            yield after
        elif word.startswith(f"{name}=" if name.startswith("--") else name):
            yield word.removeprefix(name).removeprefix("=")


def _check_whole_names(verb: Verb, words: Sequence[str], program: str) -> None:
    """Look for a kind and a name as two words, as kubectl takes them. What follows ``--`` is taken as it is.

    Raises:
        UsageError: the first word names a kind, and others follow.
    """
    if not any(item.names_objects for item in verb.arguments):
        return
    _, given = split(verb, list(takewhile(lambda word: word != "--", words)), program)
    if len(given) > 1 and short_of(given[0]):
        raise UsageError(f"{given[0]!r} is a kind.", program, f"Write {short_of(given[0])}/{given[1]}.")


def _long(verb: Verb, word: str, rest: Iterator[str], program: str) -> tuple[Parameter, str]:
    name, equals, value = word.partition("=")
    item = _option(verb, name, program)
    if not item.takes_value:
        if equals:
            raise UsageError(f"{name} takes no value.", program)
        return item, "true"
    return item, value if equals else _next(name, rest, program)


def _short(verb: Verb, word: str, rest: Iterator[str], program: str) -> Iterator[tuple[Parameter, str]]:
    """``-A``, ``-n team``, ``-nteam``, ``-n=team`` as kubectl has it, ``-Aw``."""
    letters = word[1:]
    while letters:
        name, letters = f"-{letters[0]}", letters[1:]
        item = _option(verb, name, program)
        if item.takes_value:
            yield item, letters.removeprefix("=") if letters else _next(name, rest, program)
            return
        yield item, "true"


def _option(verb: Verb, name: str, program: str) -> Parameter:
    item = verb.option(name)
    if item is None:
        known = suggestion(name, (known for one in verb.options for known in one.names))
        raise UsageError(f"unknown option {name}.{known or _behind_dashes(verb, name, program)}", program)
    return item


def _behind_dashes(verb: Verb, name: str, program: str) -> str:
    """Where an option belongs that is for the program that a verb runs; empty for a verb that runs none."""
    if not any(item.shown.startswith("[--") for item in verb.arguments):
        return ""
    return f" Options of {verb.function} itself stand after --: '{program} {verb.arguments[0].shown} -- {name}'."


def _next(name: str, rest: Iterator[str], program: str) -> str:
    value = next(rest, None)
    if value is None:
        raise UsageError(f"{name} needs a value.", program)
    return value


def _default(item: Parameter) -> Any:
    if item.many:
        return ()
    return item.convert(item.default) if isinstance(item.default, str) else item.default


def _converted(item: Parameter, text: str, name: str, program: str) -> Any:
    if not item.takes_value:
        return True
    if item.choices:
        text = as_listed(text, item.choices)
        if text not in item.choices:
            usual = [choice for typed, choice in item.habits if typed == text]
            near = question(usual) or suggestion(text, item.choices)
            raise UsageError(f"{name}: unknown value {text!r}.{near}", program, use_one_of(item.choices))
    try:
        return item.convert(text)
    except ValueError as error:
        raise UsageError(f"{name}: {error}.", program) from None
