"""Wait for objects to become ready or to be gone.

It looks once a second, by one list a kind: that is cheap for the apiserver, and misses nothing, since what is waited for stays.
"""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin.errors import ExitCode, TransientError
from gpucloud.cli.plugin.model.health import Standing
from gpucloud.cli.plugin.model.objects import KINDS
from gpucloud.cli.plugin.model.verdicts import Goal, Outcome, Verdict, awaited_account, judge, total
from gpucloud.cli.plugin.show import tell
from gpucloud.cli.terminal.marks import paste, pasteable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpucloud.cli.plugin.cluster import Cluster
    from gpucloud.cli.plugin.model.objects import Key, Thing
    from gpucloud.cli.plugin.model.verdicts import Aim

    # What is waited for, and the accounts that any of it waits for; within so many seconds.
    Look = Callable[[float], Mapping[Key, Thing | None]]

LOOK_SECONDS = 1.0
LAST_SECONDS = 2.0
CORRECTION_SECONDS = 90.0  # an account's Secret is read again within a minute, and its objects are reconciled after that
NOTHING: Mapping[Key, str] = MappingProxyType({})


def wait(look: Look, aim: Aim, timeout: float, suggested: Mapping[Key, str] = NOTHING) -> ExitCode:
    """Look until it is decided; shows progress on standard error, and the outcome of each object on standard output.

    ``suggested`` ends the line of an object that was not there: whether another name was meant.
    """
    began = time.monotonic()
    deadline = began + timeout
    verdicts: Mapping[Key, Verdict] = {key: Verdict(Outcome.PENDING, "") for key in aim.uids}
    with _view() as view:
        while True:
            now = time.monotonic()
            patient = replace(aim, is_patient=now < began + CORRECTION_SECONDS)
            verdicts, asked = _looked(partial(look, look_seconds(deadline - now)), patient, verdicts)
            code = total(verdicts, timed_out=time.monotonic() >= deadline)
            view.update(verdicts)
            if code is not None:
                break
            time.sleep(min(max(LOOK_SECONDS, asked), max(0.05, deadline - time.monotonic())))
    for key, verdict in verdicts.items():
        print(f"{key}: {_outcome_words(verdict, aim.goal)}{suggested.get(key, '')}")
    if code is ExitCode.TIMED_OUT:
        left = {key: verdict for key, verdict in verdicts.items() if verdict.outcome is Outcome.PENDING}
        tell(f"after {timeout:g} s {len(left)} of {len(verdicts)} are not {aim.goal.value} yet{_way_on(left)}.")
    return code


def _way_on(left: Mapping[Key, Verdict]) -> str:
    """What can end the wait for these: more time helps none that nobody deletes, or that no operator looks at."""
    namespace = next(iter(left)).namespace
    undeleted = [key for key, verdict in left.items() if verdict.is_undeleted]
    if undeleted:
        names = " ".join(f"{KINDS[key.kind].short}/{key.name}" for key in undeleted)
        delete = paste(f"kubectl delete {names} --namespace={namespace}")
        return f", and nobody has deleted {', '.join(map(str, undeleted))}: '{delete}'"
    awaits = next((verdict.awaits for verdict in left.values() if verdict.awaits), "")
    if awaits:
        needing = [str(key) for key, verdict in left.items() if verdict.awaits == awaits]
        verb = "needs" if len(needing) == 1 else "need"
        return f", and {', '.join(needing)} still {verb} {awaits}: do as the message says, then wait again"
    unseen = [key for key, verdict in left.items() if verdict.standing is Standing.UNSEEN]
    if unseen:
        doctor = paste(f"kubectl gpucloud doctor --namespace={namespace}")
        return f", and the operator has not answered for {', '.join(map(str, unseen))}: see '{doctor}'"
    return f": raise --timeout, or see '{_status_command(list(left))}'"


def _status_command(keys: list[Key]) -> str:
    """The command that shows these objects of one namespace."""
    if len(keys) == 1:
        return keys[0].command("status")
    return paste(f"kubectl gpucloud status --namespace={keys[0].namespace}")


def look_seconds(left: float) -> float:
    """How long a look may take: what is left of the time, and the last one a little more than nothing."""
    return max(left, LAST_SECONDS)


def _looked(
    look: Callable[[], Mapping[Key, Thing | None]], aim: Aim, before: Mapping[Key, Verdict]
) -> tuple[Mapping[Key, Verdict], float]:
    """Look once; the seconds that the cluster asks to be left alone. One that cannot answer for a while ends no wait."""
    try:
        seen = look()
        return {key: _pasteable(judge(key, seen.get(key), aim, _account_of(key, seen))) for key in aim.uids}, 0.0
    except TransientError as error:
        return {key: replace(verdict, words=f"{error}") for key, verdict in before.items()}, error.pause


def _account_of(key: Key, seen: Mapping[Key, Thing | None]) -> Thing | None:
    """The account that an object waits for, if that can be seen."""
    item = seen.get(key)
    account = None if item is None else awaited_account(item)
    return None if account is None else seen.get(account)


def _pasteable(verdict: Verdict) -> Verdict:
    return replace(verdict, words=pasteable(verdict.words))


def _outcome_words(verdict: Verdict, goal: Goal) -> str:
    if verdict.outcome is Outcome.MET:
        return f"{goal.value} ({verdict.words})" if goal is Goal.READY else verdict.words
    state = "failed" if verdict.outcome is Outcome.FAILED else f"not {goal.value} yet"
    return f"{state}: {verdict.words}"


class _Plain:
    """Progress in a pipe or a log: one line on standard error whenever an object's words change."""

    def __init__(self) -> None:
        self._said: dict[Key, str] = {}

    def update(self, verdicts: Mapping[Key, Verdict]) -> None:
        for key, verdict in verdicts.items():
            if verdict.outcome is Outcome.PENDING and self._said.get(key) != verdict.words:
                self._said[key] = verdict.words
                print(f"{key}: {verdict.words}", file=sys.stderr, flush=True)


def _view() -> Any:
    if not sys.stderr.isatty():
        return nullcontext(_Plain())
    from gpucloud.cli.plugin.waiting.progress_table import Lively  # noqa: PLC0415 - it loads rich, for a terminal only

    return Lively()


def look(here: Cluster, keys: tuple[Key, ...]) -> Mapping[Key, Thing | None]:
    """These objects as they are now: one read for one, else one list a kind, of which none is left out."""
    if len(keys) == 1:
        return {keys[0]: here.find(keys[0])}
    kinds = sorted({key.kind for key in keys})
    found = {item.key: item for kind in kinds for item in here.things(here.namespace, (kind,))}
    return {key: found.get(key) for key in keys}


def look_further(here: Cluster, keys: tuple[Key, ...]) -> Mapping[Key, Thing | None]:
    """The same, and the accounts that any of them waits for, as far as they may be read: whether a person must see to one."""
    found = look(here, keys)
    accounts = {account for item in found.values() if item is not None and (account := awaited_account(item)) is not None}
    return {**{key: here.glimpse(key) for key in sorted(accounts.difference(found))}, **found}


def reader(here: Cluster, keys: tuple[Key, ...]) -> Callable[[float], Mapping[Key, Thing | None]]:
    """A function that reads these objects anew each time, within so many seconds, and the accounts that they wait for."""
    return lambda seconds: look_further(here.within(seconds), keys)
