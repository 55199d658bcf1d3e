"""Kubeconfigs as kubectl reads them: which way they describe, and what is said of one that cannot be used."""

import base64
import os
from pathlib import Path

import pytest
import yaml

from gpucloud.cli.plugin.kube import client, kubeconfig, library
from gpucloud.cli.plugin.kube.access import Access, At, ConfigError, Material, UnservedError
from gpucloud.cli.plugin.kube.credentials import obtain

SERVER = "https://apiserver.example:6443"


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def a_config(user=None, cluster=None, **context):
    return {
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": SERVER, **(cluster or {})}}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u", **context}}],
    }


@pytest.fixture
def read(tmp_path):
    """A function from kubeconfigs to the way of the first one's context."""

    def of(*documents, context=None, namespace=None):
        paths = []
        for number, document in enumerate(documents):
            folder = tmp_path / str(number)
            folder.mkdir(exist_ok=True)
            (folder / "config").write_text(document if isinstance(document, str) else yaml.safe_dump(document))
            paths.append(folder / "config")
        return kubeconfig.access(kubeconfig.load(tuple(paths)), context, namespace)

    return of


@pytest.mark.parametrize(
    ("config", "field", "expected"),
    [
        (a_config(), "server", SERVER),
        (a_config(), "namespace", "default"),
        (a_config(namespace="team"), "namespace", "team"),
        (a_config({"token": "made-up"}), "token", "made-up"),
        (a_config({"username": "ann", "password": "made-up"}), "basic", "ann:made-up"),
        (a_config(cluster={"proxy-url": "http://proxy.example:3128"}), "proxy", "http://proxy.example:3128"),
        (a_config(cluster={"tls-server-name": "other.example"}), "tls.server_name", "other.example"),
        (a_config(cluster={"insecure-skip-tls-verify": True}), "tls.insecure", True),
        (a_config(cluster={"certificate-authority-data": encoded("PEM")}), "tls.authority", Material(text="PEM")),
        (a_config({"client-certificate-data": encoded("C")}), "tls.certificate", Material(text="C")),
        (a_config({"client-key-data": encoded("K")}), "tls.key", Material(text="K")),
        (a_config({"as": "viewer"}), "impersonate", (("Impersonate-User", "viewer"),)),
    ],
)
def test_what_a_context_describes(read, config, field, expected):
    found = read(config)
    for name in field.split("."):
        found = getattr(found, name)
    assert found == expected


def test_a_relative_path_is_meant_from_its_own_file(read, tmp_path):
    first = {"contexts": a_config()["contexts"], "current-context": "here"}
    found = read(first, a_config({"client-certificate": "me.crt", "tokenFile": "token"}, {"certificate-authority": "ca.crt"}))
    assert found.tls.certificate.path == str(tmp_path / "1" / "me.crt")
    assert (found.token_file, found.tls.authority.path) == (str(tmp_path / "1" / "token"), str(tmp_path / "1" / "ca.crt"))


def test_of_several_files_the_first_counts_and_the_others_add(read):
    first = a_config({"token": "first"}, namespace="one")
    second = a_config({"token": "second"}, namespace="two")
    second["contexts"].append({"name": "there", "context": {"cluster": "c", "user": "u", "namespace": "there"}})
    second["current-context"] = "there"
    assert (read(first, second).token, read(first, second).namespace) == ("first", "one")
    assert read(first, second, context="there").namespace == "there"
    assert read("", second).namespace == "there", "an empty file says nothing"
    assert read(first, namespace="asked").namespace == "asked"


