"""The expressions of those alerts that speak of every kind: each kind has metrics of its own, named after it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpucloud.kinds.definitions import DEFINITIONS
from gpucloud.kinds.meta import ConditionType, Reason

if TYPE_CHECKING:
    from collections.abc import Iterator

# What has an alert of its own.
_TOLD_ELSEWHERE = (Reason.CREDENTIALS_REFUSED, Reason.DELETION_HELD)
# What may wait for as long as it likes, or has the alert of deletions.
_MAY_WAIT = (Reason.WAITING_FOR_CAPACITY, Reason.OBSERVE_ONLY, Reason.DELETING, Reason.DELETION_BLOCKED)
_INDENT = " " * 10


@dataclass(frozen=True)
class OfEveryKind:
    """An expression: what stands around the series of all kinds, and which they are."""

    begins: str
    metric: str  # {} stands for the kind
    labels: str
    ends: str

    def lines(self) -> Iterator[str]:
        """The expression, a line for each kind, which is then a label."""
        yield self.begins
        for number, item in enumerate(DEFINITIONS):
            series = f"{self.metric.format(item.kind.lower())}{{{self.labels}}}"
            yield f'{"or " if number else ""}label_replace({series}, "kind", "{item.kind}", "", "")'
        yield self.ends


def _but(reasons: tuple[Reason, ...]) -> str:
    return f'reason!~"{"|".join(reasons)}"'


PRINTED = {
    "GpucloudObjectsStalled": OfEveryKind(
        "sum by (namespace, kind, reason) (max by (namespace, exported_namespace, kind, reason) (",
        "operator_{}_status_condition_count",
        f'type="{ConditionType.STALLED}", {_but(_TOLD_ELSEWHERE)}',
        ")) > 0",
    ),
    "GpucloudObjectsWaiting": OfEveryKind(
        "max by (namespace, kind, reason) (",
        "operator_{}_status_condition_current_status_seconds",
        f'type="{ConditionType.RECONCILING}", {_but(_MAY_WAIT)}',
        ") > 18000",
    ),
    "GpucloudDeletionsWaiting": OfEveryKind(
        "max by (namespace, kind, reason) (",
        "operator_{}_termination_current_time_seconds",
        f'type!="{ConditionType.STALLED}", reason!="{Reason.OBSERVE_ONLY}"',
        ") > 3600",
    ),
}
_EXPRESSION = r"(- alert: {alert}\n(?: +#.*\n)* +expr: >-\n)(?:{indent}.*\n)+"


def with_expressions(text: str) -> str:
    """Return the rules with these expressions printed anew."""
    for alert, printed in PRINTED.items():
        lines = "".join(f"{_INDENT}{line}\n" for line in printed.lines())
        text, found = re.subn(_EXPRESSION.format(alert=alert, indent=_INDENT), rf"\g<1>{lines}", text)
        if found != 1:
            raise ValueError(f"the rules have no alert {alert} with an expression of several lines")
    return text
