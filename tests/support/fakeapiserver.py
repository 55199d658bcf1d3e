"""An apiserver of a few dozen lines, over real HTTP: our objects in a dict, and canned answers for the rest."""

from __future__ import annotations

import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qs, urlsplit

import yaml

from gpucloud.kinds import names

if TYPE_CHECKING:
    from pathlib import Path

PREFIX = "/apis/gpucloud.dev/v1alpha1"
PLURALS = {item.kind: item.plural for item in names.KINDS}


def _labelled(items: list[dict[str, Any]], selector: str) -> list[dict[str, Any]]:
    """Those of these objects that a selector of the form ``label=value`` chooses."""
    name, _, value = selector.partition("=")
    return [item for item in items if item["metadata"].get("labels", {}).get(name) == value]


def _without_uid(body: Any) -> Any:
    meta = {name: value for name, value in (body or {}).get("metadata", {}).items() if name != "uid"}
    rest = {name: value for name, value in (body or {}).items() if name != "metadata"}
    return body if body is None else rest | ({"metadata": meta} if meta else {})


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """A test that breaks an answer off does so on purpose."""


class FakeApiServer:
    """Holds objects by path; a test adds them, and sees what was asked in ``calls``."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        self.canned: dict[str, Any] = {"/api/v1/namespaces/team": {"metadata": {"name": "team"}}}
        self.unserved: tuple[int, Any] | None = None  # the answer to whatever is of our group, without our CRDs
        self.refused: dict[str, int] = {}  # a beginning of a path -> status
        self.calls: list[tuple[str, str, Any, dict[str, str]]] = []
        self.headers: list[list[tuple[str, str]]] = []  # of each call, with those that stand more than once
        self.asked: list[str] = []  # paths with their queries
        self.on_read = lambda: None  # called before each read, so that a test can let time pass
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        scheme = "https" if isinstance(self._server.socket, ssl.SSLSocket) else "http"
        return f"{scheme}://127.0.0.1:{self._server.server_address[1]}"

    def speak_tls(self, context: ssl.SSLContext) -> None:
        """From now on; a handshake is made in the thread of its connection."""
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)

    def kubeconfig(self, folder: Path, **user: Any) -> Path:
        """A kubeconfig that leads here, in the namespace team."""
        chosen = {"token": "made-up-token", **user}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "fake", "cluster": {"server": self.url}}],
            "users": [{"name": "user", "user": {name: value for name, value in chosen.items() if value is not None}}],
            "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "user", "namespace": "team"}}],
            "current-context": "fake",
        }
        path = folder / "kubeconfig"
        path.write_text(yaml.safe_dump(config))
        return path

    def add(self, *bodies: dict[str, Any]) -> None:
        for body in bodies:
            meta = body["metadata"]
            self.objects[f"{PREFIX}/namespaces/{meta['namespace']}/{PLURALS[body['kind']]}/{meta['name']}"] = body

    def changed(self, method: str) -> list[tuple[str, Any]]:
        """Path and body of each call by this method; of a change without the UID, which says of which object it is."""
        return [(path, _without_uid(body)) for verb, path, body, _ in self.calls if verb == method]

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        refused = next((status for start, status in self.refused.items() if path.startswith(start)), None)
        if refused is not None:
            return refused, {"kind": "Status", "message": f"refused: {path}", "reason": "Forbidden"}
        if path in self.canned:
            return 200, self.canned[path]
        if method == "POST" and path.startswith(PREFIX):
            return self._create(path, body)
        if path in self.objects:
            return self._patch(path, body) if method == "PATCH" else (200, self.objects[path])
        if method == "GET" and path.rpartition("/")[2] in PLURALS.values():
            return 200, {"metadata": {}, "items": self._listed(path)}
        details = {"name": path.rpartition("/")[2]}
        return 404, {"kind": "Status", "message": f"{path} not found", "reason": "NotFound", "details": details}

    def _listed(self, path: str) -> list[dict[str, Any]]:
        scope, _, plural = path.rpartition("/")
        return [body for key, body in self.objects.items() if key.startswith(f"{scope}/") and f"/{plural}/" in key]

    def _create(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        namespace = path.split("/namespaces/")[1].split("/", maxsplit=1)[0]
        if f"{path}/{body['metadata']['name']}" in self.objects:
            words = f'{path.rpartition("/")[2]}.gpucloud.dev "{body["metadata"]["name"]}" already exists'
            return 409, {"kind": "Status", "message": words, "reason": "AlreadyExists"}
        full = {**body, "metadata": {**body["metadata"], "namespace": namespace, "uid": "uid-of-new", "generation": 1}}
        self.add(full)
        return 201, full

    def _patch(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        found = self.objects[path]
        uid = found["metadata"].get("uid")
        if body.get("metadata", {}).get("uid", uid) != uid:
            return 409, {"kind": "Status", "message": "Precondition failed: UID in precondition", "reason": "Conflict"}
        for part, fields in body.items():
            for name, value in fields.items():
                inner = isinstance(value, dict) and isinstance(found[part].get(name), dict)
                merged = {**found[part][name], **value} if inner else value
                found[part][name] = {key: one for key, one in merged.items() if one is not None} if inner else merged
        return 200, found

    def _handler(server) -> type[BaseHTTPRequestHandler]:  # noqa: N805  # `self` is the handler's
        class Handler(BaseHTTPRequestHandler):
            def _serve(self) -> None:
                parts = urlsplit(self.path)
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                server.asked.append(self.path)
                server.headers.append(list(self.headers.items()))
                server.calls.append((self.command, parts.path, body, dict(self.headers)))
                if self.command == "GET":
                    server.on_read()
                query = parse_qs(parts.query)
                assert all(len(values) == 1 for values in query.values())
                ours = server.unserved if parts.path.startswith(PREFIX) else None
                status, answer = ours or server.answer(self.command, parts.path, body)
                if "labelSelector" in query and parts.path.startswith(PREFIX) and "items" in answer:
                    answer = {**answer, "items": _labelled(answer["items"], query["labelSelector"][0])}
                text = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PATCH = do_DELETE = _serve  # noqa: N815

            def log_message(self, *_: object) -> None: ...

        return Handler
