"""``explain``: what a reason of a condition or event means, and what to do. Asks no cluster."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.plugin.model.explanations import explanations, without_markdown
from gpucloud.cli.plugin.model.health import MEANINGS, Standing
from gpucloud.cli.terminal import marks, printing
from gpucloud.cli.terminal.page import Line, table
from gpucloud.cli.terminal.printing import Output
from gpucloud.cli.terminal.text import clean
from gpucloud.kinds.explained.conditions import CONDITIONS
from gpucloud.reconcile.commands import AFTER_COMMAND
from gpucloud.spelling import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpucloud.cli.plugin.kube.access import At
    from gpucloud.cli.plugin.model.explanations import Explanation


def explain(_at: At, *, reason: str | None, output: Output) -> int:
    """One reason whole; without one the list of all."""
    known = explanations()
    if reason is None:
        found = list(known.values())
    else:
        words = {**_standings(), **_condition_types(), **known}
        found = [row for name, row in words.items() if name.lower() == reason.lower()]
        if not found:
            every = f"See all: {marks.paste('kubectl gpucloud explain')}"
            near = suggestion(reason, known) or suggestion(reason, _condition_types())
            raise PluginError(f"unknown reason {clean(reason)!r}.{near}", ExitCode.MISUSED, do=every)
    if output is not Output.TEXT:
        printing.document({"reasons": found}, output)
    elif reason is None:
        printing.lines(table(("REASON", "CONDITIONS"), [[row["reason"], row["conditions"]] for row in found]))
    else:
        printing.lines(_whole(found[0]))
    return ExitCode.OK


def _standings() -> Mapping[str, Explanation]:
    """The words by which ``status`` says how an object stands; one of them stands alone where there is no reason yet."""
    see, more = "See its reason and message: kubectl gpucloud status", "More of a reason: kubectl gpucloud explain REASON"
    look = f"{see}{AFTER_COMMAND}{more}"
    wait = "Wait for a minute. If it stays, no operator runs, or none watches the namespace: kubectl gpucloud doctor"
    return {
        word.value: {
            "reason": word.value,
            "conditions": "none: a word of kubectl gpucloud status for how an object stands",
            "meaning": meaning,
            "whatToDo": wait if word is Standing.UNSEEN else look,
        }
        for word, meaning in MEANINGS.items()
    }


def _condition_types() -> Mapping[str, Explanation]:
    """The conditions themselves, which people see beside their reasons."""
    return {
        row.type.value: {
            "reason": row.type.value,
            "conditions": f"a condition itself, present {row.present.replace('`', '')}",
            "meaning": without_markdown(row.meaning),
            "whatToDo": "The reason beside it says more: kubectl gpucloud explain REASON",
        }
        for row in CONDITIONS
    }


def _conditions(row: Explanation) -> str:
    """Where the reason is shown: the page's marks in words."""
    shown = row["conditions"].replace("once it was seen", "once the cloud has shown it,").replace(" + ", " with ")
    return re.sub(r"\bevent\b", "an Event", shown)


def _whole(row: Explanation) -> Iterator[Line]:
    yield Line(row["reason"], style="bold")
    for title, text in (("Conditions", _conditions(row)), ("Meaning", row["meaning"]), ("What to do", row["whatToDo"])):
        yield Line("")
        yield Line(f"{title}:")
        yield Line(marks.read(text), "  ", "  ")
