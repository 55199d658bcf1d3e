"""Which proxy leads to an apiserver: the kubeconfig's, else the environment's, where NO_PROXY does not except the server."""

import pytest

from gpucloud.cli.plugin.kube.access import UnservedError
from gpucloud.cli.plugin.kube.proxies import proxy_for

NAMES = ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
PROXY = "http://proxy.example:3128"


@pytest.fixture
def environ(monkeypatch):
    """A function that sets the variables, and no others."""

    def put(variables):
        for name in NAMES:
            monkeypatch.delenv(name, raising=False)
            monkeypatch.delenv(name.lower(), raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return put


@pytest.mark.parametrize(
    ("server", "variables", "named", "expected", "why"),
    [
        ("https://a.example", {"HTTPS_PROXY": PROXY}, "", PROXY, "the environment's"),
        ("https://a.example", {"https_proxy": "proxy.example:3128"}, "", PROXY, "in lower case, and without a scheme"),
        ("https://a.example", {"HTTP_PROXY": PROXY}, "", "", "that is for http"),
        ("http://a.example", {"HTTP_PROXY": PROXY}, "", PROXY, "and http goes by it"),
        ("https://127.0.0.1:6443", {"HTTPS_PROXY": PROXY}, "", "", "this machine needs none"),
        ("https://[::1]:6443", {"HTTPS_PROXY": PROXY}, "", "", "nor under this address"),
        ("https://127.0.0.1:6443", {}, PROXY, PROXY, "unless the kubeconfig names one"),
        ("https://a.example", {"HTTPS_PROXY": "http://other.example", "NO_PROXY": "*"}, PROXY, PROXY, "which counts first"),
    ],
)
def test_the_kubeconfig_then_the_environment(environ, server, variables, named, expected, why):
    environ(variables)
    assert proxy_for(server, named) == expected, why


@pytest.mark.parametrize(
    ("server", "exceptions", "excepted"),
    [
        ("https://api.cluster.example", "cluster.example", True),
        ("https://cluster.example", "cluster.example", True),
        ("https://api.cluster.example", ".cluster.example", True),
        ("https://cluster.example", ".cluster.example", False),
        ("https://api.cluster.example", "other.example, *.cluster.example", True),
        ("https://mycluster.example", "cluster.example", False),
        ("https://cluster.example:6443", "cluster.example:6443", True),
        ("https://cluster.example:6443", "cluster.example:443", False),
        ("https://10.1.2.3:6443", "10.0.0.0/8", True),
        ("https://10.1.2.3:6443", "10.1.2.3", True),
        ("https://10.1.2.3:6443", "192.168.0.0/16,3", False),
        ("https://[fd00::1]:6443", "fd00::/8", True),
        ("https://cluster.example", "*", True),
        ("https://cluster.example", "", False),
    ],
)
def test_no_proxy_excepts_domains_addresses_and_networks(environ, server, exceptions, excepted):
    environ({"HTTPS_PROXY": PROXY, "NO_PROXY": exceptions})
    assert (proxy_for(server) == "") is excepted


@pytest.mark.parametrize("url", ["socks5://proxy.example", "https://proxy.example"])
def test_another_kind_of_proxy_is_left_to_the_library(environ, url):
    environ({"HTTPS_PROXY": url})
    with pytest.raises(UnservedError):
        proxy_for("https://a.example")
