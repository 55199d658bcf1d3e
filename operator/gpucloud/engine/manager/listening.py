"""Listens on a port that a setting chooses, and says which setting where the port is taken."""

from __future__ import annotations

import errno

from aiohttp import web


async def listen(runner: web.AppRunner, address: str, port: int, flag: str) -> int:
    """Listen; return the port, which matters if the setting is 0. ``flag``: the one that sets it.

    Raises:
        OSError: the port is taken, or the address is not of this machine.
    """
    try:
        await web.TCPSite(runner, address, port).start()
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        variable = f"GPUCLOUD_{flag.removeprefix('--').replace('-', '_').upper()}"
        raise OSError(f"port {port} of {address} is in use: name another one with {flag} ({variable})") from None
    bound: int = runner.addresses[0][1]
    return bound
