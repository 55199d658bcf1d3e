"""Recognises tokens of well-known services by their beginning, wherever a text holds one. Pure.

A row matches what only a token looks like: never a UID, a hash, the digest of an image, a public key or the name of a VM, which
has lower-case letters, digits and hyphens. Where a token may look like such a name, it must have a capital letter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_CAPITAL = r"(?=[a-z0-9_-]*[A-Z])"


@dataclass(frozen=True, slots=True)
class WellKnownToken:
    """One service's tokens: the pattern, and why it is as it is."""

    service: str
    pattern: str
    why: str


TOKENS = (
    WellKnownToken("GitHub", r"gh[opusr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}", "36 letters; fewer where a log cuts them off"),
    WellKnownToken("GitLab", rf"gl(?:pat|dt|rt)-{_CAPITAL}[\w-]{{20,}}", "20 letters or more, which may be hyphens"),
    WellKnownToken("Hugging Face", r"hf_[A-Za-z0-9]{20,}", "34 letters; hf_hub_download is a function"),
    WellKnownToken(
        "OpenAI, Anthropic and others", rf"sk-{_CAPITAL}[\w-]{{20,}}", "a VM may be called sk-learn-training-a100-1"
    ),
    WellKnownToken("DeepSeek", r"sk-[0-9a-f]{32}(?![\w-])", "32 hexadecimal digits, without a capital letter"),
    WellKnownToken("NVIDIA", rf"nvapi-{_CAPITAL}[\w-]{{20,}}", "keys of NGC, with which images and models are pulled"),
    WellKnownToken("AWS", r"A[KS]IA[A-Z2-7]{16}(?![A-Za-z0-9])", "exactly 20 letters: a word of capitals is no key"),
    WellKnownToken("Google", r"AIza[\w-]{35}(?![\w-])", "exactly 39 letters"),
    WellKnownToken("Slack", r"xox[abceprs]-\d+-[\w-]{16,}", "a number comes first; xoxo- begins no token"),
    WellKnownToken("Docker Hub", r"dckr_pat_[\w-]{20,}", "access tokens, with which images are pulled"),
    WellKnownToken("npm and PyPI", r"npm_[A-Za-z0-9]{36}|pypi-AgEI[\w-]{20,}", "tokens of package registries"),
    WellKnownToken("Vault", r"hvs\.[\w-]{20,}", "tokens with which a Secret may be read"),
    WellKnownToken(
        "JSON Web Token", r"eyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?", 'its header begins with {" in base64; logins of the cloud'
    ),
)
# A token begins where a word does, also behind an escape of JSON or of a URL: so no word is looked through twice.
_BEGIN = r"(?:(?<![\w-])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
_ANY = re.compile(rf"{_BEGIN}(?:{'|'.join(row.pattern for row in TOKENS)})")


def without_tokens(text: str, instead: str) -> str:
    """Return a text with each well-known token replaced."""
    return _ANY.sub(instead, text)
