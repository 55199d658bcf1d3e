"""The tables of reasons and conditions: whole in docs/reference/status.md, and in short where users look for a way out."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from gpucloud.kinds.explained import EXPLAINED
from gpucloud.kinds.explained.conditions import CONDITIONS
from gpucloud.kinds.meta import Reason
from pages.markdown import between, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gpucloud.kinds.explained import Row

_OF_ANY = (
    Reason.INVALID_SPEC,
    Reason.REJECTED,
    Reason.CREDENTIALS_REFUSED,
    Reason.PERMISSION_DENIED,
    Reason.CONFLICT,
    Reason.AMBIGUOUS,
    Reason.API_ERROR,
    Reason.PROGRESS_DEADLINE_EXCEEDED,
    Reason.NO_ACCOUNT,
    Reason.TENANT_MISMATCH,
    Reason.ENDPOINT_MISMATCH,
    Reason.NOT_FOUND,
)
_OF_AN_ORDER = (*_OF_ANY, Reason.MISMATCH, Reason.ORDER_OVERDUE, Reason.DELETION_BLOCKED)
# What the page of recipes of a kind says of reasons: those that an object of the kind may be Stalled with, at least.
RECIPES: dict[str, tuple[str, tuple[Reason, ...]]] = {
    "gpuvm.md": (
        "GpuVM",
        (
            *_OF_AN_ORDER,
            Reason.REPLACING,
            Reason.RECREATION_LIMITED,
            Reason.INVALID_SSH_KEYS,
            Reason.POSSIBLE_DUPLICATE,
            Reason.CREATE_FAILED,
            Reason.VM_FAILED,
            Reason.ADMIN_WAIT,
            Reason.VM_LOST,
            Reason.DELETION_HELD,
            Reason.LIMIT_REACHED,
            Reason.INVALID_REFERENCE,
        ),
    ),
    "vpc.md": ("GpuVpc", (*_OF_AN_ORDER, Reason.VPC_LOST)),
    "snapshot.md": (
        "GpuSnapshot",
        (*_OF_AN_ORDER, Reason.INVALID_REFERENCE, Reason.SOURCE_NOT_FOUND, Reason.SNAPSHOT_LOST),
    ),
    "host.md": (
        "GpuHost",
        (
            *_OF_ANY,
            Reason.INVALID_REFERENCE,
            Reason.HOST_FAILED,
            Reason.HOST_LOST,
            Reason.SECRET_NOT_FOUND,
            Reason.INVALID_SECRET,
        ),
    ),
    "account.md": (
        "GpuCloudAccount",
        (
            Reason.PENDING,
            Reason.CONNECTED,
            Reason.SECRET_DELETING,
            Reason.SECRET_NOT_FOUND,
            Reason.INVALID_SECRET,
            Reason.UNKNOWN_ENDPOINT,
            Reason.CREDENTIALS_REFUSED,
            Reason.API_UNAVAILABLE,
            Reason.TENANT_MISMATCH,
            Reason.ENDPOINT_MISMATCH,
            Reason.DELETION_BLOCKED,
        ),
    ),
}
# Their way out is on the account's page: the other pages point there.
_OF_THE_ACCOUNT = (Reason.CREDENTIALS_REFUSED, Reason.TENANT_MISMATCH, Reason.ENDPOINT_MISMATCH)
_THE_ACCOUNT = "Look at [the account](account.md#it-is-not-ready-what-now)."
# While these stand, what was asked for is under way: nobody needs to look anything up.
_UNDER_WAY = (
    Reason.PROVISIONING,
    Reason.STARTING,
    Reason.STOPPING,
    Reason.RESTARTING,
    Reason.RECREATING,
    Reason.REBOOTING,
    Reason.REPROVISIONING,
    Reason.DELETING,
)
_ANCHOR, _ANCHORS = "it-is-stalled-what-now", {"account.md": "it-is-not-ready-what-now"}
_MORE = re.compile(r" \[More\]\([^)]*\)\.$")
_NEXT = re.compile(r"(?<=\.) (?=[A-Z\[`])")


def printed_into(page: str) -> str:
    """Return status.md with its tables printed again."""
    types = ((f"`{row.type}`", row.present, row.meaning) for row in CONDITIONS)
    page = between(page, "conditions", table(("Condition", "Present", "Meaning"), types))
    rows = ((f"`{row.reason}`", row.conditions, row.meaning, row.all_to_do) for row in EXPLAINED)
    return between(page, "reasons", table(("Reason", "Conditions", "Meaning", "What to do"), rows))


def recipes_into(page: str, name: str) -> str:
    """Return a kind's page of recipes with its table of reasons printed again."""
    kind, reasons = RECIPES[name]
    return between(page, "reasons", _of_rows((row for row in EXPLAINED if row.reason in reasons), partial(_about, kind)))


def troubles_into(page: str) -> str:
    """Return troubleshooting.md with its table of reasons printed again."""
    found = [row for row in EXPLAINED if row.conditions.startswith("Ready") and row.reason not in _UNDER_WAY]
    return between(page, "reasons", _of_rows((row for row in found if not row.conditions.startswith("Ready True")), _recipes))


def _of_rows(rows: Iterable[Row], words_of: Callable[[Row], str]) -> str:
    """A table for a page in docs/how-to. Reasons with the same way out share a row."""
    shown: dict[str, list[str]] = {}
    for row in rows:
        shown.setdefault(words_of(row).replace("](../how-to/", "]("), []).append(f"`{row.reason}`")
    return table(("Reason", "Do this"), ((", ".join(reasons), words) for words, reasons in shown.items()))


def _about(kind: str, row: Row) -> str:
    if row.reason in _OF_THE_ACCOUNT and kind != "GpuCloudAccount":
        return _THE_ACCOUNT
    own = row.of_kind.get(kind, "")
    return own[:1].upper() + own[1:] or _in_short(row.what_to_do)


def _recipes(row: Row) -> str:
    """Links to the recipes of the kinds that may be Stalled with this reason; what to do, if none may."""
    if "Stalled" not in row.conditions:
        return _in_short(row.what_to_do)
    if row.reason in _OF_THE_ACCOUNT:
        return _THE_ACCOUNT
    links = [
        f"[{kind}]({name}#{_ANCHORS.get(name, _ANCHOR)})" for name, (kind, reasons) in RECIPES.items() if row.reason in reasons
    ]
    return f"Look at the recipes of {', '.join(links)}."


def _in_short(text: str) -> str:
    """The first sentence, and the link to more."""
    more = _MORE.search(text)
    return _NEXT.split(text)[0] + (more[0] if more else "")
