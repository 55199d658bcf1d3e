"""What the judge forgives where a Secret gets the key of another tenant."""

import pytest

from simulation.credentials import secret_data


@pytest.mark.parametrize(
    ("key", "tenancy", "ended", "found"),
    [
        ("other", None, True, []),
        ("good", None, True, ["foreign"]),
        ("other", "globex", True, ["foreign"]),
        ("other", None, False, ["foreign"]),
    ],
)
def test_what_stood_in_the_tenant_of_a_later_key_passes_for_an_unsent_order_of_the_first(court, key, tenancy, ended, found):
    """Seed 92238477: a known limit; nothing had told the tenant when the order was recorded, and its process ended."""
    court.world.cloud.make_vm("prod", "acme", "Msc1", "stranger")
    court.world.actors.admin.put_secret("team", "key", secret_data(key, "key"))
    item = court.applied(vmName="prod")
    court.writes(item, tenancy=tenancy)
    court.passes(100)
    court.records(item, "prod", at="2026-01-01T00:01:40Z")
    court.passes(1)
    if ended:
        court.judge.ended()
    court.world.actors.admin.put_secret("team", "key", secret_data("good", "key"))
    court.passes(60)
    court.world.actors.owner.delete(item)
    court.destroys("prod")
    assert court.oracles == found
