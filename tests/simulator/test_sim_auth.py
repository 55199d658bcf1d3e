"""Authentication: one named test a rule of the specification."""

import pytest

from simulator.test_sim_client import KEY, OPERATIONS, Cloud

DAY = 86_400
LOGIN = {"userNameOrEmailAddress": "ann", "password": "made-up-p4ssphrase"}
PROTECTED = sorted(set(OPERATIONS) - {"Authenticate", "RefreshToken"})


async def new_key(cloud, **more):
    answer = await cloud.control("keys", {"description": "test"} | more)
    assert answer.status == 200, answer.text
    return answer.data


async def login(cloud, **more):
    return (await cloud.call("Authenticate", None, **(LOGIN | more))).data["result"]


@pytest.mark.proves("general:credential", "auth:10.flag")
@pytest.mark.parametrize("operation", PROTECTED)
async def test_sim_every_operation_needs_a_credential(operation):
    answer = await Cloud().call(operation, None)
    assert answer.status == 401
    assert answer.data["unAuthorizedRequest"] is True
    assert answer.message == "Current user did not login to the application!"


@pytest.mark.proves("auth:1.key")
@pytest.mark.parametrize("operation", PROTECTED)
async def test_sim_every_operation_takes_an_api_key(operation):
    assert (await Cloud().call(operation)).status != 401


@pytest.mark.proves("auth:token.header")
@pytest.mark.parametrize("operation", PROTECTED)
async def test_sim_every_operation_takes_a_login_token(operation):
    cloud = Cloud()
    token = (await login(cloud))["accessToken"]
    assert (await cloud.call(operation, f"Bearer {token}")).status != 401


@pytest.mark.proves("auth:2.case", "auth:key.header")
@pytest.mark.parametrize("scheme", ["ApiKey", "apikey", "APIKEY", "aPiKeY"])
async def test_sim_the_scheme_is_case_insensitive(scheme):
    assert (await Cloud().call("GetAll", f"{scheme} {KEY}")).status == 200


@pytest.mark.proves("auth:2.space", "auth:10.malformed")
@pytest.mark.parametrize(
    "header",
    [
        "",
        KEY,
        "ApiKey",
        "ApiKey ",
        f"ApiKey{KEY}",
        f"ApiKey  {KEY}",
        f"ApiKey\t{KEY}",
        f"ApiKey {KEY} more",
        f"ApiKey: {KEY}",
        f"Bearer {KEY}",
        f"Basic {KEY}",
        "ApiKey wrong",
        f"ApiKey {KEY.upper()}",
    ],
)
async def test_sim_a_malformed_or_wrong_header_is_401(header):
    assert (await Cloud().call("GetAll", header)).status == 401


@pytest.mark.proves("auth:10.malformed")
async def test_sim_two_authorization_headers_are_401():
    header = ("authorization", f"ApiKey {KEY}")
    answer = await Cloud().send("GET", OPERATIONS["GetAll"][1], headers=[header, header])
    assert answer.status == 401


@pytest.mark.proves("auth:3")
async def test_sim_a_key_in_the_url_does_not_count_and_is_noted():
    cloud = Cloud()
    answer = await cloud.send("GET", OPERATIONS["GetAll"][1], query={"apiKey": KEY})
    assert answer.status == 401
    (entry,) = await cloud.ledger()
    assert entry["secret_in_url"] is True
    assert KEY not in str(entry)


@pytest.mark.proves("auth:9.rejected", "auth:9.listed", "auth:10.expired")
async def test_sim_an_expired_key_is_401_from_its_last_second_on_and_stays_listed():
    cloud = Cloud()
    key = await new_key(cloud, expiration="one_week")
    cloud.clock.advance(7 * DAY - 1)
    assert (await cloud.call("GetAll", f"ApiKey {key['value']}")).status == 200
    cloud.clock.advance(1)
    assert (await cloud.call("GetAll", f"ApiKey {key['value']}")).status == 401
    assert key["id"] in [item["id"] for item in (await cloud.control("keys")).data["keys"]]


@pytest.mark.proves("auth:key.lifetime", "auth:6.expiration")
@pytest.mark.parametrize(
    ("expiration", "days"),
    [("one_week", 7), ("one_month", 30), ("three_months", 91), ("six_months", 182), ("one_year", 365)],
)
async def test_sim_the_owner_chooses_the_life_of_a_key(expiration, days):
    key = await new_key(Cloud(), expiration=expiration)
    assert key["expires"] - key["created"] == days * DAY


