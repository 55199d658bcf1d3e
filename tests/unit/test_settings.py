"""Settings: flags over environment over defaults, secrets from files, every refusal with words that help, no secret told."""

import argparse
from pathlib import Path

import pytest
from pydantic import ValidationError

from gpucloud.flags import FLAGS, GROUPS, add_arguments, load, read_credentials
from gpucloud.settings import Credentials, Settings, SettingsError

PAGES = Path(__file__).parents[2] / "docs" / "reference"
URL = "default=https://cloud.example"
SECRET = "made-up-canary"
OK = {"GPUCLOUD_ENDPOINT": URL, "GPUCLOUD_API_KEY": SECRET}


def given(*arguments):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return vars(parser.parse_args(arguments))


def settings(*arguments, **environ):
    return load(given(*arguments), OK | {f"GPUCLOUD_{name}": value for name, value in environ.items()})


def test_the_defaults_that_are_promised():
    it = settings()
    promised = {
        "poll_pending_seconds": 2.0,
        "poll_steady_seconds": 60.0,
        "cloud_qps": 10.0,
        "cloud_burst": 20,
        "create_grace_seconds": 30.0,
        "blind_after_seconds": 180.0,
        "namespace": (),
        "observe_only": False,
        "bind_address": "127.0.0.1",
        "brake_vms": 0,
        "brake_price_per_hour": 0.0,
        "brake_window_seconds": 600.0,
        "max_vms_per_account": 0,
        "max_vms_per_namespace": 0,
        "max_price_per_hour_per_account": 0.0,
        "max_price_per_hour_per_namespace": 0.0,
        "leader_elect": False,
        "lease_duration_seconds": 15.0,
        "lease_renew_deadline_seconds": 10.0,
        "lease_retry_period_seconds": 2.0,
    }
    assert {name: getattr(it, name) for name in promised} == promised


@pytest.mark.parametrize(
    ("arguments", "environ", "name", "value"),
    [
        ((), {"WORKERS": "7"}, "workers", 7),
        (("--workers", "9"), {"WORKERS": "7"}, "workers", 9),
        ((), {"WORKERS": ""}, "workers", 50),  # empty is absent
        (("--poll-pending-seconds", "0.5"), {}, "poll_pending_seconds", 0.5),
        (("--namespace", "a", "--namespace", "b"), {"NAMESPACE": "c"}, "namespace", ("a", "b")),
        ((), {"NAMESPACE": "a, b,"}, "namespace", ("a", "b")),
        (("--observe-only",), {}, "observe_only", True),
        (("--observe-only",), {"OBSERVE_ONLY": "false"}, "observe_only", True),
        ((), {"OBSERVE_ONLY": "Yes"}, "observe_only", True),
        ((), {"OBSERVE_ONLY": "0"}, "observe_only", False),
        (("--metrics-port", "0"), {}, "metrics_port", 0),
        ((), {"INSTALL_TAG": "prod1"}, "install_tag", "prod1"),
    ],
)
def test_flags_win_over_environment_over_defaults(arguments, environ, name, value):
    assert getattr(settings(*arguments, **environ), name) == value


def test_every_setting_has_a_flag_and_help():
    text = argparse.ArgumentParser()
    add_arguments(text)
    shown = " ".join(text.format_help().split())
    assert FLAGS.keys() == Settings.model_fields.keys() - {"credentials"}
    for flag in FLAGS.values():
        assert flag.option in shown
        assert flag.variable in shown.replace(" ", "")


def test_the_first_endpoint_is_the_operators_own():
    it = settings("--endpoint", "b=https://b.example/api", "--endpoint", "a=http://127.0.0.1:8080")
    assert it.own_endpoint == "https://b.example/api"
    assert it.endpoints == {"b": "https://b.example/api", "a": "http://127.0.0.1:8080"}


