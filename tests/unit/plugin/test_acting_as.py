"""As whom the plugin asks: the kubeconfig's `as`, and the options --as and --as-group."""

import pytest

from support.pluginworld import a_body


@pytest.mark.parametrize(
    ("user", "words", "expected", "why"),
    [
        ({"as": "viewer", "as-groups": ["a", "b"]}, (), ["User: viewer", "Group: a", "Group: b"], "the kubeconfig's"),
        (
            {"as": "viewer", "as-uid": "1", "as-user-extra": {"scopes": ["view"]}},
            (),
            ["User: viewer", "Uid: 1", "Extra-scopes: view"],
            "all of it: less would be somebody who may do more",
        ),
        ({"as": "viewer", "as-groups": ["a"]}, ("--as", "ann", "--as-group=x"), ["User: ann", "Group: x"], "the options first"),
        (
            {},
            ("--as", "m\u00fcller", "--as-group=\U0001f600"),
            ["User: m\u00fcller", "Group: \U0001f600"],
            "as kubectl spells them",
        ),
        ({"as": "m\u00fcller"}, (), ["User: m\u00fcller"], "in the kubeconfig, too"),
        ({}, (), [], "nobody"),
    ],
)
def test_whom_the_kubeconfig_and_the_options_act_as(api, plugin, user, words, expected, why):
    api.add(a_body("GpuVM", "train"))
    code, _, _ = plugin("status", *words, **user)
    sent = [f"{name}: {value.encode('latin-1').decode()}" for name, value in api.headers[-1] if name.startswith("Impersonate-")]
    assert (code, sent) == (0, [f"Impersonate-{one}" for one in expected]), why


@pytest.mark.parametrize(
    ("user", "words", "ends", "why"),
    [
        ({}, ("--as", "ann\r\nImpersonate-Group: system:masters"), (2, "--as: 'ann  Impersonate-Group"), "a header of its own"),
        ({}, ("--as=ann", "--as-group=\x1b[2J"), (2, "--as-group: ' [2J' has a control character"), "nor for a group"),
        ({"as": "ann\nx"}, (), (1, "its user has a control character in as"), "in the kubeconfig, too"),
    ],
)
def test_nobody_is_acted_as_by_a_name_that_no_header_can_hold(api, plugin, user, words, ends, why):
    code, _, err = plugin("status", *words, **user)
    assert (code, ends[1] in err) == (ends[0], True), (why, err)
    assert not api.calls, why


def test_a_group_alone_is_nobody(plugin):
    code, _, err = plugin("status", "--as-group", "x")
    assert (code, "--as-group needs --as" in err) == (2, True)