@pytest.mark.proves("auth:6.expiration")
async def test_sim_a_key_may_expire_at_a_custom_time():
    key = await new_key(Cloud(), expiration="2026-03-01T00:00:00Z")
    assert key["expires"] == 1_772_323_200


@pytest.mark.proves("auth:key.lifetime", "limit:key-lifetime")
@pytest.mark.parametrize("when", ["2025-12-31T00:00:00Z", "2027-06-01T00:00:00Z", "2026-03-01T00:00:00", "one_day"])
async def test_sim_no_key_for_the_past_or_for_more_than_a_year(when):
    assert (await Cloud().control("keys", {"description": "d", "expiration": when})).status == 400


@pytest.mark.proves("auth:9.immediate", "auth:9.final", "auth:9.rejected", "auth:10.expired")
async def test_sim_revocation_is_immediate_and_final():
    cloud = Cloud()
    key = await new_key(cloud)
    assert (await cloud.call("GetAll", f"ApiKey {key['value']}")).status == 200
    assert (await cloud.control(f"keys/{key['id']}", method="DELETE")).status == 200
    assert (await cloud.call("GetAll", f"ApiKey {key['value']}")).status == 401
    assert (await cloud.control(f"keys/{key['id']}", method="DELETE")).status == 404


@pytest.mark.proves("auth:5.ten", "auth:9.listed", "errors:key-limit", "limit:keys")
async def test_sim_ten_keys_and_no_more_expired_ones_included_until_revoked():
    cloud = Cloud()
    first = await new_key(cloud, expiration="one_week")  # beside the one the simulator started with
    for _ in range(8):
        await new_key(cloud, expiration="one_year")
    cloud.clock.advance(8 * DAY)
    refused = await cloud.control("keys", {"description": "the eleventh"})
    assert refused.status == 400
    assert refused.data["error"] == "The maximum limit of 10 API keys has been reached."
    await cloud.control(f"keys/{first['id']}", method="DELETE")
    await new_key(cloud)


@pytest.mark.proves("auth:7.once")
async def test_sim_a_key_s_value_is_shown_once():
    cloud = Cloud()
    key = await new_key(cloud)
    assert key["suffix"] == key["value"][-12:]
    listed = await cloud.control("keys")
    assert key["value"] not in listed.text
    assert listed.data["keys"][-1]["description"] == "test"


@pytest.mark.proves("auth:6.description", "auth:7.metadata")
async def test_sim_of_a_key_that_was_made_its_metadata_stay_visible():
    cloud = Cloud()
    key = await new_key(cloud, description="for the night job", permissions=["Pages.Clusters"], expiration="one_week")
    (shown,) = [one for one in (await cloud.control("keys")).data["keys"] if one["id"] == key["id"]]
    assert (shown["suffix"], shown["description"]) == (key["value"][-12:], "for the night job")
    assert shown["permissions"] == ["Pages", "Pages.Clusters"]
    assert shown["expires"] - cloud.clock.now() == 7 * DAY


@pytest.mark.proves("auth:5.own")
async def test_sim_keys_belong_to_their_creator():
    cloud = Cloud()
    key = await new_key(cloud, owner="bob")
    assert (await cloud.control("keys", owner="ann")).text.count('"id"') == 1
    assert (await cloud.control(f"keys/{key['id']}", method="DELETE", owner="ann")).status == 404
    assert (await cloud.control(f"keys/{key['id']}", method="DELETE", owner="bob")).status == 200


@pytest.mark.proves("auth:4")
async def test_sim_creating_keys_needs_the_permission_api_keys():
    cloud = Cloud()
    await cloud.control("users", {"name": "bob", "permissions": ["Pages.Clusters"]})
    refused = await cloud.control("keys", {"description": "d", "owner": "bob"})
    assert (refused.status, "API Keys" in refused.data["error"]) == (403, True)


@pytest.mark.proves("auth:6.permissions")
async def test_sim_choosing_a_child_chooses_its_parents():
    key = await new_key(Cloud(), permissions=["Pages.VirtualMachines.Create"])
    assert key["permissions"] == ["Pages", "Pages.VirtualMachines", "Pages.VirtualMachines.Create"]


