"""Progress of a wait on a terminal: a table that is drawn anew in place."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from gpucloud.cli.plugin.model.health import STYLES
from gpucloud.cli.plugin.model.verdicts import Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpucloud.cli.plugin.model.objects import Key


class Lively:
    """Shows what has come of each object so far."""

    def __init__(self) -> None:
        self._live = Live(
            console=Console(file=sys.stderr, highlight=False, markup=False, emoji=False), transient=True, refresh_per_second=8
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def update(self, verdicts: Mapping[Key, Verdict]) -> None:
        """Draw it."""
        rows = Table.grid(padding=(0, 1))
        for key, verdict in verdicts.items():
            mark: Any = (
                Spinner("dots") if verdict.outcome is Outcome.PENDING else Text("✓" if verdict.outcome is Outcome.MET else "✗")
            )
            style = STYLES[verdict.standing] if verdict.standing is not None else ""
            rows.add_row(mark, Text(str(key), style=style, no_wrap=True), Text(verdict.words, overflow="fold"))
        self._live.update(rows)
