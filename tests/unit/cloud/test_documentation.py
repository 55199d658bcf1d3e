"""The page about the client is true: its tables are complete and its example runs."""

import asyncio
import inspect
import re
from pathlib import Path

import gpucloud.cloud
from gpucloud.cloud import CloudClient, ErrorKind
from unit.cloud.fakes import raw_server

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "python-client.md").read_text()


def documented(signature):
    """Turn a method into the form the page uses."""
    parameters = [p for p in signature.parameters.values() if p.name != "self"]
    return ", ".join(p.name if p.default is p.empty else f"{p.name}={p.default}" for p in parameters)


def test_every_operation_is_documented_with_its_arguments():
    for name, method in inspect.getmembers(CloudClient, inspect.iscoroutinefunction):
        if name.startswith("_") or name in {"aclose", "run"}:
            continue
        arguments = "CreateServer(...)" if name == "create_server" else documented(inspect.signature(method))
        assert f"`{name}({arguments})`" in PAGE


def test_every_kind_of_error_is_documented():
    assert set(re.findall(r"^\| `([A-Z_]+)` \|", PAGE, re.MULTILINE)) == {kind.name for kind in ErrorKind}


def test_every_public_name_exists_once():
    names = gpucloud.cloud.__all__
    assert sorted(set(names)) == names
    assert all(hasattr(gpucloud.cloud, name) for name in names)


async def test_the_example_runs(monkeypatch, capsys):
    async def serve(_reader, writer):
        body = b'{"id": "trainer", "status": "na", "items": [{"id": "vm-1", "status": "ONLINE", "ip": "198.51.100.7"}]}'
        writer.write(b"HTTP/1.1 202 Accepted\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        await writer.drain()

    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    async with raw_server(serve) as url:
        monkeypatch.setenv("GPUCLOUD_ENDPOINT", url)
        monkeypatch.setenv("GPUCLOUD_API_KEY", "made-up-key")
        await asyncio.to_thread(exec, example, {})
    assert capsys.readouterr().out == "vm-1 ONLINE 198.51.100.7\nordered trainer na\n"
