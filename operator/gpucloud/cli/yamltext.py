"""YAML that every reader reads alike, whether it follows YAML 1.1 or 1.2.

kubectl and yq take more words for numbers and booleans than PyYAML does, and other characters for ends of lines. What a person
does not see is escaped, so that what is read is what is applied.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

# Words that some reader takes for a boolean, for nothing or for a number, in any case of letters.
WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity"})
BEGINS_AS_TEXT = re.compile(r"[A-Za-z/]")  # numbers, times and the other special values of YAML begin otherwise


def text_of(found: Any) -> str:
    """The document, without a line break at its end."""
    text: str = yaml.dump(found, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)
    return "".join(char if char == "\n" or char.isprintable() else _escape(char) for char in text.rstrip("\n"))


def _escape(char: str) -> str:
    """As it is written between double quotes, where alone such a character stands."""
    return f"\\U{ord(char):08x}" if ord(char) > 0xFFFF else f"\\u{ord(char):04x}"


class _Dumper(yaml.SafeDumper):
    """Quotes each string that could be read as something else, and between double quotes what has to be escaped."""


def _string(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    plain = BEGINS_AS_TEXT.match(text) is not None and text.casefold() not in WORDS
    style = (None if plain else "'") if text.replace("\n", "").isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _string)
