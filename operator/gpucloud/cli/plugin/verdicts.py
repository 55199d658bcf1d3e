"""What has come of an object that is waited for. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from gpucloud.cli.plugin.errors import ExitCode
from gpucloud.cli.plugin.standing import Standing, message, reason, standing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpucloud.cli.plugin.objects import Key, Thing


class Goal(StrEnum):
    """What can be waited for."""

    READY = "ready"
    GONE = "gone"


class Outcome(StrEnum):
    """What has come of one object."""

    PENDING = "pending"
    MET = "met"
    FAILED = "failed"


ENDS = {Standing.READY: Outcome.MET, Standing.STALLED: Outcome.FAILED}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What has come of one object, and its own words for it."""

    outcome: Outcome
    words: str
    standing: Standing | None = None


@dataclass(frozen=True, slots=True)
class Aim:
    """What is waited for: of each object its UID, so that another one of the same name is not taken for it."""

    goal: Goal
    uids: Mapping[Key, str]
    answered: tuple[str, str] | None = None  # a field of the status, and the value that must stand in it


def judge(key: Key, item: Thing | None, aim: Aim) -> Verdict:
    """What has come of one object. Pure."""
    if item is None or (aim.uids.get(key) and item.uid != aim.uids[key]):
        if aim.goal is Goal.GONE:
            return Verdict(Outcome.MET, "gone")
        return Verdict(Outcome.FAILED, "it was deleted meanwhile: create it again if it is still wanted")
    how, said = standing(item), message(item)
    words = f"{reason(item)}: {said}" if how is not Standing.UNSEEN else said
    if aim.goal is Goal.GONE:
        held = how is Standing.STALLED and item.deleting is not None
        return Verdict(Outcome.FAILED if held else Outcome.PENDING, words, how)
    if item.deleting is not None:
        return Verdict(Outcome.FAILED, f"it is being deleted and will not become ready ({words})", how)
    if how is Standing.READY and aim.answered is not None and item.text(aim.answered[0]) != aim.answered[1]:
        return Verdict(Outcome.PENDING, "Waiting for the operator to take up the request.", Standing.UNSEEN)
    return Verdict(ENDS.get(how, Outcome.PENDING), words, how)


def total(verdicts: Mapping[Key, Verdict], *, timed_out: bool) -> ExitCode | None:
    """The exit code, or None while it goes on. One failure ends it: who waits for several wants all of them. Pure."""
    outcomes = {verdict.outcome for verdict in verdicts.values()}
    if Outcome.FAILED in outcomes:
        return ExitCode.FOUND
    if Outcome.PENDING not in outcomes:
        return ExitCode.OK
    return ExitCode.TIMED_OUT if timed_out else None