async def test_sim_an_unknown_permission_is_refused():
    assert (await Cloud().control("keys", {"description": "d", "permissions": ["Pages.Moon"]})).status == 400


@pytest.mark.proves("auth:key.permissions", "auth:10.scope", "auth:10.flag")
async def test_sim_a_scoped_key_gets_403_beyond_its_scope():
    cloud = Cloud()
    key = (await new_key(cloud, permissions=["Pages.VirtualMachines"]))["value"]
    assert (await cloud.call("GetServers", f"ApiKey {key}")).status == 200
    refused = await cloud.call("GetVpcs", f"ApiKey {key}")
    assert (refused.status, refused.data["unAuthorizedRequest"]) == (403, True)
    assert refused.message.startswith("Required permissions are not granted.")


@pytest.mark.proves("auth:10.scope", "auth:10.flag")
@pytest.mark.parametrize("operation", PROTECTED)
async def test_sim_every_operation_needs_a_permission(operation):
    cloud = Cloud()
    key = (await new_key(cloud, permissions=["Pages"]))["value"]
    refused = await cloud.call(operation, f"ApiKey {key}")
    assert (refused.status, refused.data["unAuthorizedRequest"]) == (403, True)


async def test_sim_403_comes_before_validation():
    cloud = Cloud()
    key = (await new_key(cloud, permissions=["Pages.VirtualMachines"]))["value"]
    assert (await cloud.call("CreateServer", f"ApiKey {key}", nonsense=1)).status == 403


@pytest.mark.proves("auth:8.removed", "auth:8.intersection")
async def test_sim_what_the_owner_loses_all_keys_lose_at_once():
    cloud = Cloud()
    everything = (await new_key(cloud))["value"]
    scoped = (await new_key(cloud, permissions=["Pages.Vpcs"]))["value"]
    await cloud.control("users", {"name": "ann", "permissions": "plain"})
    for value in (everything, scoped):
        assert (await cloud.call("GetVpcs", f"ApiKey {value}")).status == 403


@pytest.mark.proves("auth:8.follows", "auth:8.intersection", "auth:key.permissions")
async def test_sim_an_unscoped_key_follows_its_owner_s_gains_a_scoped_one_does_not():
    cloud = Cloud()
    everything = (await new_key(cloud, owner="bob"))["value"]
    scoped = (await new_key(cloud, owner="bob", permissions=["Pages.Clusters"]))["value"]
    assert (await cloud.call("GetVpcs", f"ApiKey {everything}")).status == 403
    await cloud.control("users", {"name": "bob", "permissions": "all"})
    assert (await cloud.call("GetVpcs", f"ApiKey {everything}")).status == 200
    assert (await cloud.call("GetVpcs", f"ApiKey {scoped}")).status == 403


async def test_sim_a_plain_user_has_vms_but_no_vpcs():
    cloud = Cloud()
    key = (await new_key(cloud, owner="bob"))["value"]
    assert (await cloud.call("GetServers", f"ApiKey {key}")).status == 200
    for operation in ("GetVpcs", "GetVpc", "CreateVpc", "DestroyVpc"):
        assert (await cloud.call(operation, f"ApiKey {key}")).status == 403


async def test_sim_nothing_of_another_tenant_is_visible():
    cloud = Cloud()
    await cloud.online()
    await cloud.ready_snapshot()
    other = f"ApiKey {(await new_key(cloud, owner='gil'))['value']}"
    for operation in ("GetServers", "GetSnapshots", "GetHosts"):
        assert (await cloud.call(operation, other)).items == []
    named = {"Id": "vm", "Namespace": "acme", "Cluster": "Msc1"}
    assert (await cloud.call("GetServer", other, **named)).status == 404
    assert (await cloud.call("DestroyServer", other, **named)).status == 404
    assert await cloud.status() == "ONLINE"


@pytest.mark.proves("auth:1.none", "auth:token.obtained")
async def test_sim_login_is_wrapped_even_where_answers_are_plain():
    answer = await Cloud(answers="plain").call("Authenticate", None, **LOGIN)
    assert answer.data["__abp"] is True
    result = answer.data["result"]
    assert result["accessToken"] != result["refreshToken"]
    assert (result["expireInSeconds"], result["requiresTwoFactorVerification"]) == (DAY, False)


