"""Which proxy leads to an apiserver: the kubeconfig's, else the environment's, by the rules of Go's HTTP client."""

from __future__ import annotations

import ipaddress
import os
from urllib.parse import urlsplit

from gpucloud.cli.plugin.kube.access import UnservedError


def proxy_for(server: str, named: str = "") -> str:
    """The address of the proxy; empty for none. ``named`` is the cluster's ``proxy-url``.

    Raises:
        UnservedError: it is no HTTP proxy.
    """
    found = named or _of_environment(server)
    if found and not found.startswith("http://"):
        raise UnservedError(f"a proxy at {found.partition('://')[0]}://")
    return found


def _of_environment(server: str) -> str:
    variable = "HTTPS_PROXY" if server.startswith("https:") else "HTTP_PROXY"
    found = _variable(variable)
    if not found or _is_excepted(server, _variable("NO_PROXY")):
        return ""
    return found if "://" in found else f"http://{found}"


def _variable(name: str) -> str:
    return os.environ.get(name) or os.environ.get(name.lower()) or ""


def _is_excepted(server: str, exceptions: str) -> bool:
    """Whether the server is this machine, or in NO_PROXY: as a domain, an address or a network, with or without a port."""
    parts = urlsplit(server)
    host, port = (parts.hostname or "").rstrip("."), str(parts.port or (443 if parts.scheme == "https" else 80))
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    entries = [entry.strip().lower() for entry in exceptions.split(",")]
    names = [entry.removesuffix(f":{port}") for entry in entries if entry]
    return any(name == "*" or _covers(name, host) for name in names)


def _covers(name: str, host: str) -> bool:
    address = _address(host)
    if address is not None:
        try:
            return address in ipaddress.ip_network(name.strip("[]"), strict=False)
        except ValueError:
            return False
    domain = name.removeprefix("*").removeprefix(".")
    return host.endswith(f".{domain}") or (host == domain and not name.startswith((".", "*.")))


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
