"""The tables of the chart's README: every value, and every setting of the operator."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from chartfiles.settings import settings_of_values, shown, value_name

if TYPE_CHECKING:
    from chartfiles.values import Value

_TABLE = r"(?<=<!-- {name}: begin -->\n).*?(?=<!-- {name}: end -->)"


def with_tables(text: str, values: dict[str, Value]) -> str:
    """Return the README with its tables printed anew between their marks."""
    tables = {"values": _values(values), "settings": _settings()}
    for name, lines in tables.items():
        pattern = re.compile(_TABLE.format(name=name), re.DOTALL)
        printed = "".join(f"{line}\n" for line in lines)
        text = pattern.sub(printed.replace("\\", r"\\"), text)
    return text


def _values(values: dict[str, Value]) -> list[str]:
    parents = {path.rpartition(".")[0] for path in values}
    rows = [
        f"| `{value.path}` | `{json.dumps(value.default, ensure_ascii=False)}` | {_cell(value.description)} |"
        for value in values.values()
        if value.path not in parents
    ]
    return ["| Value | Default | Meaning |", "| --- | --- | --- |", *rows]


def _settings() -> list[str]:
    rows = [
        f"| `settings.{value_name(item.name)}` | `{shown(item.default)}` | {_cell(item.help)} |"
        for item in settings_of_values()
    ]
    return ["| Value | The operator's default | Meaning |", "| --- | --- | --- |", *rows]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
