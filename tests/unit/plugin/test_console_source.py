"""Which way to the operator's console is taken, and what never goes over it."""

import pytest

from gpucloud.cli.plugin.cloud import console
from gpucloud.cli.plugin.errors import PluginError, TransientError
from gpucloud.flags import FLAGS
from support.pluginworld import a_body, a_vm

RUNNING = {"metadata": {"name": "op"}, "status": {"phase": "Running"}, "spec": {}}
PODS = "/api/v1/namespaces/gpucloud-system/pods"


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8082", "http://localhost:8082/", "http://[::1]:8082", "https://console.example"]
)
def test_an_address_that_may_be_shown_a_token(url):
    console._named(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://console.example",
        "http://127.0.0.1.example:1",
        "ftp://127.0.0.1",
        "127.0.0.1:8082",
        "https://",
        "http://[",
        "https://h/x",
    ],
)
def test_a_token_goes_over_no_network_in_the_clear(api, plugin, url):
    api.add(a_body("GpuVM", "train", status={"vmId": "x"}))
    code, _, err = plugin("logs", "train", "--console", url)
    assert (code, "\nUse http://127.0.0.1:PORT or https" in err) == (2, True)


@pytest.mark.parametrize(
    ("user", "says"),
    [
        ({"token": None}, "no bearer token"),
        ({"as": "viewer"}, "impersonates another user"),
    ],
)
def test_who_cannot_be_known_there_is_told(api, plugin, tmp_path, user, says):
    api.add(a_body("GpuVM", "train", status={"vmId": "x"}))
    config = api.kubeconfig(tmp_path, **user)
    code, _, err = plugin("logs", "train", "--console", "http://127.0.0.1:1", kubeconfig=config)
    assert (code, says in err) == (1, True)


def test_both_reasons_are_told_when_there_is_no_way(api, plugin):
    api.add(a_body("GpuVM", "train"), a_body("GpuCloudAccount", "default"))
    api.canned[PODS] = {"items": []}
    code, _, err = plugin("logs", "train")
    assert (code, err.count("kubectl gpucloud: ")) == (1, 1)
    assert "give --endpoint NAME=URL" in err
    assert "no running pod of the operator was found" in err
    assert "gpuoffers" not in err, "they say nothing of a boot log"
    code, _, err = plugin("offers")
    assert (code, err.count("kubectl gpucloud: ")) == (1, 1)
    assert err.endswith(" For what the operator last read, use 'kubectl get gpuoffers'.\n")


@pytest.mark.parametrize(
    ("account", "value", "why"),
    [
        ({"status": {"endpoint": "main"}}, "main=URL", "the account's, under the operator's name for it"),
        ({"spec": {"endpoint": "second"}}, "second=URL", "the one that it names"),
        ({}, "NAME=URL", "nobody has said yet which it is"),
    ],
)
def test_a_missing_endpoint_is_asked_for_with_its_name_and_with_whom_to_ask(api, plugin, account, value, why):
    api.add(a_body("GpuVM", "train"), a_body("GpuCloudAccount", "default", **account))
    code, _, err = plugin("logs", "train")
    asked = f"nothing says where the cloud is: ask your administrator for its URL, then give --endpoint {value} or set "
    assert (code, f"{asked}GPUCLOUD_ENDPOINT={value};" in err) == (1, True), why


def test_where_the_tag_stands_is_told_to_who_cannot_see_what_it_is_made_from(api, plugin):
    api.refused["/api/v1/namespaces/kube-system"] = 403
    code, _, err = plugin("orphans")
    _, do, command = err.splitlines()
    assert (code, command) == (1, "kubectl get gvm -A -o jsonpath='{.items[*].status.order.name}'")
    assert do == "Give it as --install-tag: VMs are named NAME-TAG-HASH. To see the names of those there are:"


@pytest.mark.parametrize(
    ("pods", "holders", "expected", "why"),
    [
        (["op-a", "op-b"], ["op-b_1234"], "op-b", "the holder of the Lease; a standby knows no accounts"),
        (["op-a", "op-b"], [], "op-a", "any, where no Lease is to be seen"),
        (["op-a"], ["somebody-else"], "op-a", "the Lease of others says nothing"),
    ],
)
def test_which_pod_is_asked(pods, holders, expected, why):
    assert console._leader(pods, holders) == expected, why


