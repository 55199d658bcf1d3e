"""Which cluster this process acts on, and as whom: by the kubeconfig that KUBECONFIG names, or the pod's service account."""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kopf
import yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Way = Callable[..., kopf.ConnectionInfo | None]

log = logging.getLogger("gpucloud.login")

NoCluster = kopf.LoginError  # what ``connect`` raises, for those who do not know kopf
_DEFAULT = "~/.kube/config"
# By what a user of a kubeconfig logs in, or acts, and what is not read here: without it the user would be somebody else, who
# may do more, or nobody.
UNREAD = ("as", "as-uid", "as-groups", "as-user-extra", "auth-provider", "exec", "tokenFile")


def connect() -> kopf.ConnectionInfo:
    """The current context of KUBECONFIG, else the pod's service account. Read anew at each call: tokens rotate.

    Raises:
        kopf.LoginError: there is neither, or the kubeconfig cannot be used.
        FileNotFoundError: KUBECONFIG names a file that does not exist.
    """
    for way in ways(os.environ):
        found = way(logger=log, settings=kopf.OperatorSettings())
        if found is not None:
            return found
    raise NoCluster("no Kubernetes cluster: set KUBECONFIG, or run in a pod with a service account")


def ways(environ: Mapping[str, str]) -> tuple[Way, ...]:
    """Return the ways to log in, the first that leads anywhere counts.

    A person who sets KUBECONFIG in a pod means that cluster, as for kubectl, and not the pod's own.
    """
    if environ.get("KUBECONFIG"):
        return (_by_kubeconfig,)
    return (kopf.login_with_service_account, _by_kubeconfig)


def server() -> str:
    """Return the address of the apiserver, for people."""
    return re.sub("//[^/]*@", "//", str(connect().server))


def context() -> str:
    """Return by what ``connect`` finds the cluster, for people: the kubeconfig's current context, or the service account."""
    first = ways(os.environ)[0]
    if first is not _by_kubeconfig and first(logger=log, settings=kopf.OperatorSettings()) is not None:
        return "service account of the pod"
    return _current(_documents())


def _by_kubeconfig(*, settings: kopf.OperatorSettings, **_: Any) -> kopf.ConnectionInfo | None:
    """Not by kopf's own reading: for kopf an empty ``current-context`` is one, where kubectl takes that of the next file."""
    if not os.environ.get("KUBECONFIG") and not Path(_DEFAULT).expanduser().exists():
        return None
    try:
        documents = _documents()
        context = _first(documents, "contexts", _current(documents))["context"]
        cluster = _first(documents, "clusters", context["cluster"])["cluster"]
        user = _first(documents, "users", context["user"]).get("user") or {}
        found = _connection(context, cluster, user, settings)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"there is no file {error.filename}, which KUBECONFIG names: set it to one that exists"
        ) from None
    except (AttributeError, KeyError, TypeError, UnicodeDecodeError, yaml.YAMLError):  # nobody has checked the forms
        raise NoCluster(
            "the kubeconfig cannot be used: its current context, or what that names, is missing or of another form; correct it"
        ) from None
    unread = next((name for name in UNREAD if user.get(name)), None)
    if unread is not None:
        raise NoCluster(
            f"the user of context {_current(documents)!r} has {unread!r}, which this program does not read: give the user a "
            "token or a client certificate, or choose another context"
        )
    return found


def _connection(
    context: Mapping[str, Any], cluster: Mapping[str, Any], user: Mapping[str, Any], settings: kopf.OperatorSettings
) -> kopf.ConnectionInfo:
    """As kopf makes it. What is given as data counts before a path, as for kubectl; kopf refuses both at once."""

    def path(where: Mapping[str, Any], name: str) -> str | None:
        return None if where.get(f"{name}-data") else where.get(name)

    return kopf.ConnectionInfo(
        server=cluster["server"],
        ca_path=path(cluster, "certificate-authority"),
        ca_data=cluster.get("certificate-authority-data"),
        insecure=cluster.get("insecure-skip-tls-verify"),
        certificate_path=path(user, "client-certificate"),
        certificate_data=user.get("client-certificate-data"),
        private_key_path=path(user, "client-key"),
        private_key_data=user.get("client-key-data"),
        username=user.get("username"),
        password=user.get("password"),
        token=user.get("token"),
        default_namespace=context.get("namespace"),
        proxy_url=cluster.get("proxy-url"),
        trust_env=settings.networking.trust_env,
    )


def _documents() -> list[Mapping[str, Any]]:
    """Return the kubeconfigs, in the order in which they count."""
    named = (os.environ.get("KUBECONFIG") or _DEFAULT).split(os.pathsep)
    texts = [Path(path.strip()).expanduser().read_text(encoding="utf-8") for path in named if path.strip()]
    return [yaml.safe_load(text) or {} for text in texts]


def _current(documents: list[Mapping[str, Any]]) -> str:
    return str(next((found for one in documents if (found := one.get("current-context"))), ""))


def _first(documents: list[Mapping[str, Any]], section: str, name: object) -> Mapping[str, Any]:
    """Return the first entry of this name.

    Raises:
        KeyError: there is none.
    """
    for item in (item for one in documents for item in one.get(section) or ()):
        if item["name"] == name:
            found: Mapping[str, Any] = item
            return found
    raise KeyError(name)
