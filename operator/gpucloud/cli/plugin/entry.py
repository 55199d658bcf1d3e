"""Runs one verb, and ends with an exit code, never with a traceback. A verb's module is loaded only when it is called."""

from __future__ import annotations

import importlib
import os
import shlex
import sys
from typing import TYPE_CHECKING, Any

from gpucloud.cli import variables
from gpucloud.cli.plugin.errors import MEANINGS, REQUESTED, ExitCode, PluginError
from gpucloud.cli.plugin.kube.access import At
from gpucloud.cli.plugin.usage import command_options, parsing
from gpucloud.cli.plugin.usage.commands import ABOUT, ELSEWHERE, GROUPS, NAME, VERBS
from gpucloud.cli.plugin.usage.options import ASKED, CLUSTER
from gpucloud.cli.terminal import marks
from gpucloud.cli.terminal.text import clean, printable
from gpucloud.cli.variables import DEBUG
from gpucloud.reconcile.commands import KUBECTL
from gpucloud.spelling import suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gpucloud.cli.plugin.usage.options import Verb


def main(argv: Sequence[str]) -> int:
    """Run one verb and return its exit code."""
    command_options.remember(At())  # what an earlier call in this process was given
    REQUESTED.set(False)
    try:
        code = _dispatch(argv)
        sys.stdout.flush()
    except PluginError as error:
        return _failed(error)
    except KeyboardInterrupt:
        if not REQUESTED.get():
            return ExitCode.INTERRUPTED
        return _failed(_interrupted())
    except BrokenPipeError:  # `... | head` is no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes once more at its end
        return ExitCode.OK
    except ModuleNotFoundError:
        raise  # the extra is missing, which the caller tells
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        words = f"{type(error).__name__}: {clean(str(error))}"
        return _failed(PluginError(f"it failed unexpectedly ({words}).", do=f"Report this, with what {DEBUG}=1 shows."))
    return code


def _interrupted() -> PluginError:
    see = f"See what comes of it: {marks.paste('kubectl gpucloud status')}"
    return PluginError("interrupted; the operator still carries out what was requested.", ExitCode.INTERRUPTED, do=see)


def function_of(verb: Verb) -> Callable[..., int]:
    """The function of a verb."""
    module = importlib.import_module(f"gpucloud.cli.plugin.verbs.{verb.module}")
    found: Callable[..., int] = getattr(module, verb.function)
    return found


def _dispatch(argv: Sequence[str]) -> int:
    if not argv or argv[0] in {*parsing.HELP, "help"}:
        if len(argv) < 2:
            return _help()
        argv = (argv[1], parsing.HELP[0])  # on the verb that is named after it
    name, *words = argv
    verb = VERBS.get(name)
    if verb is None:
        at = At(**parsing.given(CLUSTER, words))
        command_options.remember(at)
        raise _before_the_verb(argv) if name.startswith("-") else _unknown_verb(name, at)
    program = f"{NAME} {name}"
    before_dashes = words[: words.index("--")] if "--" in words else words
    if not set(parsing.HELP).isdisjoint(before_dashes):
        return _help(program, verb)
    given = parsing.values(verb, words, program)
    at = At(**{item.key: given.pop(item.key) for item in CLUSTER if item in verb.takes})
    command_options.remember(at)
    _warn_of_variables()
    for group in GROUPS:
        given = group.composed(verb, given)
    return _called(verb, at, given)


def _called(verb: Verb, at: At, given: Mapping[str, Any]) -> int:
    """Call the function of a verb. One that asks the cloud takes seconds, even to load: what is wrong is looked for before."""
    if not verb.waits_for:
        return int(function_of(verb)(at, **given))
    from gpucloud.cli.plugin.cloud import endpoints  # noqa: PLC0415 - few verbs ask the cloud
    from gpucloud.cli.plugin.waiting import patience  # noqa: PLC0415 - few verbs ask the cloud

    endpoints.settings(given[ASKED.key].endpoint)
    patience.begin(verb.waits_for)
    try:
        return int(function_of(verb)(at, **given))
    finally:
        patience.over()


def _warn_of_variables() -> None:
    """Tell of variables that are near one of ours; a person's others may be for another program."""
    left = {name: value for name, value in os.environ.items() if name.startswith(variables.PREFIX)}
    if set(left).issubset(variables.OTHERS):
        return
    from gpucloud import flags  # noqa: PLC0415 - pydantic-settings takes a tenth of a second to import; few have other variables
    from gpucloud.cli.plugin import show  # noqa: PLC0415 - as above

    operators = flags.variables()
    mine = {name: value for name, value in left.items() if name not in operators and not name.startswith(variables.OF_SIM)}
    for words in variables.without_effect(mine, variables.OF_PLUGIN):
        show.tell(words)


def _unknown_verb(name: str, at: At) -> parsing.UsageError:
    command = ELSEWHERE.get(name)
    if command is None:
        return parsing.UsageError(f"unknown verb {clean(name)!r}.{suggestion(name, VERBS)}", NAME)
    if at.namespace and command.split()[1] in KUBECTL:  # to our own verbs, ``advice`` adds it
        command += f" --namespace={shlex.quote(at.namespace)}"
    return parsing.UsageError(f"unknown verb {clean(name)!r}.", NAME, f"Use '{marks.paste(command)}'.")


def _before_the_verb(argv: Sequence[str]) -> parsing.UsageError:
    """An option stands where the verb belongs: how the same words are typed in the right order, if the verb has that option."""
    option = argv[0].partition("=")[0] if argv[0].startswith("--") else argv[0][:2]
    place = next((place for place, word in enumerate(argv) if word in VERBS), None)
    verbs = VERBS.values() if place is None else (VERBS[argv[place]],)
    if all(verb.option(option) is None for verb in verbs):
        names = (name for verb in verbs for item in verb.options for name in item.names)
        return parsing.UsageError(f"unknown option {clean(option)!r}.{suggestion(option, names)}", NAME)
    moved = ["VERB", *argv] if place is None else [argv[place], *argv[:place], *argv[place + 1 :]]
    right = f"Put options after it: '{NAME} {clean(shlex.join(moved))}'."
    return parsing.UsageError(f"{option} stands before the verb.", NAME, right)


def _help(program: str = NAME, verb: Verb | None = None) -> int:
    from gpucloud.cli.plugin.usage import help_text  # noqa: PLC0415 - few calls show it

    print(help_text.of_program(NAME, ABOUT, VERBS, MEANINGS) if verb is None else help_text.of_verb(program, verb, MEANINGS))
    return ExitCode.OK


def _failed(error: PluginError) -> int:
    """Tell what is the case; then, on lines of their own, what to do and each command to paste."""
    for line in (*marks.pasteable_pieces(f"{NAME}: {error.what}"), *marks.pasteable_pieces(error.do)):
        print(printable(line), file=sys.stderr)
    return error.code.value
