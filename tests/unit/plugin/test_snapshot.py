"""``snapshot``: the name of the GpuSnapshot."""

import pytest

from support.pluginworld import a_body


@pytest.mark.parametrize("name", ["Before_1", "before-", "a..b"])
def test_a_snapshots_name_that_breaks_the_rule_is_refused_with_the_rule(api, plugin, name):
    """The apiserver answers with the expression of RFC 1123."""
    api.add(a_body("GpuVM", "train", status={"vmId": "train-x"}))
    code, out, err = plugin("snapshot", "train", "--name", name)
    assert (code, out, api.changed("POST")) == (2, "", [])
    assert f"{name!r} is not a name for a GpuSnapshot.\nUse lower-case letters, digits, '-' and '.', and start and end" in err
