"""Read kubeconfigs as kubectl does: the files of KUBECONFIG merged, the first one counts; one context becomes an ``Access``."""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import yaml

from gpucloud.cli.plugin.kube.access import Access, At, ConfigError, ExecPlugin, Material, Tls, UnservedError
from gpucloud.cli.plugin.kube.proxies import proxy_for

if TYPE_CHECKING:
    from collections.abc import Mapping

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
SECTIONS = ("clusters", "users", "contexts")
INNER = {"clusters": "cluster", "users": "user", "contexts": "context"}
EXEC_VERSIONS = {"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"}


@dataclass(slots=True)
class Entry:
    """A cluster, user or context, and the folder that its relative paths are meant from."""

    value: Mapping[str, Any]
    folder: Path


@dataclass(slots=True)
class Merged:
    """All files as one."""

    current: str = ""
    clusters: dict[str, Entry] = field(default_factory=dict)
    users: dict[str, Entry] = field(default_factory=dict)
    contexts: dict[str, Entry] = field(default_factory=dict)


def paths(given: Path | None) -> tuple[Path, ...]:
    """The files that count: the given one, else those of KUBECONFIG, else ~/.kube/config."""
    named = os.environ.get("KUBECONFIG")
    if given is not None:
        return (given,)
    if named:
        return tuple(Path(path) for path in named.split(os.pathsep) if path)
    return (Path.home() / ".kube" / "config",)


def load(files: tuple[Path, ...]) -> Merged:
    """Merge the files; one that does not exist is passed over.

    Raises:
        ConfigError: one cannot be read, or has another form.
    """
    merged = Merged()
    for path in files:
        if path.is_file():
            _add(merged, path)
    return merged


def access(merged: Merged, context: str | None = None, namespace: str | None = None) -> Access:
    """The way that a context describes.

    Raises:
        ConfigError: it is not there, or refers to what is not there.
        UnservedError: it logs in, or goes, in a way that only the library knows.
    """
    name = context or merged.current
    if not name:
        raise ConfigError("it has no current-context")
    chosen = _named(merged.contexts, name, "context").value
    cluster = _named(merged.clusters, _text(chosen, "cluster"), "cluster")
    user = _named(merged.users, _text(chosen, "user"), "user") if chosen.get("user") else Entry({}, Path())
    server = _text(cluster.value, "server").rstrip("/")
    if not server.startswith(("https://", "http://")):
        raise ConfigError(f"the server of cluster {_text(chosen, 'cluster')!r} does not begin with https:// or http://")
    return Access(
        server=server,
        namespace=namespace or _text(chosen, "namespace") or "default",
        tls=_tls(cluster, user),
        proxy=proxy_for(server, _text(cluster.value, "proxy-url")),
        token=_text(user.value, "token"),
        token_file=_path(user, "tokenFile"),
        basic=f"{_text(user.value, 'username')}:{_text(user.value, 'password')}" if user.value.get("username") else "",
        plugin=_plugin(user),
        impersonate=_acting(user.value),
    )


def _add(merged: Merged, path: Path) -> None:
    try:
        document = yaml.load(path.read_text(encoding="utf-8"), LOADER)  # noqa: S506 - a safe loader, in C where there is one
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f" in line {where.line + 1}" if where is not None else ""
        raise ConfigError(f"{path} is not YAML{line}") from None  # the rest of its words may quote a key
    if document is None:
        return
    if not isinstance(document, dict):
        raise ConfigError(f"{path} is not a mapping")
    merged.current = merged.current or _text(document, "current-context")
    for section in SECTIONS:
        _add_section(getattr(merged, section), section, document.get(section), path)


def _add_section(into: dict[str, Entry], section: str, items: object, path: Path) -> None:
    if items is None:
        return
    if not isinstance(items, list):
        raise ConfigError(f"{section} in {path} is not a list")
    for place, item in enumerate(items):
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            raise ConfigError(f"{section}[{place}] in {path} is not a mapping with a name")
        inner = item.get(INNER[section])
        if inner is not None and not isinstance(inner, dict):
            raise ConfigError(f"{section}[{place}].{INNER[section]} in {path} is not a mapping")
        into.setdefault(item["name"], Entry(inner or {}, path.parent.absolute()))


