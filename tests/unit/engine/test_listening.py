"""Ports on which the operator listens."""

import socket

import pytest
from aiohttp import web

from gpucloud.engine.manager.listening import listen


@pytest.fixture
async def runner():
    made = web.AppRunner(web.Application())
    await made.setup()
    yield made
    await made.cleanup()


async def test_zero_lets_the_system_choose(runner):
    assert await listen(runner, "127.0.0.1", 0, "--metrics-port") > 0


async def test_a_port_that_is_taken_is_told_with_the_flag_and_the_variable(runner):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=r"is in use: name another one with --metrics-port \(GPUCLOUD_METRICS_PORT\)") as told:
            await listen(runner, "127.0.0.1", port, "--metrics-port")
    assert str(told.value).startswith(f"port {port} of 127.0.0.1 ")
