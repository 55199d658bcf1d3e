"""Requests over real sockets: TLS as the kubeconfig says, credentials from programs, proxies, connections that end."""

import ssl
import stat
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer

import pytest
import trustme
import yaml

from gpucloud.cli.plugin.errors import UnansweredError
from gpucloud.cli.plugin.kube import transport
from gpucloud.cli.plugin.kube.access import Access, At, Material, Tls
from gpucloud.cli.plugin.kube.client import KubeApi
from support.fakeapiserver import FakeApiServer
from support.pluginworld import a_body

AUTHORITY = trustme.CA()
SERVER_CERT = AUTHORITY.issue_cert("apiserver.example")
CLIENT = AUTHORITY.issue_cert("ann@example.com")
OK = (200, b"{}", "3")
PATH = "/apis/gpucloud.dev/v1alpha1/namespaces/team/gpuvms/train"


def text(blob):
    return blob.bytes().decode()


@pytest.fixture
def tls_api():
    """An apiserver that speaks TLS under a name that is not its address, and wants a certificate of its users."""
    with FakeApiServer() as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        SERVER_CERT.configure_cert(context)
        AUTHORITY.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
        server.speak_tls(context)
        server.add(a_body("GpuVM", "train"))
        yield server


KNOWN = Material(text=text(AUTHORITY.cert_pem))
SHOWN = {
    "certificate": Material(text=text(CLIENT.cert_chain_pems[0])),
    "key": Material(text=text(CLIENT.private_key_pem)),
}


@pytest.mark.parametrize(
    ("tls", "says", "why"),
    [
        (Tls(KNOWN, **SHOWN, server_name="apiserver.example"), None, "the name that the kubeconfig gives"),
        (Tls(**SHOWN, insecure=True), None, "insecure-skip-tls-verify"),
        (Tls(KNOWN, **SHOWN), "IP address mismatch", "the address is not in the certificate"),
        (Tls(**SHOWN, server_name="apiserver.example"), "certificate", "an authority that nobody named"),
        (Tls(Material(text="no PEM"), **SHOWN), "certificate authority cannot be used", "rubbish"),
        (Tls(KNOWN, Material(text="no PEM")), "client certificate cannot be used", "rubbish"),
        (Tls(Material(path="/nonexistent")), "certificate authority cannot be used", "a file that is not there"),
    ],
)
def test_tls_is_verified_as_the_kubeconfig_says(tls_api, tls, says, why):
    way = transport.Transport(Access(tls_api.url, "team", tls))
    if says is None:
        assert way.request("GET", PATH, None, {}, 5.0)[0] == 200, why
        way.close()
        return
    with pytest.raises(Exception, match=says) as error:
        way.request("GET", PATH, None, {}, 5.0)
    assert isinstance(error.value, OSError | transport.ConfigError), why


def test_a_key_is_on_disk_for_its_owner_only_and_only_while_it_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with transport.ExitStack() as files:
        path = Path(transport._file(SHOWN["key"], files))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def program(tmp_path):
    """A function that writes an exec plugin; it counts its calls in a file."""

    def write(answer, code=0):
        path = tmp_path / "login"
        path.write_text(
            f"#!{sys.executable}\nimport os, sys\nopen({str(tmp_path / 'calls')!r}, 'a').write('x')\n"
            f"assert 'ExecCredential' in os.environ['KUBERNETES_EXEC_INFO']\nprint({answer!r})\nsys.exit({code})\n"
        )
        path.chmod(0o700)
        return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "./login", "installHint": "get it"}}

    return write


def answered(status):
    return yaml.safe_dump({"apiVersion": "client.authentication.k8s.io/v1", "status": status}, default_flow_style=True)


def test_a_program_gives_the_token_and_is_asked_once(api, tmp_path, program):
    api.add(a_body("GpuVM", "train"))
    user = program('{"status": {"token": "printed", "expirationTimestamp": "2999-01-01T00:00:00Z"}}')
    found = KubeApi(At(api.kubeconfig(tmp_path, token=None, **user)))
    found.call("GET", PATH)
    found.call("GET", PATH)
    assert [dict(headers)["Authorization"] for headers in api.headers] == ["Bearer printed"] * 2
    assert (tmp_path / "calls").read_text() == "x"


def test_a_login_that_asks_a_person_takes_no_time_of_the_request(api, tmp_path, program):
    user = program('{"status": {"token": "t"}}')
    path = tmp_path / "login"
    path.write_text(path.read_text().replace("import os, sys", "import os, sys, time; time.sleep(1)"))
    api.add(a_body("GpuVM", "train"))
    KubeApi(At(api.kubeconfig(tmp_path, token=None, **user)), 0.9).call("GET", PATH)


