"""How the administrator has set the operator up, beside what every history has: collector, deletion guard, limits, budget.

Each setting is drawn under a name of its own, so that a history that is made shorter loses those that it does not need.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpucloud.settings import Settings
    from simulation.choices import Choices

REAL = {"orphan_scan_seconds": 600.0, "orphan_age_seconds": 3600.0}  # the product's own
SCANS, AGE, ABANDONING = 2, 4, 12  # graces: between two scans, before an orphan is collected, and for it to happen


def administered(choices: Choices, settings: Settings) -> Settings:
    """The settings with what the administrator has added."""
    return _budget(choices, _limits(choices, _guard(choices, _collector(choices, settings))))


def _collector(choices: Choices, settings: Settings) -> Settings:
    match choices.choose("collects orphans", ("", "real", "quick"), (12, 1, 2)):
        case "real":
            return replace(settings, collect_orphans=True, **REAL)
        case "quick":
            grace = settings.create_grace_seconds
            return replace(settings, collect_orphans=True, orphan_scan_seconds=SCANS * grace, orphan_age_seconds=AGE * grace)
    return settings


def collects_quickly(settings: Settings) -> bool:
    """Whether orphans are collected while faults and people go on."""
    return settings.collect_orphans and settings.orphan_age_seconds < REAL["orphan_age_seconds"]


def _guard(choices: Choices, settings: Settings) -> Settings:
    what = choices.choose("deletion guard", ("", "vms", "price", "both"), (8, 2, 1, 1))
    if what in {"vms", "both"}:
        settings = replace(settings, brake_vms=choices.choose("guard vms", (1, 2)))
    if what in {"price", "both"}:
        settings = replace(settings, brake_price_per_hour=choices.choose("guard price", (4.5, 2.5, 1.0)))
    if what and choices.choose("guard window", ("real", "short")) == "short":
        settings = replace(settings, brake_window_seconds=3 * settings.create_grace_seconds)
    return settings


def _limits(choices: Choices, settings: Settings) -> Settings:
    match choices.choose("limit", ("", "namespace", "account", "price"), (9, 1, 1, 1)):
        case "namespace":
            return replace(settings, max_vms_per_namespace=choices.choose("limit vms", (1, 2)))
        case "account":
            return replace(settings, max_vms_per_account=choices.choose("limit vms", (1, 2)))
        case "price":
            return replace(settings, max_price_per_hour_per_namespace=choices.choose("limit price", (4.5, 2.5)))
    return settings


def _budget(choices: Choices, settings: Settings) -> Settings:
    if choices.choose("request budget", ("real", "small"), (7, 1)) == "small":
        return replace(settings, cloud_qps=2.0, cloud_burst=4)
    return settings
