"""What a caller sets and receives beside the calls themselves: credentials, options, reports.

Plain frozen data, checked on construction; no I/O. No repr shows a secret.
"""

import random  # noqa: TID251 - this package is usable without the engine and its entropy
from collections.abc import Callable
from dataclasses import dataclass, field

from gpucloud.cloud.errors import ErrorKind

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True)
class ApiKey:
    """A long-lived key from the dashboard. Blanks around it, such as a file's last newline, are dropped.

    Raises:
        ValueError: when it is empty or could not be sent in a header. The text does not repeat it.
    """

    value: str = field(repr=False)

    def __post_init__(self) -> None:
        """Check the value."""
        value = self.value.strip()
        if not value or not value.isascii() or not value.isprintable() or " " in value:
            raise ValueError("the API key must be one word of printable ASCII characters")
        object.__setattr__(self, "value", value)


@dataclass(frozen=True)
class Login:
    """An account's name (or e-mail address) and password, exchanged for 24-hour tokens as needed."""

    username: str
    password: str = field(repr=False)


@dataclass(frozen=True)
class ClientOptions:
    """How a client behaves. Times in seconds, sizes in bytes.

    ``qps`` and ``burst`` bound every HTTP request, logins included. ``total_deadline_seconds`` covers a whole call:
    waiting for budget, connecting, the slowest body, retries. ``connect_timeout_seconds`` bounds TCP and TLS each.
    ``max_body_bytes`` holds before and after decompression. ``max_retries`` applies to reading calls only. ``ca_file``
    replaces the usual authorities. ``jitter`` answers numbers from 0 to 1 that spread repeated calls in time.
    """

    qps: float = 10.0
    burst: int = 20
    connect_timeout_seconds: float = 10.0
    total_deadline_seconds: float = 30.0
    max_body_bytes: int = 10 * MEBIBYTE
    max_retries: int = 2
    ca_file: str | None = None
    proxy: str | None = field(default=None, repr=False)
    jitter: Callable[[], float] = field(default=random.random, repr=False)

    def __post_init__(self) -> None:
        """Refuse limits under which nothing could ever be sent."""
        positive = ("qps", "burst", "connect_timeout_seconds", "total_deadline_seconds", "max_body_bytes")
        for name in positive:
            if not getattr(self, name) > 0:  # NaN is no number, and would bound nothing
                raise ValueError(f"{name} must be greater than 0")
        if self.burst < 1:
            raise ValueError("burst must be at least 1")
        if self.max_retries < 0:
            raise ValueError("max_retries must not be negative")


@dataclass(frozen=True)
class CallReport:
    """One attempt of a call, for metrics: either an HTTP ``status`` or a failure's ``kind`` or both; never a URL.

    ``attempt`` counts from 1. ``seconds`` is what this attempt took, waiting for budget included. ``message`` holds the
    cloud's own words when it failed, as ``CloudError`` does. ``sent`` is False when the call itself never left: it could not
    be sent, or its login failed, of which there is a report of its own.
    """

    operation: str
    method: str
    status: int | None
    kind: ErrorKind | None
    seconds: float
    attempt: int
    message: str = ""
    sent: bool = True


OnCall = Callable[[CallReport], None]
