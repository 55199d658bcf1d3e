"""The apiserver in memory, on which the simulated world stands, answers as the real one does."""

from __future__ import annotations

import base64
import http.client
import itertools
import json
import secrets
import ssl
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings

from simulation.apiserver.resources import served
from simulation.apiserver.server import ApiServer
from simulation.conformance.playing import Ask, InMemory, Player
from simulation.conformance.scripts import SCRIPTS
from simulation.conformance.sequences import SEQUENCES
from support.kubectl import remove_objects

OURS = "conformance-"  # how the names of our namespaces begin
CRDS = Path(__file__).parents[2] / "crds"
BOUNDED = settings(
    max_examples=40,
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)


class RealServer:
    """A real apiserver, over one connection."""

    def __init__(self, kubeconfig: Path) -> None:
        config = json.loads(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self._trust = ssl.create_default_context(cadata=authority)
        self._where = urlsplit(cluster["server"])
        self._login = {"Authorization": f"Bearer {config['users'][0]['user']['token']}"}
        self._connection = self._connected()

    def answer(self, method, path, headers, body):
        data = None if body is None else body.encode()
        self._connection.request(method, path, data, {**headers, **self._login})
        found = self._connection.getresponse()
        return found.status, found.read().decode()

    def events(self, path, version, last):
        connection = self._connected()
        seconds = 30 if last else 1
        connection.request("GET", f"{path}?watch=1&resourceVersion={version}&timeoutSeconds={seconds}", headers=self._login)
        found = []
        stream = connection.getresponse()
        while line := stream.readline():
            found.append(json.loads(line))
            if last and found[-1]["object"]["metadata"].get("name") == last:
                break
        connection.close()
        return found

    def close(self):
        self._connection.close()

    def _connected(self):
        return http.client.HTTPSConnection(self._where.hostname, self._where.port, timeout=60, context=self._trust)


@pytest.fixture(scope="module")
def real(control_plane, kubectl, crds):
    """The real apiserver. What the scripts leave in it goes at the end, or the operators of later tests would work on it."""
    server = RealServer(control_plane.kubeconfig)
    yield server
    server.close()
    for namespace in kubectl.list("namespaces"):
        name = namespace["metadata"]["name"]
        if name.startswith(OURS):
            remove_objects(kubectl, crds, name)
            kubectl.ok("delete", "namespace", name, "--wait=false")


@pytest.fixture(scope="module")
def in_memory():
    """A factory of apiservers in memory."""
    resources = served(yaml.safe_load(file.read_text()) for file in sorted(CRDS.glob("*.yaml")))

    def make():
        uids = itertools.count(1)
        return InMemory(ApiServer(resources, now=lambda: datetime(2026, 1, 1, tzinfo=UTC), new_uid=lambda: f"uid-{next(uids)}"))

    return make


def a_namespace():
    return f"{OURS}{secrets.token_hex(4)}"


def test_the_real_apiserver_is_reached_at_all(real):
    assert real.answer("GET", "/api/v1/namespaces/none", {}, None)[0] == 404


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_answered_alike(real, in_memory, name):
    steps = SCRIPTS[name]
    players = [Player(real, a_namespace()), Player(in_memory(), a_namespace())]
    theirs, ours = (player.play(steps) for player in players)
    assert players[0].statuses == [step.status for step in steps if isinstance(step, Ask)]
    for step, expected, answered in itertools.zip_longest(steps, theirs, ours):
        assert answered == expected, step


def test_what_several_clients_do_in_any_order_is_answered_alike(real, in_memory):
    @BOUNDED
    @given(SEQUENCES)
    def alike(steps):
        theirs, ours = (Player(server, a_namespace()).play(steps, ["gpuvpcs"]) for server in (real, in_memory()))
        for step, expected, answered in itertools.zip_longest(steps, theirs, ours):
            assert answered == expected, step

    alike()
