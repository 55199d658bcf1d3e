"""Base URLs of clouds: which text is one, and to which a credential may be sent without TLS."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

NEEDS_TLS = (
    "would send the credential to another host without TLS: use https://; "
    "http:// is only for this machine, as 127.0.0.1, and for a Service of the cluster, as NAME.NAMESPACE.svc"
)
# Scheme, host, port, path; letters beyond ASCII (xn-- says them), spaces, user names and queries have no place in it.
_BASE_URL = re.compile(r"(?i:https?)://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?")
# Names that no public name server answers: the loopback interface, and Services of a Kubernetes cluster.
_LOCAL_NAME = re.compile(r"(.+\.)?localhost|[a-z0-9-]+\.[a-z0-9-]+\.svc(\.cluster\.local)?")


def is_base_url(url: str) -> bool:
    """Whether this is an address that every reader takes for the same one, with nothing in it but an address."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # brackets that hold no address, or a port that is no number
        return False
    host = parts.hostname or ""
    return (
        _BASE_URL.fullmatch(url) is not None
        and parts.scheme in {"http", "https"}
        and port != 0
        and (":" in host or all(host.removesuffix(".").split(".")))
    )


def may_carry_a_credential(scheme: str, host: str) -> bool:
    """Whether a credential may go to this host: by TLS, or without leaving this machine or this cluster."""
    return scheme == "https" or _is_local(host.lower().removesuffix("."))


def without_userinfo(text: str) -> str:
    """A password or a key in a URL must not be repeated in an error, whatever characters it is made of."""
    return re.sub(r"[?#].*", "…", re.sub(r"//.*@", "//…@", text, flags=re.DOTALL), flags=re.DOTALL)


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return _LOCAL_NAME.fullmatch(host) is not None
