r"""Redacts texts of others: secrets in each spelling that services write, and quotations of documents (``quotations``).

Pure. A text is decoded layer by layer, so the spelling of an escape (``%2B`` or ``%2b``, ``+`` or ``\u002B``, ``'`` or
``&#39;``) need not be known: a secret that shows in any layer is blotted out, and the text is answered as that layer has it.
"""

import html
import json
import re
from collections.abc import Callable
from urllib.parse import quote, quote_plus

from gpucloud.cloud.errors import MAX_READ
from gpucloud.cloud.quotations import REDACTED, SHORTEST_SECRET, Quotations

Redact = Callable[[str], str]
_LAYERS = 3  # such as JSON in HTML in JSON
_ESCAPED = re.compile(
    r"""(?:%[0-9a-f]{2})+|(?:[\\%]u[0-9a-f]{4})+|\\["'\\/bfnrt]|&(?:\#\d{1,7}|\#x[0-9a-f]{1,6}|[a-z]{2,8});""", re.IGNORECASE
)
_CONTROLS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CUT_ESCAPE = re.compile(r"(?:[\\%]{1,8}u?[0-9a-f]{0,3}|&\#?\w{0,8})\Z", re.IGNORECASE)


def redactor(secrets: tuple[str, ...], documents: tuple[str, ...] = ()) -> Redact:
    """Make the function that blots out of a text the secrets, in any spelling, and all that quotes a document.

    Of a text it answers no more than a message is made of.
    """
    known = [secret for secret in secrets if len(secret) >= SHORTEST_SECRET]
    # Of a longer secret a text, which is cut off, holds no more than the beginning.
    forms = {form[:MAX_READ] for secret in known for form in (*_spellings(secret[:MAX_READ]), *_layers(secret))}
    ordered = sorted((form for form in forms if len(form) >= SHORTEST_SECRET), key=len, reverse=True)
    quotations = [Quotations.of(_layers(document)) for document in documents]

    def hide(text: str) -> str:
        for form in ordered:
            text = text.replace(form, REDACTED)
        for quotation in quotations:
            text = quotation.hide(text)
        return _without_beginning(text, ordered)

    def redact(text: str) -> str:
        shown = layer = hide(text[:MAX_READ])
        for _ in range(_LAYERS):
            decoded = _decoded(layer)
            hidden = hide(decoded)
            if hidden != decoded:
                shown = hidden
            if hidden == layer:
                break  # so would be every further layer
            layer = hidden
        return shown

    return redact


def _spellings(secret: str) -> set[str]:
    """A secret as it is, in JSON, in URLs and forms, and each of these in HTML: what a text may be cut off in."""
    in_json = {json.dumps(secret, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    written = {secret, *in_json, quote(secret, safe=""), quote(secret), quote_plus(secret), secret.replace(" ", "+")}
    return written | {html.escape(form) for form in written}


def _layers(text: str) -> list[str]:
    """A text, and what each decoding makes of it: a secret may itself look like an escape."""
    layers = [text]
    while len(layers) <= _LAYERS and (decoded := _decoded(layers[-1])) != layers[-1]:
        layers.append(decoded)
    return layers


def _decoded(text: str) -> str:
    return _ESCAPED.sub(_character, text)


def _character(escaped: re.Match[str]) -> str:
    """What an escape of JSON, a URL or HTML stands for; half a character stands for nothing."""
    written = escaped[0]
    if written[0] == "&":
        return html.unescape(written)
    if written[1] in "uU" and len(written) > 2:
        return bytes.fromhex(written.lower().replace("\\u", "").replace("%u", "")).decode("utf-16-be", "ignore")
    if written[0] == "%":
        return bytes.fromhex(written.replace("%", "")).decode("utf-8", "ignore")
    return _CONTROLS.get(written[1], written[1])


def _without_beginning(text: str, forms: list[str]) -> str:
    """The text without the first part of a secret at its end: an answer may be cut off within one, and within an escape."""
    for rest in dict.fromkeys((text, _CUT_ESCAPE.sub("", text))):
        longest = max((_begun(rest, form) for form in forms), default=0)
        if longest:
            return rest[:-longest] + REDACTED
    return text


def _begun(text: str, form: str) -> int:
    """With how many of a secret's first characters the text ends; 0 if they are too few to tell."""
    tail = text[-len(form) :]
    at = tail.find(form[:SHORTEST_SECRET])
    while at >= 0 and not form.startswith(tail[at:]):
        at = tail.find(form[:SHORTEST_SECRET], at + 1)
    return len(tail) - at if at >= 0 else 0
