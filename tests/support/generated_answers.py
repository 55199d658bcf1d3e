"""Answers that no cloud should give, drawn from a good one: each class breaks it in one way, and says what is right then.

``RIGHT`` are the kinds of error that a caller may get of a class; RECORD among them means that it may be read as well.
"""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpucloud.cloud.errors import ErrorKind

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

RECORD = "a record"
ANY = frozenset({RECORD, *ErrorKind})
UNREADABLE = frozenset({ErrorKind.MALFORMED})
NESTED = 20_000
WORDS = ("", " ", "\x00", "\u2028", "ONLINE\x1b[2J", "a\r\nb", "{}", "%s{0}", "null", "NaN", "\ud800", "e" * 5000, "\U0001f9e8")
NUMBERS = (0, -1, 2**31, 2**53, 2**63, 2**64, 10**30, 10**400, -(10**400), 1e308, -1e308, 1e-320, 0.1)
MOMENTS = (
    "0001-01-01T00:00:00Z",
    "0002-01-01T00:00:00",
    "0999-12-31T23:59:59Z",
    "9999-12-31T23:59:59-14:00",
    "2024-13-01",
    "0",
)
SHAPES = (None, True, False, [], {}, [[]], [None], {"": None}, {"items": []}, {"result": []}, {"error": {}})


@dataclass(frozen=True)
class Rubbish:
    """One answer: what is sent, and what may come of it when the call's outcome hangs on it."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    right: frozenset[str] = ANY


def odd(r: Random) -> Any:
    """A JSON value that nobody expects."""
    return r.choice((r.choice(WORDS), r.choice(NUMBERS), r.choice(MOMENTS), r.choice(SHAPES)))


def encoded(value: Any) -> bytes:
    """As JSON; lone surrogates are escaped, as many writers do."""
    return json.dumps(value).encode()


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values inside."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(inner for name, item in items for inner in places(item, (*path, name)))]


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The same with another value at this path."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(value[path[0]], path[1:], new)
    return copy


def mutated(r: Random, good: Any) -> Any:
    """One to three values of it are odd, doubled, or gone."""
    for _ in range(r.randint(1, 3)):
        where = r.choice(places(good))
        parent = good
        for name in where[:-1]:
            parent = parent[name]
        match r.choice(("odd", "odd", "odd", "gone", "double")):
            case "gone" if isinstance(parent, dict) and where:
                good = put(good, where[:-1], {name: item for name, item in parent.items() if name != where[-1]})
            case "double" if isinstance(parent, list) and where:
                good = put(good, where[:-1], [*parent, parent[where[-1]]])
            case _:
                good = put(good, where, odd(r))
    return good


def enveloped(r: Random, value: Any) -> Any:
    """Sometimes in the service's envelope, whose flags may be odd too."""
    if r.random() < 0.5:
        return value
    flags = {"success": r.choice((True, True, False, "true", "FALSE", None, 1)), "error": r.choice((None, None, odd(r)))}
    return {"result": value, **flags, "unAuthorizedRequest": r.choice((False, False, True, "True", odd(r))), "__abp": True}


# --- the classes ------------------------------------------------------------------------------------------------------


def truncated(r: Random, good: Any) -> Rubbish:
    whole = encoded(enveloped(r, good))
    return Rubbish(200, whole[: r.randrange(len(whole))], right=UNREADABLE)


def markup(r: Random, good: Any) -> Rubbish:  # noqa: ARG001 - the form of a class
    pages = (b"<html><body>log in</body></html>", b"<!doctype html>" + b"<p" * 9000, b"\xef\xbb\xbf<html/>", b"<" * 50_000)
    return Rubbish(200, r.choice(pages), (("Content-Type", "text/html"),), UNREADABLE)


def wrong_type(r: Random, good: Any) -> Rubbish:  # noqa: ARG001
    shape = r.choice(("text", 7, -0.0, True, None, 10**400, [[]], [[], {}]))
    return Rubbish(200, encoded(enveloped(r, shape)), right=ANY - {RECORD})


def nulls(r: Random, good: Any) -> Rubbish:
    for where in r.sample(places(good), k=r.randint(1, len(places(good)))):
        try:
            good = put(good, where, None)
        except (TypeError, KeyError, IndexError):
            continue  # what holds it is null already
    return Rubbish(200, encoded(enveloped(r, good)))


def duplicates(r: Random, good: Any) -> Rubbish:
    """Items twice, and names twice within one object."""
    if isinstance(good, dict) and isinstance(good.get("items"), list):
        good = good | {"items": good["items"] * r.randint(2, 4)}
    text = json.dumps(good)
    doubled = (
        text[:-1] + ', "id": "second", "items": ' + json.dumps(good.get("items")) + "}" if isinstance(good, dict) else text
    )
    return Rubbish(200, r.choice((text, doubled)).encode())


def bad_utf8(r: Random, good: Any) -> Rubbish:
    body = bytearray(encoded(good | {"note": "x"} if isinstance(good, dict) else [*good, "x"]))
    at = body.rindex(b"x")
    surrogate = b"\xed\xa0\x80"  # Python's reader lets it pass
    body[at : at + 1] = wrong = r.choice((b"\xff", b"\xc0\xaf", surrogate, b"\xf8\x88\x80\x80\x80", b"\x80"))
    return Rubbish(200, bytes(body), right=UNREADABLE | ({RECORD} if wrong == surrogate else set()))


