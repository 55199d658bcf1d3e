"""Users, permissions, API keys and login tokens: who a credential is, and what it may do now.

Secrets are kept as hashes only. Their values are made elsewhere and passed in. Rules: service-api, Authentication.
"""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gpucloud.sim.world.refusals import Reason, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpucloud.sim.world.rules import Rules

MAX_KEYS = 10
DAY = 86_400.0
LIFETIMES = {
    "one_week": 7 * DAY,
    "one_month": 30 * DAY,
    "three_months": 91 * DAY,
    "six_months": 182 * DAY,
    "one_year": 365 * DAY,
}
API_KEYS = "Pages.Administration.ApiKeys"
PERMISSIONS = {
    "Pages": "Pages",
    "Pages.Clusters": "Clusters",
    "Pages.VirtualMachines": "Virtual machines",
    "Pages.VirtualMachines.Create": "Create virtual machines",
    "Pages.VirtualMachines.Power": "Start and stop virtual machines",
    "Pages.VirtualMachines.Destroy": "Destroy virtual machines",
    "Pages.BareMetal": "Bare metal",
    "Pages.BareMetal.Manage": "Reboot and reprovision hosts",
    "Pages.Snapshots": "Snapshots",
    "Pages.Snapshots.Create": "Create snapshots",
    "Pages.Snapshots.Delete": "Delete snapshots",
    "Pages.Vpcs": "VPCs",
    "Pages.Vpcs.Create": "Create VPCs",
    "Pages.Vpcs.Destroy": "Destroy VPCs",
    "Pages.Administration": "Administration",
    API_KEYS: "API Keys",
}
ALL_PERMISSIONS = frozenset(PERMISSIONS)
PLAIN_USER_PERMISSIONS = frozenset(name for name in PERMISSIONS if not name.startswith("Pages.Vpcs"))


def with_parents(chosen: Iterable[str]) -> frozenset[str]:
    """Return the chosen permissions and all their parents; raise Refused for an unknown name."""
    names = frozenset(".".join(parts[: end + 1]) for name in chosen for parts in [name.split(".")] for end in range(len(parts)))
    unknown = sorted(names - ALL_PERMISSIONS)
    if unknown:
        raise Refused(Reason.UNKNOWN_REFERENCE, f"Unknown permission: {', '.join(unknown)}.", "permissions")
    return names


@dataclass(frozen=True, slots=True)
class User:
    """An account. ``two_factor_code`` is asked for at login when it is set."""

    name: str
    tenant: str
    permissions: frozenset[str] = ALL_PERMISSIONS
    email: str = ""
    password_hash: str = field(default="", repr=False)
    two_factor_code: str = field(default="", repr=False)
    must_reset_password: bool = False


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as its owner sees it. ``permissions`` None means all of the owner's, also later ones."""

    id: str
    owner: str
    suffix: str
    description: str
    permissions: frozenset[str] | None
    created: float
    expires: float


@dataclass(frozen=True, slots=True)
class LoginToken:
    """An access or refresh token, good until ``expires``."""

    id: str
    owner: str
    expires: float


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: the credential's id (never its value) and the permissions in force for this request."""

    credential: str
    user: User
    permissions: frozenset[str]


