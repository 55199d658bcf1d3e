"""What comes again with nothing else in between: the finalizer that is put back on an account's Secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from support.waiting import eventually

if TYPE_CHECKING:
    from support.kubectl import Kubectl

NAME = "cloud-credential"


def held_again(here: Kubectl) -> dict[str, Any]:
    """Take the operator's finalizer off the account's Secret, twice; answers the Event that counts its being held.

    Twice, since this operator may be another than the one that told the first time.
    """
    for time in (1, 2):
        eventually(lambda: here.get("secret", NAME)["metadata"].get("finalizers"), what="the Secret to be held")
        here.patch("secret", NAME, {"metadata": {"finalizers": None}})
        here.annotate("gpucloudaccount", "default", **{"gpucloud.dev/reconcile-requested-at": f"look at the Secret, {time}"})
    return eventually(lambda: _repeated(here), what="the event to count its repeat")


def _repeated(here: Kubectl) -> dict[str, Any]:
    counted = [event for event in here.list("events.events.k8s.io") if event["reason"] == "SecretHeld" and "series" in event]
    assert counted[0]["series"]["count"] >= 2, counted[0]["series"]
    return counted[0]
