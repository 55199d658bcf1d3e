"""What has come of an object that is waited for. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from gpucloud.cli.plugin.errors import ExitCode
from gpucloud.cli.plugin.model.dependencies import World
from gpucloud.cli.plugin.model.health import Standing, is_unread, message, reason, standing, unseen
from gpucloud.cli.plugin.model.objects import ACCOUNT, KINDS, Key, moment
from gpucloud.cli.plugin.model.reasons import OF_A_CREDENTIAL, OF_CONTENT, READY_AND_CALLS, WAITS_FOR_ACCOUNT
from gpucloud.cli.terminal.marks import paste
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.kinds.names import DEFAULT_ACCOUNT, OWN_ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpucloud.cli.plugin.model.objects import Thing


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
    is_undeleted: bool = False  # it is to be gone, and nobody has deleted it
    awaits: str = ""  # the account or Secret that has to be put right, which ends its trouble


@dataclass(frozen=True, slots=True)
class Request:
    """A request by an annotation: the field of the status that answers it, and with which value."""

    field: str
    value: str
    annotation: Annotation
    ends_stalled: bool = False  # what a Stalled object says before it has answered counts for nothing


@dataclass(frozen=True, slots=True)
class Aim:
    """What is waited for: of each object its UID, so that another one of the same name is not taken for it.

    The UID is empty for an object that was not there.
    """

    goal: Goal
    uids: Mapping[Key, str]
    request: Request | None = None
    is_patient: bool = True  # an account or Secret that an object needs may have been put right just before


def judge(key: Key, item: Thing | None, aim: Aim, account: Thing | None = None) -> Verdict:
    """What has come of one object. ``account`` is the one that it waits for, if that can be seen. Pure."""
    if item is None or (aim.uids.get(key) and item.uid != aim.uids[key]):
        if aim.goal is Goal.GONE:
            there = aim.uids.get(key, "")
            return Verdict(Outcome.MET, "gone" if there else f"there is no such object in namespace {key.namespace!r}")
        return Verdict(Outcome.FAILED, "it was deleted meanwhile: create it again if it is still wanted")
    how = standing(item)
    words = f"{reason(item)}: {message(item)}" if not is_unread(item) else unseen(item)
    if item.paused and (how is not Standing.READY or aim.goal is Goal.GONE):
        said = "" if reason(item) == Reason.PAUSED else f" ({words})"
        return Verdict(
            Outcome.FAILED, f"it is paused{said}, and nothing happens until the pause ends: {key.command('resume')}", how
        )
    if aim.goal is Goal.GONE:
        held = how is Standing.STALLED and item.deleting is not None
        if held and aim.is_patient and _awaited(item):
            return _awaiting(item, words)
        return Verdict(Outcome.FAILED if held else Outcome.PENDING, words, how, is_undeleted=item.deleting is None)
    verdict = _judge_ready(item, aim, words)
    vain = "" if verdict.outcome is not Outcome.PENDING or account is None else _why_in_vain(item, account, aim)
    return replace(verdict, outcome=Outcome.FAILED, words=f"it waits in vain for {vain}") if vain else verdict


def awaited_account(item: Thing) -> Key | None:
    """The account that an object waits for before it is made; None if it waits for none, or for the operator's own."""
    if (
        standing(item) is not Standing.WORKING
        or reason(item) != Reason.ACCOUNT_NOT_READY
        or item.text("account") == OWN_ACCOUNT
    ):
        return None
    return World.of(()).account(item) or Key(item.key.namespace, ACCOUNT, DEFAULT_ACCOUNT)


