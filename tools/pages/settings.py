"""The table of docs/reference/settings.md: each setting of the operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.flags import FLAGS
from pages.markdown import between, table

if TYPE_CHECKING:
    from gpucloud.flags import Flag


def printed_into(page: str) -> str:
    """Return the page with its table printed anew."""
    return between(page, "settings", table(("Flag", "Variable", "Default", "Meaning"), map(_row, FLAGS.values())))


def _row(item: Flag) -> tuple[str, ...]:
    return f"`{item.option}`", f"`{item.variable}`", _shown(item.default), item.help


def _shown(default: Any) -> str:
    if default in {"", ()}:
        return "none"
    return str(default).lower() if isinstance(default, bool) else str(default)
