"""An object that is missing is spoken of in the same words by ``status`` and ``doctor``."""

from datetime import UTC, datetime

import pytest

from gpucloud.cli.plugin.doctor import findings
from gpucloud.cli.plugin.doctor.facts import Facts
from gpucloud.cli.plugin.model import overview
from gpucloud.cli.plugin.model.dependencies import World
from support.pluginworld import a_vm, a_vpc

NOW = datetime(2026, 1, 1, 1, tzinfo=UTC)
WAITS = " 1 waits for it: GpuVM/train."


@pytest.mark.parametrize(
    ("near", "first"), [((), "Create GpuVpc/lab; or, if"), ((a_vpc("labs"),), "If its name is wrong, delete the objects")]
)
def test_the_likely_way_out_comes_first(near, first):
    """The history: doctor said first to create what status took for a slip."""
    things = (*near, a_vm("train", "Working", "DependencyNotReady"))
    facts = Facts(NOW, "team", "ann", None, {}, {}, "operators", (), things=things)
    (found,) = (one for one in findings.examine(facts) if one.check == "missing")
    page = " ".join(line.text for line in overview.as_lines(World.of(things), NOW))
    assert found.message.endswith(WAITS)
    assert f"{found.message.removesuffix(WAITS)} {found.advice}" in page
    assert found.advice.startswith(first)
