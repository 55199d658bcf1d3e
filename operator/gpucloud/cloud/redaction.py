r"""Blots secrets out of the words of others: a credential in each spelling that services write, and what quotes a document.

Pure. A text is decoded layer by layer, so the spelling of an escape (``%2B`` or ``%2b``, ``+`` or ``\u002B``, ``'`` or
``&#39;``) need not be known: a secret that shows in any layer is blotted out, and the text is answered as that layer has it.
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote, quote_plus

from gpucloud.cloud.errors import MAX_READ

Redact = Callable[[str], str]
_BLOT = "[redacted]"
_SHORTEST_SECRET = 4  # shorter ones would turn every message into stars
_LAYERS = 3  # such as JSON in HTML in JSON
_ESCAPED = re.compile(
    r"""(?:%[0-9a-f]{2})+|(?:[\\%]u[0-9a-f]{4})+|\\["'\\/bfnrt]|&(?:\#\d{1,7}|\#x[0-9a-f]{1,6}|[a-z]{2,8});""", re.IGNORECASE
)
_CONTROLS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CUT_ESCAPE = re.compile(r"(?:[\\%]{1,8}u?[0-9a-f]{0,3}|&\#?\w{0,8})\Z", re.IGNORECASE)

_RUN = 8  # so many characters that are in a document, too, are a quotation
_EDGES = " #-.,:;!?'\"`()[]{}…"
_FINE = r"[^\s\"'`,;:=<>(){}\[\]|]+"
_WORDS = (re.compile(_FINE), re.compile(r"[^\s\"'`]+"))
_VALUE = re.compile(rf"[:=][ \t]*[\"']?({_FINE})|^[ \t]*(?:-[ \t]+)?[\"']?({_FINE})[\"']?[ \t]*$", re.MULTILINE)
_KEY = re.compile(r"^[ \t]*(?:-[ \t]+)*([A-Za-z_][\w.-]*):(?=\s|$)", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*#+[ \t].*$", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z]?[a-z]{0,6}\Z")  # a short word of a language, which proves nothing unless it is a value
_COMMON = frozenset("true false null none root sudo users admin default always cloud-init cloud-config".split())  # noqa: SIM905
_LARGEST_DOCUMENT = 1_048_576


def redactor(secrets: tuple[str, ...], documents: tuple[str, ...] = ()) -> Redact:
    """Make the function that blots out of a text the secrets, in any spelling, and all that quotes a document.

    Of a text it answers no more than a message is made of.
    """
    known = [secret for secret in secrets if len(secret) >= _SHORTEST_SECRET]
    # Of a longer secret a text, which is cut off, holds no more than the beginning.
    forms = {form[:MAX_READ] for secret in known for form in (*_spellings(secret[:MAX_READ]), *_layers(secret))}
    ordered = sorted((form for form in forms if len(form) >= _SHORTEST_SECRET), key=len, reverse=True)
    contents = [_Content.of(_layers(document)) for document in documents]

    def hide(text: str) -> str:
        for form in ordered:
            text = text.replace(form, _BLOT)
        for content in contents:
            text = content.hide(text)
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


def document_of(encoded: str) -> tuple[str, ...]:
    """Return the text that is in base64, unpacked if gzip packed it, as cloud-init allows; nothing if it cannot be decoded."""
    try:
        content = base64.b64decode(encoded.translate(str.maketrans("-_", "+/")) + "==")
        if content.startswith(b"\x1f\x8b"):
            content = zlib.decompressobj(31).decompress(content, _LARGEST_DOCUMENT)
    except (binascii.Error, ValueError, zlib.error):
        return ()
    return (content.decode("utf-8", "replace"),)


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
            return rest[:-longest] + _BLOT
    return text


def _begun(text: str, form: str) -> int:
    """With how many of a secret's first characters the text ends; 0 if they are too few to tell."""
    tail = text[-len(form) :]
    at = tail.find(form[:_SHORTEST_SECRET])
    while at >= 0 and not form.startswith(tail[at:]):
        at = tail.find(form[:_SHORTEST_SECRET], at + 1)
    return len(tail) - at if at >= 0 else 0


@dataclass(frozen=True)
class _Content:
    """What a text may not quote of a document.

    ``line`` is the document, of which no eight characters in a row are shown. ``words`` are shorter words that could be
    secrets: values, and what holds more than letters. ``beginnings`` of words count where a text is cut off. ``names`` are
    the document's keys, which may be shown.
    """

    line: str
    words: frozenset[str]
    beginnings: frozenset[str]
    names: frozenset[str]

    @classmethod
    def of(cls, layers: list[str]) -> _Content:
        """Take a document apart, in all its layers."""
        document = "\n".join(dict.fromkeys(layers))
        names = frozenset(_KEY.findall(document)) | _COMMON
        values = {first or second for first, second in _VALUE.findall(document)}
        odd = {word.strip(_EDGES) for pattern in _WORDS for word in pattern.findall(document) if not _is_plain(word)}
        words = {word for word in values | odd if len(word) >= _SHORTEST_SECRET} - names
        return cls(
            " ".join(_COMMENT.sub(_without_prose, document).split()),
            frozenset(words),
            frozenset(word[:length] for word in words for length in range(_SHORTEST_SECRET, min(len(word), _RUN))),
            names,
        )

    def hide(self, text: str) -> str:
        """Blot out what the text quotes. A text in which there is something to hide is answered on one line."""
        line = " ".join(text.split())
        spans = sorted([*self._quoted(line), *self._told(line)])
        if not spans:
            return text
        shown, end = [], 0
        for start, stop in spans:
            if start >= end:
                shown += [line[end:start], _BLOT]
            end = max(end, stop)
        return "".join([*shown, line[end:]])

    def _quoted(self, line: str) -> Iterable[tuple[int, int]]:
        """Where runs of characters are the document's, each to the ends of its words."""
        # Of a large document only the runs that the text has, too, are kept in memory.
        runs = set(_runs(line)).intersection(_runs(self.line))
        start = stop = -1
        for at in range(len(line) - _RUN + 2):  # one more than there are pieces, to end the last run
            if line[at : at + _RUN] in runs:
                start, stop = (at if at > stop else start), at + _RUN
            elif start >= 0 and at > stop:
                yield from self._whole(line, start, stop)
                start = -1
        if start >= 0:
            yield from self._whole(line, start, stop)

    def _whole(self, line: str, start: int, stop: int) -> Iterable[tuple[int, int]]:
        run = line[start:stop]
        if run.strip(_EDGES) in self.names:
            return
        start += len(run) - len(run.lstrip(" :="))
        stop -= len(run) - len(run.rstrip())
        while start > 0 and not _is_edge(line[start - 1]):
            start -= 1
        while stop < len(line) and not _is_edge(line[stop]):
            stop += 1
        yield start, stop

    def _told(self, line: str) -> Iterable[tuple[int, int]]:
        """Where single words are the document's, or begin one of its words where they are cut off."""
        for word in (match for pattern in _WORDS for match in pattern.finditer(line)):
            bare = word[0].rstrip(_EDGES)
            cut = word.end() == len(line) or word[0].endswith(("…", "..."))
            if bare in self.words or (cut and bare in self.beginnings):
                yield word.start(), word.start() + len(bare)


def _runs(line: str) -> Iterator[str]:
    return (line[at : at + _RUN] for at in range(len(line) - _RUN + 1))


def _is_plain(word: str) -> bool:
    return _PLAIN.match(word.strip(_EDGES)) is not None


def _without_prose(comment: re.Match[str]) -> str:
    """Of a comment only what could be a secret, so that the cloud may say "the host" although a comment does."""
    return " ".join(word for word in comment[0].split() if not _is_plain(word))


def _is_edge(char: str) -> bool:
    return char.isspace() or char in "\"'`<>"