@pytest.mark.parametrize(
    ("arguments", "environ", "says"),
    [
        (("--workers", "many"), {}, "--workers"),
        ((), {"WORKERS": "many"}, "GPUCLOUD_WORKERS"),
        ((), {"OBSERVE_ONLY": "perhaps"}, "true or false"),
        (("--workers", "0"), {}, "--workers: must be greater than zero"),
        (("--poll-steady-seconds", "-1"), {}, "--poll-steady-seconds: must be greater than zero"),
        (("--cloud-qps", "0"), {}, "--cloud-qps"),
        (("--cloud-burst", "0"), {}, "--cloud-burst"),
        (("--cloud-timeout-seconds", "0"), {}, "--cloud-timeout-seconds"),
        (("--create-grace-seconds", "0"), {}, "--create-grace-seconds: must be greater than zero"),
        (("--blind-after-seconds", "-1"), {}, "must not be negative"),
        (("--brake-vms", "-1"), {}, "--brake-vms: must not be negative"),
        (("--brake-price-per-hour", "-1"), {}, "--brake-price-per-hour: must not be negative"),
        (("--brake-window-seconds", "0"), {}, "--brake-window-seconds: must be greater than zero"),
        (("--max-vms-per-account", "1.5"), {}, "--max-vms-per-account"),
        (("--max-vms-per-namespace", "-1"), {}, "--max-vms-per-namespace: must not be negative"),
        (("--max-price-per-hour-per-account", "nan"), {}, "--max-price-per-hour-per-account"),
        (("--max-price-per-hour-per-namespace", "-1"), {}, "--max-price-per-hour-per-namespace: must not be negative"),
        (("--orphan-scan-seconds", "-1"), {}, "must not be negative"),
        (("--orphan-age-seconds", "-1"), {}, "must not be negative"),
        (("--collect-orphans", "--orphan-scan-seconds", "0"), {}, "--collect-orphans: needs"),
        (("--collect-orphans", "--namespace", "team"), {}, "--install-tag"),
        (("--lease-duration-seconds", "10"), {}, "--lease-renew-deadline-seconds: must be less than --lease-duration-seconds"),
        (("--lease-retry-period-seconds", "10"), {}, "--lease-retry-period-seconds: must be less than"),
        (("--lease-retry-period-seconds", "0"), {}, "--lease-retry-period-seconds: must be greater than zero"),
        (("--lease-name", "Not/A/Name"), {}, "--lease-name"),
        ((), {"LEASE_NAMESPACE": "a/b"}, "GPUCLOUD_LEASE_NAMESPACE: expected lower-case letters"),
        ((), {"WORKERS": "0"}, "GPUCLOUD_WORKERS: must be greater than zero"),
        (("--workers", "0"), {"WORKERS": "7"}, "--workers: must be greater than zero"),
        (("--workers", "0", "--cloud-qps", "0"), {}, "--cloud-qps: must be greater than zero; --workers: must be"),
        (("--metrics-port", "65536"), {}, "--metrics-port: must be 65535 or less"),
        (("--namespace", ""), {}, "--namespace: must not be empty"),
        (("--namespace", "ml,ci"), {}, "--namespace: expected lower-case letters, digits and '-'"),
        (("--namespace", "*"), {}, "--namespace: expected lower-case letters, digits and '-'"),
        ((), {"NAMESPACE": "ML"}, "GPUCLOUD_NAMESPACE: expected lower-case letters, digits and '-'"),
        ((), {"NAMESPACE": " , "}, "GPUCLOUD_NAMESPACE: no namespace is named; name one, or unset it for all"),
        ((), {"OWN_ACCOUNT_NAMESPACE": ","}, "GPUCLOUD_OWN_ACCOUNT_NAMESPACE: no namespace is named"),
        (("--install-tag", "NO"), {}, "--install-tag"),
        (("--install-tag", "a-b"), {}, "--install-tag"),
        (("--install-tag", "ninechars"), {}, "--install-tag"),
        (("--log-level", "loud"), {}, "debug, info, warning, error"),
        (("--log-format", "xml"), {}, "json, text"),
        ((), {"ENDPOINT": ""}, "--endpoint default=https://"),
        (("--endpoint", "https://cloud.example"), {}, "not 'https://cloud.example': write default=https://cloud.example"),
        ((), {"ENDPOINT": "http://127.0.0.1:80"}, "GPUCLOUD_ENDPOINT: expected NAME=https://HOST[:PORT][/PATH], not"),
        (("--endpoint", "a=http://gpu.example.com"), {}, "--endpoint: a=http://gpu.example.com would send the credential"),
        (("--endpoint", "=https://cloud.example"), {}, "NAME=https://"),
        (("--endpoint", "a=ftp://cloud.example"), {}, "NAME=https://"),
        (("--endpoint", "a=file:///etc/passwd"), {}, "NAME=https://"),
        (("--endpoint", "a=https://"), {}, "NAME=https://"),
        (("--endpoint", f"a=https://cloud.example?key={SECRET}"), {}, "NAME=https://"),
        (("--endpoint", f"a=https://ann:{SECRET}@cloud.example"), {}, "NAME=https://"),
        (("--endpoint", "a=https://x", "--endpoint", "a=https://y"), {}, "same name"),
        (("--proxy", "proxy:3128"), {}, "--proxy: expected http://[USER:PASSWORD@]HOST[:PORT]"),
        ((), {"PROXY": "socks5://proxy"}, "GPUCLOUD_PROXY: expected http://"),
        (("--proxy", "http://proxy:notaport"), {}, "--proxy: expected http://"),
        (("--proxy", "http://"), {}, "--proxy: expected http://"),
        ((), {"USERNAME": "ann", "PASSWORD": SECRET}, "unset it, or those two"),
        ((), {"API_KEY": "", "USERNAME": "ann"}, "go together"),
        ((), {"API_KEY": "", "PASSWORD": SECRET}, "go together"),
        (
            (),
            {"API_KEY_FILE": "/nonexistent/key"},
            "GPUCLOUD_API_KEY_FILE: the file /nonexistent/key cannot be read (No such file or directory)",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(arguments, environ, says):
    with pytest.raises(SettingsError) as caught:
        settings(*arguments, **environ)
    assert says in str(caught.value)


EXPECTED = "--endpoint: expected NAME=https://HOST[:PORT][/PATH], not {!r}"


@pytest.mark.parametrize(
    ("given", "correction", "why"),
    [
        ("default=127.0.0.1:8080", "default=http://127.0.0.1:8080", "no scheme: this machine has no certificate"),
        ("a=sim.gpucloud.svc:8080", "a=http://sim.gpucloud.svc:8080", "nor has a Service"),
        ("a=localhost", "a=http://localhost", "by name"),
        ("a=cloud.example/api", "a=https://cloud.example/api", "no scheme: the credential goes to another host"),
        ("cloud.example", "default=https://cloud.example", "neither name nor scheme"),
        ("127.0.0.1:8080", "default=http://127.0.0.1:8080", "neither, on this machine"),
        ("http://cloud.example", "default=https://cloud.example", "no name, and a scheme that would be refused next"),
        ("=https://cloud.example", "default=https://cloud.example", "an empty name"),
        ("default", "", "a name alone"),
        ("default=", "", "no address"),
        ("a=ftp://cloud.example", "", "another protocol"),
        ("a=cloud.example:port", "", "no port"),
    ],
)
def test_an_endpoint_that_lacks_its_name_or_scheme_is_answered_with_the_right_one(given, correction, why):
    with pytest.raises(SettingsError) as caught:
        settings("--endpoint", given)
    assert str(caught.value) == EXPECTED.format(given) + (f": write {correction}" if correction else ""), why
    if correction:
        assert settings("--endpoint", correction).endpoint == (correction,), why


@pytest.mark.parametrize("value", ["nan", "inf"])
@pytest.mark.parametrize("flag", ["--poll-pending-seconds", "--cloud-qps", "--create-grace-seconds"])
def test_numbers_are_finite(flag, value):
    with pytest.raises(SettingsError):
        settings(flag, value)


@pytest.mark.parametrize("content", [SECRET, SECRET + "\n", SECRET + "\r\n"])
def test_a_secret_may_come_from_a_file(tmp_path, content):
    path = tmp_path / "key"
    path.write_bytes(content.encode())
    assert settings(API_KEY="", API_KEY_FILE=str(path)).credentials.api_key.get_secret_value() == SECRET


def test_the_file_wins_over_the_variable(tmp_path):
    path = tmp_path / "key"
    path.write_text("from-the-file")
    assert settings(API_KEY_FILE=str(path)).credentials == Credentials(api_key="from-the-file")


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "key"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="GPUCLOUD_API_KEY_FILE"):
        settings(API_KEY="", API_KEY_FILE=str(path))


@pytest.mark.parametrize("content", [b"", b"\n"])
def test_an_empty_file_is_no_account_of_its_own(tmp_path, content):
    """A mounted Secret may be filled later; until then every object needs a GpuCloudAccount."""
    path = tmp_path / "key"
    path.write_bytes(content)
    assert settings(API_KEY="", API_KEY_FILE=str(path)).credentials == Credentials()


def test_an_operator_needs_no_account_of_its_own():
    assert settings(API_KEY="").credentials == Credentials()


@pytest.mark.parametrize(
    ("arguments", "environ", "serves"),
    [
        ((), {}, ()),
        (("--own-account-namespace", "a", "--own-account-namespace", "b"), {}, ("a", "b")),
        ((), {"OWN_ACCOUNT_NAMESPACE": "a, b,"}, ("a", "b")),
        (("--own-account-namespace", "a"), {"OWN_ACCOUNT_NAMESPACE": "b"}, ("a",)),
    ],
)
def test_which_namespaces_the_operators_own_account_serves(arguments, environ, serves):
    assert settings(*arguments, **environ).own_account_namespace == serves


@pytest.mark.parametrize(
    ("arguments", "shares"),
    [
        ((), False),
        (("--own-account-sharing", "Isolated"), False),
        (("--own-account-sharing", "Shared"), True),
        (("--own-account-namespace", "a"), True),
        (("--own-account-namespace", "a", "--own-account-namespace", "b"), False),
        (("--namespace", "a"), True),
        (("--namespace", "a", "--namespace", "b"), False),
    ],
)
def test_who_shares_the_own_account_names_what_is_its_own_unless_told_or_alone(arguments, shares):
    assert settings(*arguments).shares_own_account is shares


def test_sharing_is_one_of_two_words():
    with pytest.raises(SettingsError, match="--own-account-sharing: expected one of Isolated, Shared, not 'both'"):
        settings("--own-account-sharing", "both")


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        (("--own-account-sharing", "shared"), "own_account_sharing", "Shared"),
        (("--log-level", "WARNING"), "log_level", "warning"),
        (("--log-format", "Text"), "log_format", "text"),
    ],
)
def test_a_word_is_taken_however_it_is_capitalised(arguments, name, value):
    assert getattr(settings(*arguments), name) == value


