"""From a decoded, unwrapped answer to records: the readers that calls carry along. Pure; equal items share a record."""

from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import orjson
from pydantic import ValidationError

from gpucloud.cloud import models
from gpucloud.cloud.errors import CloudError, ErrorKind, LoginError

R = TypeVar("R", bound=models.Record)


def _malformed(reason: str) -> CloudError:
    return CloudError(ErrorKind.MALFORMED, reason)


def record_of(model: type[R]) -> Callable[[Any], R]:
    """Make the reader of one record; anything but an object is MALFORMED."""

    def parse(payload: Any) -> R:
        if not isinstance(payload, dict):
            raise _malformed(f"the answer should be an object but is {_shape(payload)}")
        try:
            return model.model_validate(payload)
        except ValidationError:
            problem = _malformed(f"the answer is not a {model.__name__}")
        raise problem  # outside the handler: the original error would carry the answer along

    return parse


@cache
def item_of(model: type[R]) -> Callable[[Any], R]:
    """Make the reader of one item of a listing, which answers a record that it has read from equal JSON and that is still held.

    Most records of a listing are as in the one before: to read them again takes longer, and each copy holds 3 KB.
    """
    read = record_of(model)
    held: WeakValueDictionary[bytes, R] = WeakValueDictionary()

    def parse(item: dict[str, Any]) -> R:
        try:
            key = blake2b(orjson.dumps(item), digest_size=16).digest()
        except orjson.JSONEncodeError:  # half of an emoji, or a number beyond 64 bits
            return read(item)
        record = held.get(key)
        if record is None:
            record = held[key] = read(item)
        return record

    return parse


def listing_of(model: type[R]) -> Callable[[Any], models.Listing[R]]:
    """Make the reader of ``{"items": [...]}``; items without a name are dropped and make the listing incomplete.

    So does a ``totalCount`` that is above the number of items, or cannot be read: the service pages some listings, and this may
    be the first page.

    No list under ``items`` is MALFORMED: rubbish must never read as "nothing there".
    """
    read = item_of(model)

    def parse(payload: Any) -> models.Listing[R]:
        items = payload.get("items") if isinstance(payload, dict) else None
        if not isinstance(items, list):
            raise _malformed(f"the answer should hold a list named items but is {_shape(payload)}")
        records = [read(item) for item in items if isinstance(item, dict)]
        named = tuple(record for record in records if model.identity is None or getattr(record, model.identity))
        flaw = _flaw(len(named), len(items), payload.get("totalCount"))
        return models.Listing(items=named, complete=not flaw, flaw=flaw)

    return parse


def _flaw(named: int, listed: int, total: Any) -> str:
    """Why a listing does not show everything; "" when it does."""
    if named < listed:
        return "the listing holds entries without an id"
    if total is None:
        return ""
    counted = models.whole_number(total)
    if counted is None:
        return "the number of all records, totalCount, is no whole number"
    return f"the listing holds {listed} of {counted} records" if counted > listed else ""


def names_of(payload: Any) -> tuple[str, ...]:
    """Read a plain list of names; a list of nothing but rubbish is no empty list."""
    if not isinstance(payload, list):
        raise _malformed(f"the answer should be a list of names but is {_shape(payload)}")
    names = tuple(item.strip() for item in payload if isinstance(item, str) and item.strip())
    if payload and not names:
        raise _malformed("the answer is a list, but nothing in it is a name")
    return names


def login_of(payload: Any) -> models.LoginResult:
    """Read a login that holds a token fit for a header.

    Raises:
        LoginError: LOGIN when a second factor or a new password is asked for (field notes, Authentication).
    """
    result = record_of(models.LoginResult)(payload)
    if result.requires_two_factor_verification:
        raise LoginError(ErrorKind.LOGIN, "this account asks for a second factor; use an API key or another account")
    if result.should_reset_password:
        raise LoginError(ErrorKind.LOGIN, "this account must set a new password first; do so in the dashboard")
    token = result.access_token
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise _malformed("the answer to the login holds no usable access token")
    return result


def _shape(payload: Any) -> str:
    """Name a JSON value's type without repeating the value."""
    if isinstance(payload, dict):
        return "an object without a usable one"
    return {list: "a list", str: "text", type(None): "empty or null"}.get(type(payload), type(payload).__name__)
