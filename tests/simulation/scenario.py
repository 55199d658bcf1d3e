"""What a history begins with, beside its faults: how the operator is set up, and how long it all lasts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpucloud.settings import Credentials, Settings
from simulation import administration
from simulation.credentials import KEY, LOGIN, own

if TYPE_CHECKING:
    from simulation.choices import Choices

ENDPOINT = "https://cloud.invalid"
SCALED = {
    "poll_pending_seconds": 0.5,
    "poll_steady_seconds": 6.0,
    "create_grace_seconds": 3.0,
    "blind_after_seconds": 18.0,
    "orphan_scan_seconds": 30.0,
    "lease_duration_seconds": 6.0,
    "lease_renew_deadline_seconds": 4.0,
    "lease_retry_period_seconds": 1.5,
    "workers": 8,
}


@dataclass(frozen=True, slots=True)
class Scenario:
    """``stormy``: for how many seconds faults and people go on."""

    settings: Settings
    replicas: int
    own_account: bool
    stormy: float
    slots: int  # acts of people and strangers
    own_form: str = KEY  # of the operator's own credential

    @property
    def grace(self) -> float:
        """The grace after an unclear answer."""
        return self.settings.create_grace_seconds


def draw(choices: Choices) -> Scenario:
    """One scenario. What is drawn here without a deviation stays the same when a history is made shorter."""
    owns = choices.draw("own account") < 0.5
    form = choices.choose("own login", (KEY, LOGIN), (3, 1)) if owns else KEY
    replicas = 2 if choices.draw("replicas") < 0.15 else 1
    elects = replicas == 2 or choices.draw("elects") < 0.05
    scaled = choices.draw("scaled") < 0.5
    settings = Settings(
        endpoint=(f"default={ENDPOINT}",),
        credentials=own(form) if owns else Credentials(),
        leader_elect=elects,
        lease_namespace="kube-system" if elects else "",
        workers=8,
    )
    settings = administration.administered(choices, settings.replace(**SCALED) if scaled else settings)
    more = administration.ABANDONING if administration.collects_quickly(settings) else 0
    stormy = settings.create_grace_seconds * (2 + 4 * choices.draw("stormy") + more)
    return Scenario(settings, replicas, owns, stormy, int(3 + 9 * choices.draw("slots")) + more // 2, form)