def test_which_files_are_read(monkeypatch):
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(["/a", "", "/b"]))
    assert kubeconfig.paths(None) == (Path("/a"), Path("/b"))
    assert kubeconfig.paths(Path("/c")) == (Path("/c"),)
    monkeypatch.delenv("KUBECONFIG")
    monkeypatch.setenv("HOME", "/nobody")
    assert kubeconfig.paths(None) == (Path("/nobody/.kube/config"),)


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ("[1, 2]", "is not a mapping"),
        ("{a: [", "is not YAML in line 2"),
        ({"clusters": {"name": "c"}}, "clusters in .* is not a list"),
        ({**a_config(), "users": ["u"]}, r"users\[0\] in .* is not a mapping with a name"),
        ({**a_config(), "users": [None]}, r"users\[0\] in .* is not a mapping with a name"),
        ({**a_config(), "users": [{"name": "u", "user": "token"}]}, r"users\[0\].user in .* is not a mapping"),
        ({**a_config(), "contexts": [{"name": "here", "context": []}]}, r"contexts\[0\].context in .* is not a mapping"),
        ({**a_config(), "current-context": ""}, "it has no current-context"),
        ({**a_config(), "current-context": "gone"}, "it has no context 'gone': it has here"),
        ({**a_config(), "clusters": []}, "it has no cluster 'c'"),
        ({**a_config(), "users": []}, "it has no user 'u'"),
        (a_config(cluster={"server": "apiserver.example"}), "server of cluster 'c' does not begin with https:// or http://"),
        (a_config(cluster={"certificate-authority-data": "§"}), "certificate-authority-data is not base64"),
        (a_config({"exec": {"apiVersion": "client.authentication.k8s.io/v1"}}), "exec has no command"),
        (a_config({"exec": "aws"}), "exec has no command"),
        (a_config({"as": "a", "as-groups": "g"}), "as-groups is not a list"),
        (a_config({"as": "a", "as-user-extra": ["g"]}), "as-user-extra is not a mapping"),
    ],
)
def test_a_kubeconfig_that_cannot_be_used_is_told_what_is_wrong(read, config, says):
    with pytest.raises(ConfigError, match=says):
        read(config)


def test_a_broken_file_is_not_quoted(read):
    with pytest.raises(ConfigError) as error:
        read("users: [{name: u, user: {token: made-up-token")
    assert "made-up" not in str(error.value)


@pytest.mark.parametrize(
    "config",
    [
        a_config({"auth-provider": {"name": "oidc"}}),
        a_config(cluster={"proxy-url": "socks5://proxy.example"}),
        a_config({"exec": {"apiVersion": "client.authentication.k8s.io/v1alpha1", "command": "x"}}),
        a_config({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "x", "provideClusterInfo": True}}),
    ],
)
def test_what_is_left_to_the_library(read, config):
    with pytest.raises(UnservedError):
        read(config)


def test_no_secret_is_in_what_is_printed_of_a_way(read):
    found = read(a_config({"token": "made-up-token", "username": "ann", "password": "made-up-word"}))
    assert "made-up" not in repr(found) + repr(obtain(found))
    assert "PEM" not in repr(Material(text="PEM"))


def test_a_pod_is_served_by_its_service_account(monkeypatch, tmp_path):
    for name, text in {"token": "made-up\n", "namespace": "team\n", "ca.crt": "x"}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(client, "POD", tmp_path)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    monkeypatch.setenv("HOME", "/nobody")
    monkeypatch.delenv("KUBECONFIG", raising=False)
    found = client.KubeApi(At())
    assert (found.host, found.namespace, found.token) == ("https://[fd00::1]:443", "team", "made-up")


def test_no_port_is_forwarded_by_another_cluster_than_the_verb_has_asked(tmp_path):
    """`kubectl config use-context` in another terminal, meanwhile: the user's token would go to that cluster."""
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(a_config()))
    api = client.KubeApi(At(kubeconfig=path))
    path.write_text(yaml.safe_dump(a_config(cluster={"server": "https://127.0.0.1:1"})))
    with pytest.raises(ConfigError, match="another cluster"):
        library.forward(api.at, api.host, "team", "operator-0", 8082)


def test_a_token_file_is_read_as_it_is_now(tmp_path):
    access = Access(SERVER, "team", token_file=str(tmp_path / "token"))
    with pytest.raises(ConfigError, match="cannot be read"):
        obtain(access)
    (tmp_path / "token").write_text("made-up\n")
    assert obtain(access).authorization == "Bearer made-up"
