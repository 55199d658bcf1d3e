"""GpuVpc: what its models read from, and write to, the objects of a cluster."""

from __future__ import annotations

import pytest

from gpucloud.kinds.common import Adoption, DeletionPolicy
from gpucloud.kinds.gpuvpc import GpuVpcSpec, GpuVpcStatus

MINIMAL = {"cluster": "Msc1", "name": "acme-lab"}


def test_a_minimal_object_adopts_nothing_and_leaves_the_settings_to_the_cloud():
    spec = GpuVpcSpec.model_validate(MINIMAL)
    assert spec.adoption is Adoption.NEVER
    assert (spec.block_intra_vpc_comms, spec.is_default) == (None, None)
    assert (spec.deletion, spec.account_ref, spec.progress_deadline_seconds) == (None, None, 1800)


POLICIES = [
    ("nothing said", {}, None),
    ("deletion said, its policy not", {"deletion": {}}, None),
    ("said", {"deletion": {"policy": "Retain"}}, DeletionPolicy.RETAIN),
]


@pytest.mark.parametrize(("said", "policy"), [pytest.param(*row, id=why) for why, *row in POLICIES])
def test_a_policy_that_nobody_said_stays_open_since_it_depends_on_who_made_the_vpc(said, policy):
    deletion = GpuVpcSpec.model_validate(MINIMAL | said).deletion
    assert (deletion.policy if deletion else None) == policy


def test_the_cloud_record_is_read_from_status():
    status = GpuVpcStatus.model_validate(
        {"vpcId": "17", "ipRange": "192.0.2.0/24", "createdAt": "2026-01-02T03:04:05Z", "isDefault": False, "adopted": True}
    )
    assert (status.vpc_id, status.ip_range, status.is_default, status.adopted) == ("17", "192.0.2.0/24", False, True)
    written = status.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert written["isDefault"] is False, "what is known to be false is not left out"