def test_the_help_has_every_setting_in_one_group():
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(FLAGS)


@pytest.mark.parametrize(
    ("arguments", "environ", "switched"),
    [((), {}, False), (("--no-secret-finalizer",), {}, True), ((), {"NO_SECRET_FINALIZER": "true"}, True)],
)
def test_holding_secrets_can_be_switched_off(arguments, environ, switched):
    assert settings(*arguments, **environ).no_secret_finalizer is switched


def test_credentials_are_read_anew_from_their_files(tmp_path):
    """A mounted Secret is rotated without a restart."""
    path, environ = tmp_path / "key", {"GPUCLOUD_API_KEY_FILE": str(tmp_path / "key")}
    path.write_text("first")
    assert read_credentials(environ) == Credentials(api_key="first")
    path.write_text("second")
    assert read_credentials(environ) == Credentials(api_key="second")
    path.unlink()
    with pytest.raises(SettingsError) as caught:
        read_credentials(environ)
    assert "second" not in str(caught.value)


def test_user_name_and_password_from_files(tmp_path):
    (tmp_path / "password").write_text(SECRET)
    found = settings(API_KEY="", USERNAME="ann", PASSWORD_FILE=str(tmp_path / "password")).credentials
    assert found == Credentials(username="ann", password=SECRET)


