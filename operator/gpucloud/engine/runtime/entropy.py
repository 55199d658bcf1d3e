"""The one source of chance: nonces, jitter, and the name of this process. Everything else is given an ``Entropy``."""

from __future__ import annotations

import random  # noqa: TID251 - the one place
import secrets  # noqa: TID251 - the one place
import socket
import uuid  # noqa: TID251 - the one place
from typing import Protocol


class Entropy(Protocol):
    """What differs between two runs that are alike in everything else."""

    @property
    def instance(self) -> str:
        """The name of this process, unlike that of any other: in the Lease and in Events."""

    def token_hex(self, octets: int) -> str:
        """So many random bytes, as hexadecimal text."""

    def jitter(self) -> float:
        """A random number from 0 to 1, so that many processes do not act in step."""


class SystemEntropy:
    """The machine's own. A pod's host name is the pod's name; the rest tells this process from its predecessor in the pod."""

    def __init__(self) -> None:
        self.instance = f"{socket.gethostname()}_{uuid.uuid4()}"

    def token_hex(self, octets: int) -> str:
        """So many random bytes, as hexadecimal text."""
        return secrets.token_hex(octets)

    def jitter(self) -> float:
        """A random number from 0 to 1."""
        return random.random()  # noqa: S311 - it guards nothing
