"""The credential of a kubeconfig: a token, a token's file, a name with its password, or what a program prints."""

from __future__ import annotations

import base64
import json
import os
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin.kube.access import NOTHING, ConfigError, Material

if TYPE_CHECKING:
    from gpucloud.cli.plugin.kube.access import Access, ExecPlugin

TOKEN_FILE_SECONDS = 60  # a kubelet writes a service account's token anew before the old one ends
EARLY = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Credential:
    """What is shown to the apiserver, and until when it is good."""

    authorization: str = field(default="", repr=False)
    certificate: Material = NOTHING
    key: Material = NOTHING
    until: datetime | None = None

    def expired(self, now: datetime) -> bool:
        """Whether it is to be asked for anew."""
        return self.until is not None and now >= self.until - EARLY


def obtain(access: Access) -> Credential:
    """The credential as it is now.

    Raises:
        ConfigError: it cannot be read, or the program failed.
    """
    if access.plugin is not None:
        return _printed(access.plugin)
    if access.token_file:
        return Credential(f"Bearer {_read(access.token_file)}", until=datetime.now(UTC) + timedelta(seconds=TOKEN_FILE_SECONDS))
    if access.token:
        return Credential(f"Bearer {access.token}")
    if access.basic:
        return Credential(f"Basic {base64.b64encode(access.basic.encode()).decode()}")
    return Credential()


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"tokenFile {path} cannot be read: {error}") from None


def _printed(plugin: ExecPlugin) -> Credential:
    """Run the program; its questions and complaints go to the terminal, its answer is never shown."""
    import subprocess  # noqa: PLC0415 - few kubeconfigs name a program

    interactive = plugin.interactive and sys.stdin is not None and sys.stdin.isatty()
    info = {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": {"interactive": interactive}}
    environ = {**os.environ, **dict(plugin.env), "KUBERNETES_EXEC_INFO": json.dumps(info)}
    stdin = None if interactive else subprocess.DEVNULL
    try:
        done = subprocess.run([plugin.command, *plugin.args], env=environ, stdin=stdin, stdout=subprocess.PIPE, check=False)  # noqa: S603 - the user's own kubeconfig names it, as for kubectl
    except OSError as error:
        hint = f"; {' '.join(plugin.install_hint.split())}" if plugin.install_hint else ""
        raise ConfigError(f"{plugin.command} cannot be run: {error.strerror or error}{hint}") from None
    if done.returncode != 0:
        raise ConfigError(f"{plugin.command} failed with exit code {done.returncode}")
    return _credential(plugin.command, done.stdout)


def _credential(command: str, answer: bytes) -> Credential:
    try:
        status: Any = json.loads(answer)["status"]
        token, until = status.get("token"), status.get("expirationTimestamp")
        certificate, key = status.get("clientCertificateData"), status.get("clientKeyData")
        ends = datetime.fromisoformat(until) if until else None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ConfigError(f"{command} did not print an ExecCredential") from None
    if not token and not (certificate and key):
        raise ConfigError(f"{command} printed neither a token nor a certificate with its key")
    shown = f"Bearer {token}" if token else ""
    return Credential(shown, Material(text=str(certificate or "")), Material(text=str(key or "")), ends)