@pytest.mark.proves("auth:token.lifetime", "limit:token-lifetime")
async def test_sim_an_access_token_lives_for_24_hours():
    cloud = Cloud()
    token = (await login(cloud))["accessToken"]
    cloud.clock.advance(DAY - 1)
    assert (await cloud.call("GetAll", f"bearer {token}")).status == 200
    cloud.clock.advance(1)
    assert (await cloud.call("GetAll", f"bearer {token}")).status == 401


@pytest.mark.proves("auth:token.permissions")
async def test_sim_a_login_token_carries_all_permissions_of_the_account():
    cloud = Cloud()
    token = (await login(cloud, userNameOrEmailAddress="bob"))["accessToken"]
    assert (await cloud.call("GetServers", f"Bearer {token}")).status == 200
    assert (await cloud.call("GetVpcs", f"Bearer {token}")).status == 403


@pytest.mark.proves("auth:token.renewal", "auth:1.none", "RefreshToken")
async def test_sim_a_refresh_token_renews_access_and_is_no_access_token_itself():
    cloud = Cloud()
    refresh = (await login(cloud))["refreshToken"]
    cloud.clock.advance(2 * DAY)
    answer = await cloud.call("RefreshToken", None, refreshToken=refresh)
    assert sorted(answer.data["result"]) == ["accessToken", "encryptedAccessToken", "expireInSeconds"]
    assert (await cloud.ledger())[-1]["secret_in_url"] is False  # the documented exception
    assert (await cloud.call("GetAll", f"Bearer {answer.data['result']['accessToken']}")).status == 200
    assert (await cloud.call("GetAll", f"Bearer {refresh}")).status == 401


async def test_sim_a_refresh_token_past_its_life_is_refused():
    cloud = Cloud()
    refresh = (await login(cloud))["refreshToken"]
    cloud.clock.advance(30 * DAY)
    assert (await cloud.call("RefreshToken", None, refreshToken=refresh)).status == 401


async def test_sim_logins_can_be_ended_from_outside():
    cloud = Cloud()
    token = (await login(cloud))["accessToken"]
    await cloud.control("logins/end", {})
    assert (await cloud.call("GetAll", f"Bearer {token}")).status == 401


@pytest.mark.proves("Authenticate.twoFactorVerificationCode")
async def test_sim_two_factor_users_get_no_token_without_their_code():
    cloud = Cloud()
    first = await login(cloud, userNameOrEmailAddress="tia")
    assert (first["accessToken"], first["requiresTwoFactorVerification"]) == (None, True)
    wrong = await cloud.call(
        "Authenticate", None, **LOGIN | {"userNameOrEmailAddress": "tia", "twoFactorVerificationCode": "1"}
    )
    assert wrong.status == 401
    assert (await login(cloud, userNameOrEmailAddress="tia", twoFactorVerificationCode="000000"))["accessToken"]


async def test_sim_users_who_must_reset_their_password_get_no_token():
    result = await login(Cloud(), userNameOrEmailAddress="rex")
    assert (result["accessToken"], result["shouldResetPassword"]) == (None, True)


async def test_sim_no_secret_reaches_the_ledger():
    lines = []
    cloud = Cloud()
    cloud.sim.state.ledger._sink = lines.append
    result = await login(cloud)
    await cloud.call("RefreshToken", None, refreshToken=result["refreshToken"])
    await cloud.create()
    await cloud.call("ReprovisionHost", id="bm-128", cluster="Msc1", cloudInitBase64="c2VjcmV0")
    await cloud.call("Authenticate", None, **LOGIN | {"password": "wrong-canary"})
    everything = "".join(lines) + str(await cloud.ledger())
    secrets = [KEY, LOGIN["password"], "wrong-canary", "c2VjcmV0", *(result[name] for name in ("accessToken", "refreshToken"))]
    assert [secret for secret in secrets if secret in everything] == []
    assert not any(secret in repr(cloud.sim.state.world.identity.users) for secret in secrets)


async def test_sim_the_ledger_names_the_credential_by_its_id():
    cloud = Cloud()
    await cloud.call("GetAll")
    await cloud.call("GetAll", "ApiKey wrong")
    await cloud.call("GetAll", None)
    assert [entry["credential"] for entry in await cloud.ledger()] == ["key-1", "unknown", "none"]
