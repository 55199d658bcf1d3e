"""What is decided alike for a GpuVM, a GpuVpc and a GpuSnapshot after another process has announced a destroying call."""

from __future__ import annotations

from dataclasses import replace

from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Absent, Asked, Attempt
from support.builders import NOW
from support.rows import OLD, Row, tried


def called_before(k, ago, calls=1):
    """A new process, which finds in the status that another announced its last destroying call so many seconds ago."""
    call = Attempt(k.destroy, NOW - ago, Asked(1), unrefused=calls, recalled=True)
    return {"status": k.going, "history": replace(OLD, attempts={k.destroy: call})}


def announced(k):
    """A listing shows it still; the first two: this process sent the call itself."""
    return {
        "a destroy that was accepted is not repeated": Row(
            "the record stays a while", k.leaving | {"status": k.going, "history": tried(k.destroy, ago=100)}, Reason.DELETING
        ),
        "a destroy without effect is repeated after five minutes": Row(
            "it was lost inside the cloud",
            k.leaving | {"status": k.going, "history": tried(k.destroy, ago=301)},
            Reason.DELETION_BLOCKED,
            action=k.destroy,
            progress="Stalled",
            says=("still lists", "spec.deletion.policy: Retain"),
        ),
        "a destroy that another process announced is not repeated": Row(
            "a restart shortens no wait", k.leaving | called_before(k, 299), Reason.DELETING, looks=False
        ),
        "a destroy that another process announced is repeated after ten graces": Row(
            "nothing has come of it",
            k.leaving | called_before(k, 301),
            Reason.DELETION_BLOCKED,
            action=k.destroy,
            progress="Stalled",
            says=("was sent, and the cloud still lists", "spec.deletion.policy: Retain"),
        ),
        "the second that another process announced is waited for longer": Row(
            "the wait grows",
            k.leaving | called_before(k, 599, calls=2),
            Reason.DELETION_BLOCKED,
            progress="Stalled",
            looks=False,
            says=("still lists",),
        ),
    }


def announced_unlisted(k):
    """No listing shows it."""
    return {
        "what another process announced is destroyed again if not listed": Row(
            "that call may never have left",
            k.leaving | called_before(k, 1) | {"found": Absent(NOW, NOW - 99)},
            Reason.DELETING,
            action=k.destroy,
        ),
    }
