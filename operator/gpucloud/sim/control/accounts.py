"""Control of accounts: users and their permissions, and the dashboard's page of API keys (service-api: Authentication).

On the real service keys are managed in the dashboard only; here ``owner`` says whose dashboard it is.
"""

from __future__ import annotations

import secrets  # noqa: TID251 - values of made-up secrets, which nothing depends on
from dataclasses import asdict, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from pydantic import AwareDatetime, Field, SecretStr

from gpucloud.sim.config import add_tenant
from gpucloud.sim.control.action import Action, Args
from gpucloud.sim.world.identity import (
    ALL_PERMISSIONS,
    LIFETIMES,
    PERMISSIONS,
    PLAIN_USER_PERMISSIONS,
    ApiKey,
    User,
    hash_of,
    with_parents,
)

if TYPE_CHECKING:
    from gpucloud.sim.state import State

Lifetime = Literal["one_week", "one_month", "three_months", "six_months", "one_year"]


class Nothing(Args):
    """No parameters."""


class Owner(Args):
    """Whose keys; the first account's when nobody is named."""

    owner: str = ""


class NewKey(Owner):
    """A key to be. ``permissions`` null means all of the owner's; choosing a child chooses its parents.

    ``value`` is for tests that need a known key; without it one is made up.
    """

    description: str
    expiration: Lifetime | AwareDatetime = "one_month"
    permissions: list[str] | None = None
    value: SecretStr | None = None


class KeyId(Owner):
    """One key of an owner."""

    id: str


class UserChange(Args):
    """An account to add or to change; what is not given stays as it is."""

    name: str = Field(min_length=1)
    tenant: str | None = None
    permissions: list[str] | Literal["all", "plain"] | None = None
    password: SecretStr | None = None
    two_factor_code: SecretStr | None = None
    must_reset_password: bool | None = None


def _owner(state: State, args: Owner) -> User:
    return state.world.identity.require_user(args.owner or state.config.accounts[0].name)


def _owners(state: State) -> str:
    return f"Users: {', '.join(state.world.identity.users)}."


def _owners_and_keys(state: State) -> str:
    return f"GET /_sim/keys?owner=NAME lists a user's keys. {_owners(state)}"


def _owners_and_permissions(state: State) -> str:
    return f"GET /_sim/permissions lists the permissions. {_owners(state)}"


def _shown(key: ApiKey) -> dict[str, Any]:
    permissions = "all" if key.permissions is None else sorted(key.permissions)
    return {**asdict(key), "permissions": permissions}


def _keys(state: State, args: Owner) -> Any:
    return {"keys": [_shown(key) for key in state.world.identity.keys_of(_owner(state, args).name)]}


def _create_key(state: State, args: NewKey) -> Any:
    now = state.now()
    chosen_end = args.expiration
    expires = chosen_end.timestamp() if isinstance(chosen_end, datetime) else now + LIFETIMES[chosen_end]
    chosen = None if args.permissions is None else with_parents(args.permissions)
    wanted = ApiKey("", _owner(state, args).name, "", args.description, chosen, now, expires)
    value = args.value.get_secret_value() if args.value else f"made-up-{secrets.token_urlsafe(24)}"
    key = state.world.identity.add_key(value, wanted)
    return {**_shown(key), "value": value}


def _revoke_key(state: State, args: KeyId) -> Any:
    return _shown(state.world.identity.revoke_key(args.id, _owner(state, args).name))


def _users(state: State, _: Nothing) -> Any:
    users = state.world.identity.users.values()
    return {"users": [{"name": one.name, "tenant": one.tenant, "permissions": sorted(one.permissions)} for one in users]}


def _put_user(state: State, args: UserChange) -> Any:
    world = state.world
    tenant = args.tenant or state.config.accounts[0].tenant
    user = world.identity.users.get(args.name) or User(args.name, tenant, email=f"{args.name}@{tenant}.example")
    if args.tenant is not None:
        user = replace(user, tenant=args.tenant)
    if args.permissions is not None:
        named = {"all": ALL_PERMISSIONS, "plain": PLAIN_USER_PERMISSIONS}
        chosen = named[args.permissions] if isinstance(args.permissions, str) else with_parents(args.permissions)
        user = replace(user, permissions=chosen)
    if args.password is not None:
        user = replace(user, password_hash=hash_of(args.password.get_secret_value()))
    if args.two_factor_code is not None:
        user = replace(user, two_factor_code=args.two_factor_code.get_secret_value())
    if args.must_reset_password is not None:
        user = replace(user, must_reset_password=args.must_reset_password)
    if user.tenant not in world.catalogue.pools:
        add_tenant(world, user.tenant, state.now())
    world.identity.put_user(user)
    return {"name": user.name, "tenant": user.tenant, "permissions": sorted(user.permissions)}


def _end_logins(state: State, _: Nothing) -> Any:
    state.world.identity.end_logins()
    return {}


def _permissions(_: State, __: Nothing) -> Any:
    return {"permissions": [{"name": name, "displayName": text} for name, text in PERMISSIONS.items()]}


ACTIONS = (
    Action("GET", "keys", "listKeys", "list an owner's keys", Owner, _keys, _owners),
    Action(
        "POST", "keys", "createKey", "create a key; its value is shown this once", NewKey, _create_key, _owners_and_permissions
    ),
    Action("DELETE", "keys/{id}", "revokeKey", "revoke a key at once", KeyId, _revoke_key, _owners_and_keys),
    Action("GET", "users", "listUsers", "list the users", Nothing, _users),
    Action("POST", "users", "putUser", "add or change a user", UserChange, _put_user, _owners_and_permissions),
    Action("POST", "logins/end", "endLogins", "make every login token invalid", Nothing, _end_logins),
    Action("GET", "permissions", "listPermissions", "list the permissions", Nothing, _permissions),
)
