"""Entropy: the only source of randomness (nonces, jitter, the process identity). All other code receives an ``Entropy``."""

from __future__ import annotations

import random  # noqa: TID251 - the one place
import secrets  # noqa: TID251 - the one place
import socket
import uuid  # noqa: TID251 - the one place
from typing import Protocol


class Entropy(Protocol):
    """Source of random values."""

    @property
    def instance(self) -> str:
        """The unique identity of this process in the Lease and in Events."""

    def token_hex(self, octets: int) -> str:
        """``octets`` random bytes as hexadecimal text."""

    def jitter(self) -> float:
        """A random number in [0, 1), which spreads the retries of many processes."""


class SystemEntropy:
    """Randomness of the host. The identity is the host name (in a pod, the pod name) and a UUID for this process."""

    def __init__(self) -> None:
        self.instance = f"{socket.gethostname()}_{uuid.uuid4()}"

    def token_hex(self, octets: int) -> str:
        """``octets`` random bytes as hexadecimal text."""
        return secrets.token_hex(octets)

    def jitter(self) -> float:
        """A random number in [0, 1)."""
        return random.random()  # noqa: S311 - not used for security
