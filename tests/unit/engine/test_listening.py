"""Ports on which the operator listens."""

import socket
from functools import partial

import pytest
from aiohttp import web

from gpucloud.engine.manager.listening import PortInUseError, all_of, listen


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


async def test_all_ports_that_are_taken_are_told_at_once(runner):
    """Also where a free one stands between them, and where some are started together already."""
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        ports = [one.getsockname()[1], 0, other.getsockname()[1]]
        flags = ["--metrics-port", "--health-port", "--console-port"]
        first, *rest = [partial(listen, runner, "127.0.0.1", port, flag) for port, flag in zip(ports, flags, strict=True)]
        with pytest.raises(PortInUseError) as told:
            await all_of(first, partial(all_of, *rest))
    assert [word for word in str(told.value).split() if word.startswith("--")] == [flags[0], flags[2]]
    assert all(f"port {port} of 127.0.0.1 is in use" in str(told.value) for port in (ports[0], ports[2]))


async def test_another_trouble_is_told_as_it_is(runner):
    with pytest.raises(OSError, match=r"192\.0\.2\.1") as told:
        await all_of(partial(listen, runner, "192.0.2.1", 0, "--metrics-port"))
    assert not isinstance(told.value, PortInUseError)
