"""Listens on ports that settings choose, and says of all that are taken at once which setting chooses another."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, TypeVar

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")


class PortInUseError(OSError):
    """A port, or several, on which another process listens."""


async def all_of(*starts: Callable[[], Awaitable[T]]) -> list[T]:
    """Start each, also after one whose port is taken, so that a user need not start the process once for each of them.

    Raises:
        PortInUseError: ports are taken; it names all of them.
        OSError: the address is not of this machine.
    """
    begun, taken = list[T](), list[str]()
    for start in starts:
        try:
            begun.append(await start())
        except PortInUseError as error:
            taken.append(str(error))
    if taken:
        raise PortInUseError("; ".join(taken))
    return begun


async def listen(runner: web.AppRunner, address: str, port: int, flag: str) -> int:
    """Listen; return the port, which matters if the setting is 0. ``flag``: the one that sets it.

    Raises:
        PortInUseError: the port is taken.
        OSError: the address is not of this machine.
    """
    try:
        await web.TCPSite(runner, address, port).start()
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        variable = f"GPUCLOUD_{flag.removeprefix('--').replace('-', '_').upper()}"
        raise PortInUseError(f"port {port} of {address} is in use: name another one with {flag} ({variable})") from None
    bound: int = runner.addresses[0][1]
    return bound