def deep(r: Random, good: Any) -> Rubbish:
    depth = r.choice((50, 900, NESTED))
    inside = r.choice(('{"id":', "[", '{"items":[', '{"result":', '{"error":'))
    closing = "".join({"{": "}", "[": "]"}[char] for char in reversed(inside) if char in "{[")
    return Rubbish(r.choice((200, 200, 500)), (inside * depth + json.dumps(good) + closing * depth).encode())


def huge_number(r: Random, good: Any) -> Rubbish:
    digits = r.choice(("1" * 400, "-" + "9" * 4000, "1" * 4301, "1e999", "-1e999", "NaN", "Infinity", "1" + "0" * 308))
    where = r.choice(places(good))
    return Rubbish(200, encoded(put(good, where, "@")).replace(b'"@"', digits.encode()))


def schema_mutated(r: Random, good: Any) -> Rubbish:
    return Rubbish(r.choice((200, 202)), encoded(enveloped(r, mutated(r, good))))


def unknown_words(r: Random, good: Any) -> Rubbish:
    """States that nobody has heard of, and fields from the future."""
    word = r.choice((*WORDS, "SHUT_DOWN_SOON", "online", "Deleted", "GONE"))
    records = good.get("items", [good]) if isinstance(good, dict) else []
    fresh = [item | {"status": word, "operationalStatus": word, "fromTheFuture": [word]} for item in records]
    if isinstance(good, dict):
        good = good | {"items": fresh} if "items" in good else fresh[0]
    return Rubbish(200, encoded(good))


def complaint(r: Random, good: Any) -> Rubbish:
    """An error of any status, whose words are odd."""
    body = {"error": r.choice((odd(r), {"message": odd(r), "code": odd(r), "details": odd(r), "validationErrors": odd(r)}))}
    status = r.choice((300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 408, 409, 422, 429, 500, 502, 503, 504, 599))
    location = r.choice(
        ("", "/", "//", "http:///x", "http://[::1", "x" * 9000, "http://h:99999/", "file:///etc", "h\x7f:", "http:h")
    )
    headers = (("Location", location), ("Retry-After", r.choice(("-1", "1e9", "soon", "0"))), ("WWW-Authenticate", "\x7f" * 99))
    return Rubbish(status, encoded(r.choice((body, mutated(r, body), good))), headers, ANY - {RECORD})


def compressed(r: Random, good: Any) -> Rubbish:
    """Compressed in a broken way, or in one that was not asked for."""
    whole, kind = gzip.compress(encoded(good), mtime=0), r.choice(("cut", "bent", "plain", "deflate", "br", "twice"))
    bodies = {
        "cut": whole[: r.randrange(1, len(whole) - 8)],
        "bent": whole[:10] + bytes(r.randrange(256) for _ in range(20)) + whole[30:],
        "plain": encoded(good),
        "deflate": zlib.compress(encoded(good)),
        "br": encoded(good),
        "twice": gzip.compress(whole, mtime=0),
    }
    encoding = {"deflate": "deflate", "br": "br, gzip"}.get(kind, "gzip")
    right = UNREADABLE | {RECORD} if kind == "bent" else UNREADABLE
    return Rubbish(200, bodies[kind], (("Content-Encoding", encoding),), right)


def too_large(r: Random, good: Any) -> Rubbish:  # noqa: ARG001
    """More than the client takes in these tests (see SMALL_BODY), plain or compressed."""
    body = b" " * (SMALL_BODY + r.choice((1, 5000, 900_000)))
    if r.random() < 0.5:
        return Rubbish(200, body, right=frozenset({ErrorKind.TOO_LARGE}))
    return Rubbish(200, gzip.compress(body, 1, mtime=0), (("Content-Encoding", "gzip"),), frozenset({ErrorKind.TOO_LARGE}))


def noise(r: Random, good: Any) -> Rubbish:
    """Bytes, and a good answer with some of its bytes replaced."""
    if r.random() < 0.3:
        return Rubbish(200, r.randbytes(r.randrange(300)), right=ANY - {RECORD})
    body = bytearray(encoded(enveloped(r, good)))
    for _ in range(r.randint(1, 4)):
        at = r.randrange(len(body) + 1)
        body[at : at + r.randrange(3)] = r.choice((b"", b"null", b"[", b"}", b'"', b"\xff", b"1e999", b"-", b"\\u0000"))
    return Rubbish(r.choice((200, 202, 204, 206, 299)), bytes(body))


SMALL_BODY = 100_000
CLASSES: dict[str, Callable[[Random, Any], Rubbish]] = {
    make.__name__: make
    for make in (
        truncated,
        markup,
        wrong_type,
        nulls,
        duplicates,
        bad_utf8,
        deep,
        huge_number,
        schema_mutated,
        unknown_words,
        complaint,
        compressed,
        too_large,
        noise,
    )
}


def bomb(mebibytes: int) -> bytes:
    """So much of nothing, gzipped."""
    squeeze, piece = zlib.compressobj(9, wbits=31), bytes(1024 * 1024)
    return b"".join(squeeze.compress(piece) for _ in range(mebibytes)) + squeeze.flush()