def test_no_secret_is_told():
    it = settings()
    assert it.credentials.api_key.get_secret_value() == SECRET
    assert SECRET not in repr(it) + str(it) + repr(it.credentials)


@pytest.mark.parametrize(
    ("arguments", "environ"),
    [
        (("--endpoint", f"a=https://ann:{SECRET}@cloud.example"), {}),
        (("--endpoint", f"https://ann:{SECRET}@cloud.example"), {}),
        (("--proxy", f"ann:{SECRET}@proxy:3128"), {}),
        (("--proxy", f"socks5://ann:{SECRET}@proxy"), {}),
        (("--proxy", f"http://ann:{SECRET}@proxy:notaport"), {}),
        ((), {"USERNAME": "ann", "PASSWORD": SECRET}),
        ((), {"API_KEY": "", "PASSWORD": SECRET}),
    ],
)
def test_no_secret_is_told_by_a_refusal(arguments, environ):
    with pytest.raises(SettingsError) as caught:
        settings(*arguments, **environ)
    assert SECRET not in str(caught.value) + repr(caught.value)
    assert caught.value.__cause__ is None


def test_a_key_in_the_query_of_an_endpoint_is_not_repeated():
    with pytest.raises(SettingsError) as caught:
        settings("--endpoint", f"a=https://cloud.example?key={SECRET}")
    assert SECRET not in str(caught.value)