@pytest.mark.parametrize(
    ("ports", "expected", "why"),
    [
        ([{"name": "health", "containerPort": 8081}, {"name": "console", "containerPort": 9999}], 9999, "settings.consolePort"),
        ([{"name": "health", "containerPort": 8081}], FLAGS["console_port"].default, "a Deployment by hand that names none"),
    ],
)
def test_the_port_is_the_pods_own(api, plugin, ports, expected, why):
    api.add(a_body("GpuVM", "train"))
    pod = {"metadata": {"name": "op"}, "status": {"phase": "Running"}, "spec": {"containers": [{"ports": ports}]}}
    api.canned["/api/v1/namespaces/gpucloud-system/pods"] = {"items": [pod]}
    plugin("logs", "train")
    assert f"/api/v1/namespaces/gpucloud-system/pods/op/portforward?ports={expected}" in api.asked, why


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "Log in to the cluster again."),
        (403, "Ask an administrator for get and create on pods/portforward there, as deploy/console-rbac.yaml gives them."),
        (404, "The pod is gone; try again."),
        (500, "Look at it:\nkubectl describe pod/op --namespace=gpucloud-system"),
    ],
)
def test_a_refused_forward_says_why_and_what_to_do(api, plugin, status, advice):
    api.add(a_body("GpuVM", "train"))
    api.canned[PODS] = {"items": [RUNNING]}
    api.refused[f"{PODS}/op/portforward"] = status
    code, _, err = plugin("logs", "train")
    said = f"the apiserver forwards no port of pod 'op' in namespace 'gpucloud-system' (refused: {PODS}/op/portforward)"
    assert (code, err.count("kubectl gpucloud: ")) == (1, 1)
    assert err.endswith(f"{said}.\n{advice}\n")
    assert "Handshake" not in err, "no words of the library, and no dump of headers"


def test_who_may_not_see_the_operators_pods_is_told_so(api, plugin):
    api.add(a_body("GpuVM", "train"))
    api.refused[PODS] = 403
    _, _, err = plugin("logs", "train")
    assert "you may not list the pods of namespace 'gpucloud-system'" in err
    assert "Ask for that right (deploy/console-rbac.yaml gives it)" in err


def test_a_console_where_nothing_listens(api, plugin):
    api.add(a_body("GpuVM", "train", status={"vmId": "x"}))
    _, _, err = plugin("logs", "train", "--console", "http://127.0.0.1:1")
    assert "the operator's console does not answer (Connection refused).\nCheck that" in err


def test_a_secret_is_never_sent_to_an_endpoint_of_another_name(api, plugin):
    """An account of the endpoint "other" must not have its key sent to "default"."""
    api.add(a_body("GpuCloudAccount", "default", spec={"endpoint": "other", "secretRef": {"name": "s"}}))
    code, _, err = plugin("offers", "--endpoint", "default=http://127.0.0.1:1")
    assert code == 1
    assert "uses the endpoint 'other'" in err
    assert not [path for _, path, _, _ in api.calls if "/secrets/" in path], "not even read"


class Console:
    """A connection to a console that gives one answer."""

    def __init__(self, status, text):
        self.status, self.text = status, text

    def request(self, *_args, **_more): ...

    def close(self): ...

    def getresponse(self):
        return self

    def read(self, _size):
        return self.text

    def getheader(self, name, default):
        return {"Retry-After": "7"}.get(name, default)


@pytest.mark.parametrize("text", [b"<html>log in</html>", b'{"clusters": [', b"[]", b""])
def test_an_answer_that_is_no_object_is_no_empty_cloud(text):
    """No orphan would be seen in it."""
    source = console.ConsoleSource(lambda: Console(200, text), "token", "team", None)
    for ask in (source.records, lambda: source.boot_log(a_vm(), 10)):
        with pytest.raises(PluginError, match="in a form that this plugin does not know"):
            ask()


@pytest.mark.parametrize(
    ("answer", "hosts", "why"),
    [
        (b'{"clusters": [{"cluster": "Msc1", "hosts": []}]}', (), "there are none"),
        (b'{"clusters": [{"cluster": "Msc1"}]}', None, "it was not looked whether there are any"),
    ],
)
def test_an_operator_that_lists_no_hosts_does_not_pass_for_a_cloud_without_any(answer, hosts, why):
    source = console.ConsoleSource(lambda: Console(200, answer), "token", "team", None)
    assert source.records(hosts=True).clusters[0].hosts == hosts, why


@pytest.mark.parametrize(
    ("answer", "expected", "why"),
    [
        (b'{"clusters": [{"cluster": "msc1", "vpcs": [{"name": "acme"}]}, {"cluster": "Hou1"}]}', {"acme"}, "of one cluster"),
        (b'{"clusters": [{"cluster": "Msc1"}], "failures": ["403"]}', None, "some may not have been listed"),
    ],
)
def test_the_names_of_vpcs_stand_among_the_records(answer, expected, why):
    source = console.ConsoleSource(lambda: Console(200, answer), "token", "team", None)
    assert source.vpcs("Msc1") == expected, why


