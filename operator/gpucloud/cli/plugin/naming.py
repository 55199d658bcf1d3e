"""Names of Kubernetes objects: whether a name is valid, and a valid one near it. Pure."""

from __future__ import annotations

import re

MOST_CHARACTERS = 253
NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")  # of RFC 1123: a subdomain


def refusal(name: str, kind: str) -> str:
    """Return what is wrong with a name for an object of this kind, and a valid one; empty if nothing is wrong."""
    if len(name) > MOST_CHARACTERS:
        return f"the name for the {kind} has {len(name)} characters: use {MOST_CHARACTERS} at most."
    if NAME.fullmatch(name):
        return ""
    parts = ", and each part between dots, too" if "." in name else ""
    return (
        f"{name!r} is not a name for a {kind}: use lower-case letters, digits, '-' and '.', and start and end with a letter or "
        f"digit{parts}, for example {object_name(name)}."
    )


def object_name(name: str) -> str:
    """Return the valid name that is nearest to this one."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[:200].strip("-") or "found"
