"""The tables of the chart's README: every value, and every setting of the operator."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from chartfiles.settings import settings_of_values, shown
from pages.markdown import between, table

if TYPE_CHECKING:
    from chartfiles.values import Value


def with_tables(text: str, values: dict[str, Value]) -> str:
    """Return the README with its tables printed again between their marks."""
    for name, printed in (("values", _values(values)), ("settings", _settings())):
        text = between(text, name, printed, by="make chart")
    return text


def _values(values: dict[str, Value]) -> str:
    parents = {path.rpartition(".")[0] for path in values}
    rows = (
        (f"`{value.path}`", f"`{json.dumps(value.default, ensure_ascii=False)}`", value.description)
        for value in values.values()
        if value.path not in parents
    )
    return table(("Value", "Default", "Meaning"), rows)


def _settings() -> str:
    rows = ((f"`settings.{item.field}`", f"`{shown(item.default)}`", item.help) for item in settings_of_values())
    return table(("Value", "The operator's default", "Meaning"), rows)
