"""A reader's words for what the code calls otherwise, in the placeholders of the page."""

from __future__ import annotations

import re

from support.messages.kept import Kept

# By the name of the code.
WORDS = Kept(
    {
        **dict.fromkeys(("tenancy", "tenancy_name", "theirs", "elsewhere"), "tenant"),
        **dict.fromkeys(("cause", "connection_words", "strerror", "why"), "reason"),
        **dict.fromkeys(("ca_file", "filename", "files"), "file"),
        **dict.fromkeys(("few", "listed", "places"), "names"),
        **dict.fromkeys(("here", "scope"), "namespace option"),
        **dict.fromkeys(("LIMITS", "ctx", "returncode"), "number"),
        **dict.fromkeys(("called", "made_for", "old", "upper", "vpc_ref"), "name"),
        **dict.fromkeys(("input", "text"), "value"),
        **dict.fromkeys(("lower", "short_of", "NOUNS"), "kind"),
        "until": "status",
        **dict.fromkeys(("either", "served", "listing", "request", "export_command"), "command"),
        **dict.fromkeys(("item", "url"), "URL"),
        **dict.fromkeys(("quoted", "said"), "words of the apiserver"),
        **dict.fromkeys(("given", "left"), "argument"),
        "INNER": "entry",
        "ago": "duration",
        "cloud_id": "id",
        "function": "verb",
        "generation": "number",
        "least": "least number",
        "most": "greatest number",
        "object_name": "example",
        "operator_namespace": "namespace",
        "own_endpoint": "endpoint",
        "plural": "resource",
        "plurals": "resources",
        "shape": "kind of value",
        "typed": "kind and name",
        "vpc": "VPC",
        "who": "user",
    }
)
_NAMED = re.compile(r"(?<![{$])\{([A-Za-z_]\w*)(?:\[\w+\])?(!r)?\}(?!\})")


def in_words(text: str) -> str:
    """Return a text with each placeholder in a reader's words; what is quoted when it is filled in, with its quotes."""
    return _NAMED.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    words = WORDS.get(found[1], found[1].strip("_").replace("_", " "))
    return f"'{{{words}}}'" if found[2] else f"{{{words}}}"