class Identity:
    """All accounts and credentials. Methods take ``now`` in seconds since 1970 and raise ``Refused``."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._numbers = itertools.count(1)
        self._keys: dict[str, ApiKey] = {}
        self._access: dict[str, LoginToken] = {}
        self._refresh: dict[str, LoginToken] = {}
        self.users: dict[str, User] = {}

    def put_user(self, user: User) -> None:
        """Add or replace an account; its permissions take effect on the next request of every key it owns."""
        self.users[user.name] = replace(user, permissions=with_parents(user.permissions))

    def require_user(self, name: str) -> User:
        """Return an account or raise Refused."""
        if name not in self.users:
            raise Refused(Reason.MISSING_OTHER, f'"{name}" not found', "owner")
        return self.users[name]

    # API keys

    def keys_of(self, owner: str) -> list[ApiKey]:
        """Return the keys of one owner, expired ones included, revoked ones gone."""
        return [key for key in self._keys.values() if key.owner == owner]

    def add_key(self, value: str, wanted: ApiKey) -> ApiKey:
        """Add a key under the rules for owners: the permission "API Keys", at most 10, at most a year."""
        owner = self.require_user(wanted.owner)
        if API_KEYS not in owner.permissions:
            raise Refused(Reason.FORBIDDEN, f"The permission {PERMISSIONS[API_KEYS]} is needed to create keys.")
        if len(self.keys_of(owner.name)) >= MAX_KEYS:
            raise Refused(Reason.KEY_LIMIT, f"The maximum limit of {MAX_KEYS} API keys has been reached.")
        if not wanted.created < wanted.expires <= wanted.created + LIFETIMES["one_year"] + DAY:
            raise Refused(Reason.INVALID, "A key must expire in the future and within one year.", "expiration")
        permissions = None if wanted.permissions is None else with_parents(wanted.permissions)
        key = replace(wanted, id=f"key-{next(self._numbers)}", suffix=value[-12:], permissions=permissions)
        self._keys[hash_of(value)] = key
        return key

    def revoke_key(self, key_id: str, owner: str) -> ApiKey:
        """Remove a key at once and for good; an owner revokes only their own."""
        for hashed, key in self._keys.items():
            if key.id == key_id and key.owner == owner:
                return self._keys.pop(hashed)
        raise Refused(Reason.MISSING_OTHER, f'"{key_id}" not found')

    # Requests

    def caller(self, headers: Iterable[str], now: float) -> Caller:
        """Return who the Authorization headers stand for; raise Refused (401) for anything but one good credential."""
        values = list(headers)
        scheme, space, secret = values[0].partition(" ") if len(values) == 1 else ("", "", "")
        if not space or not secret or any(character.isspace() for character in secret):
            raise _unauthorized()
        if scheme.lower() == "apikey":
            key = self._keys.get(hash_of(secret))
            if key is None or now >= key.expires:
                raise _unauthorized()
            user = self.users[key.owner]
            chosen = user.permissions if key.permissions is None else key.permissions & user.permissions
            return Caller(key.id, user, chosen)
        token = self._access.get(hash_of(secret)) if scheme.lower() == "bearer" else None
        if token is None or now >= token.expires:
            raise _unauthorized()
        user = self.users[token.owner]
        return Caller(token.id, user, user.permissions)

    def credential_id(self, headers: Iterable[str]) -> str:
        """Return the id of the credential shown, good or bad, for the ledger; never any part of its value."""
        values = list(headers)
        if not values:
            return "none"
        hashed = hash_of(values[0].partition(" ")[2])
        known: ApiKey | LoginToken | None = self._keys.get(hashed) or self._access.get(hashed)
        return known.id if known is not None and len(values) == 1 else "unknown"

    def is_secret(self, value: str) -> bool:
        """Tell whether a text is the value of any credential known here."""
        hashed = hash_of(value)
        return hashed in self._keys or hashed in self._access or hashed in self._refresh

    # Login tokens

    def login(self, name: str, password: str) -> User:
        """Return the account for a name or e-mail address and password."""
        for user in self.users.values():
            if name in {user.name, user.email} and user.password_hash == hash_of(password):
                return user
        raise Refused(Reason.LOGIN_FAILED, "Login failed! Invalid user name or password.")

    def issue(self, owner: str, access: str, refresh: str, now: float) -> None:
        """Accept an access token from now on, and a refresh token if one is given."""
        number = next(self._numbers)
        knobs = self._rules.knobs
        self._access[hash_of(access)] = LoginToken(f"token-{number}", owner, now + knobs.login_token_seconds)
        if refresh:
            expires = now + knobs.refresh_token_seconds
            self._refresh[hash_of(refresh)] = LoginToken(f"refresh-{number}", owner, expires)

    def owner_of_refresh(self, refresh: str, now: float) -> str:
        """Return whose refresh token it is; raise Refused if it is unknown or past its life."""
        token = self._refresh.get(hash_of(refresh))
        if token is None or now >= token.expires:
            raise Refused(Reason.REFRESH_FAILED, "The refresh token is not valid.", "refreshToken")
        return token.owner

    def end_logins(self) -> None:
        """Make every login token invalid at once, as a restart of the real service may do."""
        self._access.clear()
        self._refresh.clear()


def hash_of(secret: str) -> str:
    """Return what is kept of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _unauthorized() -> Refused:
    return Refused(Reason.UNAUTHORIZED, "Current user did not login to the application!")
