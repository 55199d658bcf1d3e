"""Login tokens: service-api, "Authentication"; payloads and results from the field notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.sim import payloads, records
from gpucloud.sim.route import Call, Reply, Route
from gpucloud.sim.world.refusals import Reason, Refused

if TYPE_CHECKING:
    from gpucloud.sim.world.identity import User

_PATH = "/api/TokenAuth"


def _authenticate(call: Call, body: payloads.AuthenticateBody) -> Reply:
    user = call.world.identity.login(body.name, body.password)
    if user.must_reset_password:
        return Reply(_no_token(call, user) | {"shouldResetPassword": True}, changed=False)
    if user.two_factor_code and not body.two_factor_code:
        return Reply(_no_token(call, user) | {"requiresTwoFactorVerification": True}, changed=False)
    if user.two_factor_code != body.two_factor_code and user.two_factor_code:
        raise Refused(Reason.LOGIN_FAILED, "The verification code is wrong.", "twoFactorVerificationCode")
    access, refresh = call.new_secret(), call.new_secret()
    call.world.identity.issue(user.name, access, refresh, call.now)
    issued: records.LoginRecord = {
        "accessToken": access,
        "encryptedAccessToken": call.new_secret(),
        "expireInSeconds": int(call.knobs.login_token_seconds),
        "refreshToken": refresh,
        "refreshTokenExpireInSeconds": int(call.knobs.refresh_token_seconds),
    }
    return Reply(_no_token(call, user) | issued)


def _no_token(call: Call, user: User) -> records.LoginRecord:
    return {
        "accessToken": None,
        "encryptedAccessToken": None,
        "expireInSeconds": 0,
        "refreshToken": None,
        "refreshTokenExpireInSeconds": 0,
        "userId": list(call.world.identity.users).index(user.name) + 1,
        "requiresTwoFactorVerification": False,
        "shouldResetPassword": False,
    }


def _refresh_token(call: Call, query: payloads.RefreshQuery) -> Reply:
    owner = call.world.identity.owner_of_refresh(query.refresh_token, call.now)
    access = call.new_secret()
    call.world.identity.issue(owner, access, "", call.now)
    data: records.RefreshRecord = {
        "accessToken": access,
        "encryptedAccessToken": call.new_secret(),
        "expireInSeconds": int(call.knobs.login_token_seconds),
    }
    return Reply(data)


ROUTES = (
    Route(
        "Authenticate",
        "POST",
        f"{_PATH}/Authenticate",
        "Log in with name and password.",
        _authenticate,
        records.LoginRecord,
        None,
        body=payloads.AuthenticateBody,
        error_codes=(400, 401, 500),
        mutates=True,
    ),
    Route(
        "RefreshToken",
        "POST",
        f"{_PATH}/RefreshToken",
        "Trade a refresh token for a new access token.",
        _refresh_token,
        records.RefreshRecord,
        None,
        query=payloads.RefreshQuery,
        error_codes=(400, 401, 500),
        mutates=True,
    ),
)
