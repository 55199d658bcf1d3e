"""What a PromQL expression speaks of: metrics, labels and their values, by their places, in expressions as simple as ours.

Whether it is PromQL at all is promtool's to say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# What Prometheus adds to each series of a target, and where a label of ours goes when it bears such a name.
OF_TARGETS = frozenset({"namespace", "pod", "instance", "job", "service", "container", "endpoint", "exported_namespace"})
_WORDS = {"and", "or", "unless", "by", "on", "without", "ignoring", "group_left", "group_right", "offset", "bool"}
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_RANGE = re.compile(r"\[[^\]]*\]")
_GROUPING = re.compile(r"\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)")
_MATCHERS = re.compile(r"\{([^}]*)\}")
_MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')
_MADE = re.compile(r'"(\w+)"(?:\s*,\s*"[^"]*"){3}\s*\)')  # by label_replace, whose last four arguments are strings
_NAME = re.compile(r"\b[a-zA-Z_][a-zA-Z0-9_]*\b(?!\s*\()")


@dataclass(frozen=True)
class Spoken:
    """The names in an expression."""

    metrics: frozenset[str]
    labels: frozenset[str]
    made: frozenset[str]  # labels that it makes itself


def values_of(expression: str) -> set[tuple[str, str, bool]]:
    """Each value that a label is compared with, alternatives apart: the label, the value, and whether that is a pattern."""
    return {
        (label, value, "~" in how)
        for label, how, values in _MATCHER.findall(expression)
        for value in (values.split("|") if "~" in how else [values])
    }


def spoken_of(expression: str) -> Spoken:
    """Names of metrics stand where no function, keyword or label stands."""
    bare = _RANGE.sub("", _STRING.sub('""', expression))
    labels = {name.strip() for names in _GROUPING.findall(bare) for name in names.split(",") if name.strip()}
    labels |= {
        re.split(r"=~|!~|!=|=", matcher)[0].strip() for inside in _MATCHERS.findall(bare) for matcher in inside.split(",")
    }
    rest = _MATCHERS.sub("", _GROUPING.sub("", bare))
    return Spoken(frozenset(_NAME.findall(rest)) - _WORDS, frozenset(labels), frozenset(_MADE.findall(expression)))
