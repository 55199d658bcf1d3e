"""Which cluster the operator and its commands act on, and as whom."""

import os

import kopf
import pytest
import yaml

from gpucloud.handlers.login import NoCluster, connect, context, ways


def test_a_kubeconfig_that_does_not_exist_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError) as caught:
        connect()
    assert str(caught.value) == f"there is no file {tmp_path / 'none'}, which KUBECONFIG names: set it to one that exists"


def a_kubeconfig(user=None, **more):
    return {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://cluster.example"}}],
        "users": [{"name": "u", "user": user or {"token": "made-up"}}],
        **more,
    }


@pytest.fixture
def kubeconfigs(monkeypatch, tmp_path):
    """A function that writes these, and lets KUBECONFIG name them all."""

    def write(*documents):
        paths = [tmp_path / str(number) for number, _ in enumerate(documents)]
        for path, document in zip(paths, documents, strict=True):
            path.write_text(document if isinstance(document, str) else yaml.safe_dump(document))
        monkeypatch.setenv("KUBECONFIG", os.pathsep.join(map(str, paths)))

    return write


UNREAD = "of context 'here' has {!r}, which this program does not read: give the user a token or a client certificate"


@pytest.mark.parametrize(
    ("user", "field", "why"),
    [
        ({"token": "made-up", "as": "viewer"}, "as", "without it, it would be somebody who may do more"),
        ({"token": "made-up", "as-groups": ["a"]}, "as-groups", "the same"),
        ({"exec": {"command": "login"}}, "exec", "without it, it would be nobody"),
        ({"tokenFile": "token"}, "tokenFile", "the same"),
    ],
)
def test_nobody_else_is_acted_as_than_the_kubeconfig_names(kubeconfigs, user, field, why):
    kubeconfigs(a_kubeconfig(user), a_kubeconfig())
    with pytest.raises(NoCluster) as caught:
        connect()
    assert UNREAD.format(field) in str(caught.value), why


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ("a: [", "no YAML"),
        ("[1]", "no mapping"),
        (a_kubeconfig(contexts=None), "no contexts"),
        (a_kubeconfig(clusters=[]), "no cluster"),
        ({**a_kubeconfig(), "current-context": ""}, "nothing is chosen"),
        ({**a_kubeconfig(), "current-context": "there"}, "what is chosen is not there"),
        ("\x00", "no text"),
    ],
)
def test_a_kubeconfig_of_another_form_ends_in_a_sentence(kubeconfigs, document, why):
    kubeconfigs(document)
    with pytest.raises(
        NoCluster, match="cannot be used: its current context, or what that names, is missing or of another form"
    ):
        connect()
    assert why


def test_of_several_kubeconfigs_the_first_counts(kubeconfigs):
    other = a_kubeconfig(
        {"token": "other", "as": "viewer"}, clusters=[{"name": "c", "cluster": {"server": "https://other.example"}}]
    )
    kubeconfigs(a_kubeconfig(), other)
    assert (connect().server, connect().token, context()) == ("https://cluster.example", "made-up", "here")


ANOTHER = a_kubeconfig({"token": "other"}, contexts=[{"name": "there", "context": {"cluster": "c", "user": "u"}}])


@pytest.mark.parametrize(
    ("first", "why"),
    [
        ({"current-context": ""}, "as tools write it that keep each cluster in a file of its own"),
        ({"current-context": None}, "as good as none"),
        ({}, "none"),
        ("", "an empty file"),
        ({"current-context": "", "contexts": None, "clusters": None, "users": []}, "nothing but names of sections"),
    ],
)
def test_an_empty_current_context_leaves_it_to_the_next_kubeconfig(kubeconfigs, first, why):
    kubeconfigs(first, {**ANOTHER, "current-context": "there"})
    assert (connect().server, connect().token, context()) == ("https://cluster.example", "other", "there"), why


def test_data_counts_before_a_path(kubeconfigs):
    both = {"certificate-authority": "/nowhere", "certificate-authority-data": "bWFkZSB1cA=="}
    kubeconfigs(a_kubeconfig(clusters=[{"name": "c", "cluster": {"server": "https://cluster.example", **both}}]))
    assert (connect().ca_path, connect().ca_data) == (None, both["certificate-authority-data"])


def test_without_any_kubeconfig_there_is_no_cluster(monkeypatch, tmp_path):
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(NoCluster, match="set KUBECONFIG"):
        connect()


@pytest.mark.parametrize(
    ("environ", "leads", "why"),
    [
        ({}, True, "as in the chart's pods"),
        ({"KUBECONFIG": ""}, True, "an empty variable names nothing"),
        ({"KUBECONFIG": "/a"}, False, "in a pod of another cluster, too: an uninstall would drain the pod's own"),
    ],
)
def test_the_pods_own_cluster_counts_where_kubeconfig_names_none(environ, leads, why):
    assert (kopf.login_with_service_account in ways(environ)) is leads, why
