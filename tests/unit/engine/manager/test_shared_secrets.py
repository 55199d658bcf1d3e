"""The whole engine: accounts that share a Secret, and name another one."""

import asyncio

import pytest

from gpucloud.kinds.meta import SECRET_FINALIZER
from gpucloud.reconcile.naming import external_name
from support.builders import TAG, an_order
from support.enginerig import KEY, vm
from support.fakes import GOING, a_secret

pytestmark = pytest.mark.looptime
SOON = 120  # seconds: a Secret in use is read each half minute


async def two(rig):
    """Accounts a and b, each with a VM that was bought with the key in Secret x."""
    made = await rig()
    names = {name: external_name(name, f"u-{name}", TAG) for name in ("a1", "b1")}
    made.cloud.worlds[KEY]["GetServers"] = [vm(name) for name in names.values()]
    made.kube.secrets["team", "x"] = a_secret(apikey=KEY)
    for account, (name, external) in zip("ab", names.items(), strict=True):
        made.show("GpuCloudAccount", account, spec={"secretRef": {"name": "x"}})
        order = an_order(external).model_dump(mode="json", by_alias=True, exclude_none=True)
        made.show("GpuVM", name, spec={"accountRef": {"name": account}}, status={"vmId": external, "order": order})
    await asyncio.sleep(SOON)
    assert [made.ready(name) for name in ("a", "b", "a1", "b1")] == ["Connected", "Connected", "Running", "Running"]
    return made


def moved(it, account, secret, **more):
    spec = {"secretRef": {"name": secret}}
    it.show("GpuCloudAccount", account, "MODIFIED", spec=spec, status=it.status(account), **more)


def is_held(it, secret):
    return SECRET_FINALIZER in it.kube.secrets["team", secret]["metadata"].get("finalizers", ())


async def test_the_end_of_one_account_takes_no_secret_from_another_whose_new_key_is_refused(rig):
    it = await two(rig)
    it.kube.secrets["team", "y"] = a_secret(apikey="wrong-key")
    moved(it, "b", "y", meta={"generation": 2})
    await asyncio.sleep(SOON)
    assert (it.ready("b"), it.status("b")["heldSecrets"]) == ("CredentialsRefused", ["x", "y"])
    it.show("GpuVM", "a1", "DELETED")
    moved(it, "a", "x", meta=GOING)
    await asyncio.sleep(SOON)
    assert ("u-a" in it.kube.released, is_held(it, "x")) == (True, True)


@pytest.mark.parametrize("order", ["ab", "ba"])
@pytest.mark.parametrize("apart", [0, SOON])
async def test_the_last_of_those_that_move_on_frees_the_old_secret(rig, order, apart):
    it = await two(rig)
    it.kube.secrets["team", "z"] = a_secret(apikey=KEY)
    for account in order:
        moved(it, account, "z", meta={"generation": 2})
        await asyncio.sleep(apart)
    await asyncio.sleep(2 * SOON)
    assert [it.status(account)["heldSecrets"] for account in "ab"] == [["z"], ["z"]]
    assert (is_held(it, "x"), is_held(it, "z")) == (False, True)
