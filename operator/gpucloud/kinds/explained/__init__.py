"""What every reason means, and what to do: printed as the table of docs/reference/status.md and for ``explain``."""

from __future__ import annotations

from gpucloud.kinds.explained.events import EVENTS
from gpucloud.kinds.explained.progress import PROGRESS
from gpucloud.kinds.explained.references import REFERENCES
from gpucloud.kinds.explained.row import Row
from gpucloud.kinds.explained.trouble import TROUBLE

__all__ = ["EXPLAINED", "Row"]

EXPLAINED: tuple[Row, ...] = (*PROGRESS, *TROUBLE, *REFERENCES, *EVENTS)  # in the order of the page