@pytest.mark.parametrize("ends", ["2020-01-01T00:00:00Z", None])
def test_a_token_that_has_ended_or_is_refused_is_asked_for_anew(api, tmp_path, program, ends):
    status = '{"token": "t"}' if ends is None else f'{{"token": "t", "expirationTimestamp": "{ends}"}}'
    found = KubeApi(At(api.kubeconfig(tmp_path, token=None, **program(f'{{"status": {status}}}'))))
    api.add(a_body("GpuVM", "train"))
    if ends is None:
        api.refused[PATH] = 401
        with pytest.raises(Exception, match="refused"):
            found.call("GET", PATH)
        api.refused.clear()
    else:
        found.call("GET", PATH)
        found.call("GET", PATH)
    assert (tmp_path / "calls").read_text() == "xx"


@pytest.mark.parametrize(
    ("answer", "code", "says"),
    [
        ("", 7, "login failed with exit code 7"),
        ("no json", 0, "did not print an ExecCredential"),
        ('{"status": {}}', 0, "printed neither a token nor a certificate"),
        (None, 0, "cannot be run: No such file or directory; get it"),
    ],
)
def test_a_program_that_does_not_log_in_is_told(api, tmp_path, program, answer, code, says):
    user = program(answer or "", code)
    if answer is None:
        (tmp_path / "login").unlink()
    with pytest.raises(UnansweredError, match=says):
        KubeApi(At(api.kubeconfig(tmp_path, token=None, **user))).call("GET", PATH)


@pytest.mark.parametrize(
    ("closes", "method", "answered_"), [(True, "GET", True), (True, "PATCH", False), (False, "PATCH", True)]
)
def test_a_kept_connection_that_has_ended_is_opened_anew_for_what_may_be_sent_twice(closes, method, answered_):
    """What may have been done is not sent twice."""
    with Fickle(closes=closes) as server:
        way = transport.Transport(Access(server.url, "team"))
        assert way.request("GET", "/", None, {}, 5.0) == OK
        if answered_:
            assert way.request(method, "/", b"{}" if method == "PATCH" else None, {}, 5.0) == OK
        else:
            with pytest.raises(transport.STALE):
                way.request(method, "/", b"{}", {}, 5.0)
        way.close()
        assert server.connections == (2 if closes and answered_ else 1)


def test_a_second_failure_leaves_no_half_used_connection():
    """The request after it opens a new one."""
    with Fickle(closes=True) as server:
        way = transport.Transport(Access(server.url, "team"))
        way.request("GET", "/", None, {}, 5.0)
        server.breaks = True
        with pytest.raises(transport.http.client.IncompleteRead):
            way.request("GET", "/", None, {}, 5.0)
        assert way.request("PATCH", "/", b"{}", {}, 5.0) == OK
        way.close()
        assert server.connections == 3


@pytest.mark.parametrize(
    "head", [b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", b"HTTP/1.1 200 OK\r\n"], ids=["body", "head"]
)
def test_an_answer_that_drips_is_not_waited_for_longer_than_one_that_does_not_come(head):
    """Each part of it comes in time: a limit for each wait is none for the answer."""
    stop = threading.Event()

    class Dripping(BaseRequestHandler):
        def handle(self):
            self.request.recv(65536)
            self.request.sendall(head)
            rest = b"X-Slow: yes\r\nContent-Length: 1\r\n\r\n " if head.count(b"\r\n") == 1 else b" " * 99
            for place in range(len(rest)):
                self.request.sendall(rest[place : place + 1])
                if stop.wait(0.02):
                    return

    with ThreadingTCPServer(("127.0.0.1", 0), Dripping) as server:
        server.daemon_threads, server.block_on_close = True, False
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        way = transport.Transport(Access(f"http://127.0.0.1:{server.server_address[1]}", "team"))
        with pytest.raises(TimeoutError):
            way.request("GET", "/", None, {}, 0.2)
        with pytest.raises(TimeoutError):
            way.request("GET", "/", None, {}, 0.0)
        stop.set()
        server.shutdown()


def test_a_server_behind_a_proxy_is_asked_for_by_its_whole_address():
    with Fickle() as proxy:
        way = transport.Transport(Access("http://apiserver.example:8001/prefix", "team", proxy=proxy.url))
        assert way.request("GET", "/x", None, {}, 5.0) == OK
        way.close()
        assert proxy.paths == ["http://apiserver.example:8001/prefix/x"]


class Fickle:
    """An HTTP/1.1 server that may close its first connection after the answer, without saying so; one answer ``breaks`` off."""

    def __init__(self, *, closes=False):
        self.connections, self.breaks, self.paths, outer = 0, False, [], self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                outer.connections += 1
                super().setup()

            def answer(self):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                outer.paths.append(self.path)
                broken, outer.breaks = outer.breaks, False
                self.send_response(200)
                self.send_header("Content-Length", "9" if broken else "2")
                self.send_header("Retry-After", "3")
                self.end_headers()
                self.wfile.write(b"{}")
                self.close_connection = broken or (closes and outer.connections == 1)

            do_GET = do_PATCH = answer  # noqa: N815

            def log_message(self, *_): ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
