"""The credentials of a history: API keys and logins, what a Secret holds of them, and whose credential a request bears."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

from pydantic import SecretStr

from gpucloud.settings import Credentials
from gpucloud.sim.config import Account

if TYPE_CHECKING:
    from gpucloud.sim.messages import Request, Response

TENANTS = {"good": "acme", "other": "globex"}
KEYS = {"good": "canary-good-Ue6Rk2VqXw8z", "other": "canary-other-Jd93kLmP0xTy", "wrong": "canary-wrong-Bb7Qn4ZsEe1c"}
USERS = {"good": "ann", "other": "gil", "wrong": "ann"}  # a login's password is the key of the same name
KEY, LOGIN = "key", "login"  # the two forms
ACCOUNTS = tuple(
    Account(name=USERS[which], tenant=tenant, password=SecretStr(KEYS[which])) for which, tenant in TENANTS.items()
)


def own(form: str) -> Credentials:
    """The operator's own account."""
    return Credentials(api_key=KEYS["good"]) if form == KEY else Credentials(username=USERS["good"], password=KEYS["good"])


def secret_data(which: str, form: str) -> dict[str, str | None]:
    """What a Secret holds, as a merge patch: the keys of the other form are taken away."""
    texts = {"apikey": KEYS[which]} if form == KEY else {"username": USERS[which], "password": KEYS[which]}
    absent = ("username", "password") if form == KEY else ("apikey",)
    return dict.fromkeys(absent) | {name: base64.b64encode(text.encode()).decode() for name, text in texts.items()}


def credential_in(data: dict[str, str]) -> str:
    """Which credential a Secret holds, named as ``Callers.of`` does; empty when it holds none."""
    texts = {name: base64.b64decode(text).decode() for name, text in data.items() if text}
    if "apikey" in texts:
        return _named(KEY, texts["apikey"])
    return _named(LOGIN, texts["password"]) if "password" in texts else ""


class Callers:
    """Whose credential a request bears, also when it is a token: those that the cloud has issued are remembered."""

    def __init__(self) -> None:
        self.tokens: dict[str, str] = {}  # to the name of the login
        self._known: dict[str, str] = {}  # by what stands in the Authorization header

    def issued(self, request: Request, response: Response) -> None:
        """The cloud has answered a login."""
        try:
            said = json.loads(response.body)
            token = (said.get("result") or said).get("accessToken")
        except (ValueError, AttributeError):
            return
        if token:
            self.tokens[token] = self.of(request)

    def of(self, request: Request) -> str:
        """The credential: ``key good``, or ``login good``, which has one name with all its tokens."""
        if request.path.endswith("/Authenticate"):
            return _named(LOGIN, json.loads(request.body or b"{}").get("password"))
        shown = request.header("authorization")
        scheme, _, secret = shown.partition(" ")
        if scheme == "Bearer":
            return self.tokens.get(secret, "nobody")
        return self._known.get(shown) or self._known.setdefault(shown, _named(KEY, secret))

    def tenant(self, request: Request) -> str:
        """The tenant for which a request is carried out; empty when it is refused."""
        return TENANTS.get(self.of(request).rpartition(" ")[2], "")


def _named(form: str, secret: str | None) -> str:
    return next((f"{form} {which}" for which, key in KEYS.items() if key == secret), "nobody")
