"""The one thing that an apiserver asks of a kubelet here: what a pod has printed, for ``kubectl logs`` and Helm."""

from __future__ import annotations

import http.server
import ssl
import threading
from typing import TYPE_CHECKING

import trustme

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class LogServer:
    """Serves logs on loopback; the apiserver does not ask who we are. ``find`` answers the log of (namespace, pod)."""

    def __init__(self, find: Callable[[str, str], Path | None]) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = self.path.partition("?")[0].strip("/").split("/")
                log = find(parts[1], parts[2]) if parts[0] == "containerLogs" else None
                self.send_response(404 if log is None else 200)
                self.end_headers()
                if log is not None:
                    self.wfile.write(log.read_bytes())

            def log_message(self, *_: object) -> None:
                pass

        trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trustme.CA().issue_cert("127.0.0.1").configure_cert(trust)
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.socket = trust.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, name="podlogs", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
