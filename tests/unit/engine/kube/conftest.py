"""A client of the Kubernetes API and the server that it talks to."""

import pytest
from aiohttp import web

from gpucloud.engine.kube.client import KubeClient
from support.kubeserver import Server


@pytest.fixture
async def server():
    made = Server()
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", made.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield made
    await runner.cleanup()


@pytest.fixture
async def kube(server):
    made = KubeClient(server.login)
    yield made
    await made.aclose()
