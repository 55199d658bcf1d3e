"""What is decided alike for a GpuVM, a GpuVpc and a GpuSnapshot in deletion, while the cloud refuses the credential."""

from __future__ import annotations

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Unknown, UnknownReason
from support.builders import NOW
from support.rows import LAB, NEW_KEY, Row, tried


def refused(k):
    """The Secret is known: two commands, each on a line of its own."""
    return {
        "a refused credential whose Secret is known: two commands, parted by a semicolon": Row(
            "both stand on lines of their own",
            k.leaving | {"found": Unknown(NOW, UnknownReason.REFUSED, "401"), "account": LAB},
            Reason.DELETION_BLOCKED,
            progress="Stalled",
            says=(f"{NEW_KEY}; To keep the {k.noun}", "Retain"),
        ),
        "a destroy refused with the credential: two commands, parted by a semicolon": Row(
            "both stand on lines of their own",
            k.leaving | {"status": k.going, "history": tried(k.destroy, kind=ErrorKind.UNAUTHORIZED), "account": LAB},
            Reason.DELETION_BLOCKED,
            progress="Stalled",
            says=(f"{NEW_KEY}; To keep the {k.noun}", "Retain"),
        ),
    }
