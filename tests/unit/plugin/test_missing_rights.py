"""A user who may list some kinds only: what is shown, what is named as left out, and how it ends."""

import json

import pytest

from support.pluginworld import a_body

LIST = "/apis/gpucloud.dev/v1alpha1/namespaces/team/"
WITHOUT_VPCS = "You (ann) may not list gpuvpcs in namespace 'team': this page leaves them out."
GRANTED = "--verb=get,list,watch --resource=gpuvpcs.gpucloud.dev --namespace=team"
WAITS = {"spec": {"cluster": "Msc1", "vpcRef": {"name": "lab"}}, "how": "Working", "reason": "DependencyNotReady"}


@pytest.fixture
def without_vpcs(api):
    """A user who may list all kinds but one, and a VM that waits for an object of that one."""
    api.canned["/apis/authentication.k8s.io/v1/selfsubjectreviews"] = {"status": {"userInfo": {"username": "ann"}}}
    api.refused[f"{LIST}gpuvpcs"] = 403
    api.add(a_body("GpuVM", "train", labels={"team": "vision"}, **WAITS))


@pytest.mark.parametrize(
    ("words", "shown", "why"),
    [
        ((), "GpuVM/train", "what may be listed is shown"),
        (("-l", "team=vision"), "GpuVM/train", "with a selector, too"),
        (("-l", "team=none"), "There are no GPU cloud objects that you may list in", "others may be there"),
        (("train",), "GpuVM/train", "one that is named"),
        (("-o", "wide"), "GpuVM/train", "the wide page"),
    ],
)
@pytest.mark.usefixtures("without_vpcs")
def test_status_names_the_kinds_that_the_user_may_not_list(plugin, words, shown, why):
    code, out, _ = plugin("status", *words)
    assert (code, shown in out) == (1, True), why
    (line,) = [line for line in out.splitlines() if "may not list" in line]
    assert line.startswith(WITHOUT_VPCS)
    assert GRANTED in line
    assert "missing" not in out, "nobody knows whether the GpuVpc is there"


@pytest.mark.usefixtures("without_vpcs")
def test_status_for_programs_names_beside_it_what_the_user_may_not_list(plugin):
    code, out, err = plugin("status", "-o", "json")
    (found,) = json.loads(out)["objects"]
    assert (code, found["name"], found["waitsFor"], json.loads(out)["causes"][0]["name"]) == (1, "train", [], "train")
    sentence, command = err.splitlines()
    assert (
        f"kubectl gpucloud: not all kinds are shown. Ask for the right to list them. {WITHOUT_VPCS}" in sentence,
        GRANTED in command,
    ) == (True, True)


def test_an_object_that_may_be_read_and_not_listed_is_shown_by_its_name(api, plugin):
    body = a_body("GpuVM", "train")
    api.canned[f"{LIST}gpuvms/train"] = body
    api.answer = lambda method, path, sent, other=api.answer: (
        (403, {"message": "no"}) if path == f"{LIST}gpuvms" else other(method, path, sent)
    )
    code, out, _ = plugin("status", "train")
    assert (code, "GpuVM/train  Ready  Running" in out) == (1, True)


def test_a_kind_that_fails_for_another_reason_than_a_right_ends_status(api, plugin):
    api.refused[f"{LIST}gpuvpcs"] = 500
    api.add(a_body("GpuVM", "train"))
    code, out, err = plugin("status")
    assert (code, out, "cannot list gpuvpcs" in err) == (1, "", True)


@pytest.mark.usefixtures("without_vpcs")
def test_doctor_calls_nothing_missing_that_the_user_may_not_list(plugin):
    _, out, _ = plugin("doctor")
    assert "GpuVpc/lab" not in out


def test_who_may_list_no_kind_is_told_by_which_commands_to_read(api, plugin):
    """The same that doctor prints."""
    api.canned["/apis/authentication.k8s.io/v1/selfsubjectreviews"] = {"status": {"userInfo": {"username": "ann"}}}
    api.refused[LIST] = 403
    code, out, err = plugin("status")
    assert (code, out) == (1, "")
    what, _, granted = err.splitlines()
    listed = "gpucloudaccounts, gpuvpcs, gpuvms, gpusnapshots, gpuhosts"
    assert what == f"kubectl gpucloud: you (ann) may not list {listed} in namespace 'team'."
    assert granted in plugin("doctor")[1]
    assert granted.endswith("--user=ann --namespace=team")


@pytest.mark.parametrize(
    ("words", "method", "verb", "why"),
    [
        (("stop", "train"), "PATCH", "patch", "a change"),
        (("stop", "train"), "GET", "get", "the object before the change"),
    ],
)
def test_a_refusal_names_the_right_and_a_command_that_tells_whether_one_has_it(api, plugin, words, method, verb, why):
    api.add(a_body("GpuVM", "train"))
    api.answer = lambda sent, path, body, other=api.answer: (
        (403, {"message": "no"}) if sent == method else other(sent, path, body)
    )
    code, _, err = plugin(*words)
    _, do, command, *_ = err.splitlines()
    assert (code, command) == (1, f"kubectl auth can-i {verb} gpuvms.gpucloud.dev --namespace=team"), why
    both = {"get": "get and patch"}.get(verb, verb)  # who may not read it is told of the change, too
    assert do.startswith(f"Ask for the right to {both} gpuvms.gpucloud.dev, or name a namespace of yours with -n."), why
