"""Secrets that must turn up nowhere, searched for in every form that they may take."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote, quote_plus


def forms(secret: str) -> set[str]:
    """The secret plain, JSON- and URL-escaped, and in base64 at each of the three alignments within a longer text."""
    found = {secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1]}
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + secret.encode()).decode().rstrip("=")
        found.add(encoded[4 if offset else 0 : -2])  # what its neighbours have no part in
    return found


def leaks(places: dict[str, str], secrets: set[str]) -> list[str]:
    """Where one of them stands; the sentences do not repeat it."""
    wanted = {form for secret in secrets for form in forms(secret)}
    return [f"I6: a secret stands in {place}" for place, text in places.items() if any(form in text for form in wanted)]
