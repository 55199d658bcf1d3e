"""How a verb ends: its exit code, and the one sentence that says why when it did not do what was asked."""

from __future__ import annotations

from contextvars import ContextVar
from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of every verb; documented, and stable."""

    OK = 0
    FAILED = 1
    MISUSED = 2
    FOUND = 3
    TIMED_OUT = 4
    INTERRUPTED = 130


MEANINGS = {
    ExitCode.OK: "done as asked, and nothing is wrong",
    ExitCode.FAILED: "the cluster or the cloud refused or did not answer, or only in part",
    ExitCode.MISUSED: "wrong usage: an unknown verb, option, kind or value",
    ExitCode.FOUND: "found: an object that needs a person, as one that is Stalled, or paused before it is as asked; a finding "
    "of doctor; an orphan; by wait, an account whose Secret is being deleted, or an object that waits in vain for its account",
    ExitCode.TIMED_OUT: "--timeout passed before the objects were as asked",
    ExitCode.INTERRUPTED: "interrupted by Ctrl-C; what was requested before is still carried out",
}
CHECK = "Check --context, --kubeconfig and your network, then try again."
REQUESTED: ContextVar[bool] = ContextVar("requested", default=False)  # whether this call has asked the operator for something


class PluginError(Exception):
    """What ends a verb. ``what``: what is the case, and with which object; ``do``: the way out. Both are whole sentences.

    They are shown apart; as a text, which others quote, they are one after the other.
    """

    def __init__(self, what: str, code: ExitCode = ExitCode.FAILED, *, do: str) -> None:
        super().__init__(f"{what} {do}")
        self.what, self.do, self.code = what, do, code


class NotServedError(PluginError):
    """The cluster does not know this kind: its CRD is not installed."""


class ForbiddenError(PluginError):
    """The user lacks the right."""


class TransientError(PluginError):
    """It could not be answered now, and may be soon: no wait or watch that has begun ends by it.

    ``pause``: how many seconds the server asks to be left alone.
    """

    def __init__(self, what: str, pause: float = 0.0, *, do: str) -> None:
        super().__init__(what, do=do)
        self.pause = pause


class UnansweredError(TransientError):
    """The cluster did not answer, or nothing that can be read.

    ``why`` has no full stop; ``sent`` is false where no request can have arrived.
    """

    def __init__(self, why: str, *, do: str, sent: bool = True) -> None:
        super().__init__(f"{why}.", do=do)
        self.why, self.sent = why, sent
