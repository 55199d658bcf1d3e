"""How an apiserver is reached, and as whom; and the errors of the way there. Frozen data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FIELD_MANAGER = "kubectl-gpucloud"
CONNECT_SECONDS, LONGEST_PAUSE = 5.0, 60.0


class Answer(NamedTuple):
    """Status and text of an answer, and its header Retry-After."""

    status: int
    text: bytes
    retry_after: str = ""

    @property
    def pause(self) -> float:
        """Seconds to leave the server alone. The apiserver sends whole seconds; a proxy may send anything."""
        return min(float(self.retry_after), LONGEST_PAUSE) if self.retry_after.isdecimal() else 0.0


def is_transient(status: int) -> bool:
    """Whether an error is of the moment: too many requests, or a server that cannot serve now."""
    return status == 429 or status >= 500


class RefusedError(Exception):
    """The apiserver answered with an error. ``reason``: its word for it, empty if the answer has none.

    ``pause``: how many seconds it asks to be left alone; 0 if it does not. ``named``: whether the answer names the object that
    it is about.
    """

    def __init__(self, status: int, message: str, reason: str = "", pause: float = 0.0, *, named: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.pause = pause
        self.named = named

    @property
    def is_transient(self) -> bool:
        """Whether the same read may soon be answered."""
        return is_transient(self.status)

    @property
    def is_name_taken(self) -> bool:
        """Whether an object of this name exists already. Another conflict has the same status."""
        return self.reason == "AlreadyExists"

    @property
    def is_unserved(self) -> bool:
        """Whether the apiserver serves no such kind; it then answers with plain text, or without a name."""
        return self.status == 404 and not (self.reason == "NotFound" and self.named)


class ConfigError(Exception):
    """A kubeconfig that cannot be used; the text says what is wrong with it."""


class UnservedError(Exception):
    """A valid kubeconfig that the small reader does not serve: the ``kubernetes`` library may."""


class Api(Protocol):
    """What the verbs need of a way to the apiserver; the tests have one without a server."""

    namespace: str

    def call(self, method: str, path: str, query: Mapping[str, str] | None = None, body: Any = None) -> dict[str, Any]:
        """One request.

        Raises:
            RefusedError: it was answered with an error.
            UnansweredError: it was not answered, or not with a JSON object.
        """

    def text(self, path: str, query: Mapping[str, str] | None = None) -> str:
        """The same for a read that is answered with plain text."""

    def metadata(self, path: str) -> dict[str, Any]:
        """The same for a read of an object's metadata alone: of a Secret, no value is asked for."""

    def within(self, seconds: float) -> Self:
        """The same way, all of whose requests together may take so long from now on."""


@dataclass(frozen=True, slots=True)
class At:
    """Which cluster, and as whom: what the options say."""

    kubeconfig: Path | None = None
    context: str | None = None
    namespace: str | None = None
    as_user: str | None = None
    as_groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Material:
    """A certificate or key: in a file, or as its text. Never printed."""

    path: str = ""
    text: str = field(default="", repr=False)

    def __bool__(self) -> bool:
        return bool(self.path or self.text)


NOTHING = Material()


@dataclass(frozen=True, slots=True)
class Tls:
    """How the server proves who it is, and what the client shows."""

    authority: Material = NOTHING
    certificate: Material = NOTHING
    key: Material = NOTHING
    insecure: bool = False
    server_name: str = ""


@dataclass(frozen=True, slots=True)
class ExecPlugin:
    """A program that prints the credential."""

    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    api_version: str = ""
    install_hint: str = ""
    interactive: bool = True


@dataclass(frozen=True, slots=True)
class Access:
    """Everything of one context of a kubeconfig."""

    server: str
    namespace: str
    tls: Tls = Tls()
    proxy: str = ""
    token: str = field(default="", repr=False)
    token_file: str = ""
    basic: str = field(default="", repr=False)  # user:password
    plugin: ExecPlugin | None = None
    impersonate: tuple[tuple[str, str], ...] = ()  # headers
