"""YAML that every reader reads alike, whether it follows YAML 1.1 or 1.2.

kubectl and yq take more words for numbers and booleans than PyYAML does.
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
    return text.rstrip()


class _Dumper(yaml.SafeDumper):
    """Quotes each string that could be read as something else."""


def _string(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    plain = BEGINS_AS_TEXT.match(text) is not None and text.casefold() not in WORDS
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain else "'")


_Dumper.add_representer(str, _string)
