"""State that one reconcile of an object leaves for the next."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(slots=True)
class Reconciled:
    """The controller's part of an object's entry. Times are mono seconds."""

    differs_since: float | None = None  # when the status in the apiserver began to differ from the plan's
    failures: int = 0  # exceptions in a row
    confirmed: float = -math.inf  # when the last request began whose answer showed the object
    released: str | None = None  # the resourceVersion from which our finalizer was removed
    withheld: str | None = None  # what --observe-only withholds now
    withheld_logged: str | None = None
    undone: int = 0  # status writes in a row that somebody undid, or that had no effect
    refused: tuple[int, int] | None = None  # the cached version, and how often the apiserver refused it