@pytest.mark.parametrize(("status", "transient"), [(429, True), (500, True), (503, True), (403, False), (404, False)])
def test_a_console_that_cannot_answer_for_a_moment_is_an_outage(status, transient):
    source = console.ConsoleSource(lambda: Console(status, b'{"error": "not now"}'), "token", "team", None)
    with pytest.raises(PluginError, match="the operator's console refuses: not now") as caught:
        source.boot_log(a_vm(), 10)
    assert (getattr(caught.value, "pause", None), isinstance(caught.value, TransientError)) == (
        7.0 if transient else None,
        transient,
    )


def with_a_key(api):
    api.add(a_body("GpuCloudAccount", "default", spec={"secretRef": {"name": "s"}}))
    api.canned["/api/v1/namespaces/team/secrets/s"] = {"data": {"apikey": "bWFkZS11cC1rZXk="}}


@pytest.mark.parametrize("way", ["--endpoint", "GPUCLOUD_ENDPOINT"])
def test_an_address_where_nothing_answers_says_what_to_correct(api, plugin, monkeypatch, way):
    with_a_key(api)
    url = "default=http://127.0.0.1:1"
    if way == "GPUCLOUD_ENDPOINT":
        monkeypatch.setenv(way, url)
    code, _, err = plugin("offers", *([] if way == "GPUCLOUD_ENDPOINT" else [way, url]))
    assert code == 1
    assert "the cloud at http://127.0.0.1:1 cannot be reached (" in err
    assert err.endswith(").\nCorrect the address in --endpoint or GPUCLOUD_ENDPOINT, or try again.\n")


def test_an_answer_that_is_no_clouds_names_address_and_credential(api, plugin):
    """The apiserver in place of the cloud: something answers, and knows no such path."""
    with_a_key(api)
    _, _, err = plugin("offers", "--endpoint", f"default={api.url}")
    assert f"the cloud at {api.url} refused or did not answer (" in err
    assert "\nCorrect the address in --endpoint or GPUCLOUD_ENDPOINT, or the credential in the account's Secret" in err


@pytest.mark.parametrize(
    ("endpoint", "says"),
    [
        ("http://127.0.0.1:8080", "not 'http://127.0.0.1:8080': write default=http://127.0.0.1:8080."),
        ("default=http://gpu.example.com", "default=http://gpu.example.com would send the credential to another host"),
    ],
)
def test_an_endpoint_that_cannot_be_used_says_what_to_write(api, plugin, endpoint, says):
    with_a_key(api)
    code, _, err = plugin("offers", "--endpoint", endpoint)
    assert (code, says in err) == (2, True), err
    assert not [path for _, path, _, _ in api.calls if "/secrets/" in path], "not even read"


@pytest.mark.parametrize(
    ("way", "do", "why"),
    [
        ("--endpoint", "Give --endpoint default=http://127.0.0.1:1 instead.", "the option gave it"),
        ("GPUCLOUD_ENDPOINT", "Set GPUCLOUD_ENDPOINT=default=http://127.0.0.1:1 instead.", "the variable gave it"),
    ],
)
def test_an_endpoint_of_another_name_is_answered_with_the_right_name(api, plugin, monkeypatch, way, do, why):
    given = "othr=http://127.0.0.1:1"
    api.add(a_body("GpuCloudAccount", "default", spec={"secretRef": {"name": "s"}, "endpoint": "default"}))
    api.canned[PODS] = {"items": []}
    if way == "GPUCLOUD_ENDPOINT":
        monkeypatch.setenv(way, given)
    code, _, err = plugin("offers", *([] if way == "GPUCLOUD_ENDPOINT" else [way, given]))
    says = f"GpuCloudAccount/default uses the endpoint 'default', and {way} names only othr;"
    assert (code, says in err, f"\n{do}" in err, "--operator-namespace" in err) == (1, True, True, False), why


@pytest.mark.parametrize(
    ("status", "says", "creates", "why"),
    [
        (404, "there is no Secret 's';", True, "it is gone: only a new one helps"),
        (403, "you may not read the Secret 's';", False, "it may be there: nothing to create"),
    ],
)
def test_a_secret_that_is_gone_is_answered_with_the_command_that_creates_it(api, plugin, status, says, creates, why):
    api.add(a_body("GpuCloudAccount", "default", spec={"secretRef": {"name": "s"}}))
    api.canned[PODS] = {"items": []}
    api.refused["/api/v1/namespaces/team/secrets/s"] = status
    _, _, err = plugin("offers", "--endpoint", "default=http://127.0.0.1:1")
    create = "kubectl create secret generic s --namespace=team --from-file=apikey=FILE\n"
    assert (says in err, create in err) == (True, creates), why
