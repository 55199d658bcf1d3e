"""Fakes of an apiserver for the client of the Kubernetes API: a small server on 127.0.0.1, and transports."""

import asyncio
import json

from aiohttp import web

from gpucloud.engine.kube.transport import KubeAnswer

OWNER = {
    "name": "train",
    "namespace": "team",
    "uid": "u-1",
    "resourceVersion": "7",
    "finalizers": ["other.example/a", "gpucloud.dev/finalizer", "other.example/b"],
    "creationTimestamp": "2026-01-01T00:00:00Z",
}
ITEM = "/apis/gpucloud.dev/v1alpha1/namespaces/team/gpuvms/train"


class Connection:
    proxy_url = None

    def __init__(self, server, token):
        self.server, self.token = server, token

    def as_http_headers(self):
        return {"Authorization": f"Bearer {self.token}"}

    def as_ssl_context(self):
        return True


class Server:
    """Answers by a function of the request, and remembers what came."""

    def __init__(self):
        self.seen = []
        self.answer = lambda _seen: (200, {"metadata": {"resourceVersion": "8"}})
        self.logins = 0
        self.url = ""

    async def handle(self, request):
        text = await request.text()
        seen = {
            "method": request.method,
            "path": request.path,
            "query": dict(request.query),
            "type": request.headers.get("Content-Type"),
            "token": request.headers.get("Authorization"),
            "accept": request.headers.get("Accept"),
            "body": json.loads(text) if text else None,
        }
        self.seen.append(seen)
        answer = self.answer(seen)
        status, body = await answer if asyncio.iscoroutine(answer) else answer
        return web.Response(status=status, text=body if isinstance(body, str) else json.dumps(body))

    def login(self):
        self.logins += 1
        return Connection(self.url, f"made-up-{self.logins}")


class NoConnection:
    server, proxy_url = "http://127.0.0.1", None

    def as_http_headers(self):
        return {"Authorization": "Bearer made-up"}


class Answering:
    """A transport that gives one answer, and remembers when it was asked."""

    def __init__(self, status, retry_after):
        self.answer, self.asked, self.logins = KubeAnswer(status, {"Retry-After": retry_after}, "{}"), [], 0

    def connect(self, _connection):
        self.logins += 1

    async def request(self, *_args, **_more):
        self.asked.append(asyncio.get_running_loop().time())
        return self.answer


class Silent(Answering):
    """A transport that answers nothing, or says why it cannot."""

    def __init__(self, error=None):
        super().__init__(0, "")
        self.error = error

    async def request(self, *_args, **_more):
        if self.error is not None:
            raise self.error
        await asyncio.Event().wait()
