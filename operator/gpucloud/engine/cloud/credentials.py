"""Parses a Secret's data into a credential. Error messages never repeat the data."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from gpucloud.cloud.options import ApiKey, Login
from gpucloud.kinds.gpucloudaccount import CredentialKind

if TYPE_CHECKING:
    from collections.abc import Mapping

API_KEY, USERNAME, PASSWORD = "apikey", "username", "password"
LIMITS = {API_KEY: 8192, USERNAME: 256, PASSWORD: 128}  # characters; field notes: Authenticate; the API key's limit is ours


class CredentialError(Exception):
    """The Secret has no usable credential. The message names keys of the Secret, never their values."""


def parse(data: Mapping[str, str]) -> ApiKey | Login:
    """Return the credential in a Secret's ``data`` (base64): the key ``apikey``, or ``username`` and ``password``.

    Raises:
        CredentialError: the data has no credential, both kinds, half a login, or a value that cannot be sent.
    """
    key, username, password = (_text(data, name) for name in (API_KEY, USERNAME, PASSWORD))
    key, username = key.strip(), username.strip()
    if key and (username or password):
        raise CredentialError(f"it holds both kinds of credential: keep {API_KEY!r}, or {USERNAME!r} with {PASSWORD!r}")
    if key:
        try:
            return ApiKey(key)
        except ValueError as error:
            raise CredentialError(f"key {API_KEY!r}: {error}") from None
    if username and password:
        return Login(username, password)
    if username or password:
        missing = PASSWORD if username else USERNAME
        raise CredentialError(f"it holds half a login: its key {missing!r} is missing or empty")
    raise CredentialError(f"it holds no credential: give it the key {API_KEY!r}, or the keys {USERNAME!r} and {PASSWORD!r}")


def kind_of(credential: ApiKey | Login) -> CredentialKind:
    """Return the kind of a credential: API key or login."""
    return CredentialKind.API_KEY if isinstance(credential, ApiKey) else CredentialKind.LOGIN


def _text(data: Mapping[str, str], name: str) -> str:
    try:
        text = base64.b64decode(data.get(name) or "", validate=True).decode().rstrip("\r\n")
    except ValueError:  # not base64, or not UTF-8
        raise CredentialError(f"its key {name!r} holds no text") from None
    if len(text) > LIMITS[name]:
        raise CredentialError(f"its key {name!r} is longer than {LIMITS[name]} characters")
    return text
