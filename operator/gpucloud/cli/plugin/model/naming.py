"""Names of Kubernetes objects: whether a name is valid, and a valid one near it. Pure."""

from __future__ import annotations

import re

MOST_CHARACTERS = 253
SHORTER = f"Use {MOST_CHARACTERS} at most."
NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")  # of RFC 1123: a subdomain


def refusal(name: str, kind: str) -> str:
    """Return what is wrong with a name for an object of this kind, and a valid one; empty if nothing is wrong."""
    if is_too_long(name):
        return f"{too_long(name, kind)} {SHORTER}"
    return "" if NAME.fullmatch(name) else f"{malformed(name, kind)} {rule(name)}"


def is_too_long(name: str) -> bool:
    """Whether a name has more characters than an object's may have."""
    return len(name) > MOST_CHARACTERS


def too_long(name: str, kind: str) -> str:
    """Return what is wrong with such a name."""
    return f"the name for the {kind} has {len(name)} characters."


def malformed(name: str, kind: str) -> str:
    """Return what is wrong with a name that has other characters."""
    return f"{name!r} is not a name for a {kind}."


def rule(name: str) -> str:
    """Return what a name is made of, and the valid one that is nearest."""
    parts = ", and each part between dots, too" if "." in name else ""
    return (
        f"Use lower-case letters, digits, '-' and '.', and start and end with a letter or digit{parts}, for example "
        f"{object_name(name)}."
    )


def object_name(name: str) -> str:
    """Return the valid name that is nearest to this one."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[:200].strip("-") or "found"
