"""What comes again with nothing else in between: the finalizer that is put back on an account's Secret."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from support.waiting import eventually

if TYPE_CHECKING:
    from support.kubectl import Kubectl

NAME = "cloud-credential"


def held_again(here: Kubectl, timeout: float = 60.0) -> dict[str, Any]:
    """Take the operator's finalizer off the account's Secret until an Event counts its being held; answers that Event.

    Each operator counts what it told itself, and a takeover may come between two times.
    """
    return eventually(lambda: _taken_off(here) and _repeated(here), timeout, "the event to count its repeat")


def _taken_off(here: Kubectl) -> bool:
    if here.get("secret", NAME)["metadata"].get("finalizers"):
        here.patch("secret", NAME, {"metadata": {"finalizers": None}})
        here.annotate("gpucloudaccount", "default", **{"gpucloud.dev/reconcile-requested-at": f"look, {secrets.token_hex(4)}"})
    return True


def _repeated(here: Kubectl) -> dict[str, Any]:
    told = [event for event in here.list("events.events.k8s.io") if event["reason"] == "SecretHeld"]
    return next((event for event in told if event.get("series", {}).get("count", 0) >= 2), {})