def test_a_proxys_password_is_not_printed():
    assert SECRET not in repr(settings("--proxy", f"http://ann:{SECRET}@proxy.example"))


@pytest.mark.parametrize("changes", [{"workers": 0}, {"worker": 1}, {"lease_duration_seconds": 1.0}])
def test_a_changed_copy_is_checked_as_a_new_one(changes):
    with pytest.raises(ValidationError):
        settings().replace(**changes)


def test_secrets_have_no_flag():
    assert not FLAGS.keys() & {"api_key", "username", "password", "credentials"}
    with pytest.raises(SystemExit):
        given("--api-key", "x")


MISSPELT = [
    ({"gpucloud_workers": "7"}, "gpucloud_workers: the variable is not in capitals; name it GPUCLOUD_WORKERS", "a setting"),
    ({"GpuCloud_Workers": "7", "GPUCLOUD_WORKERS": "8"}, "GpuCloud_Workers: the variable is not in capitals", "two of them"),
    ({"gpucloud_api_key": SECRET}, "name it GPUCLOUD_API_KEY", "a secret"),
    ({"gpucloud_password_file": "x"}, "name it GPUCLOUD_PASSWORD_FILE", "the file of a secret"),
    ({"gpucloud_config": "x"}, "name it GPUCLOUD_CONFIG", "the settings file"),
]


@pytest.mark.parametrize(("environ", "says", "why"), MISSPELT, ids=[row[2] for row in MISSPELT])
def test_a_variable_that_differs_in_case_only_is_refused(environ, says, why):
    with pytest.raises(SettingsError) as caught:
        load(given(), OK | environ)
    assert says in str(caught.value), why
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("environ", [{"gpucloud_workers": ""}, {"workers": "7"}, {"gpucloud_helper": "7"}])
def test_variables_that_are_not_ours_are_left_alone(environ):
    assert load(given(), OK | environ).workers == 50
