"""What a simulated cloud starts with: tenants, accounts, catalogue, hosts and knobs; and the world made from it.

The defaults are the example world of the reference page. Passwords and codes in it are made up and public.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from gpucloud.sim.knobs import Knobs
from gpucloud.sim.world.catalogue import ON_DEMAND, Catalogue, Configuration
from gpucloud.sim.world.hosts import Host, Hosts
from gpucloud.sim.world.identity import (
    ALL_PERMISSIONS,
    LIFETIMES,
    PLAIN_USER_PERMISSIONS,
    ApiKey,
    Identity,
    User,
    hash_of,
)
from gpucloud.sim.world.rules import Rules
from gpucloud.sim.world.vpcs import Vpc
from gpucloud.sim.world.world import World

CLUSTERS = ("Msc1", "Hou1")
IMAGES = ("Ubuntu 22.04.4 LTS", "Ubuntu 24.04.1 LTS", "Debian 12", "Rocky Linux 9")
CONFIGURATIONS = (
    Configuration(101, "A100_40GB_PCIe_1x", 1, 14, 112, 1700, 2.05, "nvidia.com/A100PCIE40GB", "NVIDIA A100", "100G", CLUSTERS),
    Configuration(102, "A100_40GB_PCIe_2x", 2, 28, 224, 3400, 4.10, "nvidia.com/A100PCIE40GB", "NVIDIA A100", "100G", CLUSTERS),
    Configuration(
        201, "H100_80GB_SXM_8x", 8, 200, 940, 20000, 26.40, "nvidia.com/H100SXM80GB", "NVIDIA H100", "3200G", ("Hou1",)
    ),
)


class Account(BaseModel):
    """A user of the example world. ``plain`` users hold every permission but those on VPCs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    tenant: str = "acme"
    plain: bool = False
    password: SecretStr = SecretStr("made-up-p4ssphrase")
    two_factor_code: SecretStr = SecretStr("")
    must_reset_password: bool = False


ACCOUNTS = (
    Account(name="ann"),
    Account(name="bob", plain=True),
    Account(name="tia", two_factor_code=SecretStr("000000")),
    Account(name="rex", must_reset_password=True),
    Account(name="gil", tenant="globex"),
)


class SimConfig(BaseModel):
    """The beginning of a simulated cloud. ``capacity`` is how many VMs fit per configuration, cluster and pool."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = 0
    knobs: Knobs = Knobs()
    capacity: int = Field(10_000, ge=0)
    accounts: tuple[Account, ...] = Field(ACCOUNTS, min_length=1)
    api_key: SecretStr | None = None  # of the first account; None lets the simulator make one up


def build_world(config: SimConfig, api_key: str, now: float) -> World:
    """Return a new world: default VPCs in every cluster, two hosts, reserved pools, and the first account's key."""
    rules = Rules(config.knobs)
    catalogue = Catalogue(CLUSTERS, CONFIGURATIONS, IMAGES, config.capacity)
    tenants = tuple(dict.fromkeys(account.tenant for account in config.accounts))
    world = World(rules, catalogue, Hosts(rules, _hosts(tenants[0]), now), Identity(rules))
    for tenant in tenants:
        add_tenant(world, tenant, now)
    for account in config.accounts:
        world.identity.put_user(_user(account))
    first = config.accounts[0].name
    key = ApiKey("", first, "", "the key the simulator was started with", None, now, now + LIFETIMES["one_year"])
    world.identity.add_key(api_key, key)
    return world


def add_tenant(world: World, tenant: str, now: float) -> None:
    """Give a tenant what every tenant has: pools, a custom image, and a default VPC in every cluster."""
    world.catalogue.pools[tenant] = (ON_DEMAND, f"reserved-{tenant}")
    world.catalogue.custom_images[tenant] = (f"{tenant}-base.qcow2",)
    for cluster in world.catalogue.clusters:
        world.vpcs.create(Vpc("", tenant, cluster, tenant, "", now, is_default=True), now)


def _user(account: Account) -> User:
    return User(
        name=account.name,
        tenant=account.tenant,
        permissions=PLAIN_USER_PERMISSIONS if account.plain else ALL_PERMISSIONS,
        email=f"{account.name}@{account.tenant}.example",
        password_hash=hash_of(account.password.get_secret_value()),
        two_factor_code=account.two_factor_code.get_secret_value(),
        must_reset_password=account.must_reset_password,
    )


def _hosts(tenant: str) -> list[Host]:
    return [
        Host(
            id=f"bm-{number}",
            cluster=cluster,
            tenant=tenant,
            node_type="H100_80GB_SXM_8x",
            image="Ubuntu 22.04.4 LTS",
            private_ip=f"172.17.0.{number}",
            public_ip=f"203.0.113.{number}",
            hostname=f"{cluster.lower()}-bm-{number}",
        )
        for cluster, number in (("Msc1", 128), ("Hou1", 129))
    ]