def _named(entries: Mapping[str, Entry], name: str, what: str) -> Entry:
    if name not in entries:
        known = f": it has {', '.join(sorted(entries))}" if entries and what == "context" else ""
        raise ConfigError(f"it has no {what} {name!r}{known}")
    return entries[name]


def _tls(cluster: Entry, user: Entry) -> Tls:
    return Tls(
        authority=_material(cluster, "certificate-authority"),
        certificate=_material(user, "client-certificate"),
        key=_material(user, "client-key"),
        insecure=cluster.value.get("insecure-skip-tls-verify") is True,
        server_name=_text(cluster.value, "tls-server-name"),
    )


def _material(entry: Entry, name: str) -> Material:
    """The data of this name, which counts before the file."""
    data = _text(entry.value, f"{name}-data")
    if not data:
        return Material(path=_path(entry, name))
    try:
        return Material(text=base64.b64decode(data, validate=False).decode())
    except ValueError:  # of base64 or of UTF-8
        raise ConfigError(f"{name}-data is not base64 of PEM") from None


def _path(entry: Entry, name: str) -> str:
    found = _text(entry.value, name)
    return str(entry.folder / found) if found else ""


def _plugin(user: Entry) -> ExecPlugin | None:
    if user.value.get("auth-provider"):
        raise UnservedError("auth-provider")
    found = user.value.get("exec")
    if found is None:
        return None
    if not isinstance(found, dict) or not _text(found, "command"):
        raise ConfigError("users[].user.exec has no command")
    version = _text(found, "apiVersion")
    if version not in EXEC_VERSIONS:
        raise UnservedError(f"exec of {version}")
    if found.get("provideClusterInfo") is True:
        raise UnservedError("exec with provideClusterInfo")
    command = _text(found, "command")
    pairs = [item for item in _list(found, "env") if isinstance(item, dict)]
    return ExecPlugin(
        command=str(user.folder / command) if os.sep in command else command,
        args=tuple(str(item) for item in _list(found, "args")),
        env=tuple((_text(item, "name"), _text(item, "value")) for item in pairs if item.get("name")),
        api_version=version,
        install_hint=_text(found, "installHint"),
        interactive=_text(found, "interactiveMode") != "Never",
    )


def impersonation(at: At) -> tuple[tuple[str, str], ...]:
    """The headers to act as somebody else: as the options say, else as the kubeconfig does."""
    if at.as_user:
        return _acting({"as": at.as_user, "as-groups": list(at.as_groups)})
    merged = load(paths(at.kubeconfig))
    context = merged.contexts.get(at.context or merged.current)
    user = merged.users.get(_text(context.value, "user")) if context is not None else None
    return () if user is None else _acting(user.value)


def _acting(user: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Wholly: to leave a part out would be to act as somebody who may do more."""
    if not user.get("as"):
        return ()
    extra = user.get("as-user-extra") or {}
    if not isinstance(extra, dict):
        raise ConfigError("as-user-extra is not a mapping")
    headers = [("Impersonate-User", str(user["as"]))]
    headers += [("Impersonate-Group", str(group)) for group in _list(user, "as-groups")]
    headers += [("Impersonate-Uid", str(user["as-uid"]))] if user.get("as-uid") else []
    headers += [(f"Impersonate-Extra-{quote(str(name))}", str(value)) for name in extra for value in _list(extra, name)]
    if any(is_no_header(value) for _, value in headers):
        raise ConfigError("its user has a control character in as, as-groups, as-uid or as-user-extra")
    # http.client writes text in Latin-1: so that UTF-8 leaves, as kubectl sends it. In Latin-1 it would name somebody else.
    return tuple((name, value.encode().decode("latin-1")) for name, value in headers)


def is_no_header(value: str) -> bool:
    """Whether no header can hold this."""
    return any(char < " " or char == "\x7f" for char in value)


def _list(entry: Mapping[str, Any], name: str) -> list[Any]:
    found = entry.get(name)
    if found is not None and not isinstance(found, list):
        raise ConfigError(f"{name} is not a list")
    return found or []


def _text(entry: Mapping[str, Any], name: str) -> str:
    found = entry.get(name)
    return "" if found is None or isinstance(found, dict | list) else str(found)