def _why_in_vain(item: Thing, account: Thing, aim: Aim) -> str:
    """Why an account that is waited for does nothing more until a person acts, and how; empty if it may.

    It is judged as it stands: one that was edited since the operator looked at it may use another Secret by now.
    """
    if account.deleting is not None:  # that is waited for by the object in turn
        delete = paste(f"kubectl delete {KINDS[item.key.kind].short}/{item.key.name} --namespace={item.key.namespace}")
        way_out = f"Delete this object, too, and create both again if they are still wanted: {delete}"
        return f"{account.key}, which is being deleted, and waits until this object is gone. {way_out}"
    found = judge(account.key, account, Aim(aim.goal, {}, is_patient=aim.is_patient))
    if found.outcome is not Outcome.FAILED:
        return ""
    doctor = paste(f"kubectl gpucloud doctor --namespace={account.key.namespace}")
    more = f" The commands for that: {doctor}" if reason(account) in READY_AND_CALLS else ""
    return f"{account.key}: {found.words}{more}"


def _judge_ready(item: Thing, aim: Aim, words: str) -> Verdict:
    how = standing(item)
    if item.deleting is not None:
        return Verdict(
            Outcome.FAILED, f"it is being deleted; when it is gone, create it again if you still want it: {words}", how
        )
    if aim.request is not None and _is_open(aim.request, item, how):
        return Verdict(Outcome.PENDING, "Waiting for the operator to take up the request.", Standing.UNSEEN)
    if aim.is_patient and _awaited(item):
        return _awaiting(item, words)
    calls = how is Standing.READY and reason(item) in READY_AND_CALLS
    return Verdict(Outcome.FAILED if calls else ENDS.get(how, Outcome.PENDING), words, how)


def _awaiting(item: Thing, words: str) -> Verdict:
    """Of a Stalled object that an account or a Secret put right sets free: what it shows may be older than that."""
    awaits = _awaited(item)
    return Verdict(Outcome.PENDING, f"Waiting for {awaits}. {words}", Standing.STALLED, awaits=awaits)


def _is_open(request: Request, item: Thing, how: Standing) -> bool:
    """Whether the request has no answer yet, while the object looks settled. That to a later request answers it, too.

    A later time alone shows no later request: the last one may be of a clock that is ahead. A later one is in the annotation.
    """
    settled = how is Standing.READY or (how is Standing.STALLED and request.ends_stalled)
    answer = item.text(request.field)
    answered, asked = moment(answer), moment(request.value)
    later = answered is not None and asked is not None and answered > asked
    overtaken = later and item.annotations.get(request.annotation) == answer
    return settled and not overtaken and answer != request.value


def _awaited(item: Thing) -> str:
    """The account or Secret that has to be put right, which ends its trouble; empty where it is not Stalled by that.

    The operator reads each of them again within a minute, so a verdict on it may be out of date.
    """
    if standing(item) is not Standing.STALLED:
        return ""
    why = reason(item)
    if item.key.kind == ACCOUNT:
        return f"a valid credential in {_secret(item)}" if why in OF_A_CREDENTIAL | OF_CONTENT else ""
    if why in OF_A_CREDENTIAL:
        return f"a valid credential of {_account(item)}"
    if why in WAITS_FOR_ACCOUNT:
        return f"an account that {item.key} can use"
    return {
        Reason.INVALID_SSH_KEYS.value: "valid keys in what spec.sshKeysFrom names",
        Reason.INVALID_SECRET.value: "a valid Secret for spec.reprovision.cloudInitSecretRef",
    }.get(why, "")


def _secret(account: Thing) -> str:
    reference = account.spec.get("secretRef")
    name = reference.get("name") if isinstance(reference, dict) else None
    return f"Secret {name!r}" if name else "the Secret of spec.secretRef"


def _account(item: Thing) -> str:
    """The account in words; before the first order the object alone does not say whether it is `default` or the operator's."""
    if item.text("account") == OWN_ACCOUNT:
        return "the operator's own account"
    return str(World.of(()).account(item) or f"the account that {item.key} uses")


def total(verdicts: Mapping[Key, Verdict], *, timed_out: bool) -> ExitCode | None:
    """The exit code, or None while it goes on. One failure ends it: who waits for several wants all of them. Pure."""
    outcomes = {verdict.outcome for verdict in verdicts.values()}
    if Outcome.FAILED in outcomes:
        return ExitCode.FOUND
    if Outcome.PENDING not in outcomes:
        return ExitCode.OK
    return ExitCode.TIMED_OUT if timed_out else None
