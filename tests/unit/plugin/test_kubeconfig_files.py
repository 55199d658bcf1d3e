"""KUBECONFIG of several files: every reader acts on the cluster, and as the user, that kubectl takes."""

import json
import os

import pytest
import yaml

from gpucloud.cli.plugin import entry
from gpucloud.cli.plugin.kube import kubeconfig, library
from gpucloud.cli.plugin.kube.access import At
from gpucloud.handlers import login
from support.fakeapiserver import FakeApiServer
from support.pluginworld import a_body


def a_file(name, current, **also):
    """A kubeconfig of one cluster, user and context of this name, as tools write it that keep each in a file of its own."""
    return {
        "current-context": current,
        "clusters": [{"name": name, "cluster": {"server": f"https://{name}.example"}}],
        "users": [{"name": name, "user": {"token": f"made-up-{name}"}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": f"of-{name}"}}],
        **also,
    }


DEV, PROD = a_file("dev", "dev"), a_file("prod", "prod")
SAME = {
    **a_file("prod", "dev"),
    "clusters": [{"name": "dev", "cluster": {"server": "https://prod.example"}}],
    "users": [{"name": "dev", "user": {"token": "made-up-prod"}}],
    "contexts": [{"name": "dev", "context": {"cluster": "dev", "user": "dev", "namespace": "of-prod"}}],
}


def by_small_reader():
    found = kubeconfig.access(kubeconfig.load(kubeconfig.paths(None)))
    return found.server, found.token, found.namespace


def by_library():
    way = library.LibraryWay(At())
    return way.host, way.authorization.removeprefix("Bearer "), way.namespace


def by_operator():
    found = login.connect()
    return found.server, found.token, found.default_namespace


@pytest.fixture
def kubeconfigs(tmp_path, monkeypatch):
    """A function that writes these, and lets KUBECONFIG name them all, in this order."""

    def of(*documents):
        paths = [tmp_path / str(number) for number in range(len(documents))]
        for path, document in zip(paths, documents, strict=True):
            path.write_text("" if document is None else yaml.safe_dump(document))
        monkeypatch.setenv("KUBECONFIG", os.pathsep.join(map(str, paths)))

    return of


@pytest.mark.parametrize("reader", [by_small_reader, by_library, by_operator])
@pytest.mark.parametrize(
    ("documents", "expected", "why"),
    [
        ([DEV], "dev", "one file is all there is"),
        ([DEV, PROD], "dev", "the first file that sets current-context counts"),
        ([PROD, DEV], "prod", "and not the first by name"),
        ([{**DEV, "current-context": ""}, PROD], "prod", "an empty one sets nothing"),
        ([{**DEV, "current-context": None}, PROD], "prod", "nor does null"),
        ([PROD, {**DEV, "current-context": ""}], "prod", "an empty one behind takes nothing back"),
        ([{"current-context": "dev"}, PROD, DEV], "dev", "a file of a choice alone; what it chooses is in another"),
        ([{"current-context": "dev", "contexts": None, "clusters": None, "users": None}, PROD, DEV], "dev", "empty sections"),
        ([None, DEV, PROD], "dev", "an empty file sets nothing"),
        ([DEV, SAME], "dev", "of two entries of one name the first counts"),
        ([SAME, DEV], "prod", "whatever it says"),
        ([DEV, PROD, a_file("test", "test")], "dev", "of three, too"),
    ],
)
def test_every_reader_takes_what_kubectl_takes(kubeconfigs, reader, documents, expected, why):
    kubeconfigs(*documents)
    assert reader() == (f"https://{expected}.example", f"made-up-{expected}", f"of-{expected}"), why


def test_a_context_that_is_named_counts_before_all_files(kubeconfigs):
    kubeconfigs(DEV, PROD)
    way = library.LibraryWay(At(context="prod"))
    assert (way.host, way.namespace) == ("https://prod.example", "of-prod")


def test_of_the_library_a_relative_path_is_meant_from_its_own_file(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "token").write_text("made-up")
    (tmp_path / "a" / "config").write_text(yaml.safe_dump({"current-context": "dev"}))
    (tmp_path / "b" / "config").write_text(yaml.safe_dump({**DEV, "users": [{"name": "dev", "user": {"tokenFile": "token"}}]}))
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(str(tmp_path / folder / "config") for folder in "ab"))
    assert by_library()[1] == "made-up"


@pytest.mark.parametrize("needs_library", [False, True])
def test_a_verb_changes_the_cluster_that_kubectl_takes(kubeconfigs, tmp_path, needs_library):
    """Cloud providers write `provideClusterInfo: true`; such a user is left to the library."""
    version = "client.authentication.k8s.io/v1beta1"
    credential = {"apiVersion": version, "kind": "ExecCredential", "status": {"token": "made-up"}}
    program = tmp_path / "login"
    program.write_text(f"#!/bin/sh\necho '{json.dumps(credential)}'\n")
    program.chmod(0o755)
    user = {"apiVersion": version, "command": str(program), "interactiveMode": "Never"}
    users = {"exec": {**user, "provideClusterInfo": needs_library}}
    spec = {"cluster": "Msc1", "configuration": "A", "vpc": "acme"}
    with FakeApiServer() as dev, FakeApiServer() as prod:
        for server in (dev, prod):
            server.add(a_body("GpuVM", "train", namespace="team", spec=spec))
        kubeconfigs(*(_of(name, server.url, users) for name, server in (("dev", dev), ("prod", prod))))
        assert entry.main(["stop", "train"]) == 0
        assert (len(dev.changed("PATCH")), len(prod.changed("PATCH"))) == (1, 0)


def _of(name, url, user):
    return a_file(
        name,
        name,
        clusters=[{"name": name, "cluster": {"server": url}}],
        users=[{"name": name, "user": user}],
        contexts=[{"name": name, "context": {"cluster": name, "user": name, "namespace": "team"}}],
    )
