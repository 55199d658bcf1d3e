"""What a history begins with, beside its faults: how the operator is set up, and how long it all lasts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

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


class Storm(NamedTuple):
    """For how many graces faults and people go on, and how often people act: at least, and up to how much more."""

    graces: float
    more_graces: float
    acts: int
    more_acts: int


LONG, SHORT = Storm(3.0, 4.0, 4, 9), Storm(0.8, 1.4, 2, 5)
EARLY_BOOT_LOGS = 0.1  # of all histories: few last until the boot log of a VM is read after ten minutes
OFFERING = 0.1  # of the histories publish GpuOffers
LONG_ONES = 0.3  # of all histories: most defects show soon, and time is what a history costs


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
    scaled = choices.draw("scaled") < 0.65
    settings = Settings(
        endpoint=(f"default={ENDPOINT}",),
        credentials=own(form) if owns else Credentials(),
        leader_elect=elects,
        lease_namespace="kube-system" if elects else "",
        workers=8,
        offer_seconds=0,
    )
    if choices.draw("offers") < OFFERING:
        settings = settings.replace(offer_seconds=20.0)
    if choices.draw("boot logs") < EARLY_BOOT_LOGS:
        settings = settings.replace(boot_log_seconds=8.0)
    settings = administration.administered(choices, settings.replace(**SCALED) if scaled else settings)
    more = administration.ABANDONING if administration.collects_quickly(settings) else 0
    storm = LONG if choices.draw("long") < LONG_ONES else SHORT
    stormy = settings.create_grace_seconds * (storm.graces + storm.more_graces * choices.draw("stormy") + more)
    slots = int(storm.acts + storm.more_acts * choices.draw("slots")) + more // 2
    return Scenario(settings, replicas, owns, stormy, slots, form)
