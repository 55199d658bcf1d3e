"""Redacts what a text quotes of a document: runs of its characters, its values, and words that could be secrets. Pure."""

import base64
import binascii
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

REDACTED = "[redacted]"
SHORTEST_SECRET = 4  # shorter ones would turn every message into stars

_QUOTED_LENGTH = 8  # so many characters that are in a document, too, are a quotation
_PUNCTUATION = " #-.,:;!?'\"`()[]{}…"
_BARE_WORD = r"[^\s\"'`,;:=<>(){}\[\]|]+"
_WORDS = (re.compile(_BARE_WORD), re.compile(r"[^\s\"'`]+"))
_VALUE = re.compile(rf"[:=][ \t]*[\"']?({_BARE_WORD})|^[ \t]*(?:-[ \t]+)?[\"']?({_BARE_WORD})[\"']?[ \t]*$", re.MULTILINE)
_KEY = re.compile(r"^[ \t]*(?:-[ \t]+)*([A-Za-z_][\w.-]*):(?=\s|$)", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*#+[ \t].*$", re.MULTILINE)
_PLAIN_WORD = re.compile(r"[A-Za-z]?[a-z]{0,6}\Z")  # a short word of a language, which proves nothing unless it is a value
_COMMON_WORDS = frozenset("true false null none root sudo users admin default always cloud-init cloud-config".split())  # noqa: SIM905
_LARGEST_DOCUMENT = 1_048_576


def document_of(encoded: str) -> tuple[str, ...]:
    """Return the text that is in base64, unpacked if gzip packed it, as cloud-init allows; nothing if it cannot be decoded."""
    try:
        content = base64.b64decode(encoded.translate(str.maketrans("-_", "+/")) + "==")
        if content.startswith(b"\x1f\x8b"):
            content = zlib.decompressobj(31).decompress(content, _LARGEST_DOCUMENT)
    except (binascii.Error, ValueError, zlib.error):
        return ()
    return (content.decode("utf-8", "replace"),)


@dataclass(frozen=True)
class Quotations:
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
    def of(cls, layers: list[str]) -> Self:
        """Take a document apart, in all its layers."""
        document = "\n".join(dict.fromkeys(layers))
        names = frozenset(_KEY.findall(document)) | _COMMON_WORDS
        values = {first or second for first, second in _VALUE.findall(document)}
        odd = {word.strip(_PUNCTUATION) for pattern in _WORDS for word in pattern.findall(document) if not _is_plain(word)}
        words = {word for word in values | odd if len(word) >= SHORTEST_SECRET} - names
        return cls(
            " ".join(_COMMENT.sub(_without_plain_words, document).split()),
            frozenset(words),
            frozenset(word[:length] for word in words for length in range(SHORTEST_SECRET, min(len(word), _QUOTED_LENGTH))),
            names,
        )

    def hide(self, text: str) -> str:
        """Blot out what the text quotes. A text in which there is something to hide is answered on one line."""
        line = " ".join(text.split())
        spans = sorted([*self._quoted_runs(line), *self._quoted_words(line)])
        if not spans:
            return text
        shown, end = [], 0
        for start, stop in spans:
            if start >= end:
                shown += [line[end:start], REDACTED]
            end = max(end, stop)
        return "".join([*shown, line[end:]])

    def _quoted_runs(self, line: str) -> Iterable[tuple[int, int]]:
        """Where runs of characters are the document's, each to the ends of its words."""
        # Of a large document only the runs that the text has, too, are kept in memory.
        runs = set(_pieces(line)).intersection(_pieces(self.line))
        start = stop = -1
        for at in range(len(line) - _QUOTED_LENGTH + 2):  # one more than there are pieces, to end the last run
            if line[at : at + _QUOTED_LENGTH] in runs:
                start, stop = (at if at > stop else start), at + _QUOTED_LENGTH
            elif start >= 0 and at > stop:
                yield from self._extended_to_words(line, start, stop)
                start = -1
        if start >= 0:
            yield from self._extended_to_words(line, start, stop)

    def _extended_to_words(self, line: str, start: int, stop: int) -> Iterable[tuple[int, int]]:
        """Where a run is with the rest of its first and last word; nowhere if it is a name that may be shown."""
        run = line[start:stop]
        if run.strip(_PUNCTUATION) in self.names:
            return
        start += len(run) - len(run.lstrip(" :="))
        stop -= len(run) - len(run.rstrip())
        while start > 0 and not _ends_word(line[start - 1]):
            start -= 1
        while stop < len(line) and not _ends_word(line[stop]):
            stop += 1
        yield start, stop

    def _quoted_words(self, line: str) -> Iterable[tuple[int, int]]:
        """Where single words are the document's, or begin one of its words where they are cut off."""
        for word in (match for pattern in _WORDS for match in pattern.finditer(line)):
            bare = word[0].rstrip(_PUNCTUATION)
            cut = word.end() == len(line) or word[0].endswith(("…", "..."))
            if bare in self.words or (cut and bare in self.beginnings):
                yield word.start(), word.start() + len(bare)


def _pieces(line: str) -> Iterator[str]:
    return (line[at : at + _QUOTED_LENGTH] for at in range(len(line) - _QUOTED_LENGTH + 1))


def _is_plain(word: str) -> bool:
    return _PLAIN_WORD.match(word.strip(_PUNCTUATION)) is not None


def _without_plain_words(comment: re.Match[str]) -> str:
    """Of a comment only what could be a secret, so that the cloud may say "the host" although a comment does."""
    return " ".join(word for word in comment[0].split() if not _is_plain(word))


def _ends_word(char: str) -> bool:
    return char.isspace() or char in "\"'`<>"
